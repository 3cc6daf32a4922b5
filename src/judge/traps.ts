import { noun } from '../base/noun.ts'
import { formatDuration, formatPercent } from '../base/units.ts'
import type { Warning, WarningKind } from '../base/warnings.ts'
import { decomposeLatency, endToEndMs, type LatencyParts } from '../measure/metrics/decompose-latency.ts'
import { median } from '../stats/describe.ts'
import { populationStability } from '../stats/mixture.ts'
import { nearestRank, percentileShare, type Percentile } from '../stats/percentile.ts'
import { closedThroughput } from '../stats/queueing.ts'
import { slopeTest } from '../stats/regression.ts'
import { compare, multiply, rational, subtract, toNumber } from '../stats/rational.ts'
import { runEffect } from '../stats/replication.ts'
import { classifySteadyState } from '../stats/steady-state.ts'
import { lateLimitMs } from './late-sends.ts'

/** What a trap saw. */
export interface TrapFinding {
  readonly fires: boolean
  /** The figure that was compared with the rule; null: there was nothing to compare. */
  readonly stat: number | string | null
  /** The footnote; also given, in the milder cases that a trap names, where it does not fire. */
  readonly warning: Warning | null
}

const one = rational(1n)

/** At least 1 % of the requests were sent later than `lateLimitMs` of the median TTFT after their schedule. */
export function coordinatedOmission(
  scheduledMs: ArrayLike<number>,
  sentMs: ArrayLike<number>,
  medianTtftMs: number | null,
): TrapFinding {
  const allowedMs = lateLimitMs(medianTtftMs)
  const lags = Array.from(scheduledMs, (at, i) => (sentMs[i] as number) - at)
  if (lags.length === 0) return nothing
  const share = lags.filter((lag) => lag > allowedMs).length / lags.length
  return finding('coordinated_omission', share >= 0.01, share, {
    message: `${formatPercent(share)} of ${lags.length} requests were sent more than ${formatDuration(allowedMs, 0)} after their schedule`,
    cause: 'the client waited for answers, or could not keep up',
    next: 'time from the intended send; more --workers, or a lower --request-rate',
    evidence: {
      allowed_lag_ms: allowedMs,
      worst_lag_ms: lags.reduce((worst, lag) => Math.max(worst, lag), 0),
    },
  })
}

/** A closed-loop result is used at a rate above its own throughput N ÷ (W + Z). */
export function closedLoopOverload(
  users: number,
  responseSeconds: number,
  targetRate: number,
  thinkSeconds = 0,
): TrapFinding {
  const measured = closedThroughput(users, responseSeconds, thinkSeconds)
  if (measured === null) return nothing
  return finding('closed_loop_overload', targetRate > measured, measured, {
    message: `${users} ${noun(users, 'user')} never sent more than ${figure(measured)}/s; nothing is known of ${figure(targetRate)}/s`,
    cause: 'a closed loop slows down with the server and cannot show overload',
    next: `--request-rate ${targetRate}`,
    evidence: { measured_per_s: measured, target_per_s: targetRate },
  })
}

/** Fewer than 10 values beyond a percentile: hide it. Fewer than 100: a footnote. */
export function fewSamples(n: number, p: Percentile): TrapFinding {
  const beyond = toNumber(multiply(rational(n), subtract(one, percentileShare(p))))
  const result = finding('few_samples', beyond < 100, beyond, {
    message: `${figure(beyond)} of ${n} ${noun(n, 'value')} ${noun(beyond, 'lies', 'lie')} beyond the percentile; 10 are needed to show it, 100 to know it well`,
    cause: 'the run is short',
    next: '--num-prompts or --duration',
    evidence: { n, beyond },
  })
  return { ...result, fires: beyond < 10 }
}

/** Percentiles that were computed apart differ by more than 1.25 times: their average means nothing. */
export function averagedPercentiles(values: readonly number[]): TrapFinding {
  const largest = Math.max(...values)
  const smallest = Math.min(...values)
  if (values.length < 2 || !(smallest > 0)) return nothing
  const spread = largest / smallest
  return finding('averaged_percentiles', spread > 1.25, spread, {
    message: `percentiles from ${smallest} to ${largest} cannot be averaged; the whole lies somewhere between them`,
    cause: 'a percentile of a mixture is no mean of percentiles',
    next: 'merge the records or the histograms',
    evidence: { smallest, largest },
  })
}

/** The mix moved the blended percentile (PSI > 0.1, > 10 %) while every segment stayed within 5 %. */
export function mixShift(
  before: readonly number[],
  after: readonly number[],
  segmentChange: readonly number[],
  blendedChange: number,
): TrapFinding {
  const psi = populationStability(before, after)
  const fires =
    psi > 0.1 && Math.abs(blendedChange) > 0.1 && segmentChange.every((change) => Math.abs(change) <= 0.05)
  return finding('mix_shift', fires, psi, {
    message: `the percentile moved by ${formatPercent(blendedChange)} and no segment by more than 5 %: other traffic, same service`,
    cause: 'the shares of the segments changed',
    next: 'compare within segments',
    evidence: { psi, blended_change: blendedChange },
  })
}

/** The series has no steady state, or its start belongs to a warm-up that was not cut. */
export function notSteady(binned: ArrayLike<number>): TrapFinding {
  const { kind, reason } = classifySteadyState(binned)
  return finding('not_steady', kind === 'no_steady_state', kind, {
    message: `no steady state: ${reason}`,
    cause: 'the load outgrew the server, or it was still warming up',
    next: '--warmup or a longer --duration; a lower rate',
    evidence: { class: kind },
  })
}

/** Requests in flight grow: slope with its lower end above 0, and more than 10 % of their mean over the window. */
export function saturatedInFlight(inFlightPerSecond: ArrayLike<number>): TrapFinding {
  const test = slopeTest(inFlightPerSecond)
  if (test === null) return nothing
  return finding('saturated', test.growing, test.slope, {
    message: `requests in flight grew by ${figure(test.slope)} a second [${figure(test.low)}, ${figure(test.high)}]`,
    cause: 'more arrives than is completed',
    next: 'a lower rate: these latencies depend on how long the run was',
    evidence: { slope: test.slope, low: test.low, high: test.high },
  })
}

/** Tokens of the usage ÷ messages with content above 1.05: gaps between messages are not gaps between tokens. */
export function messagesNotTokens(messages: number, usageTokens: number): TrapFinding {
  if (messages <= 0) return nothing
  const ratio = usageTokens / messages
  return finding('messages_not_tokens', ratio > 1.05, ratio, {
    message: `${usageTokens} tokens came in ${messages} messages, ${figure(ratio)} each`,
    cause: 'speculative decoding, or a server or proxy that joins tokens',
    next: 'read TPOT, not the gaps',
    evidence: { messages, tokens: usageTokens },
  })
}

/** E2E differs by more than 10 %, and more than half of that is length. */
export function lengthConfounded(first: LatencyParts, second: LatencyParts): TrapFinding {
  const parts = decomposeLatency(first, second)
  const relative = Math.abs(parts.totalMs) / Math.max(endToEndMs(second), Number.MIN_VALUE)
  const share = parts.totalMs === 0 ? 0 : parts.lengthMs / parts.totalMs
  return finding('length_confounded', relative > 0.1 && share > 0.5, share, {
    message: `${formatPercent(share)} of the ${figure(parts.totalMs)} ms between them is the length of the answers`,
    cause: 'the answers have different lengths',
    next: 'compare TTFT and TPOT, or fix the output length',
    evidence: { length_ms: parts.lengthMs, ttft_ms: parts.ttftMs, tpot_ms: parts.tpotMs },
  })
}

/** Failures are at least 1 − p of the attempts: over all of them the percentile is a failure, not a latency. */
export function survivorsOnly(attempts: number, failed: number, p: Percentile): TrapFinding {
  if (attempts <= 0) return nothing
  const allowed = subtract(one, percentileShare(p))
  const infinite = nearestRank(attempts, p) > attempts - failed
  const fires = failed > 0 && compare(rational(failed, attempts), allowed) >= 0
  return finding('survivors_only', fires, infinite ? 'Infinity' : 'finite', {
    message: `${failed} of ${attempts} ${noun(attempts, 'attempt')} failed: the percentile of the rest is that of the survivors`,
    cause: 'overload, timeouts or refusals',
    next: 'read the percentile over all attempts',
    evidence: { attempts, failed },
  })
}

/** At least a fifth of the gaps are under 1 ms: chunks were held back and released together. */
export function proxyBuffering(gapsMs: ArrayLike<number>): TrapFinding {
  return streamsBuffered([gapsMs])
}

/** The same over the gaps of many streams. */
export function streamsBuffered(streamsGapsMs: Iterable<ArrayLike<number>>): TrapFinding {
  let gaps = 0
  let short = 0
  for (const gapsMs of streamsGapsMs) {
    gaps += gapsMs.length
    for (let index = 0; index < gapsMs.length; index++) if ((gapsMs[index] as number) < 1) short++
  }
  if (gaps === 0) return nothing
  const share = short / gaps
  return finding('proxy_buffering', share >= 0.2, share, {
    message: `${formatPercent(share)} of ${gaps} gaps between messages are under 1 ms`,
    cause: 'a proxy, or the reading client, joins chunks',
    next: 'turn buffering off in the proxy, or measure behind it',
    evidence: { share, gaps },
  })
}

/** Requests were pooled over runs that differ: design effect above 2. */
export function pseudoReplication(runs: readonly (readonly number[])[]): TrapFinding {
  const effect = runEffect(runs)
  if (effect === null) return nothing
  return finding('pseudo_replication', effect.designEffect > 2, effect.designEffect, {
    message: `requests of one run are alike (ICC ${figure(effect.icc)}): each counts as 1/${figure(effect.designEffect)}`,
    cause: 'runs differ by more than chance inside them',
    next: 'compare runs, not requests: more runs',
    evidence: { icc: effect.icc, design_effect: effect.designEffect },
  })
}

/** Repeats of a prompt answer in under 0.7 of the time of its first sight (medians of TTFT). */
export function prefixCache(
  firstSeenTtftMs: ArrayLike<number>,
  repeatTtftMs: ArrayLike<number>,
): TrapFinding {
  const first = median(firstSeenTtftMs)
  const repeat = median(repeatTtftMs)
  if (first === null || repeat === null || first <= 0) return nothing
  const ratio = repeat / first
  return finding('prefix_cache', ratio < 0.7, ratio, {
    message: `repeated prompts answer in ${formatPercent(ratio)} of the time of new ones`,
    cause: 'the prefix cache holds them',
    next: 'unique prompts (the default), or say that a warm cache is meant: --warm-prefix',
    evidence: { first_ms: first, repeat_ms: repeat },
  })
}

const nothing: TrapFinding = { fires: false, stat: null, warning: null }

function finding(
  kind: WarningKind,
  fires: boolean,
  stat: number | string,
  text: Omit<Warning, 'kind'>,
): TrapFinding {
  return { fires, stat, warning: fires ? { kind, ...text } : null }
}

function figure(value: number): string {
  return String(Number(value.toPrecision(4)))
}
