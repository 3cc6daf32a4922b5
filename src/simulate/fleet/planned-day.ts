import type { EngineConfig } from '../engine/engine-config.ts'
import type { Trace } from '../../measure/workload/trace.ts'
import { noAdmission, patientClients, type FleetSpec, type RouterSpec, type Traffic } from './fleet-spec.ts'
import { ShareJudge, type JudgedShare, type ShareLimit } from './share-limits.ts'
import { simulateFleet, type FleetOutcome } from './simulate-fleet.ts'

/** A stretch of the simulated time, ms. */
export interface Stretch {
  readonly fromMs: number
  readonly untilMs: number
}

/** A day of a fleet of equal replicas, of which some are killed where it hurts most. */
export interface PlannedDay {
  readonly engine: EngineConfig
  readonly replicas: number
  /** Replicas that are killed when the busiest stretch begins and come back when it is over. */
  readonly killed: number
  readonly traffic: Traffic
  readonly durationMs: number
  readonly busiest: Stretch
  readonly router: RouterSpec['kind']
  readonly limits: readonly ShareLimit[]
  readonly seed: string
}

export interface DayOutcome {
  readonly shares: readonly JudgedShare[]
  /** Every share was reached, over the day and over the busiest stretch by itself. */
  readonly survives: boolean
  readonly fleet: FleetOutcome
}

/**
 * Simulates the day. A day hides an hour: one bad hour of 24 is 4 % of the time, so the stretch in which the replicas are missing is
 * judged by itself too.
 */
export function simulateDay(day: PlannedDay): DayOutcome {
  const judge = new ShareJudge(day.limits, day.busiest)
  const fleet = simulateFleet(fleetOf(day), { onResult: (result) => judge.hear(result) })
  const shares = judge.judge()
  return { shares, survives: shares.every(({ met }) => met), fleet }
}

function fleetOf({
  engine,
  replicas,
  killed,
  traffic,
  durationMs,
  busiest,
  router,
  limits,
  seed,
}: PlannedDay): FleetSpec {
  return {
    name: 'plan',
    seed,
    durationMs,
    drainMs: 600_000,
    groups: [{ name: 'replicas', replicas, engine, costPerHour: null }],
    traffic,
    router: { kind: router, signalEveryMs: 0 },
    scaler: null,
    admission: noAdmission,
    clients: patientClients,
    faults: Array.from({ length: killed }, (_, replica) => ({
      kind: 'kill',
      replica,
      atMs: busiest.fromMs,
      restartMs: busiest.untilMs - busiest.fromMs,
    })),
    // A request is good when it meets every limit; the shares are judged one by one.
    objective: { kind: 'slo', each: limits.flatMap((one) => one.limits), run: [], good: null },
    // A 1,440th of it: the minutes of a day.
    windowMs: Math.max(1000, Math.ceil(durationMs / 1_440_000) * 1000),
  }
}

/** Of the busiest stretch, so much before it fills the fleet. */
const runUp = 1 / 10

/** The day from shortly before its busiest stretch to the end of that: what a fleet that fails fails in. */
export function busiestPart(day: PlannedDay): PlannedDay {
  const { fromMs, untilMs } = day.busiest
  const startMs = Math.max(0, fromMs - runUp * (untilMs - fromMs))
  return {
    ...day,
    durationMs: untilMs - startMs,
    busiest: { fromMs: fromMs - startMs, untilMs: untilMs - startMs },
    traffic: startingAt(day.traffic, startMs),
  }
}

function startingAt(traffic: Traffic, startMs: number): Traffic {
  if (traffic.kind === 'trace') {
    const entries = traffic.trace.entries.flatMap((entry) =>
      entry.atMs < startMs ? [] : [{ ...entry, atMs: entry.atMs - startMs }],
    )
    return { ...traffic, trace: { ...traffic.trace, entries } }
  }
  const { arrivals } = traffic
  if (arrivals.kind !== 'daily') return traffic
  return { ...traffic, arrivals: { ...arrivals, phaseMs: arrivals.phaseMs + startMs } }
}

/** The longest stretch that is looked at by itself, and the largest share of the time that it may be. */
const hourMs = 3_600_000
const mostOfAll = 1 / 3

/** Around the middle of a period that begins and ends at its lowest. */
export function busiestOfDay(durationMs: number): Stretch {
  const half = Math.min(hourMs, durationMs * mostOfAll) / 2
  return { fromMs: durationMs / 2 - half, untilMs: durationMs / 2 + half }
}

/** The hour (or third of the trace) with the most arrivals; the earliest of equal ones. */
export function busiestOfTrace({ entries }: Trace): Stretch {
  const lengthMs = Math.max(1, Math.min(hourMs, traceLengthMs(entries) * mostOfAll))
  let best = 0
  let most = 0
  let end = 0
  for (let start = 0; start < entries.length; start++) {
    const fromMs = (entries[start] as Trace['entries'][number]).atMs
    while (end < entries.length && (entries[end] as Trace['entries'][number]).atMs < fromMs + lengthMs)
      end += 1
    if (end - start <= most) continue
    most = end - start
    best = fromMs
  }
  return { fromMs: best, untilMs: best + lengthMs }
}

/** From the first arrival to one mean gap after the last. */
export function traceLengthMs(entries: Trace['entries']): number {
  const last = entries.at(-1)?.atMs ?? 0
  return Math.max(1, last + last / Math.max(1, entries.length - 1))
}

/** Arrivals a second of the busiest minute. */
export function busiestMinutePerSecond({ entries }: Trace): number {
  const minuteMs = Math.min(60_000, traceLengthMs(entries))
  let end = 0
  let most = 0
  entries.forEach(({ atMs }, start) => {
    while (end < entries.length && (entries[end] as Trace['entries'][number]).atMs < atMs + minuteMs) end += 1
    most = Math.max(most, end - start)
  })
  return (1000 * most) / minuteMs
}
