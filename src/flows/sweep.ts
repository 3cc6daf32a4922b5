import { makeFolders } from '../measure/record/make-folders.ts'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PlimsollError } from '../base/errors.ts'
import type { Warning } from '../base/warnings.ts'
import { openInstrument, workerCount } from '../measure/load/instrument.ts'
import type { Pacer } from '../measure/load/pacer.ts'
import type { RequestRow } from '../measure/record/request-row.ts'
import { redact, redactUrl } from '../measure/record/redact.ts'
import { runFolderName } from '../measure/record/run-folder.ts'
import { partSalt } from '../measure/workload/salt.ts'
import { nextLoad, type SweepLoad, type SweepPlan } from '../plan/sweep-schedule.ts'
import type { SweepDocument, SweepPoint } from '../report/documents.ts'
import type { FlowDeps, SweepOutcome } from './flow-deps.ts'
import { objectiveText, parseObjectives } from './judged-objectives.ts'
import { openTarget, settle } from './live-target.ts'
import { repeatFlags } from './options/repeat-flags.ts'
import type { SweepConfig } from './options/run-config.ts'
import { describeWorkload, targetFacts } from './run-facts.ts'
import { sampleNeeds } from './sample-needs.ts'
import { confirmOperatingPoint, operatingPoint, type Confirmation } from './sweep-confirm.ts'
import { resumedSweep, sweepFile, type ResumedSweep } from './sweep-folder.ts'
import { measureLoadPoint, sweepPoint, type SweepGround } from './sweep-point.ts'
import { readAsked } from './request-templates.ts'
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
  const salt = config.run.salt ?? deps.freshSalt()
  const run = { ...config.run, salt }
  const objectives = parseObjectives(run.objectives)
  const asked = await readAsked(run, deps)
  const { workload } = asked
  const target = await openTarget(run, deps, asked)
  const instrument = await openInstrument(
    { workers: workerCount(run.workers, deps.machine.cores, Number.POSITIVE_INFINITY) },
    deps.clock,
  )
  try {
    const startedAt = new Date(deps.wallClock())
    const earlier = config.resume === null ? null : await resumedSweep(config.resume)
    const folder = earlier?.folder ?? (await makeSweepFolder(config, startedAt))
    const ground: SweepGround = {
      config: run,
      objectives,
      workload,
      target,
      instrument,
      deps,
      folder,
      needs: sampleNeeds(objectives),
      signal: deps.signal,
    }
    return await sweepOn(config, ground, startedAt, earlier)
  } finally {
    await instrument.close()
    await target.close()
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

  function document(complete: boolean): SweepDocument {
    const ordered = [...points].sort((a, b) => a.load.value - b.load.value)
    const memory = memoryWallOf(rows, target.server)
    const { warnings, ...walls } = sweepWalls(ordered, memory, target.server.kvTokens, objective)
    const atCapacity = ordered.find(({ load }) => load.value === walls.capacity.load)
    const interrupted = deps.signal.aborted
    return {
      schema: 'plimsoll.sweep/1',
      plimsoll: deps.version,
      sweep: folder,
      name: config.run.name ?? 'sweep',
      complete,
      stopped: interrupted ? { kind: 'interrupted', why: `interrupted after ${points.length} points` } : null,
      started_at: startedAt.toISOString(),
      seed: config.run.seed,
      target: targetFacts(
        { url: redactUrl(target.typedUrl), api: config.run.api, model: target.model },
        target.server,
        null,
      ),
      workload: describeWorkload(config.run.workload),
      repeat: redact(repeatFlags(config.run), target.secrets),
      objective,
      points: ordered,
      ...walls,
      operating_point: confirmation?.point ?? (atCapacity === undefined ? null : operatingPoint(atCapacity)),
      warnings: [...target.warnings, ...warnings, ...confirmationWarnings(config, confirmation)],
    }
  }

  let e2eMs = 500
  for (;;) {
    if (deps.signal.aborted) break
    const memory = memoryWallOf(rows, target.server)
    const load =
      points.length >= config.maxPoints ? null : nextLoad(plan, points.map(tested), memory?.load ?? null)
    if (load === null) break
    const name = `${String(points.length + 1).padStart(2, '0')}-${load.kind === 'rate' ? 'rate' : 'users'}-${load.value}`
    await settle(target, deps, 30_000)
    const warmupMs = Math.min(10_000, Math.max(400, 1.5 * e2eMs))
    const measured = await measureLoadPoint(ground, {
      pacer: pacerOf(load, e2eMs),
      name,
      salt: partSalt(ground.config.salt ?? '', name),
      warmupMs,
      shortestMs: config.pointDurationMs ?? 3000,
      longestMs: config.pointDurationMs ?? longestPointMs(load, e2eMs, needs.interval),
      mostRequests: needs.interval * 4,
      label: `point ${points.length + 1}: ${load.value} ${load.kind === 'rate' ? 'req/s' : 'users'}`,
    })
    points.push(sweepPoint(load, measured))
    rows.push(...measured.rows.filter((row) => row.phase === 'measure'))
    e2eMs = measured.document.metrics.e2e_ms?.p50 ?? e2eMs
    await writeSweep(folder, document(false))
  }
  if (config.confirm && objectives.length > 0 && !deps.signal.aborted) {
    const candidates = candidatesOf(document(false))
    confirmation = await confirmOperatingPoint(ground, candidates, config.confirmDurationMs)
  }
  const finished = document(!deps.signal.aborted)
  await writeSweep(folder, finished)
  return { document: finished, interrupted: deps.signal.aborted }
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
  return points.filter((point) => point.load.value <= most && point.passes !== 'no').reverse()
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
        confirmation === null || confirmation.point.confirmed === true ? null : 'plimsoll sweep --rates auto',
      evidence: { confirmed: confirmation?.point.confirmed ?? null },
    },
  ]
}

async function makeSweepFolder(config: SweepConfig, startedAt: Date): Promise<string> {
  const wanted =
    config.run.out ?? join(config.run.runsDir, runFolderName(startedAt, config.run.name ?? 'sweep'))
  await makeFolders(join(wanted, '..'))
  for (let attempt = 1; attempt < 1000; attempt++) {
    const path = attempt === 1 || config.run.out !== null ? wanted : `${wanted}-${attempt}`
    try {
      await mkdir(path)
      return path
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'EEXIST' && config.run.out === null) continue
      throw new PlimsollError('PLIM_RUN_FOLDER', 'the folder of the sweep cannot be made', {
        received: (cause as Error).message,
        where: { file: path },
        cause,
      })
    }
  }
  throw new PlimsollError('PLIM_RUN_FOLDER', `there are too many folders called ${wanted}`)
}

async function writeSweep(folder: string, document: SweepDocument): Promise<void> {
  const file = join(folder, sweepFile)
  await writeFile(`${file}.tmp`, `${JSON.stringify(document, null, 2)}\n`)
  await rename(`${file}.tmp`, file)
}
