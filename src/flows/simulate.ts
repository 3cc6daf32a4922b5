import { dirname, isAbsolute, join } from 'node:path'
import { compare, divide, multiply, rational, toNumber, toRational } from '../stats/rational.ts'
import { describeObjective, type Objective } from '../measure/metrics/objective.ts'
import { readTrace, type Trace } from '../measure/workload/trace.ts'
import { allowedBadShare } from '../operate/slo/budget.ts'
import type {
  LatencyDocument,
  SimulatedPolicy,
  SimulationDocument,
  SimulationFloor,
} from '../report/simulate-document.ts'
import { lengthMoments, meanFieldWalls } from '../simulate/calibrate/mean-field.ts'
import { likelyEngines } from '../simulate/calibrate/predict.ts'
import type { EngineConfig } from '../simulate/engine/engine-config.ts'
import type { FleetWindow } from '../simulate/fleet/fleet-account.ts'
import type { FleetSpec, ReplicaGroup } from '../simulate/fleet/fleet-spec.ts'
import type { LatencySketch } from '../simulate/fleet/latency-sketch.ts'
import { simulateFleet, type FleetOutcome } from '../simulate/fleet/simulate-fleet.ts'
import { openTraffic } from '../simulate/fleet/traffic.ts'
import type { FlowDeps } from './flow-deps.ts'
import { simulatedRows, writeSimulatedRun } from './simulate-rows.ts'
import { engineOf, readModel } from './model-file.ts'
import { fleetsOf, modelsOf, policyFolder, tracesOf, type NamedFleet } from './simulate-spec.ts'
import { readFleetFile } from './simulate-yaml.ts'

export interface SimulateConfig {
  readonly path: string
  /** Instead of the file's. */
  readonly seed: string | null
  /** Folder for a run folder of each policy; null: no rows are kept. */
  readonly out: string | null
  /** Folder for what memory should not hold of those rows; null: it holds all. */
  readonly scratch: string | null
}

export interface SimulateOutcome {
  readonly document: SimulationDocument
}

/** Reads a fleet file, runs each of its policies in virtual time, and puts them side by side. */
export async function simulateFlow(config: SimulateConfig, deps: FlowDeps): Promise<SimulateOutcome> {
  const file = readFleetFile(await deps.files.readText(config.path), config.path)
  const beside = (path: string): Promise<string> =>
    deps.files.readText(isAbsolute(path) ? path : join(dirname(config.path), path))
  const traces = new Map<string, Trace>()
  for (const path of tracesOf(file.text)) traces.set(path, readTrace(await beside(path), path))
  const models = new Map<string, EngineConfig>()
  for (const path of modelsOf(file.text)) {
    const [engine] = likelyEngines(engineOf(readModel(await beside(path), path)))
    if (engine !== undefined) models.set(path, engine)
  }
  const fleets = fleetsOf(file, { traces, models, ...(config.seed === null ? {} : { seed: config.seed }) })
  const policies: SimulatedPolicy[] = []
  let floor: SimulationFloor | null = null
  for (const fleet of fleets) {
    if (deps.signal.aborted) break
    const rows = config.out === null ? null : simulatedRows(config.scratch)
    const outcome = simulateFleet(
      fleet.spec,
      rows === null ? {} : { onResult: rows.add, keepTokenTimes: true },
    )
    policies.push(policyDocument(fleet, outcome))
    // The mean field knows no drafts: a fleet that has them may do with less than it says.
    if (policies.length === 1 && !fleets.some(({ spec }) => spec.groups.some(drafts))) {
      floor = floorOf(fleet.spec, outcome.windows)
    }
    if (rows !== null && config.out !== null) {
      const path = fleets.length === 1 ? config.out : join(config.out, policyFolder(fleet.policy))
      await writeSimulatedRun(path, fleet, rows.inOrder(), deps)
    }
  }
  const [first] = fleets
  return {
    document: {
      schema: 'plimsoll.simulation/1',
      plimsoll: deps.version,
      file: config.path,
      name: file.text.name ?? 'fleet',
      seed: first?.spec.seed ?? '1',
      duration_s: (first?.spec.durationMs ?? 0) / 1000,
      objective: first?.spec.objective ? describeObjective(first.spec.objective) : null,
      policies,
      floor,
    },
  }
}

function drafts({ engine }: ReplicaGroup): boolean {
  return engine.speculative !== null
}

/** The figures of one policy, from what its simulation counted. */
export function policyDocument({ policy, spec }: NamedFleet, outcome: FleetOutcome): SimulatedPolicy {
  const { account, windows } = outcome
  const seconds = spec.durationMs / 1000
  const worst = windows.reduce<FleetWindow | null>(
    (most, window) => (most === null || window.mostWaiting > most.mostWaiting ? window : most),
    null,
  )
  return {
    policy,
    folder: policyFolder(policy),
    counts: {
      arrived: account.arrived,
      answered: account.answered,
      good: account.good,
      censored: account.censored,
      attempts: account.attempts,
      lost: { ...account.lost },
    },
    good_share: account.arrived === 0 ? null : account.good / account.arrived,
    goodput_per_s: account.good / seconds,
    output_tokens_per_s: account.outputTokens / seconds,
    objective_met: objectiveMet(spec.objective, account.good, account.arrived),
    budget_spent: budgetSpent(spec.objective, account.good, account.arrived),
    hurt: { ...account.hurt },
    ttft_ms: latencyDocument(account.ttft),
    tpot_ms: latencyDocument(account.tpot),
    e2e_ms: latencyDocument(account.e2e),
    queue_ms: latencyDocument(account.queue),
    worst_queue: { requests: worst?.mostWaiting ?? 0, at_s: (worst?.startMs ?? 0) / 1000 },
    preemptions: account.preemptions,
    replicas: {
      first: spec.groups.reduce((sum, group) => sum + group.replicas, 0),
      most: outcome.mostReplicas,
      changes: outcome.scaleEvents.map(({ atMs, from, to }) => ({ at_s: atMs / 1000, from, to })),
    },
    groups:
      spec.groups.length < 2
        ? []
        : spec.groups.map(({ name }, i) => ({
            name,
            ttft_ms: latencyDocument(account.ttftOfGroup[i] ?? account.ttft),
          })),
    replica_hours: outcome.replicaHours,
    cost: outcome.cost,
    windows: windows.map((window) => ({
      start_s: window.startMs / 1000,
      arrived: window.arrived,
      good: window.good,
      bad: window.bad,
      ready_replicas: window.readyReplicas,
      most_waiting: window.mostWaiting,
    })),
  }
}

/** The figures of a sketch, within its 0.4 %. */
export function latencyDocument(sketch: LatencySketch): LatencyDocument {
  return {
    n: sketch.count,
    mean: sketch.mean(),
    p50: sketch.percentile('50'),
    p90: sketch.percentile('90'),
    p99: sketch.percentile('99'),
    max: sketch.max(),
  }
}

/** Good ÷ arrived ≥ the share asked for, exactly. */
function objectiveMet(objective: Objective | null, good: number, arrived: number): boolean | null {
  if (objective === null || objective.good === null || arrived === 0) return null
  const share = divide(rational(BigInt(good)), rational(BigInt(arrived)))
  return compare(share, toRational(objective.good)) >= 0
}

function budgetSpent(objective: Objective | null, good: number, arrived: number): number | null {
  if (objective === null || objective.good === null || arrived === 0) return null
  const allowed = multiply(allowedBadShare(objective.good), rational(BigInt(arrived)))
  return allowed.num === 0n ? null : toNumber(divide(rational(BigInt(arrived - good)), allowed))
}

/** Requests whose lengths stand for the traffic. */
const lengthSample = 10_000

/**
 * Σ over the windows of ⌈arrivals a second ÷ what one replica carries⌉ · length: a fleet that knows what comes, starts at once
 * and never queues. No policy can be below it, and none is expected to reach it.
 */
function floorOf(spec: FleetSpec, windows: readonly FleetWindow[]): SimulationFloor | null {
  const [group] = spec.groups
  if (group === undefined) return null
  const source = openTraffic(spec.traffic, spec.seed, spec.durationMs)
  const pairs: Array<readonly [number, number]> = []
  while (pairs.length < lengthSample && source.next()) {
    pairs.push([source.request.prompt.length, source.request.outputTokens])
  }
  if (pairs.length === 0) return null
  const tpot = spec.objective?.each.find((limit) => limit.metric === 'tpot')
  const walls = meanFieldWalls(group.engine, lengthMoments(pairs), { tpotLimitMs: tpot?.limitMs ?? null })
  if (!Number.isFinite(walls.capacityPerSecond) || walls.capacityPerSecond <= 0) return null
  const hours = windows.reduce((sum, window) => {
    const lengthMs = Math.min(spec.windowMs, spec.durationMs - window.startMs)
    const replicas = Math.ceil((window.arrived * 1000) / lengthMs / walls.capacityPerSecond)
    return sum + (replicas * lengthMs) / 3_600_000
  }, 0)
  return {
    replica_hours: hours,
    cost: group.costPerHour === null ? null : hours * group.costPerHour,
    capacity_per_s: walls.capacityPerSecond,
    binding: walls.binding,
  }
}
