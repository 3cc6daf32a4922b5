import { randomStream } from '../../base/random.ts'
import type { FleetRun } from './fleet-run.ts'
import type { FleetSpec, ReplicaGroup, ScalerSpec } from './fleet-spec.ts'
import type { Replica } from './replicas.ts'
import { drawColdStart, podCpuShare, Scaler } from './scaler.ts'

/** CPU cores of a pod: what its requests and limits are usually set to beside one GPU. */
const podCores = 8

/** A change of the number of replicas that the autoscaler made. */
export interface ScaleEvent {
  readonly atMs: number
  readonly from: number
  readonly to: number
}

/** Puts everything on the agenda that changes the set of replicas, and the samples over time. */
export function controlFleet(run: FleetRun, readyMsOf: number[]): ScaleEvent[] {
  const { spec } = run
  for (const group of spec.groups) for (let i = 0; i < group.replicas; i++) run.order(group, 0)
  for (const fault of spec.faults) {
    if (fault.kind !== 'kill') continue
    run.at(fault.atMs, () => {
      const replica = run.replicas[fault.replica]
      if (replica === undefined) return
      run.kill(replica)
      if (fault.restartMs !== null) run.order(replica.group, run.nowMs + fault.restartMs)
    })
  }
  const events: ScaleEvent[] = []
  const { scaler, groups } = spec
  if (scaler !== null) scaleGroup(run, scaler, groups[0] as ReplicaGroup, events)
  sample(run, readyMsOf)
  return events
}

/** Sixty times a window, at most once a second: who is ready, how many wait. */
function sample(run: FleetRun, readyMsOf: number[]): void {
  const { windowMs, durationMs } = run.spec
  const everyMs = Math.max(windowMs / 60, Math.min(1000, windowMs))
  run.every(everyMs, 0, () => {
    if (run.nowMs >= durationMs) return
    const window = Math.floor(run.nowMs / windowMs)
    readyMsOf[window] =
      (readyMsOf[window] ?? 0) + run.ready.length * Math.min(everyMs, durationMs - run.nowMs)
    run.account.seeWaiting(run.nowMs, run.waiting())
  })
}

function scaleGroup(run: FleetRun, spec: ScalerSpec, group: ReplicaGroup, events: ScaleEvent[]): void {
  const scaler = new Scaler(spec)
  const coldStarts = randomStream(run.spec.seed, 'cold-starts')
  const warm: Replica[] = []
  const ours = (): Replica[] =>
    run.replicas.filter(
      (replica) =>
        replica.group === group &&
        (replica.state === 'starting' || replica.state === 'ready') &&
        !warm.includes(replica),
    )

  function fillWarmPool(started: boolean): void {
    const wanted = spec.warmPool?.replicas ?? 0
    while (warm.filter((replica) => replica.state !== 'gone').length < wanted) {
      const startMs = started ? run.nowMs : run.nowMs + drawColdStart(spec.coldStart, coldStarts)
      const replica = run.order(group, Number.POSITIVE_INFINITY)
      warm.push(replica)
      run.at(startMs, () => {
        if (replica.state === 'starting') replica.state = 'warm'
      })
    }
  }

  function grow(): void {
    const at = warm.findIndex((replica) => replica.state === 'warm')
    const replica = warm[at]
    if (replica !== undefined && spec.warmPool !== null) {
      warm.splice(at, 1)
      replica.state = 'starting'
      run.at(run.nowMs + spec.warmPool.readyMs, () => run.serve(replica))
    } else run.order(group, run.nowMs + drawColdStart(spec.coldStart, coldStarts))
  }

  /** Those that still start first, then the youngest. */
  function shrink(from: readonly Replica[]): void {
    const starting = from.findLast((replica) => replica.state === 'starting')
    const last = starting ?? from.at(-1)
    if (last !== undefined) run.drain(last)
  }

  const look = (): void => {
    const mode = metricsAt(run.spec, run.nowMs)
    if (mode === 'frozen') return
    scaler.read({ atMs: run.nowMs, sum: mode === 'dropped' ? null : sumOf(run, spec) })
  }
  fillWarmPool(true)
  run.every(spec.scrapeEveryMs, 0, look)
  run.every(spec.syncEveryMs, 0, () => {
    const current = ours().length
    const wanted = scaler.decide(run.nowMs, current)
    if (wanted !== current) events.push({ atMs: run.nowMs, from: current, to: wanted })
    for (let i = current; i < wanted; i++) grow()
    for (let i = current; i > wanted; i--) shrink(ours())
    fillWarmPool(false)
  })
}

/** Σ of the metric over the replicas; requests in front of all replicas count among the waiting. Null where no replica can be read. */
function sumOf(run: FleetRun, spec: ScalerSpec): number | null {
  if (run.ready.length === 0) return null
  let sum = spec.metric === 'waiting' || spec.metric === 'in_flight' ? run.inFrontOfAll() : 0
  for (const replica of run.ready) {
    run.settle(replica)
    if (spec.metric === 'in_flight') sum += replica.inFlight
    else if (spec.metric === 'cpu') sum += podCpuShare(replica.inFlight > 0, podCores)
    else {
      const stats = replica.engine?.stats()
      if (stats !== undefined) sum += spec.metric === 'waiting' ? stats.waiting : stats.kvUsage
    }
  }
  return sum
}

function metricsAt(spec: FleetSpec, atMs: number): 'live' | 'dropped' | 'frozen' {
  for (const fault of spec.faults) {
    if (fault.kind === 'metrics' && fault.fromMs <= atMs && atMs < fault.untilMs) return fault.mode
  }
  return 'live'
}
