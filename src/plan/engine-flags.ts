import {
  divide,
  floor,
  multiply,
  rational,
  toRational,
  type Rational,
  type RationalInput,
} from '../stats/rational.ts'
import { retryAfterSeconds } from './retry-after.ts'

/** What the limits of one replica are derived from. */
export interface AdmissionBasis {
  /** The largest number of requests in flight that kept the objective. */
  readonly inFlight: number
  /** Requests per second that the replica carries there. */
  readonly requestsPerSecond: RationalInput
  /** Limit of the objective on TTFT, ms; null without one. */
  readonly ttftLimitMs: number | null
  /** P99 of TTFT at the operating point, ms. */
  readonly ttftP99Ms: number | null
  /** Longest time in the queue that the user allows, ms; null: from the objective. */
  readonly maxWaitMs: number | null
  /** Prompt tokens per second that prefill alone reaches; null: not measured. */
  readonly prefillTokensPerSecond: RationalInput | null
}

/** Limits of one replica, each with where it comes from. */
export interface Admission {
  /** Requests in the batch. */
  readonly maxRunning: number
  readonly maxWaitMs: number | null
  /** Requests that may wait: those that are served within the wait. */
  readonly maxQueued: number | null
  /** Running and waiting together: what vLLM's `--max-num-queued-reqs` counts. */
  readonly maxInFlight: number | null
  /** Prompt tokens that may wait for their prefill: TTFT limit × prefill rate. */
  readonly maxQueuedTokens: number | null
  /** What a 429 tells its client, seconds. */
  readonly retryAfterSeconds: number | null
  readonly why: Readonly<Record<'running' | 'wait' | 'queued' | 'queued_tokens' | 'retry_after', string>>
}

/**
 * Limits from the operating point: the batch no larger than one that passed, the queue bounded by the time that the TTFT objective
 * leaves (vLLM PR 49445 gives the same rule for `--max-num-queued-tokens`: target TTFT × prefill throughput), 429 beyond.
 */
export function admission(basis: AdmissionBasis): Admission {
  const maxRunning = Math.max(1, Math.ceil(basis.inFlight))
  const wait = allowedWait(basis)
  const rate = toRational(basis.requestsPerSecond)
  const maxQueued = wait.ms === null ? null : Number(floor(multiply(rate, toSeconds(Math.round(wait.ms)))))
  const prefill = basis.prefillTokensPerSecond
  const maxQueuedTokens =
    prefill === null || basis.ttftLimitMs === null ? null : queuedTokens(basis.ttftLimitMs, prefill)
  return {
    maxRunning,
    maxWaitMs: wait.ms,
    maxQueued,
    maxInFlight: maxQueued === null ? null : maxRunning + maxQueued,
    maxQueuedTokens,
    retryAfterSeconds: maxQueued === null ? null : retryAfterSeconds(maxQueued, basis.requestsPerSecond),
    why: {
      running: 'the largest batch that was shown to keep the objective',
      wait: wait.why,
      queued: maxQueued === null ? 'unknown without a wait' : 'requests per second × the wait, rounded down',
      queued_tokens:
        maxQueuedTokens === null
          ? 'unknown: it takes a TTFT limit and a prefill rate (--prefill-rate, plimsoll prefill)'
          : 'TTFT limit × prefill rate',
      retry_after: 'queue ÷ rate rounded up, 1 to 60 s: clients of OpenAI ignore more; add jitter',
    },
  }
}

/**
 * Prompt tokens that may wait for their prefill, for vLLM's `--max-num-queued-tokens`: TTFT limit × prefill rate, rounded down (vLLM
 * PR 49445: "approximately target_TTFT * prefill_throughput").
 */
export function queuedTokens(ttftLimitMs: number, prefillTokensPerSecond: RationalInput): number {
  return Number(floor(multiply(toRational(prefillTokensPerSecond), toSeconds(ttftLimitMs))))
}

function toSeconds(ms: number): Rational {
  return divide(toRational(ms), rational(1000n))
}

function allowedWait(basis: AdmissionBasis): { readonly ms: number | null; readonly why: string } {
  if (basis.maxWaitMs !== null) return { ms: basis.maxWaitMs, why: 'as given' }
  if (basis.ttftLimitMs === null) {
    return { ms: null, why: 'unknown: the objective does not limit TTFT; --max-wait gives one' }
  }
  if (basis.ttftP99Ms === null) return { ms: null, why: 'unknown: TTFT has no P99 at the operating point' }
  return {
    ms: Math.max(0, basis.ttftLimitMs - basis.ttftP99Ms),
    why: 'the TTFT limit less the P99 of TTFT at the operating point',
  }
}

/** Why a limit of the engine may not be recommended. */
export interface RangeCheck {
  readonly allowed: boolean
  readonly reason: 'outside_tested_range' | null
  /** The largest batch that was really tested. */
  readonly tested: number
}

/**
 * Whether a batch of `requested` was tested: the engine's own cap under the test and the sweep's users bound it, whichever is less.
 * Nothing is recommended beyond.
 */
export function batchWasTested(
  requested: number,
  tested: { readonly maxNumSeqs: number | null; readonly maxInFlight: number },
): RangeCheck {
  const most = Math.min(tested.maxNumSeqs ?? Number.POSITIVE_INFINITY, tested.maxInFlight)
  return requested <= most
    ? { allowed: true, reason: null, tested: most }
    : { allowed: false, reason: 'outside_tested_range', tested: most }
}

/** What to do instead of raising a cap past what was tested. */
export const insteadOfMore: readonly string[] = [
  'keep the cap at the operating point',
  'bound the queue by time',
  'answer 429 with Retry-After beyond it',
  'autoscale early: order the next replica a cold start ahead',
]

/** The same limits by the flags of each engine; a flag that an engine lacks is left out. */
export function engineFlags(limits: Admission): Readonly<Record<string, readonly string[]>> {
  const { maxRunning, maxQueued, maxInFlight, maxQueuedTokens } = limits
  const flag = (name: string, value: number | null): string[] => (value === null ? [] : [`${name} ${value}`])
  return {
    vllm: [
      `--max-num-seqs ${maxRunning}`,
      ...flag('--max-num-queued-reqs', maxInFlight),
      ...flag('--max-num-queued-tokens', maxQueuedTokens),
    ],
    sglang: [`--max-running-requests ${maxRunning}`, ...flag('--max-queued-requests', maxQueued)],
    tgi: [...flag('--max-concurrent-requests', maxInFlight)],
    'tensorrt-llm': [`--max_batch_size ${maxRunning}`],
    'llama.cpp': [`--parallel ${maxRunning}`],
  }
}
