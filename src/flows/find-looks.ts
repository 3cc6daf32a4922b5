import {
  decideByLooks,
  lookSchedule,
  type Look,
  type LookedAt,
  type LookSchedule,
} from '../judge/look-plan.ts'
import { inFlightSeries } from '../judge/steadiness.ts'
import { combineDecisions, type ObjectiveDecision } from '../measure/metrics/decide-objective.ts'
import type { DecisionTails } from '../measure/metrics/decision-tails.ts'
import { inOrder } from '../measure/metrics/run-window.ts'
import type { RequestRow } from '../measure/record/request-row.ts'
import type { Rows } from '../measure/record/rows.ts'
import type { Plan } from '../measure/workload/make-plan.ts'
import { slopeTest } from '../stats/regression.ts'
import { decideObjectives, type JudgedObjective } from './judged-objectives.ts'

/** When and how the points of a search are looked at. */
export interface FindLooks {
  /** Requests at the first look: twice what the objective's percentile needs for an upper end at the tail of a look. */
  readonly first: number
  /** A rate holds at the earliest after so long, ms. */
  readonly holdsFromMs: number
  /** Requests of the last look, unless `longestHolds` times `holdsFromMs` takes more. */
  readonly most: number
  readonly looks: number
  readonly tails: DecisionTails
}

/** A server's memory is a matter of seconds, not of requests: a point that stays open lasts at least so many times `holdsFromMs`. */
const longestHolds = 3

/** A queue is watched for at least so long before a rate may hold; a slope needs at least so many seconds. */
const shortestGrowthMs = 10_000
const fewestSeconds = 3

/**
 * How long a rate must be watched before it may be said to hold. At a rate that is δ above what a server can do, waits grow by δ
 * seconds a second (backlog ÷ rate, reference Q4), so that an objective on waits of L ms is missed by half of the requests only
 * after 2·L ÷ δ. With δ = `resolution`: a server that is overloaded by more than that is not taken for one that holds.
 */
export function holdsFromMs(objectives: readonly JudgedObjective[], resolution: number): number {
  const waits = objectives
    .flatMap(({ objective }) => [...objective.each, ...objective.run])
    .filter(({ metric }) => metric !== 'tpot' && metric !== 'gap')
    .map(({ limitMs }) => limitMs)
  return Math.max(shortestGrowthMs, (2 * Math.max(0, ...waits)) / resolution)
}

/** The looks at a point of `ratePerSecond`, before it is known how many requests its plan has. */
export function looksAt(
  { first, most, looks, holdsFromMs: ms }: FindLooks,
  ratePerSecond: number,
): LookSchedule {
  const holdsFrom = Math.ceil((ratePerSecond * ms) / 1000)
  return lookSchedule({ first, holdsFrom, most: Math.max(most, longestHolds * holdsFrom), looks })
}

/** What was decided on the rows of a point, and the objective's parts at the look that decided, or at the last. */
export interface PointLooked extends LookedAt {
  readonly schedule: LookSchedule
  readonly decisions: readonly ObjectiveDecision[]
  readonly growing: boolean
}

/** Looks at the rows of a point: while they come in, and once more when all are there. The same rows give the same answer. */
export interface PointLooker {
  /** Null: the next look cannot be taken yet, for requests that belong to it have not ended. */
  readonly lookedAt: (rows: Rows) => PointLooked | null
  /** A look at all rows that ended, whatever the schedule says: for a point that nearly everything failed at. */
  readonly lastLook: (rows: Rows) => PointLooked
}

/**
 * The looker of a point whose plan is made. A look at `count` requests takes all whose intended send is not after that of the `count`-th,
 * and waits until each of them has ended: the slow ones must not be missing.
 */
export function pointLooker(
  plan: Plan,
  warmupMs: number,
  ratePerSecond: number,
  looks: FindLooks,
  objectives: readonly JudgedObjective[],
): PointLooker {
  const times = plannedTimes(plan).filter((ms) => ms >= warmupMs)
  const asked = looksAt(looks, ratePerSecond)
  const schedule =
    (asked.counts.at(-1) ?? 0) <= times.length
      ? asked
      : lookSchedule({
          first: asked.counts[0] ?? 1,
          holdsFrom: asked.holdsFrom,
          most: times.length,
          looks: looks.looks,
        })
  const taken = new Map<number, Look & { readonly decisions: readonly ObjectiveDecision[] }>()

  /** `sent`: all that was sent until then, so that what was under way when the window began is in flight. */
  function judged(due: Rows, sent: Rows): Look & { readonly decisions: readonly ObjectiveDecision[] } {
    const ordered = inOrder(due)
    const decisions = decideObjectives(ordered, objectives, looks.tails)
    const endMs = ordered.at(-1)?.planned_ms ?? warmupMs
    const seconds = Math.floor((endMs - warmupMs) / 1000)
    const growing =
      seconds >= fewestSeconds && slopeTest(inFlightSeries(sent, warmupMs, seconds))?.growing === true
    return { met: combineDecisions(decisions), growing, decisions }
  }

  const isDue = (row: RequestRow, untilMs: number): boolean =>
    row.planned_ms !== null && row.planned_ms <= untilMs && row.outcome !== 'unsent'
  const inWindow = (row: RequestRow): boolean => (row.planned_ms ?? 0) >= warmupMs

  return {
    lookedAt(rows) {
      const lookAt = (count: number): Look | null => {
        const before = taken.get(count)
        if (before !== undefined) return before
        const dueMs = times[count - 1]
        if (dueMs === undefined) return null
        const sent = rows.filter((row) => isDue(row, dueMs))
        const due = sent.filter(inWindow)
        if (due.filter(({ turn }) => turn === null || turn === 1).length < count) return null
        const look = judged(due, sent)
        taken.set(count, look)
        return look
      }
      const decided = decideByLooks(schedule, lookAt)
      if (decided === null) return null
      const { decisions = [], growing = false } = taken.get(decided.requests) ?? {}
      return { ...decided, schedule, decisions, growing }
    },
    lastLook(rows) {
      const sent = rows.filter((row) => isDue(row, Number.POSITIVE_INFINITY))
      const ended = sent.filter(inWindow)
      const { met, decisions, growing } = judged(ended, sent)
      return {
        decision: met === 'no' ? 'fails' : 'undecided',
        looks: taken.size,
        requests: ended.length,
        schedule,
        decisions,
        growing,
      }
    },
  }
}

/** Intended sends of an open loop, rising; those of a session's later turns are nobody's plan. */
function plannedTimes(plan: Plan): readonly number[] {
  if (plan.kind === 'closed') return []
  return plan.requests
    .map(({ plannedMs }) => plannedMs)
    .filter((ms) => ms !== null)
    .sort((a, b) => a - b)
}
