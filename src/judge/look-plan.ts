import type { DecisionTails } from '../measure/metrics/decision-tails.ts'
import { divide, parseRational, rational, type Rational } from '../stats/rational.ts'

/** What a point of a search ends as. */
export type PointDecision = 'holds' | 'fails' | 'undecided'

/** How the error of a whole search is spent on its looks. */
export interface LookBudget {
  /** The chance that any end of the search's answer is wrong, for each end: "5%". */
  readonly error: string
  /** The most points that the search tries. */
  readonly points: number
  /** The most looks at a point. */
  readonly looks: number
  /** Limits that are judged apart: missing any of them fails a point. */
  readonly parts: number
}

/**
 * The tails of one look: error ÷ (points · looks), and for a miss also ÷ parts, since a point is missed when any part is and kept only
 * when all are (intersection–union test, Berger 1982). By Boole's inequality (Bonferroni's correction, Dunn 1961) no search is then
 * wrong at an end more often than `error`, however its looks and points hang together and whenever they stop it.
 *
 * @example
 * lookTails({ error: '5%', points: 10, looks: 5, parts: 1 }).kept.den // 1000n
 */
export function lookTails({ error, points, looks, parts }: LookBudget): DecisionTails {
  const kept = divide(shareOf(error), rational(points * looks))
  return { kept, missed: divide(kept, rational(Math.max(1, parts))) }
}

function shareOf(percent: string): Rational {
  return divide(parseRational(percent.replace('%', '')), rational(100n))
}

/** When a point is looked at: numbers of requests of its window, in order of intended send. */
export interface LookSchedule {
  /** Rising; none twice. */
  readonly counts: readonly number[]
  /** From this count on a look may say that the objective holds; before it only that it fails. */
  readonly holdsFrom: number
}

/**
 * The looks at a point: one as soon as anything can be decided, then from `holdsFrom` on at doubled counts, the last at `most`, at
 * most `looks` in all. The schedule is fixed before the first request, so it cannot follow what is seen.
 *
 * @example
 * lookSchedule({ first: 132, holdsFrom: 660, most: 2112, looks: 5 }).counts // [132, 660, 1320, 2112]
 */
export function lookSchedule(asked: {
  readonly first: number
  readonly holdsFrom: number
  readonly most: number
  readonly looks: number
}): LookSchedule {
  const { looks } = asked
  const most = Math.max(1, asked.most)
  const first = Math.min(asked.first, most)
  const holdsFrom = Math.min(Math.max(first, asked.holdsFrom), most)
  const counts: number[] = first < holdsFrom ? [first] : []
  for (let count = holdsFrom; count < most && counts.length < looks - 1; count *= 2) counts.push(count)
  counts.push(most)
  return { counts, holdsFrom }
}

/** What was seen at a look. */
export interface Look {
  /** Over the first `counts[i]` requests, at the tails of `lookTails`. */
  readonly met: 'yes' | 'no' | 'inconclusive' | null
  /** Requests in flight grow: what holds now will not. */
  readonly growing: boolean
}

export interface LookedAt {
  readonly decision: PointDecision
  /** Looks that were taken. */
  readonly looks: number
  /** Requests at the last of them. */
  readonly requests: number
}

/**
 * Looks in turn until one decides; null when a look cannot be taken yet (`lookAt` answers null). A queue that still grows holds nothing;
 * that a server cannot keep up is no chance finding, so such a look leaves the point open.
 */
export function decideByLooks(
  { counts, holdsFrom }: LookSchedule,
  lookAt: (count: number) => Look | null,
): LookedAt | null {
  for (const [at, count] of counts.entries()) {
    const look = lookAt(count)
    if (look === null) return null
    const taken = { looks: at + 1, requests: count }
    if (look.met === 'no') return { decision: 'fails', ...taken }
    if (look.met === 'yes' && !look.growing && count >= holdsFrom) return { decision: 'holds', ...taken }
  }
  return { decision: 'undecided', looks: counts.length, requests: counts.at(-1) ?? 0 }
}
