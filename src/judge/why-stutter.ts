import { stutterFactor } from '../measure/metrics/stutter.ts'
import type { RequestRow } from '../measure/record/request-row.ts'
import type { Rows } from '../measure/record/rows.ts'
import { median } from '../stats/describe.ts'

/** A pause inside a stream. Times in ms on the run's clock. */
export interface Pause {
  readonly id: string
  /** The event before it, and after it. */
  readonly fromMs: number
  readonly toMs: number
  readonly gapMs: number
  /** Of the stream. */
  readonly medianGapMs: number
  /** The request whose first token came in the pause: the one with the longest prompt; null: none. */
  readonly prefill: { readonly id: string; readonly promptTokens: number | null } | null
}

/** Streams that paused together. */
export interface PauseMoment {
  readonly atMs: number
  readonly streams: number
  readonly longestMs: number
  /** A first token fell into it. */
  readonly prefill: boolean
}

/** Which streams paused, when, and with what. */
export interface StutterCauses {
  readonly streams: number
  readonly pausedStreams: number
  readonly pauses: readonly Pause[]
  /** Pauses in which another request's first token came. */
  readonly withPrefill: number
  /** How many would by chance: the same pauses, all first tokens moved by parts of the run. */
  readonly byChance: number
  /** Median prompt tokens of those prefills, and of all requests. */
  readonly prefillTokens: number | null
  readonly usualTokens: number | null
  readonly moments: readonly PauseMoment[]
}

/** The end of a step and what it brings are read a little apart. */
const slackMs = 2
const shifts = [0.13, 0.29, 0.41, 0.57, 0.71, 0.83] as const

/**
 * A pause is a gap of over five times its stream's median gap (of those above 0), the same rule by which streams are said to
 * stutter. It coincides with a prefill when the first token of another request arrives inside it: the step that ends such a pause is
 * the one that computed that prompt. Chance is measured by moving all first tokens round the run by six fixed parts of its length.
 */
export function stutterCauses(rows: Rows): StutterCauses {
  const streams = rows.filter((row) => row.ok && row.gaps_ms.length >= 2 && row.ttft_ms !== null)
  const first = rows
    .flatMap((row) =>
      row.planned_ms === null || row.ttft_ms === null
        ? []
        : [{ id: row.id, atMs: row.planned_ms + row.ttft_ms, promptTokens: row.prompt_tokens }],
    )
    .sort((a, b) => a.atMs - b.atMs)
  const times = Float64Array.from(first, ({ atMs }) => atMs)
  const found = streams.flatMap((row) => pausesOf(row))
  const pauses = found.map((pause): Pause => {
    const others = between(times, pause.fromMs, pause.toMs + slackMs)
      .map((i) => first[i]!)
      .filter(({ id }) => id !== pause.id)
    const longest = others.sort((a, b) => (b.promptTokens ?? 0) - (a.promptTokens ?? 0))[0]
    return {
      ...pause,
      prefill: longest === undefined ? null : { id: longest.id, promptTokens: longest.promptTokens },
    }
  })
  const tokens = (values: readonly (number | null)[]): number | null =>
    median(values.filter((value) => value !== null))
  return {
    streams: streams.length,
    pausedStreams: new Set(pauses.map(({ id }) => id)).size,
    pauses,
    withPrefill: pauses.filter(({ prefill }) => prefill !== null).length,
    byChance: byChance(found, times),
    prefillTokens: tokens(pauses.map(({ prefill }) => prefill?.promptTokens ?? null)),
    usualTokens: tokens(first.map(({ promptTokens }) => promptTokens)),
    moments: momentsOf(pauses),
  }
}

type BarePause = Omit<Pause, 'prefill'>

function pausesOf(row: RequestRow): readonly BarePause[] {
  const typical = median(row.gaps_ms.filter((gap) => gap > 0))
  if (typical === null || row.planned_ms === null || row.ttft_ms === null) return []
  const pauses: BarePause[] = []
  let at = row.planned_ms + row.ttft_ms
  for (const gap of row.gaps_ms) {
    if (gap > stutterFactor * typical)
      pauses.push({ id: row.id, fromMs: at, toMs: at + gap, gapMs: gap, medianGapMs: typical })
    at += gap
  }
  return pauses
}

/** Indices of the sorted times in (from, to]. */
function between(times: Float64Array, from: number, to: number): number[] {
  const indices: number[] = []
  for (let i = firstAfter(times, from); i < times.length && times[i]! <= to; i++) indices.push(i)
  return indices
}

function firstAfter(times: Float64Array, from: number): number {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (times[middle]! > from) high = middle
    else low = middle + 1
  }
  return low
}

function byChance(pauses: readonly BarePause[], times: Float64Array): number {
  if (times.length < 2) return 0
  const start = times[0]!
  const length = times.at(-1)! - start
  if (length <= 0) return pauses.length
  let together = 0
  for (const part of shifts) {
    const moved = times.map((at) => start + ((at - start + part * length) % length)).sort()
    for (const { fromMs, toMs } of pauses) {
      const next = firstAfter(moved, fromMs)
      if (next < moved.length && moved[next]! <= toMs + slackMs) together++
    }
  }
  return together / shifts.length
}

/** Pauses that overlap, as one moment; the ones with most streams first. */
function momentsOf(pauses: readonly Pause[]): readonly PauseMoment[] {
  const sorted = [...pauses].sort((a, b) => a.fromMs - b.fromMs)
  const moments: { atMs: number; untilMs: number; ids: Set<string>; longestMs: number; prefill: boolean }[] =
    []
  for (const pause of sorted) {
    const last = moments.at(-1)
    // Together: there is an instant at which all of them paused.
    if (last !== undefined && pause.fromMs < last.untilMs) {
      last.ids.add(pause.id)
      last.longestMs = Math.max(last.longestMs, pause.gapMs)
      last.untilMs = Math.min(last.untilMs, pause.toMs)
      last.prefill ||= pause.prefill !== null
    } else {
      moments.push({
        atMs: pause.fromMs,
        untilMs: pause.toMs,
        ids: new Set([pause.id]),
        longestMs: pause.gapMs,
        prefill: pause.prefill !== null,
      })
    }
  }
  return moments
    .map(({ atMs, ids, longestMs, prefill }) => ({ atMs, streams: ids.size, longestMs, prefill }))
    .sort((a, b) => b.streams - a.streams || b.longestMs - a.longestMs)
}
