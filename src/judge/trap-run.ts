import type { Warning } from '../base/warnings.ts'
import { isOpenLoop } from '../measure/load/pacer.ts'
import { isCancelled, isInWindow, wholeWindow, type RunWindow } from '../measure/metrics/run-window.ts'
import type { RunManifest } from '../measure/record/manifest.ts'
import { rowValues } from '../measure/record/row-values.ts'
import type { Rows } from '../measure/record/rows.ts'
import { passingList } from '../measure/record/row-table.ts'
import { mean } from '../stats/describe.ts'
import { percentile, sortAscending } from '../stats/percentile.ts'
import { inFlightSeries, steadiness } from './steadiness.ts'
import {
  closedLoopOverload,
  coordinatedOmission,
  fewSamples,
  messagesNotTokens,
  prefixCache,
  saturatedInFlight,
  streamsBuffered,
  survivorsOnly,
  type TrapFinding,
} from './traps.ts'

export interface TrapOptions {
  /** The percentile that is read, in per cent: the objective's highest. */
  readonly percentile?: string
  /** Requests a second that the figures are to be used for. */
  readonly targetRatePerSecond?: number | null
}

/**
 * Every trap that one run's records can show, whether it was measured here or imported. Traps that need two sides (mix shift, length,
 * averages, pooled runs) are looked for where two sides are compared. A run measured live has many of them said already by its own
 * summary: `onlyNew` leaves those out.
 */
export function traps(
  rows: Rows,
  manifest: Pick<RunManifest, 'pacer' | 'window'>,
  options: TrapOptions = {},
): readonly Warning[] {
  const window = windowOf(rows, manifest)
  const inside = rows.filter((row) => isInWindow(row, window))
  const level = options.percentile ?? '99'
  const found = [
    lateSends(inside).warning,
    overload(inside, manifest, options.targetRatePerSecond ?? null).warning,
    tooFew(inside, level).warning,
    unsteady(inside, window),
    growing(rows, window, manifest).warning,
    messages(inside).warning,
    survivors(inside, level).warning,
    streamsBuffered(gapsOf(inside)).warning,
    repeats(inside).warning,
    backwards(inside),
  ]
  return found.filter((warning) => warning !== null)
}

/** The gaps of each answer, one after another: of many requests they are not all in memory at once. */
function* gapsOf(rows: Rows): Generator<ArrayLike<number>> {
  for (const row of rows) if (row.ok) yield passingList(row, 'gaps_ms')
}

/** Warnings whose kind is not among those that were said already. */
export function onlyNew(found: readonly Warning[], said: readonly Warning[]): readonly Warning[] {
  const kinds = new Set(said.map(({ kind }) => kind))
  return found.filter(({ kind }) => !kinds.has(kind))
}

function windowOf(rows: Rows, { window }: Pick<RunManifest, 'window'>): RunWindow {
  if (window !== null) return { startMs: window.start_ms, endMs: window.end_ms }
  return wholeWindow(rows) ?? { startMs: 0, endMs: 0 }
}

function lateSends(rows: Rows): TrapFinding {
  const sent = rows.filter((row) => row.planned_ms !== null && row.sent_ms !== null)
  return coordinatedOmission(
    rowValues(sent, (row) => row.planned_ms),
    rowValues(sent, (row) => row.sent_ms),
    percentile(sortAscending(rowValues(rows, (row) => (row.ok ? row.ttft_ms : null))), '50'),
  )
}

function overload(rows: Rows, { pacer }: Pick<RunManifest, 'pacer'>, rate: number | null): TrapFinding {
  const waits = mean(rowValues(rows, (row) => row.done_ms))
  if (pacer === null || isOpenLoop(pacer) || rate === null || waits === null) return nothing
  const think = (pacer.thinkTimeMs ?? 0) / 1000
  return closedLoopOverload(pacer.users, waits / 1000, rate, think)
}

function tooFew(rows: Rows, level: string): TrapFinding {
  const n = rows.filter((row) => row.ok && row.ttft_ms !== null).length
  return n === 0 ? nothing : fewSamples(n, level)
}

function unsteady(rows: Rows, window: RunWindow): Warning | null {
  const { kind, reason } = steadiness(rows, window)
  if (kind !== 'no_steady_state') return null
  return {
    kind: 'not_steady',
    message: `no steady state: ${reason}`,
    cause: 'the load outgrew the server, or it was still warming up',
    next: '--warmup or a longer --duration; a lower rate',
    evidence: { class: kind },
  }
}

/** Too short a window for a slope to mean anything: statistics reference §5 asks for seconds as samples. */
const shortestGrowth = 10

function growing(rows: Rows, window: RunWindow, { pacer }: Pick<RunManifest, 'pacer'>): TrapFinding {
  const seconds = Math.floor((window.endMs - window.startMs) / 1000)
  // A closed loop cannot grow; of an import nobody knows, and the rows decide.
  if (seconds < shortestGrowth || (pacer !== null && !isOpenLoop(pacer))) return nothing
  return saturatedInFlight(inFlightSeries(rows, window.startMs, seconds))
}

function messages(rows: Rows): TrapFinding {
  let [chunks, tokens] = [0, 0]
  for (const row of rows) {
    if (!row.ok || row.tokens_source !== 'server' || row.n_output_chunks === 0) continue
    chunks += row.n_output_chunks
    tokens += row.completion_tokens ?? 0
  }
  return messagesNotTokens(chunks, tokens)
}

function survivors(rows: Rows, level: string): TrapFinding {
  const attempts = rows.filter((row) => row.outcome !== 'unsent' && !isCancelled(row))
  return survivorsOnly(attempts.length, attempts.filter((row) => !row.ok).length, level)
}

/** The first request of each prompt against those that came after it was answered. */
function repeats(rows: Rows): TrapFinding {
  const first = new Map<string, number>()
  const seen: number[] = []
  const again: number[] = []
  for (const row of rows) {
    if (!row.ok || row.prompt_id === null || row.ttft_ms === null) continue
    if (first.has(row.prompt_id)) again.push(row.ttft_ms)
    else {
      first.set(row.prompt_id, row.ttft_ms)
      seen.push(row.ttft_ms)
    }
  }
  return prefixCache(seen, again)
}

/** Times that run backwards: a wall clock that was set, or fields that were mixed up. */
function backwards(rows: Rows): Warning | null {
  const isBackward = (earlier: number | null, later: number | null): boolean =>
    earlier !== null && later !== null && later < earlier - 1e-6
  const bad = rows.filter(
    (row) =>
      isBackward(0, row.ttft_ms) ||
      isBackward(row.ttfb_ms, row.ttft_ms) ||
      isBackward(row.ttft_ms, row.e2e_ms) ||
      isBackward(row.planned_ms, row.sent_ms) ||
      hasNegative(passingList(row, 'gaps_ms')),
  )
  const [one] = bad
  if (one === undefined) return null
  return {
    kind: 'number_disagrees',
    message: `in ${bad.length} of ${rows.length} rows a time lies before one that it follows (first: ${one.id})`,
    cause: 'a wall clock that was set during the run, or fields that were mixed up',
    next: 'measure with a monotonic clock',
    evidence: { rows: bad.length, first: one.id },
  }
}

function hasNegative(gapsMs: ArrayLike<number>): boolean {
  for (let index = 0; index < gapsMs.length; index++) if ((gapsMs[index] as number) < 0) return true
  return false
}

const nothing: TrapFinding = { fires: false, stat: null, warning: null }
