import { formatCount } from '../base/format.ts'
import { noun } from '../base/noun.ts'
import { formatDuration, formatPercent } from '../base/units.ts'
import type { ClientHealth } from '../measure/load/client-health.ts'
import type { Counts, LittleCheck } from '../measure/metrics/run-summary.ts'
import type { RowsLost } from '../measure/record/rows-lost.ts'
import type { Verdict, VerdictReason } from './verdict.ts'

/** Everything the verdict looks at, each a plain figure with its own definition elsewhere. */
export interface ValidityInput {
  /** Over the whole run. */
  readonly counts: Counts
  /** Planned requests that were due before the run was stopped by hand; the rest were never meant to be sent. */
  readonly dueRequests: number
  /** `lag_ms` of every sent request, and the limit behind which a send counts as late (`lateLimitMs`). */
  readonly lateRequests: number
  readonly lateLimitMs: number
  readonly health: ClientHealth
  /** How long the measured window is, ms. */
  readonly windowMs: number
  /** Rows of sent requests that the run folder no longer holds. */
  readonly rowsLost?: RowsLost | null
  /** Whether the file of the rows is not the one that was written, by its sum. */
  readonly rowsAltered?: boolean
  /** The client's record of itself is lost, as that of a run that was killed: only the lag of its sends is known. */
  readonly clientLost?: boolean
  /** Why the run ended by itself before its plan did (nearly everything failed), or null. */
  readonly stoppedEarly?: string | null
  /** Null where the run is too short to be classified. */
  readonly steadyState: 'flat' | 'warmup' | 'slowdown' | 'no_steady_state' | null
  /** Share of prompt tokens that the server found in its cache; null when it does not say. */
  readonly cacheHitRate: number | null
  /** Whether a warm cache was asked for, so that hits are no fault. */
  readonly warmCacheAsked: boolean
  readonly little: LittleCheck | null
}

interface Limits {
  readonly invalid: number
  readonly degraded: number
}

/**
 * The limits of the verdict. DEGRADED starts at a fifth of what makes a run INVALID. `docs/verdict.md` prints this table and
 * a test holds them together.
 */
export const verdictLimits = {
  /** Share of requests sent later than `lateLimitMs`. */
  lateShare: { invalid: 0.01, degraded: 0.002 },
  /** Share of the due requests that were never sent. */
  unsentShare: { invalid: 0.05, degraded: 0.01 },
  /** Share of the sent requests whose rows are lost; any that is lost is said. */
  rowsLostShare: { invalid: 0.01, degraded: 0 },
  /** p99 of the event loop's delay, ms. */
  loopDelayP99Ms: { invalid: 20, degraded: 4 },
  /** The longest time that the client stood still, as a share of the window: what throughput is wrong by. */
  standstillShare: { invalid: 0.05, degraded: 0.01 },
  /** A shorter standstill is a scheduler's hiccup, however short the window, ms. */
  standstillLeastMs: 250,
  /** Share of one core used by the busiest worker. */
  workerCpu: 0.8,
  /** Hit rate from which a cache counts as warm although a cold one was asked for. */
  cacheHitRate: 0.05,
  /** |L − λW| ÷ L. */
  little: 0.05,
  /** Busy share of a machine that client and server have in common. */
  sharedMachineBusy: 0.9,
} as const

/**
 * Whether the client's figures may be used. INVALID: the client, not the server, set the numbers, or there are none.
 * DEGRADED: they hold, with the stated reservation. Pure: the same figures give the same verdict, live or from a run folder.
 */
export function judgeValidity(input: ValidityInput): Verdict {
  const reasons = [
    nothingSucceeded(input),
    rowsAreLost(input),
    rowsAreAltered(input),
    stoppedEarly(input),
    lateSends(input),
    loadNotSent(input),
    loopDelay(input),
    stoodStill(input),
    workerBusy(input),
    clientUnknown(input),
    notSteady(input),
    warmCache(input),
    littleViolated(input),
    sharedMachine(input),
  ].filter((reason) => reason !== null)
  const status = reasons.some((reason) => reason.status === 'INVALID')
    ? 'INVALID'
    : reasons.length > 0
      ? 'DEGRADED'
      : 'VALID'
  return { status, reasons }
}

function nothingSucceeded({ counts, clientLost, rowsLost }: ValidityInput): VerdictReason | null {
  // Of rows that are gone nobody knows whether their requests succeeded.
  if (counts.ok > 0 || rowsLost?.left === 'none') return null
  const none = clientLost === true ? 'no request is on record' : 'no request was sent'
  const which = (rowsLost ?? null) === null ? 'sent' : 'recorded'
  const message =
    counts.sent === 0 ? none : `none of ${counts.sent} ${which} ${noun(counts.sent, 'request')} succeeded`
  return { rule: 'nothing_succeeded', status: 'INVALID', message, value: counts.ok, limit: 1 }
}

/** Figures from a part of the run that nobody chose: those of its start are mostly better than those of the whole. */
function rowsAreLost({ rowsLost }: ValidityInput): VerdictReason | null {
  if (rowsLost === undefined || rowsLost === null) return null
  const { count, of, left, isSummarized } = rowsLost
  const share = count / of
  const kept = isSummarized ? '; what was measured when it ended is kept under summary in run.json' : ''
  const rest = {
    none: 'nothing is left to judge',
    start: 'those that are left are of its start, and so are the figures',
    some: 'the figures are those of the rest',
  }[left]
  return graded('rows_lost', share, verdictLimits.rowsLostShare, (limit) => {
    const limited = limit > 0 && left !== 'none' ? ` (limit ${formatPercent(limit)})` : ''
    const part = count === of ? 'all' : `${formatCount(count)} of`
    return `the rows of ${part} ${formatCount(of)} sent ${noun(of, 'request')} are lost${limited}: ${rest}${kept}`
  })
}

/** How far the figures are off, no one knows: rows that read well may hold anything. */
function rowsAreAltered({ rowsAltered }: ValidityInput): VerdictReason | null {
  if (rowsAltered !== true) return null
  const message =
    'requests.parquet is not the file that was written (its checksum differs): it was damaged, or another program wrote it; the figures are of what it holds now, those measured when the run ended are under summary in run.json'
  return { rule: 'rows_altered', status: 'DEGRADED', message, value: null, limit: null }
}

function stoppedEarly({ stoppedEarly: why }: ValidityInput): VerdictReason | null {
  if (why === undefined || why === null) return null
  return { rule: 'stopped_early', status: 'INVALID', message: why, value: null, limit: null }
}

/** One late send is no share of anything: a scheduler's hiccup. From two on, the share decides. */
function lateSends({ counts, lateRequests, lateLimitMs: limitMs }: ValidityInput): VerdictReason | null {
  if (lateRequests < 2 || counts.sent === 0) return null
  const share = lateRequests / counts.sent
  return graded(
    'late_sends',
    share,
    verdictLimits.lateShare,
    (limit) =>
      `${formatPercent(share)} of the requests were sent more than ${milliseconds(limitMs)} after their time (limit ${formatPercent(limit)})`,
  )
}

function loadNotSent({ counts, dueRequests }: ValidityInput): VerdictReason | null {
  if (dueRequests === 0) return null
  const share = Math.max(0, dueRequests - counts.sent) / dueRequests
  return graded(
    'load_not_sent',
    share,
    verdictLimits.unsentShare,
    (limit) => `${formatPercent(share)} of the planned load was never sent (limit ${formatPercent(limit)})`,
  )
}

function loopDelay({ health }: ValidityInput): VerdictReason | null {
  const p99 = health.loop_delay_ms.p99
  if (p99 === null) return null
  return graded(
    'loop_delay',
    p99,
    verdictLimits.loopDelayP99Ms,
    (limit) => `the event loop was late by ${milliseconds(p99)} at p99 (limit ${milliseconds(limit)})`,
  )
}

/**
 * Stopped and continued (Ctrl-Z), a machine that was paused, a container out of its CPU time: one delay among thousands, which no
 * percentile sees, and in a closed loop no late send either.
 */
function stoodStill({ health, windowMs }: ValidityInput): VerdictReason | null {
  const longest = health.loop_delay_ms.max
  if (longest === null || longest < verdictLimits.standstillLeastMs || windowMs <= 0) return null
  const share = Math.min(1, longest / windowMs)
  return graded(
    'stood_still',
    share,
    verdictLimits.standstillShare,
    (limit) =>
      `the client stood still for ${formatDuration(longest)} at a stretch, ${formatPercent(share)} of the window (limit ${formatPercent(limit)})`,
  )
}

function workerBusy({ health }: ValidityInput): VerdictReason | null {
  const busiest = health.cpu.worker_max
  if (busiest === null || busiest <= verdictLimits.workerCpu) return null
  return degraded(
    'worker_busy',
    busiest,
    verdictLimits.workerCpu,
    `a worker used ${formatPercent(busiest)} of its core (limit ${formatPercent(verdictLimits.workerCpu)})`,
  )
}

function clientUnknown({ clientLost }: ValidityInput): VerdictReason | null {
  if (clientLost !== true) return null
  const message =
    'the client’s record of itself is lost, for the run was killed or could not be stored: only the lag of its sends is known'
  return degraded('client_unknown', null, null, message)
}

function notSteady({ steadyState }: ValidityInput): VerdictReason | null {
  if (steadyState !== 'no_steady_state') return null
  return degraded(
    'not_steady',
    null,
    null,
    'the run did not reach a steady state: its figures depend on when it ended',
  )
}

function warmCache({ cacheHitRate, warmCacheAsked }: ValidityInput): VerdictReason | null {
  if (warmCacheAsked || cacheHitRate === null || cacheHitRate <= verdictLimits.cacheHitRate) return null
  return degraded(
    'warm_cache',
    cacheHitRate,
    verdictLimits.cacheHitRate,
    `${formatPercent(cacheHitRate)} of the prompt tokens came from the server's cache although a cold one was asked for`,
  )
}

function littleViolated({ little }: ValidityInput): VerdictReason | null {
  const off = little?.discrepancy ?? null
  if (off === null || off <= verdictLimits.little) return null
  return degraded(
    'little_violated',
    off,
    verdictLimits.little,
    `requests in flight and arrival rate × time differ by ${formatPercent(off)} (limit ${formatPercent(verdictLimits.little)}): clocks or counts are off`,
  )
}

function sharedMachine({ health }: ValidityInput): VerdictReason | null {
  const busy = health.cpu.machine
  if (!health.same_machine || busy === null || busy <= verdictLimits.sharedMachineBusy) return null
  return degraded(
    'shared_machine',
    busy,
    verdictLimits.sharedMachineBusy,
    `client and server share a machine that was ${formatPercent(busy)} busy (limit ${formatPercent(verdictLimits.sharedMachineBusy)})`,
  )
}

function graded(
  rule: string,
  value: number,
  limits: Limits,
  message: (limit: number) => string,
): VerdictReason | null {
  if (value >= limits.invalid)
    return { rule, status: 'INVALID', message: message(limits.invalid), value, limit: limits.invalid }
  return value >= limits.degraded ? degraded(rule, value, limits.degraded, message(limits.degraded)) : null
}

function degraded(rule: string, value: number | null, limit: number | null, message: string): VerdictReason {
  return { rule, status: 'DEGRADED', message, value, limit }
}

function milliseconds(ms: number): string {
  return `${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)} ms`
}
