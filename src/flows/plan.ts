import { PlimsollError } from '../base/errors.ts'
import { parseObjective } from '../measure/metrics/parse-objective.ts'
import { burstFacts, replicasForAvailability, upChances } from '../plan/availability.ts'
import { admission, engineFlags } from '../plan/engine-flags.ts'
import {
  fleetSize,
  replicasToSurvive,
  survivorLoad,
  type FleetDemand,
  type FleetReading,
} from '../plan/fleet-size.ts'
import {
  add,
  ceil,
  compare,
  divide,
  multiply,
  rational,
  toNumber,
  toRational,
  type Rational,
} from '../stats/rational.ts'
import type { SweepDocument } from '../report/documents.ts'
import type {
  PlanBasis,
  PlanCandidate,
  PlanClass,
  PlanDocument,
  PlanLimits,
  PlanReading,
} from '../report/plan-document.ts'
import type { FlowDeps } from './flow-deps.ts'
import { brokeFirst, capacityPoint, notMeasured, openSweep, planBasis, provenance } from './plan-basis.ts'
import { incompleteSweeps, refuseUndecided } from './plan-incomplete.ts'
import type { PlanClassConfig, PlanConfig } from './plan-config.ts'
import { writeDeployFolder } from './plan-deploy.ts'
import { refuseExtrapolation } from './plan-extrapolation.ts'
import { sixDecimals, nothingToDeploy, undecidedMargin } from './plan-refusals.ts'
import { tryPlan } from './plan-trial.ts'

export interface PlanOutcome {
  readonly document: PlanDocument
}

interface ReadSweep {
  readonly path: string
  readonly sweep: SweepDocument
}

const zero: Rational = { num: 0n, den: 1n }

/**
 * Replicas for a demand from the operating points of sweeps (or a typed rate), ranked where there are several; limits and the capacity
 * page from the best; with `out` a whole folder to deploy.
 * @throws PlimsollError PLIM_USAGE for a batch beyond what was tested, or a folder asked for while the margin is undecided.
 */
export async function planFlow(config: PlanConfig, deps: FlowDeps): Promise<PlanOutcome> {
  const sweeps: ReadSweep[] = []
  for (const path of config.sweeps) sweeps.push({ path, sweep: await openSweep(path) })
  const ofClasses: ReadSweep[] = []
  for (const { sweep: path } of config.classes)
    if (path !== null) ofClasses.push({ path, sweep: await openSweep(path) })
  refuseUndecided([...(config.each === null ? sweeps : []), ...ofClasses])
  const classes = classesOf(config, sweeps, ofClasses)
  const peak = peakOf(config)
  const candidates = candidatesOf(config, peak, sweeps)
  const [best] = candidates
  const bestSweep = sweeps.find(({ path }) => path === best?.name) ?? null
  refuseExtrapolation(config, bestSweep?.sweep ?? null)
  const reading = chosenReading(best)
  const undecided = best !== undefined && best.basis !== null && reading === null
  const classReadings = classes.map((each) => chosenReading(each))
  let document: PlanDocument = {
    schema: 'plimsoll.plan/1',
    plimsoll: deps.version,
    made_at: new Date(deps.wallClock()).toISOString(),
    demand: {
      peak_per_s: sixDecimals(peak),
      margin: sixDecimals(toRational(config.margin.share)),
      margin_kind: config.margin.kind,
      imbalance: sixDecimals(toRational(config.imbalance)),
      failures: config.failures,
      zones: config.zones,
      gpus_per_replica: config.gpusPerReplica,
      burst_window_s: config.burstWindowSeconds,
      price_per_gpu_hour: config.pricePerGpuHour,
    },
    candidates,
    classes,
    shared_replicas: sharedReplicas(config, classes),
    chosen: best?.chosen ?? null,
    availability: config.availability === null || reading === null ? null : availabilityOf(config, reading),
    bursts:
      reading === null || best === undefined || best.basis === null
        ? []
        : burstsOf(peak, reading, best.basis),
    limits: bestSweep === null ? null : limitsOf(config, bestSweep.sweep),
    provenance:
      bestSweep === null
        ? null
        : provenance(bestSweep.path, bestSweep.sweep, { ...config, nowMs: deps.wallClock() }),
    not_measured: notMeasured(bestSweep?.sweep ?? null, {
      imbalance: config.imbalance,
      gpu: config.gpu,
      coldStart: config.coldStart !== null,
    }),
    simulation: null,
    warnings: incompleteSweeps([...(config.each === null ? sweeps : []), ...ofClasses]),
    files: [],
    out: null,
  }
  if (config.simulate !== null) {
    if (undecided) throw undecidedMargin(config, 'only one plan is tried at a time')
    const tried = { peak, replicas: reading?.replicas ?? 0, limits: document.limits, sweep: bestSweep }
    document = { ...document, simulation: await tryPlan(config, config.simulate, tried, deps) }
  }
  if (config.out !== null) {
    if (undecided || classReadings.includes(null))
      throw undecidedMargin(config, 'without --out both are shown')
    if (bestSweep === null || reading === null) throw nothingToDeploy(best)
    const files = await writeDeployFolder(config.out, {
      document,
      sweep: bestSweep.sweep,
      config,
      force: config.force,
      deps,
    })
    document = { ...document, files, out: config.out }
  }
  return { document }
}

function peakOf(config: PlanConfig): Rational {
  if (config.peak !== null) return toRational(config.peak)
  if (config.classes.length > 0)
    return config.classes.reduce((sum, { peak }) => add(sum, toRational(peak)), zero)
  throw new PlimsollError('PLIM_USAGE', 'there is no demand to plan for', { expected: '--peak 40/s' })
}

function candidatesOf(
  config: PlanConfig,
  peak: Rational,
  sweeps: readonly ReadSweep[],
): readonly PlanCandidate[] {
  if (config.each !== null) return [typedCandidate(config, peak, config.each)]
  if (sweeps.length === 0) {
    throw new PlimsollError('PLIM_USAGE', 'there is nothing to plan on', {
      expected: 'the folder of a sweep, or --each 8/s',
    })
  }
  return sweeps
    .map((each) => sweptCandidate(config, peak, each))
    .sort((a, b) => safeThroughput(b) - safeThroughput(a))
}

/** Tokens per second that keep the objective; requests where tokens are unknown. */
function safeThroughput({ basis, output_tokens_per_s: tokens }: PlanCandidate): number {
  return basis === null ? -1 : (tokens ?? basis.requests_per_s)
}

function typedCandidate(config: PlanConfig, peak: Rational, each: string): PlanCandidate {
  const rate = toRational(each)
  const basis: PlanBasis = {
    requests_per_s: toNumber(rate),
    kind: 'typed',
    at_least: false,
    why: 'as typed',
  }
  return {
    name: `${sixDecimals(rate)}/s each`,
    basis,
    output_tokens_per_s: null,
    capacity: null,
    binding: null,
    broke_first: null,
    peak_output_tokens_per_s: null,
    ...sized(demandOf(config, peak, rate), config, null),
  }
}

function sweptCandidate(config: PlanConfig, peak: Rational, { path, sweep }: ReadSweep): PlanCandidate {
  const basis = planBasis(sweep)
  const tokens = basis === null ? null : (sweep.operating_point?.output_tokens_per_s ?? null)
  const perRequest =
    tokens === null || sweep.operating_point === null ? null : tokens / sweep.operating_point.requests_per_s
  return {
    name: path,
    basis,
    output_tokens_per_s: tokens,
    capacity: sweep.operating_point?.load ?? null,
    binding: sweep.capacity.binding,
    broke_first: brokeFirst(sweep),
    peak_output_tokens_per_s: sweep.peak?.output_tokens_per_s ?? null,
    ...(basis === null
      ? { readings: [], chosen: null, survivor_share: null }
      : sized(demandOf(config, peak, toRational(basis.requests_per_s)), config, perRequest)),
  }
}

function demandOf(config: PlanConfig, peak: Rational, perReplica: Rational): FleetDemand {
  return { ...config, peak, perReplica }
}

function sized(
  demand: FleetDemand,
  config: PlanConfig,
  tokensPerRequest: number | null,
): Pick<PlanCandidate, 'readings' | 'chosen' | 'survivor_share'> {
  const { readings, chosen } = fleetSize(demand)
  const survivor = chosen === null ? null : survivorLoad(demand, chosen)
  return {
    readings: readings.map((reading) => planReading(reading, demand, config, tokensPerRequest)),
    chosen: chosen?.margin ?? null,
    survivor_share: survivor === null ? null : toNumber(survivor),
  }
}

function planReading(
  reading: FleetReading,
  demand: FleetDemand,
  { pricePerGpuHour }: PlanConfig,
  tokensPerRequest: number | null,
): PlanReading {
  const cost = pricePerGpuHour === null ? null : multiply(toRational(pricePerGpuHour), rational(reading.gpus))
  const tokensPerHour = 3600 * toNumber(toRational(demand.peak)) * (tokensPerRequest ?? 0)
  return {
    margin_kind: reading.margin,
    usable_per_s: toNumber(reading.usable),
    need: toNumber(reading.need),
    serving: reading.serving,
    replicas: reading.replicas,
    gpus: reading.gpus,
    cost_per_hour: cost === null ? null : toNumber(cost),
    cost_per_million_output_tokens:
      cost === null || tokensPerHour === 0 ? null : (toNumber(cost) / tokensPerHour) * 1e6,
    working: reading.working,
  }
}

function classesOf(
  config: PlanConfig,
  sweeps: readonly ReadSweep[],
  ofClasses: readonly ReadSweep[],
): readonly PlanClass[] {
  return config.classes.map((each) => {
    const own = ofClasses.find(({ path }) => path === each.sweep)?.sweep ?? null
    return classOf(config, each, sweeps, own)
  })
}

function classOf(
  config: PlanConfig,
  { name, peak, sweep: path }: PlanClassConfig,
  sweeps: readonly ReadSweep[],
  own: SweepDocument | null,
): PlanClass {
  const sweep = own ?? sweeps[0]?.sweep ?? null
  const basis: PlanBasis | null =
    sweep === null
      ? config.each === null
        ? null
        : {
            requests_per_s: toNumber(toRational(config.each)),
            kind: 'typed',
            at_least: false,
            why: 'as typed',
          }
      : planBasis(sweep)
  return {
    name,
    peak_per_s: sixDecimals(toRational(peak)),
    sweep: path ?? sweeps[0]?.path ?? 'typed',
    basis,
    ...(basis === null
      ? { readings: [], chosen: null }
      : omitSurvivor(sized(demandOf(config, toRational(peak), rateOf(config, basis)), config, null))),
  }
}

function omitSurvivor({
  readings,
  chosen,
}: Pick<PlanCandidate, 'readings' | 'chosen'>): Pick<PlanClass, 'readings' | 'chosen'> {
  return { readings, chosen }
}

/** One pool for all classes: their needs add up before they are rounded, and one spare (or one lost zone) serves all. Exact. */
function sharedReplicas(config: PlanConfig, classes: readonly PlanClass[]): number | null {
  if (classes.length < 2) return null
  let need = zero
  for (const { basis, peak_per_s: peak } of classes) {
    if (basis === null) return null
    const { chosen } = fleetSize(demandOf(config, toRational(peak), rateOf(config, basis)))
    if (chosen === null) return null
    need = add(need, chosen.need)
  }
  return replicasToSurvive(Number(ceil(need)), config)
}

function rateOf({ each }: PlanConfig, basis: PlanBasis): Rational {
  return toRational(basis.kind === 'typed' && each !== null ? each : basis.requests_per_s)
}

function chosenReading(planned: Pick<PlanCandidate, 'readings' | 'chosen'> | undefined): PlanReading | null {
  return planned?.readings.find(({ margin_kind }) => margin_kind === planned.chosen) ?? null
}

function availabilityOf(config: PlanConfig, reading: PlanReading): PlanDocument['availability'] {
  const ofReplica = Number(config.availability)
  const wanted = config.wantedAvailability === null ? null : Number(config.wantedAvailability)
  return {
    of_replica: ofReplica,
    enough_up: upChances(reading.serving, reading.replicas, ofReplica),
    wanted:
      wanted === null
        ? null
        : { chance: wanted, replicas: replicasForAvailability(reading.serving, ofReplica, wanted) },
  }
}

/** How much of the seconds the capacity that serves covers: measured capacity of the serving replicas ÷ peak. */
function burstsOf(peak: Rational, reading: PlanReading, basis: PlanBasis): PlanDocument['bursts'] {
  if (peak.num === 0n) return []
  const carried = multiply(toRational(basis.requests_per_s), rational(reading.serving))
  const uplift = divide(carried, peak)
  const one: Rational = { num: 1n, den: 1n }
  return burstFacts(peak, compare(uplift, one) < 0 ? one : uplift).map(
    ({ windowSeconds, peakToMean, covered }) => ({
      window_s: windowSeconds,
      peak_to_mean: peakToMean,
      covered_share: covered,
    }),
  )
}

function limitsOf(config: PlanConfig, sweep: SweepDocument): PlanLimits | null {
  const basis = planBasis(sweep)
  const point = sweep.operating_point
  if (basis === null || point === null) return null
  // An open loop may have confirmed a lower rate; its arrivals still meet in batches as large as those that passed.
  const inFlight =
    point.load.kind === 'concurrency' ? (sweep.capacity.load ?? point.load.value) : point.in_flight
  if (inFlight === null) return null
  const limits = admission({
    inFlight,
    requestsPerSecond: basis.requests_per_s,
    ttftLimitMs: ttftLimitMs(sweep.objective),
    ttftP99Ms: point.ttft_ms.p99 ?? capacityPoint(sweep)?.metrics.ttft_ms?.max ?? null,
    maxWaitMs: config.maxWaitMs,
    prefillTokensPerSecond: config.prefillTokensPerSecond,
  })
  return {
    max_running: limits.maxRunning,
    max_wait_ms: limits.maxWaitMs,
    max_queued: limits.maxQueued,
    max_in_flight: limits.maxInFlight,
    max_queued_tokens: limits.maxQueuedTokens,
    retry_after_s: limits.retryAfterSeconds,
    why: limits.why,
    flags: engineFlags(limits),
  }
}

/** The tightest limit on TTFT among the sweep's objectives, ms. */
export function ttftLimitMs(objective: string | null): number | null {
  if (objective === null) return null
  const limits = objective.split('; ').flatMap((text) => {
    const parsed = parseObjective(text)
    const all = parsed.kind === 'slo' ? [...parsed.each, ...parsed.run] : parsed.each
    return all.filter(({ metric }) => metric === 'ttft').map(({ limitMs }) => limitMs)
  })
  return limits.length === 0 ? null : Math.min(...limits)
}
