import type { PrefillPoint } from '../measure/metrics/prefill-line.ts'
import { ols, parabola, type Line } from '../stats/regression.ts'
import { tTwoSided } from '../stats/student-t.ts'

/** A staircase over the line: TTFT = a + b·L + s·ceil(L ÷ chunk). */
export interface Staircase {
  readonly chunk: number
  /** Each further chunk costs this much beside its tokens. */
  readonly msPerChunk: number
  readonly se: number
  /** Of the step, times the number of chunk sizes that were tried. */
  readonly p: number
}

/** Whether the points lie on a line at all. */
export interface PrefillShape {
  /** The quadratic term is significant: TTFT bends, and one rate is not enough. */
  readonly curved: boolean
  readonly quadratic: number | null
  readonly quadraticP: number | null
  /** The staircase that explains most, where one is significant. */
  readonly staircase: Staircase | null
  /** The largest distance of a point from the line, relative to its TTFT, and where. */
  readonly worstResidual: { readonly share: number; readonly promptTokens: number } | null
}

/** Chunk sizes that engines use. */
const chunkSizes = [256, 512, 1024, 2048, 4096, 8192, 16_384] as const

/**
 * Tests the medians of a prefill sweep for a curve (attention: c > 0) and for the steps of chunked prefill. Both at 5 %, the
 * staircase with Bonferroni's correction over the sizes tried; a size that is known beforehand is the only one tried.
 */
export function prefillShape(points: readonly PrefillPoint[], knownChunk: number | null): PrefillShape {
  const lengths = points.map(({ promptTokens }) => promptTokens)
  const times = points.map(({ ttftMs }) => ttftMs)
  const curve = parabola(lengths, times)
  const line = ols(lengths, times)
  return {
    curved: curve?.quadraticP !== null && curve?.quadraticP !== undefined && curve.quadraticP < 0.05,
    quadratic: curve?.quadratic ?? null,
    quadraticP: curve?.quadraticP ?? null,
    staircase: bestStaircase(lengths, times, knownChunk),
    worstResidual: line === null ? null : worst(line, points),
  }
}

function bestStaircase(
  lengths: readonly number[],
  times: readonly number[],
  knownChunk: number | null,
): Staircase | null {
  const longest = Math.max(0, ...lengths)
  const tried = (knownChunk === null ? chunkSizes : [knownChunk]).filter((chunk) => chunk < longest)
  const found = tried
    .map((chunk) => stepTest(lengths, times, chunk))
    .filter((step) => step !== null && step.msPerChunk > 0)
    .sort((a, b) => (a?.p ?? 1) - (b?.p ?? 1))[0]
  if (found === undefined || found === null) return null
  const p = Math.min(1, found.p * tried.length)
  return p < 0.05 ? { ...found, p } : null
}

/** The step's coefficient by the part of ceil(L ÷ chunk) that L cannot explain (Frisch and Waugh 1933), n − 3 degrees of freedom. */
export function stepTest(
  lengths: readonly number[],
  times: readonly number[],
  chunk: number,
): Staircase | null {
  const n = lengths.length
  const steps = lengths.map((length) => Math.ceil(length / chunk))
  const [stepLine, timeLine] = [ols(lengths, steps), ols(lengths, times)]
  if (stepLine === null || timeLine === null || n < 5) return null
  const left = (line: Line, values: readonly number[]): number[] =>
    values.map((value, i) => value - line.intercept - line.slope * (lengths[i] ?? 0))
  const [x, y] = [left(stepLine, steps), left(timeLine, times)]
  const squares = x.reduce((sum, value) => sum + value * value, 0)
  if (squares < 1e-9) return null
  const slope = x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0) / squares
  const residual = y.reduce((sum, value, i) => sum + (value - slope * (x[i] ?? 0)) ** 2, 0)
  const se = Math.sqrt(residual / (n - 3) / squares)
  return { chunk, msPerChunk: slope, se, p: se === 0 ? 0 : tTwoSided(slope / se, n - 3) }
}

function worst(line: Line, points: readonly PrefillPoint[]): PrefillShape['worstResidual'] {
  let found: PrefillShape['worstResidual'] = null
  for (const { promptTokens, ttftMs } of points) {
    if (ttftMs <= 0) continue
    const share = Math.abs(ttftMs - line.intercept - line.slope * promptTokens) / ttftMs
    if (found === null || share > found.share) found = { share, promptTokens }
  }
  return found
}
