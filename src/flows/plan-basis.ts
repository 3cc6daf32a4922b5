import { PlimsollError } from '../base/errors.ts'
import type { PlanBasis, PlanProvenance } from '../report/plan-document.ts'
import { isRefuted } from '../report/operating-point.ts'
import type { OperatingPoint, SweepDocument, SweepPoint } from '../report/documents.ts'
import { sameAgain } from '../report/render-run.ts'
import { isSweepFolder, readSweep } from './sweep-folder.ts'

/**
 * A sweep to plan on.
 * @throws PlimsollError PLIM_RUN_FOLDER where the path holds none.
 */
export async function openSweep(path: string): Promise<SweepDocument> {
  if (await isSweepFolder(path)) return readSweep(path)
  throw new PlimsollError('PLIM_RUN_FOLDER', 'there is no sweep to plan on', {
    expected: 'a folder with sweep.json',
    where: { file: path },
    hint: 'plimsoll sweep makes one; a single run does not show where the walls are',
  })
}

/**
 * The rate of a replica that plans are made on: that of the confirming Poisson run, else the sweep's own, which is indicative, or
 * refuted where a Poisson run at it missed the objective.
 */
export function planBasis(sweep: SweepDocument): PlanBasis | null {
  const { operating_point: point, capacity } = sweep
  if (point === null || capacity.load === null) return null
  const confirmation = point.confirmed === true ? point.confirmation : null
  const rate = exactRate(confirmation?.requests_per_s ?? point.requests_per_s)
  if (!(rate > 0)) return null
  return {
    requests_per_s: rate,
    kind: confirmation !== null ? 'confirmed' : isRefuted(point) ? 'refuted' : 'indicative',
    at_least: capacity.censored,
    why: confirmation?.text ?? unconfirmedBecause(point),
  }
}

function unconfirmedBecause(point: OperatingPoint): string {
  const { confirmation } = point
  if (confirmation === null) return 'a closed loop found it and no open-loop run confirmed it'
  return isRefuted(point)
    ? `an open-loop run at it did not keep the objective: ${confirmation.text}`
    : `an open-loop run at it could not show that it keeps the objective: ${confirmation.text}`
}

/** Four figures, as the confirming run was paced: what stands on the page is what the arithmetic uses. */
function exactRate(requestsPerSecond: number): number {
  return Number(requestsPerSecond.toPrecision(4))
}

/** What the first failing load broke: the limit that most of its requests missed, or the percentile over its limit. */
export function brokeFirst(sweep: SweepDocument): string | null {
  const first = sweep.points.find(({ passes }) => passes === 'no')
  if (first === undefined) return null
  const overRun = first.objectives.filter(({ kind, met }) => kind === 'over_run' && met === 'no')
  if (overRun.length > 0) return overRun.map(({ text }) => text).join(', ')
  const missed = Object.entries(first.goodput?.failed_by ?? {}).sort(([, a], [, b]) => b - a)[0]
  if (missed !== undefined && missed[1] > 0) return missed[0] === 'shed' ? 'refusals (429)' : missed[0]
  return sweep.objective
}

/** The point that the operating point stands on, with its percentiles. */
export function capacityPoint(sweep: SweepDocument): SweepPoint | null {
  const load = sweep.operating_point?.load.value ?? sweep.capacity.load
  return sweep.points.find((point) => point.load.value === load) ?? null
}

export function provenance(
  path: string,
  sweep: SweepDocument,
  given: {
    readonly gpu: string | null
    readonly engineArgs: string | null
    readonly expiresAfterDays: number
    readonly nowMs: number
  },
): PlanProvenance {
  const measuredMs = sweep.started_at === null ? given.nowMs : Date.parse(sweep.started_at)
  const point = capacityPoint(sweep)
  const loads = sweep.points.map(({ load }) => load.value)
  return {
    sweep: path,
    objective: sweep.objective,
    workload: sweep.workload,
    engine: sweep.target.engine,
    embedded: sweep.target.embedded,
    again: sweep.repeat === null ? null : sameAgain(sweep.target, sweep.repeat),
    model: sweep.target.model,
    gpu: given.gpu,
    engine_args: given.engineArgs,
    plimsoll: sweep.plimsoll,
    measured_at: sweep.started_at,
    expires_at: new Date(measuredMs + given.expiresAfterDays * 86_400_000).toISOString(),
    runs: [
      ...sweep.points.flatMap(({ run }) => (run === null ? [] : [run])),
      ...(sweep.operating_point?.confirmation?.run === undefined ||
      sweep.operating_point.confirmation.run === null
        ? []
        : [sweep.operating_point.confirmation.run]),
    ],
    walls: sweep.walls,
    capacity: sweep.capacity,
    operating_point: sweep.operating_point,
    tail: (['ttft_ms', 'tpot_ms'] as const).map((metric) => {
      const summary = point?.metrics[metric]
      return {
        metric,
        p99: summary?.p99 ?? null,
        interval: summary?.ci['p99'] ?? null,
        why: summary === undefined ? 'not measured at this load' : (summary.why['p99'] ?? null),
      }
    }),
    tested:
      sweep.points[0] === undefined
        ? null
        : { kind: sweep.points[0].load.kind, first: Math.min(...loads), last: Math.max(...loads) },
  }
}

/** What the plan takes for granted, each with what would show it. */
export function notMeasured(
  sweep: SweepDocument | null,
  given: { readonly imbalance: string; readonly gpu: string | null; readonly coldStart: boolean },
): readonly string[] {
  const gaps: string[] = []
  if (sweep === null) {
    gaps.push('the rate of a replica was typed, not measured: plimsoll sweep measures it')
  } else {
    const { operating_point: point, walls, capacity, target } = sweep
    if (point !== null && isRefuted(point))
      gaps.push('a rate that keeps the objective open loop, which this one did not: plimsoll find')
    else if (point !== null && point.confirmed !== true)
      gaps.push('the operating point open loop: plimsoll run at its rate confirms it')
    if (capacity.indicative)
      gaps.push('the SLO wall with enough samples: --duration-per-point longer shows it')
    if (capacity.censored) gaps.push('any wall: every tested load passed, so the capacity is at least this')
    if (walls.memory === null) gaps.push(`the memory wall (${walls.why.memory})`)
    if (target.embedded) gaps.push('a real server: the embedded engine was loaded')
    gaps.push(`other lengths and other mixes than: ${sweep.workload}`)
    gaps.push('warm prefix caches: every prompt was salted unless the sweep said otherwise')
  }
  if (given.gpu === null) gaps.push('which GPU it was: --gpu puts it on the page')
  if (Number(given.imbalance) === 1)
    gaps.push(
      'how evenly the router spreads: --imbalance 1.15 if the busiest replica gets 15 % more than the mean',
    )
  if (!given.coldStart)
    gaps.push('how long a replica takes to start: --cold-start, and --ramp for the demand')
  gaps.push('hours of load: leaks, fragmentation and thermal limits show later than a sweep')
  return gaps
}
