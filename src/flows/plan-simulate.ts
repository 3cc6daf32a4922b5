import { PlimsollError } from '../base/errors.ts'
import { noun } from '../base/noun.ts'
import { formatCount } from '../base/units.ts'
import { parseObjective } from '../measure/metrics/parse-objective.ts'
import { readTrace } from '../measure/workload/trace.ts'
import { allowedBadShare } from '../operate/slo/budget.ts'
import type { SweepDocument } from '../report/documents.ts'
import type { PlanLimits } from '../report/plan-document.ts'
import type { PlanCase, PlanHour, PlanShare, PlanSimulation } from '../report/plan-simulation.ts'
import type { EngineConfig } from '../simulate/engine/engine-config.ts'
import type { FleetWindow } from '../simulate/fleet/fleet-account.ts'
import type { DailyRate, RouterSpec, Traffic } from '../simulate/fleet/fleet-spec.ts'
import {
  busiestMinutePerSecond,
  busiestOfDay,
  busiestPart,
  busiestOfTrace,
  simulateDay,
  traceLengthMs,
  type DayOutcome,
  type PlannedDay,
  type Stretch,
} from '../simulate/fleet/planned-day.ts'
import {
  shareLimits,
  type JudgedShare,
  type ShareCount,
  type ShareLimit,
} from '../simulate/fleet/share-limits.ts'
import { openTraffic } from '../simulate/fleet/traffic.ts'
import { multiply, rational, toNumber, toRational } from '../stats/rational.ts'
import type { FlowDeps } from './flow-deps.ts'
import { parseLength } from './options/length-text.ts'
import {
  engineCapacity,
  planEngine,
  seenLengths,
  sweepRuns,
  type LengthPairs,
  type PlanEngine,
} from './plan-engine.ts'
import { latencyDocument } from './simulate.ts'
import { dailyOf } from './simulate-spec.ts'

/** How a plan is tried: everything that neither the plan nor its sweep says. */
export interface PlanSimulateConfig {
  /** A file of `model fit`, or the name of a preset; null: as the sweep says. */
  readonly model: string | null
  /** A trace's file, or `daily LOW..HIGH over TIME`; null: a day whose height is the plan's peak. */
  readonly traffic: string | null
  /** Lengths as texts; null: those of the sweep's requests. */
  readonly prompt: string | null
  readonly output: string | null
  /** Objectives instead of the sweep's; empty: the sweep's. */
  readonly objectives: readonly string[]
  readonly router: RouterSpec['kind']
  readonly seed: string
}

export interface PlanToSimulate {
  readonly peakPerSecond: number
  readonly replicas: number
  /** Replicas that the planned losses take of so many. */
  readonly lostOf: (replicas: number) => number
  readonly limits: PlanLimits | null
  /** Null: the rate of a replica was typed. */
  readonly sweep: { readonly path: string; readonly sweep: SweepDocument } | null
}

/** The quietest minute of a day without traffic of its own, as a share of the busiest. */
const quietest = 0.1

/**
 * Tries a plan on a day of traffic with as many replicas killed, when the day is busiest, as the plan is made to survive; the same with
 * one replica fewer, which should fail; and, where the engine was fitted, the plan on the slowest engine that the fit allows.
 * @throws PlimsollError PLIM_USAGE where no objective, no lengths or no engine is known.
 */
export async function simulatePlan(
  plan: PlanToSimulate,
  config: PlanSimulateConfig,
  deps: FlowDeps,
): Promise<PlanSimulation> {
  const { sweep } = plan
  const { judged: limits, unjudged } = shareLimits(objectivesOf(config, sweep?.sweep ?? null))
  if (limits.length === 0) throw nothingToJudge(unjudged)
  const runs = sweep === null ? { runs: [] } : await sweepRuns(sweep.path, sweep.sweep)
  const arrivals = await arrivalsOf(plan, config, deps)
  const lengths = lengthsOf(config, seenLengths(runs), arrivals)
  const traffic = trafficOf(arrivals, lengths)
  const tpots = limits.flatMap((limit) => limit.limits.filter(({ metric }) => metric === 'tpot'))
  const load = {
    lengths: lengths.pairs ?? sampledLengths(traffic, config.seed, arrivals.durationMs),
    tpotLimitMs: tpots.length === 0 ? null : Math.min(...tpots.map(({ limitMs }) => limitMs)),
  }
  const engine = await planEngine(config.model, sweep?.sweep ?? null, runs, load, deps)
  const limited = withLimits(engine.engine, plan.limits)
  const day: PlannedDay = {
    engine: limited,
    replicas: plan.replicas,
    killed: plan.lostOf(plan.replicas),
    traffic,
    durationMs: arrivals.durationMs,
    busiest: arrivals.busiest,
    router: config.router,
    limits,
    seed: config.seed,
  }
  tellIfLong(arrivals, deps)
  const cases: PlanCase[] = [caseOf('plan', day)]
  const fewer = plan.replicas - 1
  if (fewer > 0) {
    cases.push(hourOf('one_fewer', { ...day, replicas: fewer, killed: plan.lostOf(fewer) }))
  }
  if (engine.slowest !== null)
    cases.push(hourOf('slowest_engine', { ...day, engine: withLimits(engine.slowest, plan.limits) }))
  return {
    survives: cases[0]?.survives ?? false,
    engine: engineFacts(engine, engineCapacity(limited, load)),
    traffic: {
      text: arrivals.text,
      duration_s: arrivals.durationMs / 1000,
      peak_per_s: arrivals.peakPerSecond,
      lengths: lengths.text,
    },
    router: config.router,
    seed: config.seed,
    busiest: { from_s: arrivals.busiest.fromMs / 1000, until_s: arrivals.busiest.untilMs / 1000 },
    cases,
    not_judged: unjudged,
  }
}

/** Requests of a day that takes more than a few seconds to simulate. */
const manyRequests = 500_000

function tellIfLong({ source, durationMs }: Arrivals, deps: FlowDeps): void {
  if (source.kind !== 'daily') return
  const { lowPerSecond: low, highPerSecond: high } = source.rate
  const requests = (((low + high) / 2) * durationMs) / 1000
  if (requests < manyRequests) return
  deps.onNotice(
    `simulating a day of about ${formatCount(Math.round(requests))} requests; --traffic "daily … over 1h" squeezes it`,
  )
}

function engineFacts({ source, text }: PlanEngine, capacityPerSecond: number): PlanSimulation['engine'] {
  return { source, text, capacity_per_s: capacityPerSecond }
}

function objectivesOf(
  { objectives }: PlanSimulateConfig,
  sweep: SweepDocument | null,
): ReturnType<typeof parseObjective>[] {
  const texts = objectives.length > 0 ? objectives : (sweep?.objective?.split('; ') ?? [])
  return texts.map((text) => parseObjective(text))
}

function nothingToJudge(unjudged: readonly string[]): PlimsollError {
  return new PlimsollError('PLIM_USAGE', 'there is nothing to judge the simulated day by', {
    expected: '--slo with limits on ttft, tpot or e2e: --slo "ttft < 1s and tpot < 40ms, good 99%"',
    received: unjudged.length === 0 ? 'no objective' : unjudged.join(', '),
  })
}

interface Arrivals {
  readonly text: string
  readonly durationMs: number
  readonly peakPerSecond: number
  readonly busiest: Stretch
  readonly source:
    | { readonly kind: 'daily'; readonly rate: DailyRate }
    | { readonly kind: 'trace'; readonly traffic: Extract<Traffic, { kind: 'trace' }> }
}

async function arrivalsOf(
  { peakPerSecond }: PlanToSimulate,
  { traffic }: PlanSimulateConfig,
  deps: FlowDeps,
): Promise<Arrivals> {
  const text =
    traffic ?? `daily ${rateText(quietest * peakPerSecond)}/s..${rateText(peakPerSecond)}/s over 24h`
  const daily = dailyOf(text)
  if (daily !== null) {
    return {
      text,
      durationMs: daily.periodMs,
      peakPerSecond: daily.highPerSecond,
      busiest: busiestOfDay(daily.periodMs),
      source: { kind: 'daily', rate: daily },
    }
  }
  const trace = readTrace(await deps.files.readText(text), text)
  return {
    text: `trace ${text}`,
    durationMs: traceLengthMs(trace.entries),
    peakPerSecond: busiestMinutePerSecond(trace),
    busiest: busiestOfTrace(trace),
    source: { kind: 'trace', traffic: { kind: 'trace', trace, speed: 1, repeat: false } },
  }
}

function rateText(perSecond: number): string {
  return String(Number(perSecond.toPrecision(6)))
}

type Lengths =
  | { readonly pairs: LengthPairs; readonly text: string; readonly drawn: null }
  | { readonly pairs: null; readonly text: string; readonly drawn: Drawn | null }

interface Drawn {
  readonly prompt: ReturnType<typeof parseLength>
  readonly output: ReturnType<typeof parseLength>
}

/** What was said, else the trace's own, else what the sweep's requests had. */
function lengthsOf(
  { prompt, output }: PlanSimulateConfig,
  seen: LengthPairs | null,
  { source }: Arrivals,
): Lengths {
  if (source.kind === 'trace') return { pairs: null, text: "the trace's own", drawn: null }
  if (prompt !== null && output !== null) {
    return {
      pairs: null,
      text: `${prompt} tokens in, ${output} out`,
      drawn: { prompt: parseLength(prompt, '--prompt'), output: parseLength(output, '--output') },
    }
  }
  if (prompt === null && output === null && seen !== null)
    return {
      pairs: seen,
      text: `those of ${seen.length} ${noun(seen.length, 'request')} of the sweep`,
      drawn: null,
    }
  throw new PlimsollError('PLIM_USAGE', 'the lengths of the requests are not known', {
    expected: '--prompt and --output, as --prompt 1024 --output "lognormal median 120 p99 800"',
    received:
      prompt === null && output === null
        ? 'neither of them, and no runs of a sweep that would show them'
        : 'one of the two',
  })
}

function trafficOf({ source }: Arrivals, lengths: Lengths): Traffic {
  if (source.kind === 'trace') return source.traffic
  if (lengths.pairs !== null) return { kind: 'pairs', arrivals: source.rate, pairs: lengths.pairs }
  if (lengths.drawn === null) throw new RangeError('lengths of a day are pairs, or drawn')
  const { prompt, output } = lengths.drawn
  return { kind: 'made', arrivals: source.rate, promptTokens: prompt, outputTokens: output, sharing: null }
}

/** Lengths of the first requests, for the mean field. */
function sampledLengths(traffic: Traffic, seed: string, durationMs: number): LengthPairs {
  const pairs: (readonly [number, number])[] = []
  const source = openTraffic(traffic, seed, durationMs)
  while (pairs.length < 10_000 && source.next())
    pairs.push([source.request.prompt.length, source.request.outputTokens])
  return pairs.length === 0 ? [[1, 1]] : pairs
}

/** The engine with the seats and the line that the plan gives a replica. */
function withLimits(engine: EngineConfig, limits: PlanLimits | null): EngineConfig {
  if (limits === null) return engine
  return {
    ...engine,
    maxNumSeqs: Math.min(engine.maxNumSeqs, limits.max_running),
    maxNumWaiting: limits.max_queued ?? engine.maxNumWaiting,
  }
}

function caseOf(kind: PlanCase['kind'], day: PlannedDay): PlanCase {
  const outcome = simulateDay(day)
  const { account, windows } = outcome.fleet
  const worst = windows.reduce<FleetWindow | null>(
    (most, window) => (most === null || window.mostWaiting > most.mostWaiting ? window : most),
    null,
  )
  return {
    kind,
    replicas: day.replicas,
    killed: day.killed,
    survives: outcome.survives,
    arrived: account.arrived,
    goodput_per_s: account.good / (day.durationMs / 1000),
    objectives: outcome.shares.map(shareDocument),
    ttft_ms: latencyDocument(account.ttft),
    tpot_ms: latencyDocument(account.tpot),
    worst_queue: { requests: worst?.mostWaiting ?? 0, at_s: (worst?.startMs ?? 0) / 1000 },
    hurt: { ...account.hurt },
    hours: hoursOf(outcome, day.durationMs),
  }
}

/** Only the busiest hour is simulated: outside of it a fleet has more replicas and less to do. */
function hourOf(kind: PlanCase['kind'], day: PlannedDay): PlanCase {
  const hour = busiestPart(day)
  const part = caseOf(kind, hour)
  const startS = (day.busiest.fromMs - hour.busiest.fromMs) / 1000
  return {
    ...part,
    worst_queue: { ...part.worst_queue, at_s: startS + part.worst_queue.at_s },
    objectives: part.objectives.map((share) => ({ ...share, day: null, budget_spent: null })),
    hours: [],
  }
}

function shareDocument({ limit, day, hour, met }: JudgedShare): PlanShare {
  return {
    text: limit.text,
    wanted: toNumber(toRational(limit.good)),
    day: shareOf(day),
    busiest: shareOf(hour),
    budget_spent: spent(limit, day),
    budget_spent_busiest: spent(limit, hour),
    met,
  }
}

function shareOf({ all, good }: ShareCount): number | null {
  return all === 0 ? null : good / all
}

function spent(limit: ShareLimit, { all, good }: ShareCount): number | null {
  const allowed = multiply(allowedBadShare(limit.good), rational(all))
  return allowed.num === 0n ? null : (all - good) / toNumber(allowed)
}

const parts = 24

function hoursOf({ fleet }: DayOutcome, durationMs: number): PlanHour[] {
  const partMs = durationMs / parts
  return Array.from({ length: parts }, (_, i) => {
    const inside = fleet.windows.filter(({ startMs }) => Math.floor(startMs / partMs) === i)
    const sum = (of: (window: FleetWindow) => number): number =>
      inside.reduce((total, window) => total + of(window), 0)
    return {
      start_s: (i * partMs) / 1000,
      arrived: sum(({ arrived }) => arrived),
      good: sum(({ good }) => good),
      ready_replicas: inside.length === 0 ? 0 : sum(({ readyReplicas }) => readyReplicas) / inside.length,
      most_waiting: inside.reduce((most, { mostWaiting }) => Math.max(most, mostWaiting), 0),
    }
  })
}
