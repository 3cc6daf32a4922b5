import { formatPercent } from '../../base/units.ts'
import type { Warning } from '../../base/warnings.ts'
import { kishEffectiveSize } from '../../stats/describe.ts'
import { compare, rational, subtract } from '../../stats/rational.ts'
import { percentile as percentileOf, percentileShare, sortAscending } from '../../stats/percentile.ts'
import type { Rows } from '../record/rows.ts'
import { lengthening, type RunEnds } from './lengthening.ts'
import type { LittleCheck, MetricSummary, Stutter, Weighting } from './run-summary.ts'

/** What the warnings look at: the window's rows in order of intended send, and what was already computed of them. */
export interface WarningFacts {
  readonly rows: Rows
  /** The highest percentile that the objective is about, or that is headlined: "99". */
  readonly percentile: string
  readonly ttft: MetricSummary
  readonly windowMs: number
  /** What ended the run, and so what a longer one is asked by. */
  readonly ends: RunEnds
  readonly weighting: Weighting
  readonly stutter: Stutter
  readonly little: LittleCheck | null
  readonly cacheHitRate: number | null
  /** Share of pooled gaps under 1 ms, how many gaps there are, and their mean, ms. */
  readonly shortGaps: { readonly share: number; readonly gaps: number; readonly meanMs: number | null }
}

/** Findings that the rows alone show. Thresholds of the traps are those of `docs/` and stats: each in its function. */
export function summaryWarnings(facts: WarningFacts): readonly Warning[] {
  return [
    fewSamples(facts),
    survivorsOnly(facts),
    timeoutsPiled(facts),
    notStreamed(facts),
    tokensNotFromServer(facts),
    tokenCountDisagrees(facts),
    messagesNotTokens(facts),
    lengthsNotAsAsked(facts),
    weightingsDiffer(facts),
    prefixCache(facts),
    proxyBuffering(facts),
    stutters(facts),
    littleViolated(facts),
    rateNotReached(facts),
    keepAliveBroken(facts),
  ].filter((warning) => warning !== null)
}

function warning(
  kind: Warning['kind'],
  message: string,
  evidence: Warning['evidence'],
  cause: string | null = null,
  next: string | null = null,
): Warning {
  return { kind, message, cause, next, evidence }
}

/** n(1 − p) < 100: the tail of the percentile holds too few requests to know it to 10 %. */
function fewSamples({ ttft, percentile, windowMs, ends }: WarningFacts): Warning | null {
  const share = percentileShare(percentile)
  const beyond = (ttft.n * Number(share.den - share.num)) / Number(share.den)
  if (ttft.n === 0 || beyond >= 100) return null
  const needed = Number((100n * share.den + (share.den - share.num) - 1n) / (share.den - share.num))
  return warning(
    'few_samples',
    `only ${figure(beyond)} of ${count(ttft.n)} requests lie beyond the P${percentile}; 100 make it steady`,
    { n: ttft.n, percentile, beyond, needed },
    'the run is short for this percentile',
    `${lengthening(ends, needed, ttft.n, windowMs)}, or judge a lower percentile`,
  )
}

/** Failures are at least 1 − p of all attempts: over all attempts the percentile is a failure, not a latency. */
function survivorsOnly({ rows, percentile }: WarningFacts): Warning | null {
  let attempts = 0
  let failures = 0
  for (const row of rows) {
    if (row.outcome === 'unsent') continue
    attempts++
    if (!row.ok) failures++
  }
  if (failures === 0) return null
  const tail = subtract(rational(1n), percentileShare(percentile))
  if (compare(rational(BigInt(failures), BigInt(attempts)), tail) < 0) return null
  return warning(
    'survivors_only',
    `${formatPercent(failures / attempts)} of ${count(attempts)} requests did not succeed, so over all attempts the P${percentile} is a failure`,
    { attempts, failures, percentile },
    'percentiles over successes leave out the requests that fared worst',
    'read the percentiles over all attempts beside them',
  )
}

/** At least 1 % of the attempts ended at a time limit of the client: the tail is that limit. */
function timeoutsPiled({ rows }: WarningFacts): Warning | null {
  const byKind = new Map<string, number>()
  for (const row of rows) {
    if (row.error_kind?.startsWith('timeout') === true) {
      byKind.set(row.error_kind, (byKind.get(row.error_kind) ?? 0) + 1)
    }
  }
  const [worst] = [...byKind].sort((a, b) => b[1] - a[1])
  if (worst === undefined || worst[1] < 3 || worst[1] < rows.length / 100) return null
  return warning(
    'timeouts_piled',
    `${count(worst[1])} of ${count(rows.length)} requests ended at the client's own limit (${worst[0]})`,
    { kind: worst[0], timeouts: worst[1], requests: rows.length },
    'how long they would have taken is not known',
    'raise the timeout, or lower the load',
  )
}

function notStreamed({ rows }: WarningFacts): Warning | null {
  const whole = rows.reduce((sum, row) => sum + (row.ok && row.flags.includes('not_streamed') ? 1 : 0), 0)
  if (whole === 0) return null
  return warning(
    'not_streamed',
    `${count(whole)} of ${count(rows.length)} answers came whole although a stream was asked: they have no TTFT and no TPOT`,
    { not_streamed: whole, requests: rows.length },
    'the server or a proxy in front of it does not stream',
    'their goodput is unknown; ask the server itself, or judge e2e alone',
  )
}

function tokensNotFromServer({ rows }: WarningFacts): Warning | null {
  let other = 0
  let ok = 0
  let imported = 0
  for (const row of rows) {
    if (!row.ok) continue
    ok++
    if (row.tokens_source === 'server') continue
    other++
    if (row.flags.includes('imported')) imported++
  }
  if (other === 0) return null
  return warning(
    'tokens_not_from_server',
    `the tokens of ${count(other)} of ${count(ok)} answers were not counted by the server`,
    { requests: other, ok },
    imported === other
      ? 'the file has no count of the server for them, or none that can be'
      : 'the server sends no usage; counted events may carry several tokens each',
    'a server that understands stream_options.include_usage, or --tokenizer',
  )
}

function tokenCountDisagrees({ rows }: WarningFacts): Warning | null {
  let compared = 0
  let off = 0
  for (const row of rows) {
    if (!row.ok || row.event_tokens === null || row.completion_tokens === null) continue
    compared++
    const counted = row.event_tokens.reduce((sum, tokens) => sum + tokens, 0)
    if (Math.abs(counted - row.completion_tokens) > Math.max(1, 0.05 * row.completion_tokens)) off++
  }
  if (off === 0) return null
  return warning(
    'token_count_disagrees',
    `in ${count(off)} of ${count(compared)} answers the running token counts do not add up to the final one`,
    { requests: off, compared },
    'tokens that were never shown (reasoning, a stop sequence) or events that were lost',
  )
}

/** Tokens ÷ output events > 1.05: gaps between events are not gaps between tokens. */
function messagesNotTokens({ rows }: WarningFacts): Warning | null {
  let tokens = 0
  let events = 0
  for (const row of rows) {
    if (
      !row.ok ||
      row.tokens_source === 'events' ||
      row.completion_tokens === null ||
      row.n_output_chunks === 0
    )
      continue
    tokens += row.completion_tokens
    events += row.n_output_chunks
  }
  if (events === 0 || tokens / events <= 1.05) return null
  return warning(
    'messages_not_tokens',
    `an output event carries ${figure(tokens / events)} tokens on average: gaps are between events, TPOT is per token`,
    { tokens, events, ratio: tokens / events },
    'speculative decoding, several steps an event, tokens that end inside a character, or a proxy that joins them',
    'compare TPOT, or itl_per_token, not gaps',
  )
}

/** Mean |N − asked| over 5 % of what was asked. */
function lengthsNotAsAsked({ rows }: WarningFacts): Warning | null {
  let asked = 0
  let off = 0
  let requests = 0
  let shorter = 0
  for (const row of rows) {
    if (!row.ok || row.asked_output_tokens === null || row.completion_tokens === null) continue
    if (row.tokens_source === 'events') continue
    requests++
    asked += row.asked_output_tokens
    off += Math.abs(row.completion_tokens - row.asked_output_tokens)
    if (row.completion_tokens < row.asked_output_tokens) shorter++
  }
  if (requests === 0 || asked === 0 || off / asked <= 0.05) return null
  return warning(
    'lengths_not_as_asked',
    `answers differ by ${formatPercent(off / asked)} from the asked lengths; ${count(shorter)} of ${count(requests)} are shorter`,
    { requests, shorter, asked_tokens: asked, difference: off / asked },
    'the model stops by itself, or the server ignores ignore_eos and min_tokens',
    'compare runs by TPOT and per-token rates, not by E2E',
  )
}

/** Typical user and typical token differ by over 20 %, or a few long answers make up the tokens (Kish's n under half of n). */
function weightingsDiffer({ rows, weighting }: WarningFacts): Warning | null {
  const { per_request: user, per_token: token } = weighting
  if (user === null || token === null || token === 0) return null
  const gaps: number[] = []
  for (const row of rows) if (row.tpot_ms !== null && row.ok) gaps.push((row.completion_tokens ?? 1) - 1)
  const effective = kishEffectiveSize(gaps)
  const differs = Math.abs(user - token) > 0.2 * Math.min(user, token)
  const few = effective !== null && gaps.length >= 10 && effective < gaps.length / 2
  if (!differs && !few) return null
  return warning(
    'weightings_differ',
    differs
      ? `TPOT is ${figure(user)} ms for a typical user and ${figure(token)} ms for a typical token`
      : `the tokens come from few long answers: ${count(Math.round(effective ?? 0))} effective of ${count(gaps.length)} requests`,
    { per_request_ms: user, per_token_ms: token, n_eff: effective, requests: gaps.length },
    user > token ? 'long answers are faster per token here' : 'long answers are slower per token here',
    'say which of the two a limit is about',
  )
}

/** Over 5 % of the prompt tokens were in the cache, or repeats of a prompt came at under 0.7 of its first TTFT. */
function prefixCache({ rows, cacheHitRate }: WarningFacts): Warning | null {
  const repeats = repeatRatio(rows)
  const hit = cacheHitRate !== null && cacheHitRate > 0.05
  const fast = repeats !== null && repeats.ratio < 0.7
  if (!hit && !fast) return null
  return warning(
    'prefix_cache',
    hit
      ? `${formatPercent(cacheHitRate ?? 0)} of the prompt tokens came from the server's prefix cache`
      : `repeats of a prompt have a median TTFT of ${figure(repeats?.ratio ?? 0)} times its first sight`,
    { hit_rate: cacheHitRate, repeat_ratio: repeats?.ratio ?? null, repeats: repeats?.repeats ?? 0 },
    'prompts, or their beginnings, were seen before',
    'a fresh --salt keeps the cache cold; --warm-prefix says that a warm one is meant',
  )
}

function repeatRatio(rows: Rows): { ratio: number; repeats: number } | null {
  const first: number[] = []
  const repeat: number[] = []
  const seen = new Set<string>()
  for (const row of rows) {
    if (row.prompt_id === null || row.ttft_ms === null || row.lag_ms === null || !row.ok) continue
    if (seen.has(row.prompt_id)) repeat.push(row.ttft_ms - row.lag_ms)
    else first.push(row.ttft_ms - row.lag_ms)
    seen.add(row.prompt_id)
  }
  const [firstMedian, repeatMedian] = [
    percentileOf(sortAscending(first), '50'),
    percentileOf(sortAscending(repeat), '50'),
  ]
  if (firstMedian === null || repeatMedian === null || repeat.length < 3 || firstMedian <= 0) return null
  return { ratio: repeatMedian / firstMedian, repeats: repeat.length }
}

/**
 * At least 20 % of the gaps are under 1 ms: events are held back and let go in bundles. Not where the mean gap is under 3 ms too: a
 * small model is as fast as that, and its short gaps are its tokens.
 */
function proxyBuffering({ shortGaps }: WarningFacts): Warning | null {
  if (shortGaps.gaps < 20 || shortGaps.share < 0.2) return null
  if (shortGaps.meanMs !== null && shortGaps.meanMs < 3) return null
  return warning(
    'proxy_buffering',
    `${formatPercent(shortGaps.share)} of ${count(shortGaps.gaps)} gaps are under 1 ms: events arrive in bundles`,
    { share: shortGaps.share, gaps: shortGaps.gaps },
    'a proxy that buffers, or a server that writes several events at once',
    'TTFT and gaps then belong to the buffer; TPOT over whole answers still holds',
  )
}

/** At least 1 % of the streams have a gap over five times their median. */
function stutters({ stutter }: WarningFacts): Warning | null {
  if (stutter.streams === 0 || stutter.stuttering_streams < stutter.streams / 100) return null
  if (stutter.stuttering_streams === 0) return null
  return warning(
    'stutter',
    `${count(stutter.stuttering_streams)} of ${count(stutter.streams)} streams paused for over 5 times their median gap`,
    {
      streams: stutter.streams,
      stuttering: stutter.stuttering_streams,
      worst_ms: stutter.gap_max_ms,
      worst_share: stutter.worst_gap_share_max,
    },
    "other requests' prefills, preemption, or a stall",
  )
}

/** L and λW differ by over 5 %. */
function littleViolated({ little }: WarningFacts): Warning | null {
  if (little === null || little.discrepancy === null || little.discrepancy <= 0.05) return null
  return warning(
    'little_violated',
    `in flight ${figure(little.in_flight_mean)} is not arrival ${figure(little.arrival_per_s)}/s × time ${figure(little.time_in_system_s)} s: they differ by ${formatPercent(little.discrepancy)}`,
    { in_flight: little.in_flight_mean, discrepancy: little.discrepancy },
    'stamps of different clocks, or rows that lack their end',
  )
}

/**
 * Sent at over 5 % below the planned rate. Rates are (n − 1) ÷ (last − first send). In a closed loop the plan follows the server
 * and the two agree by definition.
 */
function rateNotReached({ rows }: WarningFacts): Warning | null {
  const rates = sendRates(rows)
  if (rates === null || rates.shortfall <= 0.05) return null
  return warning(
    'rate_not_reached',
    `${figure(rates.plannedPerSecond)} requests/s were planned and ${figure(rates.sentPerSecond)} sent, ${formatPercent(rates.shortfall)} fewer`,
    {
      planned_per_s: rates.plannedPerSecond,
      sent_per_s: rates.sentPerSecond,
      shortfall: rates.shortfall,
    },
    'the client, or a limit on its connections, did not keep up',
    'more --workers, or a machine of its own for the client',
  )
}

/** Planned and achieved rate of sends, per second, over the requests that were sent; null for fewer than two. */
export function sendRates(
  rows: Rows,
): { readonly plannedPerSecond: number; readonly sentPerSecond: number; readonly shortfall: number } | null {
  let n = 0
  let [firstPlanned, lastPlanned] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  let [firstSent, lastSent] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const row of rows) {
    if (row.planned_ms === null || row.sent_ms === null) continue
    n++
    firstPlanned = Math.min(firstPlanned, row.planned_ms)
    lastPlanned = Math.max(lastPlanned, row.planned_ms)
    firstSent = Math.min(firstSent, row.sent_ms)
    lastSent = Math.max(lastSent, row.sent_ms)
  }
  if (n < 2 || lastPlanned <= firstPlanned || lastSent <= firstSent) return null
  const plannedPerSecond = ((n - 1) * 1000) / (lastPlanned - firstPlanned)
  const sentPerSecond = ((n - 1) * 1000) / (lastSent - firstSent)
  return { plannedPerSecond, sentPerSecond, shortfall: 1 - sentPerSecond / plannedPerSecond }
}

function keepAliveBroken({ rows }: WarningFacts): Warning | null {
  const stale = rows.reduce((sum, row) => sum + (row.flags.includes('stale_connection_retried') ? 1 : 0), 0)
  if (stale === 0 || stale < rows.length / 100) return null
  return warning(
    'keep_alive_broken',
    `${count(stale)} of ${count(rows.length)} requests found their kept-alive connection closed and were sent again on a new one`,
    { requests: rows.length, stale },
    'the server closes connections although it promises to keep them',
  )
}

function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',')
}

function figure(value: number): string {
  const magnitude = Math.abs(value)
  return value.toFixed(magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : 2).replace(/\.0+$/, '')
}
