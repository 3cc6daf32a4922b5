import { noun } from '../base/noun.ts'
import { formatCount, formatPlain } from '../base/units.ts'
import { isOfClient } from '../judge/verdict.ts'
import type { ObjectiveDecision } from '../measure/metrics/decide-objective.ts'
import { partSalt } from '../measure/workload/salt.ts'
import type { RunDocument } from '../report/documents.ts'
import type { FindPoint } from '../report/find-document.ts'
import { isCut } from './cut-point.ts'
import { looksAt, pointLooker, type FindLooks, type PointLooked, type PointLooker } from './find-looks.ts'
import { objectiveOutcomes } from './judged-objectives.ts'
import { clientBoundWords, measureLoadPoint, sweepPoint, type SweepGround } from './sweep-point.ts'

/** A rate to try. */
export interface FindPointPlan {
  readonly ratePerSecond: number
  /** 1, 2, … in the order in which they are tried. */
  readonly order: number
  readonly warmupMs: number
  /** The longest that it is measured, ms; null: as long as its looks need. */
  readonly longestMs: number | null
}

/** Longest measurement of a point, ms: the requests of its last look at the rate, with room for chance (three standard deviations). */
export function pointLengthMs(looks: FindLooks, ratePerSecond: number): number {
  const most = looksAt(looks, ratePerSecond).counts.at(-1) ?? 0
  return (1000 * (most + 3 * Math.sqrt(most))) / ratePerSecond
}

/** Measures a rate until a look decides it, or until the last look. */
export async function findPoint(
  ground: SweepGround,
  { ratePerSecond, order, warmupMs, longestMs }: FindPointPlan,
  looks: FindLooks,
): Promise<FindPoint> {
  const name = `${String(order).padStart(2, '0')}-rate-${ratePerSecond}`
  const needed = pointLengthMs(looks, ratePerSecond)
  let looker: PointLooker | null = null
  const measured = await measureLoadPoint(ground, {
    pacer: { kind: 'poisson', ratePerSecond },
    name,
    salt: partSalt(ground.config.salt ?? '', name),
    warmupMs,
    shortestMs: 0,
    longestMs: longestMs === null ? needed : Math.min(needed, longestMs),
    mostRequests: null,
    label: `point ${order}: ${ratePerSecond} req/s`,
    looking: () => ({
      onPlan(plan) {
        looker = pointLooker(plan, warmupMs, ratePerSecond, looks, ground.objectives)
      },
      look(rows) {
        const looked = looker?.lookedAt(rows) ?? null
        return looked === null ? null : `${looked.decision} at look ${looked.looks}`
      },
    }),
  })
  const point = sweepPoint({ kind: 'rate', value: ratePerSecond }, measured)
  return decidedPoint(point, measured.document, lookedAt(looker, measured))
}

function lookedAt(
  looker: PointLooker | null,
  { document, rows }: Pick<Awaited<ReturnType<typeof measureLoadPoint>>, 'document' | 'rows'>,
): PointLooked | null {
  if (looker === null) return null
  return looker.lookedAt(rows) ?? (document.stopped?.kind === 'early' ? looker.lastLook(rows) : null)
}

function decidedPoint(
  { passes: _passes, ...point }: ReturnType<typeof sweepPoint>,
  document: RunDocument,
  looked: PointLooked | null,
): FindPoint {
  const planned = looked?.schedule.counts.length ?? 0
  const base = {
    ...point,
    objectives: looked === null ? document.objectives : objectiveOutcomes(looked.decisions),
    looks: { taken: looked?.looks ?? 0, planned, requests: looked?.requests ?? 0 },
  }
  const client = point.verdict.reasons.find(isOfClient)
  if (client !== undefined) return { ...base, decision: 'invalid', why: clientBoundWords(client) }
  if (looked === null) {
    const why = isCut(point) ? (point.stopped ?? '') : 'its requests did not all end: no look could be taken'
    return { ...base, decision: 'undecided', why }
  }
  return { ...base, decision: looked.decision, why: whyOf(looked) }
}

/** The part that decides, or that keeps the point open. */
function whyOf({ decision, decisions, growing, requests, schedule }: PointLooked): string {
  const met = decision === 'holds' ? 'yes' : decision === 'fails' ? 'no' : 'inconclusive'
  const judged = decisions.filter((each) => each.judged)
  const telling = judged.find((each) => each.met === met) ?? judged[0]
  const reason = (telling as ObjectiveDecision | undefined)?.reason ?? 'no objective could be judged'
  if (decision !== 'undecided') return reason
  if (growing)
    return `requests in flight still grew after ${formatCount(requests)} ${noun(requests, 'request')}`
  if (telling?.met === 'yes') {
    return `kept so far, but a rate holds at the earliest after ${formatPlain(schedule.holdsFrom)} requests`
  }
  return reason
}
