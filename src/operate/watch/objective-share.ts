import type { Limit, Objective } from '../../measure/metrics/objective.ts'
import { describeLimit, describeRunLimit } from '../../measure/metrics/objective.ts'
import { bucketAt, type HistogramValue } from '../../measure/wire/prometheus-histogram.ts'
import { add, compare, parseRational, rational, subtract, type Rational } from '../../stats/rational.ts'
import { burnRate, exceeds, type BurnRate } from '../slo/burn.ts'

const zero: Rational = { num: 0n, den: 1n }
const one: Rational = { num: 1n, den: 1n }

/** An objective as histograms can answer it: limits that must hold together for a share of the requests. */
export interface SharedObjective {
  readonly text: string
  /** The share that must be good, exact. */
  readonly target: Rational
  readonly limits: readonly Limit[]
  /** Whether a request without an answer is a bad one: a limit on a percentile speaks of the answered ones. */
  readonly answers: boolean
}

/** Per-request limits are one objective, held jointly; `p99 tpot <= 10ms` asks that 99 % of the requests are within 10 ms. */
export function sharedObjectives(objective: Objective): readonly SharedObjective[] {
  const { each, run, good } = objective
  const joint: SharedObjective[] =
    each.length === 0
      ? []
      : [
          {
            text: each.map(describeLimit).join(' and '),
            target: parseRational(good ?? '99%'),
            limits: each,
            answers: true,
          },
        ]
  return [
    ...joint,
    ...run.map((limit) => ({
      text: describeRunLimit(limit),
      target: parseRational(`${limit.percentile}%`),
      limits: [limit],
      answers: false,
    })),
  ]
}

/** A share known between two ends, with the count that it rests on. */
export interface ShareBetween {
  readonly low: Rational
  readonly high: Rational
  readonly n: number
}

/**
 * The share of observations within a limit: exact where a bucket ends there, else between the neighbours. A bucket counts what is at or
 * under its bound, so `<` and `<=` are one here. Null without observations.
 */
export function shareWithin(histogram: HistogramValue | null, limitMs: number): ShareBetween | null {
  if (histogram === null) return null
  const total = histogram.count ?? histogram.buckets.at(-1)?.count ?? 0
  if (!(total > 0)) return null
  const found = bucketAt(histogram, limitMs / 1000)
  const countOf = (le: string | null, otherwise: number): number =>
    le === null ? otherwise : (histogram.buckets.find(({ leText }) => leText === le)?.count ?? otherwise)
  const [low, high] =
    found.kind === 'found' ? [found.good, found.good] : [countOf(found.below, 0), countOf(found.above, total)]
  const share = (count: number): Rational => rational(Math.round(Math.min(count, total)), Math.round(total))
  return { low: share(low), high: share(high), n: total }
}

/**
 * The same with those who got no answer: they are in no histogram, so that a good request is one that was answered and within every
 * limit. Where a limit's share is not known, the failures alone bound it from above; null where nothing failed either.
 */
export function jointWithAnswers(
  shares: readonly (ShareBetween | null)[],
  answered: ShareBetween | null,
): ShareBetween | null {
  if (answered === null) return jointShare(shares)
  if (shares.every((share) => share !== null)) return jointShare([...shares, answered])
  return compare(answered.high, one) < 0 ? { low: zero, high: answered.high, n: answered.n } : null
}

/** What the shares of each limit alone say of all together (Fréchet): from max(0, Σ − (k − 1)) to the least. Null where one is unknown. */
export function jointShare(shares: readonly (ShareBetween | null)[]): ShareBetween | null {
  if (shares.length === 0) return null
  let low = rational(1 - shares.length)
  let high = one
  let n = Number.POSITIVE_INFINITY
  for (const share of shares) {
    if (share === null) return null
    low = add(low, share.low)
    if (compare(share.high, high) < 0) high = share.high
    n = Math.min(n, share.n)
  }
  return { low: compare(low, zero) < 0 ? zero : low, high, n }
}

/** Burn rates at the two ends: the fewest bad and the most. */
export function burnBetween(
  share: ShareBetween,
  target: Rational,
): { readonly low: BurnRate; readonly high: BurnRate } {
  return {
    low: burnRate(subtract(one, share.high), target),
    high: burnRate(subtract(one, share.low), target),
  }
}

export interface AlertRule {
  readonly name: string
  readonly factor: string
  readonly comparator: '>' | '>='
}

/** The seed's page, and that of the SRE workbook (chapter 5) on the same pair of windows. */
export const pageRules: readonly AlertRule[] = [
  { name: 'lesson', factor: '6', comparator: '>=' },
  { name: 'sre-workbook', factor: '14.4', comparator: '>' },
]

/** `may_fire`: the histograms cannot tell. Null: a window is not full yet, or nobody asked. */
export type AlertState = 'fires' | 'may_fire' | 'quiet' | null

/** Whether a page would be out: both windows have to be over. */
export function alertState(
  rule: AlertRule,
  windows: readonly ({ readonly low: BurnRate; readonly high: BurnRate } | null)[],
): AlertState {
  const over = (burn: BurnRate): boolean => exceeds(burn, rule.factor, rule.comparator)
  const known = windows.filter((window) => window !== null)
  if (known.some(({ high }) => !over(high))) return 'quiet'
  if (known.length < windows.length) return null
  return known.every(({ low }) => over(low)) ? 'fires' : 'may_fire'
}
