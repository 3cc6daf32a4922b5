import type { EngineName } from '../../measure/load/metrics-scrape.ts'
import { rational } from '../../stats/rational.ts'
import { parseMatchers } from '../slo/label-matchers.ts'
import { sloSources, type CounterPart } from '../slo/sources.ts'
import type { ShareBetween } from './objective-share.ts'
import { counterBetween, type CountedPart, type Totals } from './running-totals.ts'

/*
 * Which requests got no answer at all: no histogram of latencies holds those. Counted from the engine's own counters (those of
 * `plimsoll slo rules`); a refused request is one without an answer.
 */

/** `possible`: those of whom the engine does not say whether it or the client gave up. */
type PartKind = 'total' | 'otherTotal' | 'failed' | 'possible'

interface CountedKind extends CountedPart {
  readonly kind: PartKind
}

const finished = 'vllm:request_success_total'

/** vLLM without its web counter, and what its finish reasons tell beside: an abort is a client that left, or a request given up. */
const vllmMore: readonly (readonly [PartKind, CounterPart])[] = [
  ['otherTotal', { metric: finished, matchers: [], example: {} }],
  ['possible', { metric: finished, matchers: ['finished_reason="abort"'], example: {} }],
]

function listed(engine: EngineName): readonly CountedKind[] {
  const { answered } = sloSources[engine]
  if (answered === null) return []
  const parts: readonly (readonly [PartKind, CounterPart])[] = [
    ...answered.total.map((part) => ['total', part] as const),
    ...answered.failed.map((part) => ['failed', part] as const),
    ...(answered.shed ?? []).map((part) => ['failed', part] as const),
    ...(engine === 'vllm' ? vllmMore : []),
  ]
  return parts.map(([kind, { metric, matchers }], at) => ({
    kind,
    key: `answered ${at}`,
    metric,
    matchers: parseMatchers(matchers.join(', ')),
  }))
}

const known: Readonly<Partial<Record<EngineName, readonly CountedKind[]>>> = Object.fromEntries(
  (['vllm', 'sglang', 'tgi', 'trtllm', 'dynamo', 'llamacpp'] as const).map((engine) => [
    engine,
    listed(engine),
  ]),
)

/** What has to be counted of an engine's pages for `answeredBetween`. */
export function answeredParts(engine: EngineName): readonly CountedPart[] {
  return known[engine] ?? []
}

/** Attempts, and those without an answer: surely, and at most. */
export interface Attempts {
  readonly total: number
  readonly failed: number
  readonly failedAtMost: number
}

/**
 * Attempts between two totals; null where the engine counts none of them. Failures of two counters may be the same requests (vLLM's
 * 5xx and its errors): the larger is certain, their sum the most.
 */
export function attemptsBetween(engine: EngineName, from: Totals, to: Totals): Attempts | null {
  const counted = (kind: PartKind): readonly number[] =>
    (known[engine] ?? [])
      .filter((part) => part.kind === kind)
      .flatMap(({ key }) => counterBetween(from, to, key) ?? [])
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
  const totals = counted('total')
  const others = totals.length > 0 ? totals : counted('otherTotal')
  if (others.length === 0) return null
  const failures = counted('failed')
  // One metric's parts exclude each other; those of two metrics may count one request twice.
  const certain = engine === 'vllm' ? Math.max(0, ...failures) : sum(failures)
  const total = sum(others)
  const failed = Math.min(total, certain)
  return { total, failed, failedAtMost: Math.min(total, sum(failures) + sum(counted('possible'))) }
}

/** The attempts of several replicas as one; null where none is known. */
export function addAttempts(attempts: readonly Attempts[]): Attempts | null {
  if (attempts.length === 0) return null
  const of = (key: keyof Attempts): number => attempts.reduce((sum, one) => sum + one[key], 0)
  return { total: of('total'), failed: of('failed'), failedAtMost: of('failedAtMost') }
}

/** The share of attempts that got an answer; null without attempts. */
export function answeredShare(attempts: Attempts | null): ShareBetween | null {
  if (attempts === null || !(attempts.total > 0)) return null
  const total = Math.round(attempts.total)
  if (total === 0) return null
  const share = (failed: number): ShareBetween['low'] =>
    rational(total - Math.min(total, Math.round(failed)), total)
  return { low: share(attempts.failedAtMost), high: share(attempts.failed), n: attempts.total }
}
