import { shellWord } from '../base/shell-words.ts'
import type { Warning } from '../base/warnings.ts'
import type { Pacer } from '../measure/load/pacer.ts'
import type { RequestRow } from '../measure/record/request-row.ts'
import { partSalt } from '../measure/workload/salt.ts'
import { loadWords, nextLoad, untested, type SweepLoad, type SweepPlan } from '../plan/sweep-schedule.ts'
import type { SweepDocument, SweepPoint } from '../report/documents.ts'
import { askedFacts } from './asked-facts.ts'
import { isRefuted } from '../report/operating-point.ts'
import { noun } from '../base/noun.ts'
import { goneAfter, isGone } from './answered-before.ts'
import { cutByServer, isCut } from './cut-point.ts'
import { checkClientRoom } from './client-room.ts'
import type { FlowDeps, SweepOutcome } from './flow-deps.ts'
import { objectiveText } from './judged-objectives.ts'
import { settle } from './live-target.ts'
import type { SweepConfig } from './options/run-config.ts'
import { confirmOperatingPoint, operatingPoint, type Confirmation } from './sweep-confirm.ts'
import { checkSameModel, checkSameTest } from './same-test.ts'
import { stoppedWhy } from './stopped-why.ts'
import { stored } from './stored.ts'
import { resumedSweep, sweepFile, writeDocument, type ResumedSweep } from './sweep-folder.ts'
import { openGround } from './sweep-ground.ts'
import { measureLoadPoint, sweepPoint, type MeasuredPoint, type SweepGround } from './sweep-point.ts'
import { memoryWallOf, sweepWalls } from './sweep-walls.ts'

/** The first and the largest load of a sweep that finds its own. */
const autoLoads = { concurrency: { first: 1, most: 512 }, rate: { first: 1, most: 1024 } } as const
const refinements = 2

/**
 * Rising load from end to end: each point cold and settled, stopped as soon as it is decided; the three walls, the capacity, and
 * the operating point confirmed by a Poisson run. `sweep.json` is written after every point.
 * @throws PlimsollError before anything is sent for what cannot be meant, reached or measured.
 */
export async function sweepFlow(config: SweepConfig, deps: FlowDeps): Promise<SweepOutcome> {
  checkClientRoom(config.run, deps.machine, config.axis === 'concurrency' ? (config.loads ?? []) : [])
  const earlier = config.resume === null ? null : await resumedSweep(config.resume)
  const { ground, startedAt, close } = await openGround(config.run, deps, {
    name: 'sweep',
    folder: earlier?.folder ?? null,
    maxDurationMs: config.maxDurationMs,
    ...(earlier === null
      ? {}
      : { check: (secrets: readonly string[]) => checkSameTest(earlier, config, secrets) }),
  })
  try {
    if (earlier !== null) checkSameModel(earlier, ground.target.model)
    return await sweepOn(config, ground, startedAt, earlier)
  } finally {
    await close()
  }
}

async function sweepOn(
  config: SweepConfig,
  ground: SweepGround,
  startedAt: Date,
  earlier: ResumedSweep | null,
): Promise<SweepOutcome> {
  const { deps, folder, objectives, target, needs } = ground
  const objective = objectives.map(({ config: each }) => objectiveText(each)).join('; ') || null
  const points: SweepPoint[] = [...(earlier?.points ?? [])]
  const rows: RequestRow[] = [...(earlier?.rows ?? [])]
  const plan = planOf(config)
  deps.onNotice(announcement(plan, ground, objective))
  let confirmation: Confirmation | null = null
  // A further point could not be written.
  let isFull = false
  let isServerGone = false

  function document(complete: boolean): SweepDocument {
    const ordered = [...points].sort((a, b) => a.load.value - b.load.value)
    const memory = memoryWallOf(rows, target.server)
    const { warnings, ...walls } = sweepWalls(ordered, memory, target.server.kvTokens, objective)
    const atCapacity = ordered.find(({ load }) => load.value === walls.capacity.load)
    return {
      schema: 'plimsoll.sweep/1',
      plimsoll: deps.version,
      sweep: folder,
      name: config.run.name ?? 'sweep',
      complete,
      stopped: complete
        ? null
        : stoppedFacts(config, ground, missing(), {
            isFull,
            isServerGone,
            points: points.length,
          }),
      started_at: startedAt.toISOString(),
      ...askedFacts(config.run, target),
      objective,
      points: ordered,
      ...walls,
      operating_point: confirmation?.point ?? (atCapacity === undefined ? null : operatingPoint(atCapacity)),
      warnings: [
        ...target.warnings,
        ...warnings,
        // Without a capacity there is no point that could be confirmed.
        ...(walls.capacity.load === null ? [] : confirmationWarnings(config, confirmation)),
      ],
    }
  }

  function next(): SweepLoad | null {
    if (plan.kind === 'auto' && points.length >= config.maxPoints) return null
    const whole = points.filter((point) => !isCut(point))
    return nextLoad(plan, whole.map(tested), memoryWallOf(rows, target.server)?.load ?? null)
  }

  /** What would still have been tried, first the point that was cut short, and the confirmation. */
  function missing(): readonly string[] {
    const load = next()
    const loads =
      plan.kind === 'given'
        ? untested(
            plan.loads,
            points.filter((point) => !isCut(point)),
          ).map(loadWords)
        : load === null
          ? []
          : [`${loadWords(load)} and what follows from it`]
    const unconfirmed = config.confirm && objectives.length > 0 && confirmation === null
    return [...loads, ...(unconfirmed ? ['the confirmation'] : [])]
  }

  /** Writes how far it came where the server went away, and names the folder in the error. */
  async function endedBy(error: unknown): Promise<unknown> {
    if (!isGone(error) || points.length === 0) return error
    isServerGone = true
    const last = points.pop()
    if (last !== undefined) points.push(cutByServer(last, { passes: null }))
    await stored(deps, () => writeDocument(folder, sweepFile, document(false)), undefined)
    const done = `${points.length} ${noun(points.length, 'point')}`
    return goneAfter(error, { done, folder, shown: folder, goOn: goingOn(folder) })
  }

  let e2eMs = 500
  /** Measures what is left of the loads. */
  async function measureLoads(): Promise<void> {
    for (;;) {
      const load = ground.signal.aborted ? null : next()
      if (load === null) break
      const name = `${String(points.length + 1).padStart(2, '0')}-${load.kind === 'rate' ? 'rate' : 'users'}-${load.value}`
      await settle(target, deps, 30_000)
      const warmupMs = config.warmupMs ?? Math.min(10_000, Math.max(400, 1.5 * e2eMs))
      const measure = (): Promise<MeasuredPoint> =>
        measureLoadPoint(ground, {
          pacer: pacerOf(load, e2eMs),
          name,
          salt: partSalt(ground.config.salt ?? '', name),
          warmupMs,
          shortestMs: config.pointDurationMs ?? 3000,
          longestMs: config.pointDurationMs ?? longestPointMs(load, e2eMs, needs.interval),
          mostRequests: needs.interval * 4,
          label: `point ${points.length + 1}: ${loadWords(load)}`,
        })
      const measured = points.length === 0 ? await measure() : await stored(deps, measure, null)
      isFull = measured === null
      if (measured === null) break
      points.push(sweepPoint(load, measured))
      for (const row of measured.rows) if (row.phase === 'measure') rows.push(row)
      e2eMs = measured.document.metrics.e2e_ms?.p50 ?? e2eMs
      await stored(deps, () => writeDocument(folder, sweepFile, document(false)), undefined)
      deps.onFolder(folder)
    }
  }
  async function confirm(): Promise<void> {
    if (!config.confirm || objectives.length === 0 || ground.signal.aborted || isFull) return
    const candidates = candidatesOf(document(false))
    const times = { durationMs: config.confirmDurationMs, warmupMs: config.warmupMs }
    confirmation = await stored(deps, () => confirmOperatingPoint(ground, candidates, times), null)
  }
  try {
    await measureLoads()
    await confirm()
  } catch (error) {
    throw await endedBy(error)
  }
  const finished = document(!ground.signal.aborted && !isFull)
  await stored(deps, () => writeDocument(folder, sweepFile, finished), undefined)
  return { document: finished, interrupted: deps.signal.aborted }
}

/** Why the sweep is not complete, what is missing, and how to go on. */
function stoppedFacts(
  { maxDurationMs }: SweepConfig,
  { deps, folder, timeOver }: SweepGround,
  missing: readonly string[],
  at: { readonly isFull: boolean; readonly isServerGone: boolean; readonly points: number },
): SweepDocument['stopped'] {
  const aborted = deps.signal.aborted
  const { kind, why } = stoppedWhy({ aborted, timeOver: timeOver.aborted, maxDurationMs, ...at })
  const left = missing.length === 0 ? '' : `; missing: ${missing.join(', ')}`
  return { kind, why: `${why}${left}; ${goingOn(folder)}` }
}

function goingOn(folder: string): string {
  return `the same flags and --resume ${shellWord(folder)} go on`
}

function planOf(config: SweepConfig): SweepPlan {
  if (config.loads !== null) {
    return { kind: 'given', loads: config.loads.map((value) => ({ kind: config.axis, value })) }
  }
  return { kind: 'auto', load: config.axis, ...autoLoads[config.axis], refinements }
}

function pacerOf(load: SweepLoad, e2eMs: number): Pacer {
  return load.kind === 'rate'
    ? { kind: 'poisson', ratePerSecond: load.value }
    : { kind: 'concurrency', users: load.value, thinkTimeMs: 0, staggerMs: e2eMs }
}

/** Time for four times the samples that an interval needs, between 8 s and 2 minutes. */
function longestPointMs(load: SweepLoad, e2eMs: number, samples: number): number {
  const perSecond = load.kind === 'rate' ? load.value : (1000 * load.value) / e2eMs
  return Math.min(120_000, Math.max(8000, (1000 * 4 * samples) / perSecond))
}

function tested(point: SweepPoint): Parameters<typeof nextLoad>[1][number] {
  return {
    load: point.load,
    throughput: point.throughput.output_tokens_per_s,
    passes: point.passes === null ? null : point.passes !== 'no',
  }
}

/** The passing points at and below the capacity, highest first. */
function candidatesOf({ points, capacity }: SweepDocument): readonly SweepPoint[] {
  const most = capacity.load
  if (most === null) return []
  return points
    .filter((point) => !isCut(point) && point.load.value <= most && point.passes !== 'no')
    .reverse()
}

function announcement(plan: SweepPlan, { needs }: SweepGround, objective: string | null): string {
  const what = objective === null ? 'no objective' : `"${objective}"`
  const loads =
    plan.kind === 'given'
      ? plan.loads.map(({ value }) => value).join(', ')
      : `${plan.first}, doubled until every wall is met, then closer to the SLO wall`
  return `sweep of ${loads} ${plan.kind === 'auto' && plan.load === 'rate' ? 'req/s' : 'users'} for ${what}: its P${needs.percentile} needs ${needs.upperEnd} independent samples a point to be shown within a limit, ${needs.interval} for an interval; a point ends as soon as it is decided`
}

function confirmationWarnings(config: SweepConfig, confirmation: Confirmation | null): readonly Warning[] {
  if (!config.confirm) return []
  if (confirmation?.point.confirmed === true && confirmation.missed.length === 0) return []
  return [
    {
      kind: 'not_confirmed',
      message:
        confirmation === null
          ? 'the operating point was not confirmed by a Poisson run'
          : confirmation.missed.join('; '),
      cause:
        config.axis === 'concurrency' && confirmation !== null
          ? 'users who wait for their answers slow down with the server; arrivals do not'
          : null,
      next:
        confirmation !== null && confirmation.point.confirmed !== true && isRefuted(confirmation.point)
          ? 'plimsoll find looks for a rate that holds'
          : null,
      evidence: { confirmed: confirmation?.point.confirmed ?? null },
    },
  ]
}
