import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  desiredOrHeld,
  fleetReading,
  knownReading,
  latencyAction,
  observedTotal,
  replicasOfGroups,
  sizeChanges,
  stabilizedDown,
  type GroupedPod,
  type RawReading,
  type Recommendation,
  type ReplicaReading,
} from '../src/operate/scale/hold.ts'

// Each case is told by its own input: what it holds says which rule it asks.

const folder = new URL('cases/', import.meta.url)
const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, folder), 'utf8'))

interface Scaled {
  readonly current: number
  readonly min: number
  readonly max: number
  readonly target_per_replica: number
}
interface Tick {
  readonly t: number
  readonly vector?: readonly RawReading[]
  readonly error?: string
}
interface Cases {
  readonly readings?: readonly RawReading[]
  readonly ticks?: readonly Tick[]
  readonly replicas?: readonly ReplicaReading[]
  readonly pods?: readonly GroupedPod[]
  readonly cases?: readonly {
    readonly requests: number | null
    readonly ttft_sum: number | null
    readonly ttft_count: number | null
    readonly scrape_ok: boolean
  }[]
  readonly waiting?: readonly number[]
}

function readings(
  { current, min, max, target_per_replica: target }: Scaled,
  raws: readonly RawReading[],
): unknown {
  let size = current
  const decisions = raws.map((raw) => {
    const decision = desiredOrHeld(size, raw, target, { min, max })
    size = decision.desired
    return decision
  })
  return { desired: decisions.map(({ desired }) => desired), held: decisions.map(({ held }) => held) }
}

function ticks({ current, min, max, target_per_replica: target }: Scaled, list: readonly Tick[]): unknown {
  let size = current
  const desired: number[] = []
  const alerts: number[] = []
  for (const { t, vector, error } of list) {
    const observation =
      vector === undefined || error !== undefined
        ? ({ kind: 'error' } as const)
        : ({ kind: 'vector', values: vector } as const)
    const decision = desiredOrHeld(size, observedTotal(observation), target, { min, max })
    if (decision.held) alerts.push(t)
    size = decision.desired
    desired.push(size)
  }
  return { desired, alerts }
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

function silentPods(list: readonly ReplicaReading[], kv: number, queue: number): unknown {
  const fleet = fleetReading(list, { kv, queue })
  return {
    mean_kv_known: fleet.meanKv,
    unknown: fleet.unknown,
    may_scale_down: fleet.mayScaleDown,
    scale_up: fleet.scaleUp,
    wrong_mean_kv_if_zero: mean(list.map((replica) => replica.kv ?? 0)),
  }
}

function groups(pods: readonly GroupedPod[]): unknown {
  const replicas = replicasOfGroups(pods)
  return {
    replicas: replicas.length,
    mean_kv: fleetReading(replicas, { kv: 1, queue: 1 }).meanKv,
    queue_total: replicas.reduce((sum, { queue }) => sum + (queue ?? 0), 0),
    wrong_replicas: pods.length,
    wrong_mean_kv: mean(pods.map(({ kv }) => kv ?? 0)),
  }
}

function flapping(input: {
  readonly tick_s: number
  readonly stabilization_down_s: number
  readonly target_per_replica: number
  readonly start: number
  readonly waiting: readonly number[]
}): unknown {
  const bounds = { min: 0, max: Number.MAX_SAFE_INTEGER }
  const raw = input.waiting.map(
    (waiting) => desiredOrHeld(0, waiting, input.target_per_replica, bounds).desired,
  )
  const made: Recommendation[] = []
  const stabilized = raw.map((replicas, index) => {
    made.push({ atSeconds: index * input.tick_s, replicas })
    return stabilizedDown(made, index * input.tick_s, input.stabilization_down_s) ?? replicas
  })
  return {
    raw,
    stabilized,
    changes_raw: sizeChanges(input.start, raw),
    changes_stabilized: sizeChanges(input.start, stabilized),
  }
}

function answer(input: Cases): unknown {
  if (input.readings !== undefined) return readings(input as unknown as Scaled, input.readings)
  if (input.ticks !== undefined) return ticks(input as unknown as Scaled, input.ticks)
  if (input.replicas !== undefined) {
    const { kv_limit: kv, queue_limit: queue } = input as unknown as { kv_limit: number; queue_limit: number }
    return silentPods(input.replicas, kv, queue)
  }
  if (input.pods !== undefined) return groups(input.pods)
  if (input.cases !== undefined) {
    const decided = input.cases.map((each) =>
      latencyAction({
        requests: each.requests,
        sumSeconds: each.ttft_sum,
        count: each.ttft_count,
        scraped: each.scrape_ok,
      }),
    )
    return {
      mean_ttft_s: decided.map(({ meanSeconds }) => meanSeconds),
      action: decided.map(({ action }) => action),
    }
  }
  return flapping(input as unknown as Parameters<typeof flapping>[0])
}

describe('autoscaling cases', () => {
  const names = readdirSync(folder).filter((name) => /^auto-.*\.expect\.json$/.test(name))
  it('are all here', () => expect(names).toHaveLength(6))
  it.each(names)('%s', (name) => {
    const { file, expect: wanted } = read(name) as { file: string; expect: unknown }
    expect(answer(read(file) as Cases)).toEqual(wanted)
  })
  it('what a reading may be', () => {
    expect([knownReading('12'), knownReading(0), knownReading(undefined), knownReading('x')]).toEqual([
      12,
      0,
      null,
      null,
    ])
    expect(observedTotal({ kind: 'vector', values: [1, 'NaN'] })).toBeNull()
    expect(latencyAction({ requests: 5, sumSeconds: null, count: null, scraped: true }).action).toBe('hold')
    expect(fleetReading([], { kv: 1, queue: 1 })).toMatchObject({ meanKv: null, mayScaleDown: false })
    expect(replicasOfGroups([{ group: 'a', role: 'worker', kv: 0, queue: 0 }])[0]?.kv).toBeNull()
    expect(stabilizedDown([], 0, 300)).toBeNull()
  })
})
