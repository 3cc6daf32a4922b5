import { basename } from 'node:path'
import { noun } from '../base/noun.ts'
import { isClientBound, isOfClient, type VerdictReason } from '../judge/verdict.ts'
import type { LoadInstrument } from '../measure/load/instrument.ts'
import type { Pacer } from '../measure/load/pacer.ts'
import { combineDecisions, type ObjectiveDecision } from '../measure/metrics/decide-objective.ts'
import { withinLimit } from '../measure/metrics/objective.ts'
import { parseObjective } from '../measure/metrics/parse-objective.ts'
import type { RequestRow } from '../measure/record/request-row.ts'
import { sortRows } from '../measure/record/sort-rows.ts'
import type { Rows } from '../measure/record/rows.ts'
import type { Plan } from '../measure/workload/make-plan.ts'
import { partSalt } from '../measure/workload/salt.ts'
import type { LoadedWorkload } from '../measure/workload/workload.ts'
import type { SweepLoad } from '../plan/sweep-schedule.ts'
import { passing } from '../plan/walls.ts'
import type { ObjectiveOutcome, RunDocument, SweepPoint } from '../report/documents.ts'
import { cutShort, isCut } from './cut-point.ts'
import type { FlowDeps } from './flow-deps.ts'
import { decideObjectives, type JudgedObjective } from './judged-objectives.ts'
import type { LiveTarget } from './live-target.ts'
import { measureLoad } from './measure-load.ts'
import type { RunConfig } from './options/run-config.ts'
import { documentOptions } from './run-document.ts'
import { runProgress } from './run-progress.ts'
import type { SampleNeeds } from './sample-needs.ts'

/** What every point of a sweep has in common. */
export interface SweepGround {
  readonly config: RunConfig
  readonly objectives: readonly JudgedObjective[]
  readonly workload: LoadedWorkload
  readonly target: LiveTarget
  readonly instrument: LoadInstrument
  readonly deps: FlowDeps
  readonly folder: string
  readonly needs: SampleNeeds
  /** Aborted when `--max-duration` is over: what is under way is drained and kept. */
  readonly timeOver: AbortSignal
  /** Aborted by the first Ctrl-C, or with `timeOver`. */
  readonly signal: AbortSignal
}

export interface PointPlan {
  readonly pacer: Pacer
  /** The folder's name within the sweep. */
  readonly name: string
  readonly salt: string
  readonly warmupMs: number
  /** Shortest and longest measurement, ms. Equal: the length is given, and nothing is decided early. */
  readonly shortestMs: number
  readonly longestMs: number
  /** An undecided point gives up at so many requests; null: only its time ends it. */
  readonly mostRequests: number | null
  readonly label: string
  /** How this point is looked at while it runs, anew for each attempt; without it as a sweep does. */
  readonly looking?: () => PointLooking
}

/** Looks at a point that runs. */
export interface PointLooking {
  /** Sees the plan before anything is sent. */
  readonly onPlan?: (plan: Plan) => void
  /** Over the rows that have ended, in the order in which they did: why the point may end now, or null. */
  readonly look: (rows: Rows, elapsedMs: number) => string | null
}

export interface MeasuredPoint {
  readonly document: RunDocument
  readonly rows: Rows
  readonly stopped: string | null
  /** Its folder within the sweep. */
  readonly run: string
}

/**
 * Measures a point, and once more where its client was the limit: on a shared machine that is mostly somebody else's burst. The
 * spoilt attempt stays in the sweep's folder.
 */
export async function measureLoadPoint(ground: SweepGround, plan: PointPlan): Promise<MeasuredPoint> {
  const first = await measurePoint(ground, plan)
  const { verdict } = first.document
  const spoilt = verdict.status === 'INVALID' && isClientBound(verdict)
  if (!spoilt || ground.signal.aborted) return first
  const name = `${plan.name}-again`
  return measurePoint(ground, { ...plan, name, salt: partSalt(plan.salt, 'again') })
}

/** How often a running point is looked at. */
const lookEveryMs = 1000

/**
 * Measures one load and stops as soon as its objective is decided, at the earliest after `shortestMs` and at the latest when
 * there are samples enough or the time is up.
 */
async function measurePoint(ground: SweepGround, plan: PointPlan): Promise<MeasuredPoint> {
  const { config, objectives, deps } = ground
  const decided = new AbortController()
  const rows: RequestRow[] = []
  const { look, onPlan } = plan.looking?.() ?? lookingAt(plan, ground)
  let stopped: string | null = null
  const startedMs = deps.clock.nowMs()
  const timer = setInterval(() => {
    const elapsedMs = deps.clock.nowMs() - startedMs - plan.warmupMs
    stopped = look(rows, elapsedMs)
    if (stopped === null) return
    clearInterval(timer)
    decided.abort()
  }, lookEveryMs)
  try {
    const runConfig: RunConfig = { ...config, pacer: plan.pacer, durationMs: plan.longestMs, count: null }
    const measured = await measureLoad(
      {
        config: runConfig,
        workload: ground.workload,
        pacer: plan.pacer,
        measureMs: plan.longestMs,
        count: null,
        warmupMs: plan.warmupMs,
        salt: plan.salt,
        name: plan.name,
        path: `${ground.folder}/${plan.name}`,
        warnings: [],
        judged: documentOptions(config, objectives),
        decided: AbortSignal.any([decided.signal, ground.timeOver]),
        onRow: (row) => rows.push(row),
        ...(onPlan === undefined ? {} : { approve: (made) => Promise.resolve(onPlan(made)) }),
      },
      ground.target,
      ground.instrument,
      deps,
      (progress) =>
        deps.onProgress(
          runProgress({ ...runConfig, warmup: { kind: 'fixed', ms: plan.warmupMs } }, progress, plan.label),
        ),
    )
    const run = basename(measured.document.run)
    return { ...measured, stopped: stopped ?? whyCut(ground), run }
  } finally {
    clearInterval(timer)
  }
}

function whyCut({ deps, timeOver }: SweepGround): string | null {
  if (deps.signal.aborted) return cutShort.byHand
  return timeOver.aborted ? cutShort.byTime : null
}

function lookingAt(plan: PointPlan, { objectives, needs }: SweepGround): PointLooking {
  let looks = 0
  const look: PointLooking['look'] = (rows, elapsedMs) => {
    if (plan.shortestMs >= plan.longestMs || elapsedMs < plan.shortestMs) return null
    const inWindow = sortRows(
      rows.filter((row) => row.planned_ms !== null && row.planned_ms >= plan.warmupMs),
      (row) => row.planned_ms ?? 0,
    )
    if (inWindow.length < needs.upperEnd) return null
    looks++
    const decisions = decideObjectives(inWindow, objectives)
    const met = combineDecisions(decisions)
    if (met === null && inWindow.length >= needs.interval)
      return `${inWindow.length} ${noun(inWindow.length, 'request is', 'requests are')} enough`
    // Looking again and again finds chance findings: an early decision must hold with room to spare.
    const enough = decisions.every(({ effectiveSamples }) => (effectiveSamples ?? 0) >= 1.3 * needs.upperEnd)
    if ((met === 'yes' || met === 'no') && enough && decisions.every(isClear)) {
      return `decided after ${inWindow.length} ${noun(inWindow.length, 'request')} and ${looks} ${noun(looks, 'look')}`
    }
    if (plan.mostRequests !== null && inWindow.length >= plan.mostRequests) {
      return `${inWindow.length} ${noun(inWindow.length, 'request')}, and still not decided`
    }
    return null
  }
  return { look }
}

/** The interval's end is at least 3 % away from the limit: further than any later look will bring it back. */
function isClear({ met, bound, limit }: ObjectiveDecision): boolean {
  if (met === null || bound === null || limit === null) return met !== 'inconclusive'
  return Math.abs(bound - limit) >= 0.03 * Math.abs(limit)
}

/** The point of the sweep's document. */
export function sweepPoint(load: SweepLoad, { document, stopped, run }: MeasuredPoint): SweepPoint {
  return {
    load,
    in_flight: document.little?.in_flight_mean ?? (load.kind === 'concurrency' ? load.value : null),
    run,
    verdict: document.verdict,
    counts: document.counts,
    errors: document.errors,
    ...(document.error_messages === undefined ? {} : { error_messages: document.error_messages }),
    throughput: document.throughput,
    metrics: document.metrics,
    goodput: document.goodput,
    objectives: document.objectives,
    // What was cut short may lack just the requests that would have failed, or have only those.
    passes: isCut({ stopped }) ? null : passes(document),
    suspect: suspicions(document),
    stopped,
  }
}

function passes({ objectives, counts }: RunDocument): SweepPoint['passes'] {
  const judged = objectives.filter((objective) => objective.judged)
  if (judged.length > 0 && (counts.ok === 0 || judged.some(({ met }) => met === 'no'))) return 'no'
  return passing(
    judged.map((objective) => ({
      proven: objective.met === 'yes',
      estimateWithin: isWithinObjective(objective, objective.estimate),
    })),
  )
}

/** Whether an estimate is within the limit, `<` and `<=` as written in the objective's text. */
export function isWithinObjective(
  { kind, text, limit }: Pick<ObjectiveOutcome, 'kind' | 'text' | 'limit'>,
  estimate: number | null,
): boolean {
  if (estimate === null || limit === null) return false
  if (kind === 'each') return estimate >= limit
  return parseObjective(text).run.every((written) => withinLimit(written, estimate))
}

/** A reason that says that the client set the numbers, as it stands among the suspicions of a point. */
export function clientBoundWords({ message }: VerdictReason): string {
  return `client-bound: ${message}`
}

function suspicions({ verdict, objectives, counts }: RunDocument): readonly string[] {
  const found: string[] = []
  for (const reason of verdict.reasons) {
    if (isOfClient(reason)) found.push(clientBoundWords(reason))
    if (reason.rule === 'not_steady') found.push('not steady')
    if (reason.rule === 'nothing_succeeded') found.push(reason.message)
  }
  // Where nothing succeeded it is not for want of requests.
  const isThin = objectives.some(
    ({ judged, met, bound }) => judged && met === 'inconclusive' && bound === null,
  )
  if (isThin && counts.ok > 0) {
    found.push('too few samples for its percentile')
  }
  return found
}
