import { controlFleet, type ScaleEvent } from './fleet-control.ts'
import { FleetRun, type FleetResult } from './fleet-run.ts'
import type { FleetAccount, FleetWindow } from './fleet-account.ts'
import type { FleetSpec } from './fleet-spec.ts'
import type { Replica } from './replicas.ts'

export type { FleetResult } from './fleet-run.ts'

export interface FleetOptions {
  /** Every request as its end is known; without it memory does not grow with the number of requests. */
  readonly onResult?: (result: FleetResult) => void
  readonly keepTokenTimes?: boolean
}

export interface FleetOutcome {
  readonly account: FleetAccount
  readonly windows: readonly FleetWindow[]
  readonly scaleEvents: readonly ScaleEvent[]
  /** Time between the order and the end of each replica, inside the simulated time, in hours. */
  readonly replicaHours: number
  /** Of the groups that have a price; null when none has. */
  readonly cost: number | null
  readonly mostReplicas: number
  readonly steps: number
  readonly endedMs: number
}

/** Runs a fleet in virtual time. The same specification gives the same outcome, to the last bit, on any machine. */
export function simulateFleet(spec: FleetSpec, options: FleetOptions = {}): FleetOutcome {
  const run = new FleetRun(spec, options.onResult ?? null, options.keepTokenTimes ?? false)
  const readyMs: number[] = []
  const scaleEvents = controlFleet(run, readyMs)
  run.run()
  const windows = run.account.windowsWith(readyMs, spec.durationMs)
  let replicaHours = 0
  let cost: number | null = null
  for (const replica of run.replicas) {
    const hours = hoursOf(replica, spec.durationMs)
    replicaHours += hours
    const { costPerHour } = replica.group
    if (costPerHour !== null) cost = (cost ?? 0) + hours * costPerHour
  }
  return {
    account: run.account,
    windows,
    scaleEvents,
    replicaHours,
    cost,
    mostReplicas: mostAtOnce(run.replicas, spec.durationMs),
    steps: run.replicas.reduce((sum, replica) => sum + (replica.engine?.stats(run.nowMs).steps ?? 0), 0),
    endedMs: run.nowMs,
  }
}

function hoursOf(replica: Replica, durationMs: number): number {
  const endMs = replica.goneMs < 0 ? durationMs : Math.min(replica.goneMs, durationMs)
  return Math.max(0, endMs - Math.min(replica.orderedMs, durationMs)) / 3_600_000
}

function mostAtOnce(replicas: readonly Replica[], durationMs: number): number {
  const edges = replicas.flatMap((replica) => [
    [replica.orderedMs, 1] as const,
    [replica.goneMs < 0 ? durationMs + 1 : replica.goneMs, -1] as const,
  ])
  edges.sort((a, b) => a[0] - b[0] || a[1] - b[1])
  let now = 0
  let most = 0
  for (const [, change] of edges) {
    now += change
    if (now > most) most = now
  }
  return most
}
