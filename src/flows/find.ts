import { noun } from '../base/noun.ts'
import { formatCount, formatPercent, formatPlain, formatSpan } from '../base/units.ts'
import { lookTails } from '../judge/look-plan.ts'
import { clientFails, nextRate, rateAnswer, type RateAnswer, type RateSearch } from '../plan/rate-search.ts'
import type { FindDocument, FindPlan, FindPoint } from '../report/find-document.ts'
import { failureShares, failureWords } from '../report/failure-words.ts'
import { divide, parseRational, rational, toNumber } from '../stats/rational.ts'
import { askedFacts } from './asked-facts.ts'
import type { FlowDeps } from './flow-deps.ts'
import { holdsFromMs, looksAt, type FindLooks } from './find-looks.ts'
import { goneAfter, isGone } from './answered-before.ts'
import { cutByServer, cutShort } from './cut-point.ts'
import { findPoint, pointLengthMs } from './find-point.ts'
import { probeRate } from './find-probe.ts'
import { objectiveText, type JudgedObjective } from './judged-objectives.ts'
import { settle } from './live-target.ts'
import { confidenceOf } from '../measure/metrics/decision-tails.ts'
import { findDefaults } from './options/defaults.ts'
import { checkClientRoom } from './client-room.ts'
import type { FindConfig } from './options/run-config.ts'
import { sampleNeeds } from './sample-needs.ts'
import { stoppedWhy } from './stopped-why.ts'
import { stored } from './stored.ts'
import { findFile, writeDocument } from './sweep-folder.ts'
import { openGround } from './sweep-ground.ts'
import type { SweepGround } from './sweep-point.ts'

export interface FindOutcome {
  readonly document: FindDocument
  readonly interrupted: boolean
}

/** Where a search begins when nothing was answered, requests per second. */
const gentleRate = 1
/** The last look at a point, in first ones. */
const longestFactor = 16

/**
 * The highest Poisson rate at which the objectives hold: a probe, rates doubled or halved until one holds and one fails, then bisection.
 * Each point is looked at on a schedule that is fixed before it, with the error of the whole spent over all looks (docs/find.md).
 * `find.json` is written after every point.
 * @throws PlimsollError before anything is sent for what cannot be meant, reached or measured.
 */
export async function findFlow(config: FindConfig, deps: FlowDeps): Promise<FindOutcome> {
  checkClientRoom(config.run, deps.machine, [])
  const { ground, startedAt, close } = await openGround(config.run, deps, {
    name: 'find',
    folder: null,
    maxDurationMs: config.maxDurationMs,
  })
  try {
    return await findOn(config, ground, startedAt)
  } finally {
    await close()
  }
}

async function findOn(config: FindConfig, ground: SweepGround, startedAt: Date): Promise<FindOutcome> {
  const { deps, folder, objectives, target } = ground
  const looks = looksOf(config, objectives)
  const probe = config.from === null ? await probeRate(ground) : null
  const search: RateSearch = {
    from: config.from ?? probe?.fromPerSecond ?? gentleRate,
    resolution: config.resolution,
    mostPoints: config.points,
  }
  const plan = planOf(config, search, looks)
  const points: FindPoint[] = []
  // A further point could not be written.
  let isFull = false
  let isServerGone = false
  const objective = objectives.map(({ config: each }) => objectiveText(each)).join('; ')
  if (!ground.signal.aborted && nobodyAnswers() === null)
    deps.onNotice(announcement(objective, config, plan, looks))

  /** Why ever lower rates are not tried: nothing was answered in the probe, or at the last two. */
  function nobodyAnswers(): string | null {
    if (probe !== null && probe.failed !== null)
      return `nothing was answered in the window of the probe: ${probe.failed}`
    const last = points.slice(-2)
    if (last.length < 2 || last.some(({ counts }) => counts === undefined || counts.ok > 0)) return null
    const words = failureWords(failureShares(last))
    return words === null ? null : `no request was answered at the last two rates: ${words}`
  }

  function document(complete: boolean): FindDocument {
    const tried = points.map(triedRate)
    const answer = rateAnswer(search, tried)
    return {
      schema: 'plimsoll.find/1',
      plimsoll: deps.version,
      find: folder,
      name: config.run.name ?? 'find',
      complete,
      stopped: complete
        ? null
        : stoppedWhy({
            aborted: deps.signal.aborted,
            timeOver: ground.timeOver.aborted,
            isFull,
            isServerGone,
            points: points.length,
            maxDurationMs: config.maxDurationMs,
          }),
      started_at: startedAt.toISOString(),
      ...askedFacts(config.run, target),
      objective,
      plan,
      probe: probe?.facts ?? null,
      points: points.toSorted((a, b) => a.load.value - b.load.value),
      answer: {
        holds_at_per_s: answer.holdsAt,
        fails_at_per_s: answer.failsAt,
        open_per_s: answer.open,
        resolved: answer.resolved,
        why: nobodyAnswers() ?? answerWhy(answer, points, config, complete),
      },
      warnings: [...target.warnings, ...searchWarnings(answer, points)],
    }
  }

  /** Writes how far it came where the server went away, and names the folder in the error. */
  async function endedBy(error: unknown): Promise<unknown> {
    if (!isGone(error) || points.length === 0) return error
    isServerGone = true
    const last = points.pop()
    if (last !== undefined) points.push(cutByServer(last, { decision: 'undecided', why: cutShort.byServer }))
    await stored(deps, () => writeDocument(folder, findFile, document(false)), undefined)
    const done = `${points.length} ${noun(points.length, 'point')}`
    return goneAfter(error, { done, folder, shown: folder, goOn: null })
  }

  let e2eMs = probe?.e2eMs ?? null
  async function measureRates(): Promise<void> {
    for (;;) {
      const isOver = ground.signal.aborted || nobodyAnswers() !== null
      const ratePerSecond = isOver ? null : nextRate(search, points.map(triedRate))
      if (ratePerSecond === null) break
      await settle(target, deps, 30_000)
      const asked = {
        ratePerSecond,
        order: points.length + 1,
        warmupMs: warmupMs(config, e2eMs),
        longestMs: config.pointDurationMs,
      }
      const measure = (): Promise<FindPoint> => findPoint(ground, asked, looks)
      const point = points.length === 0 ? await measure() : await stored(deps, measure, null)
      isFull = point === null
      if (point === null) break
      points.push(point)
      if (point.decision === 'holds') e2eMs = point.metrics.e2e_ms?.p50 ?? e2eMs
      await stored(deps, () => writeDocument(folder, findFile, document(false)), undefined)
      deps.onFolder(folder)
    }
  }
  try {
    await measureRates()
  } catch (error) {
    throw await endedBy(error)
  }
  const finished = document(!ground.signal.aborted && !isFull)
  await stored(deps, () => writeDocument(folder, findFile, finished), undefined)
  return { document: finished, interrupted: deps.signal.aborted }
}

function triedRate({ load, decision }: FindPoint): Parameters<typeof nextRate>[1][number] {
  return { ratePerSecond: load.value, decision }
}

/** Two answers' time, so that the window begins with as many requests in flight as the rate makes. */
function warmupMs({ warmupMs: asked }: FindConfig, e2eMs: number | null): number {
  if (asked !== null) return asked
  return Math.min(30_000, Math.max(1000, 2 * (e2eMs ?? 0)))
}

function looksOf({ points, resolution }: FindConfig, objectives: readonly JudgedObjective[]): FindLooks {
  const parts = objectives.reduce(
    (sum, { objective }) => sum + objective.run.length + (objective.good === null ? 0 : 1),
    0,
  )
  const tails = lookTails({ error: findDefaults.error, points, looks: findDefaults.looks, parts })
  const first = 2 * sampleNeeds(objectives, confidenceOf(tails.kept)).upperEnd
  return {
    first,
    most: longestFactor * first,
    looks: findDefaults.looks,
    holdsFromMs: holdsFromMs(objectives, resolution),
    tails,
  }
}

function planOf(config: FindConfig, search: RateSearch, looks: FindLooks): FindPlan {
  const error = divide(parseRational(findDefaults.error.replace('%', '')), rational(100n))
  return {
    from_per_s: search.from,
    from: config.from === null ? 'probe' : 'given',
    resolution: config.resolution,
    most_points: config.points,
    most_looks: looks.looks,
    looks: looksAt(looks, search.from).counts,
    holds_from_s: Math.min(looks.holdsFromMs, config.pointDurationMs ?? Number.POSITIVE_INFINITY) / 1000,
    error: { each_end: toNumber(error), look: toNumber(looks.tails.kept) },
  }
}

/** What the search will cost, before it begins. */
function announcement(objective: string, config: FindConfig, plan: FindPlan, looks: FindLooks): string {
  const at = plan.from_per_s
  const counts = plan.looks.map((count) => formatCount(count)).join(', ')
  const capMs = config.pointDurationMs ?? Number.POSITIVE_INFINITY
  const longest = Math.min(capMs, pointLengthMs(looks, at))
  const fails = Math.min(capMs, (1000 * looks.first) / at)
  const holds = Math.min(capMs, Math.max(fails, looks.holdsFromMs))
  // Of a search that begins near its end: one clear failure, two clear holds, the rest close to the limit.
  const typical = Math.min(6, plan.most_points)
  const usual = fails + 2 * holds + Math.max(0, typical - 3) * longest
  const limit = config.maxDurationMs === null ? '' : `, never longer than ${formatSpan(config.maxDurationMs)}`
  return [
    `the highest Poisson rate that keeps "${objective}", within ${formatPercent(plan.resolution)}, from ${formatPlain(at)} req/s on`,
    `  looks at a point after ${counts} requests, each at ${formatPlain(100 * (1 - plan.error.look), 5)} % confidence: over ${plan.most_looks} ${noun(plan.most_looks, 'look')} at ${plan.most_points} ${noun(plan.most_points, 'point')} an end of the answer is wrong with at most ${formatPercent(plan.error.each_end)}`,
    `  at ${formatPlain(at)} req/s a point takes ${formatSpan(fails)} where it fails clearly, ${formatSpan(holds)} where it holds clearly, at most ${formatSpan(longest)}: ${formatSpan(usual)} or so for ${typical} points, at most ${formatSpan(plan.most_points * longest)} for ${plan.most_points}${limit}`,
  ].join('\n')
}

/** How the interval came about. */
function answerWhy(
  { holdsAt, failsAt, open, resolved }: RateAnswer,
  points: readonly FindPoint[],
  config: FindConfig,
  complete: boolean,
): string {
  if (points.length === 0) return 'no point was measured'
  const invalid = points.filter(({ decision }) => decision === 'invalid').length
  if (invalid === points.length) return 'the client set the numbers of every point'
  if (clientFails(points.map(triedRate))) return 'this client could not send the last two rates'
  if (resolved) return `the ends are within ${formatPercent(config.resolution)} of each other`
  if (!complete) return 'the search was ended before its plan'
  const spent =
    points.length >= config.points
      ? `after the ${config.points} ${noun(config.points, 'point')} of --points`
      : null
  if (holdsAt === null && failsAt === null) return spent ?? 'nothing could be decided'
  if (failsAt === null) {
    const top = open.at(-1)
    const client = points.some(({ load, decision }) => decision === 'invalid' && load.value === top)
    return client ? 'above it this client could not send the load' : (spent ?? 'no rate failed')
  }
  if (open.length > 0) {
    const rates = open.map((rate) => formatPlain(rate, 4)).join(', ')
    return `what lies between could not be decided at ${rates} req/s${spent === null ? '' : `, ${spent}`}`
  }
  return spent ?? 'rates closer to each other are the same to three figures'
}

function searchWarnings({ holdsAbove }: RateAnswer, points: readonly FindPoint[]): FindDocument['warnings'] {
  const invalid = points.filter(({ decision }) => decision === 'invalid')
  return [
    ...(holdsAbove.length === 0
      ? []
      : [
          {
            kind: 'non_monotone_sweep' as const,
            message: `${holdsAbove.join(', ')} req/s held above a rate that failed; not used`,
            cause: 'noise at the limit, or a server that changes with time',
            next: 'search again, with another --seed',
            evidence: { holds_above: holdsAbove.join(',') },
          },
        ]),
    ...(invalid.length === 0
      ? []
      : [
          {
            kind: 'client_bound' as const,
            message: `the client set the numbers at ${invalid.map(({ load }) => load.value).join(', ')} req/s: they decide nothing`,
            cause: null,
            next: null,
            evidence: { points: invalid.length },
          },
        ]),
  ]
}
