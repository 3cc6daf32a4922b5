import { histogramQuantile, type HistogramValue } from '../measure/wire/prometheus-histogram.ts'
import {
  alertState,
  burnBetween,
  jointWithAnswers,
  pageRules,
  shareWithin,
  type ShareBetween,
  type SharedObjective,
} from '../operate/watch/objective-share.ts'
import { burnNumber, type BurnRate } from '../operate/slo/burn.ts'
import { addAttempts, answeredShare, type Attempts } from '../operate/watch/answered-share.ts'
import { missingSeries, withoutHistogram } from '../operate/watch/latency-series.ts'
import { merged, type ReplicaHistory } from '../operate/watch/replica-history.ts'
import { describeLimit, type ObjectiveMetric } from '../measure/metrics/objective.ts'
import { toNumber } from '../stats/rational.ts'
import { formatSpan } from '../base/units.ts'
import type { SweepDocument } from '../report/documents.ts'
import type {
  WatchDocument,
  WatchFleet,
  WatchLatency,
  WatchObjective,
  WatchReplica,
  WatchWall,
  WatchWindow,
} from '../report/watch-document.ts'

export interface ViewInput {
  readonly plimsoll: string
  readonly atMs: number
  readonly startMs: number
  readonly wallMs: number
  readonly replicas: readonly ReplicaHistory[]
  readonly objectives: readonly SharedObjective[]
  /** Short and long, ms. */
  readonly windowsMs: readonly number[]
  readonly sweep: SweepDocument | null
}

/** What a look shows: a pure function of what was seen. */
export function watchDocument(input: ViewInput): WatchDocument {
  const { replicas, atMs } = input
  const fleet = fleetOf(input)
  const silent = replicas.filter(({ up }) => !up)
  return {
    schema: 'plimsoll.watch/1',
    plimsoll: input.plimsoll,
    at: new Date(input.wallMs).toISOString(),
    elapsed_s: (atMs - input.startMs) / 1000,
    replicas: replicas.map((replica) => replicaOf(replica, atMs)),
    fleet,
    objectives: input.objectives.map((objective) => objectiveOf(objective, input)),
    walls: wallsOf(input, fleet),
    notes: [
      ...silent.map(
        ({ name, lastReadMs }) =>
          `${name} does not answer${lastReadMs === null ? '' : `, last read ${formatSpan(atMs - lastReadMs)} ago`}: unknown, not idle`,
      ),
      ...replicas.flatMap(({ name, facts }) =>
        facts !== null && facts.running === null ? [`${name} shows no requests that run`] : [],
      ),
      ...uncounted(input),
    ],
  }
}

/** Engines on whose pages a failed request leaves no trace: what is said of objectives is then about the answered ones alone. */
function uncounted({ replicas, objectives }: ViewInput): readonly string[] {
  if (!objectives.some(({ answers }) => answers)) return []
  const silent = replicas.filter((replica) => {
    const window = replica.up ? replica.window(0) : null
    return window !== null && replica.attempts(window.from, window.to) === null
  })
  const engines = [...new Set(silent.map(({ facts }) => facts?.engine ?? null))].filter((one) => one !== null)
  return engines.map(
    (engine) => `${engine} shows no counter of failed requests here: shares are of the answered ones`,
  )
}

function replicaOf(replica: ReplicaHistory, atMs: number): WatchReplica {
  const { name, facts, up, lastReadMs } = replica
  return {
    name,
    engine: facts?.engine ?? null,
    up,
    age_s: lastReadMs === null ? null : (atMs - lastReadMs) / 1000,
    running: up ? (facts?.running ?? null) : null,
    waiting: up ? (facts?.waiting ?? null) : null,
    kv_usage: up ? (facts?.kvUsage ?? null) : null,
  }
}

function fleetOf({ replicas, windowsMs }: ViewInput): WatchFleet {
  const live = replicas.filter(({ up }) => up)
  const known = (values: readonly (number | null | undefined)[]): readonly number[] =>
    values.filter((value) => value !== null && value !== undefined)
  const sum = (values: readonly (number | null | undefined)[]): number | null => {
    const numbers = known(values)
    return numbers.length === 0 ? null : numbers.reduce((total, value) => total + value, 0)
  }
  const most = (values: readonly (number | null | undefined)[]): number | null => {
    const numbers = known(values)
    return numbers.length === 0 ? null : Math.max(...numbers)
  }
  const windowMs = windowsMs[0] ?? 300_000
  const windows = live.map((replica) => replica.window(windowMs))
  const watchedS = Math.max(0, ...known(windows.map((window) => window?.watchedMs ?? null))) / 1000
  const perSecond = (total: number | null): number | null =>
    total === null || watchedS === 0 ? null : total / watchedS
  const ttft = latencyOf('ttft', live, windowMs)
  return {
    up: live.length,
    known: replicas.length,
    running: sum(live.map(({ facts }) => facts?.running)),
    waiting: sum(live.map(({ facts }) => facts?.waiting)),
    kv_usage_max: most(live.map(({ facts }) => facts?.kvUsage)),
    cpu: most(live.map(({ cpu }) => cpu)),
    gpu_memory: most(live.map(({ machine }) => machine?.gpuMemory)),
    window_s: watchedS,
    requests_per_s: perSecond(ttft === null ? null : ttft.n),
    output_tokens_per_s: perSecond(
      sum(
        live.map((replica, at) => {
          const window = windows[at]
          return window === null || window === undefined ? null : replica.generated(window.from, window.to)
        }),
      ),
    ),
    ttft,
    tpot: latencyOf('tpot', live, windowMs),
  }
}

interface Observed {
  readonly value: HistogramValue
  readonly per: 'request' | 'token' | 'byte'
}

/** The histograms of a metric over a window, all replicas as one. Different engines' kinds are not mixed: those of the first count. */
function observed(
  metric: ObjectiveMetric,
  replicas: readonly ReplicaHistory[],
  windowMs: number,
): Observed | null {
  if (metric !== 'ttft' && metric !== 'tpot' && metric !== 'e2e' && metric !== 'gap') return null
  const found = replicas.flatMap((replica) => {
    const window = replica.window(windowMs)
    const one = window === null ? null : replica.firstOf(metric, window.from, window.to)
    return one === null ? [] : [one]
  })
  const per = found[0]?.per
  const value = merged(found.filter((one) => one.per === per).map((one) => one.value))
  return value === null || per === undefined ? null : { value, per }
}

function latencyOf(
  metric: 'ttft' | 'tpot',
  replicas: readonly ReplicaHistory[],
  windowMs: number,
): WatchLatency | null {
  const found = observed(metric, replicas, windowMs)
  const n = found?.value.count ?? 0
  if (found === null || !(n > 0)) return null
  const median = histogramQuantile(found.value, '0.5')
  const tail = histogramQuantile(found.value, '0.99')
  return {
    n,
    per: found.per,
    p50_ms: median.kind === 'estimate' ? median.value * 1000 : null,
    p99_ms:
      tail.kind === 'estimate'
        ? [tail.low * 1000, Number.isFinite(tail.high) ? tail.high * 1000 : null]
        : null,
  }
}

interface BurnEnds {
  readonly low: BurnRate
  readonly high: BurnRate
}

function objectiveOf(objective: SharedObjective, input: ViewInput): WatchObjective {
  const windows = input.windowsMs.map((windowMs) => windowOf(objective, windowMs, input))
  return {
    text: objective.text,
    target: toNumber(objective.target),
    windows: windows.map(({ window }) => window),
    alerts: pageRules.map((rule) => ({
      name: rule.name,
      state: alertState(
        rule,
        windows.map(({ burn }) => burn),
      ),
    })),
  }
}

function windowOf(
  { limits, target, answers }: SharedObjective,
  windowMs: number,
  { replicas }: ViewInput,
): { readonly window: WatchWindow; readonly burn: BurnEnds | null } {
  const shares = limits.map(({ metric, limitMs }) =>
    shareWithin(observed(metric, replicas, windowMs)?.value ?? null, limitMs),
  )
  const watchedMs = Math.max(0, ...replicas.map((replica) => replica.window(windowMs)?.watchedMs ?? 0))
  const answered = answers ? answeredShare(attemptsOf(replicas, windowMs)) : null
  const joint = jointWithAnswers(shares, answered)
  const full = watchedMs >= windowMs
  const burn = joint === null || !full ? null : burnBetween(joint, target)
  const unknown = joint === null ? whyNoShare(limits, watchedMs, replicas) : null
  const finite = (rate: BurnRate): number | null => (rate.kind === 'infinite' ? null : burnNumber(rate))
  return {
    burn,
    window: {
      window_s: windowMs / 1000,
      watched_s: watchedMs / 1000,
      n: joint?.n ?? 0,
      limits: [
        ...limits.map((limit, at) => ends(describeLimit(limit), shares[at] ?? null)),
        ...(answered === null ? [] : [ends('answered', answered)]),
      ],
      share: joint === null ? null : [toNumber(joint.low), toNumber(joint.high)],
      burn: burn === null ? null : [finite(burn.low), finite(burn.high)],
      why:
        unknown?.why ??
        (full ? null : `${formatSpan(Math.round(watchedMs))} of ${formatSpan(windowMs)} watched`),
      waits: unknown?.waits ?? !full,
    },
  }
}

/** What a share waits for, or why none will come. */
function whyNoShare(
  limits: SharedObjective['limits'],
  watchedMs: number,
  replicas: readonly ReplicaHistory[],
): { readonly why: string; readonly waits: boolean } {
  const missing = missingSeries(
    replicas.flatMap(({ facts }) => facts?.engine ?? []),
    limits.map(({ metric }) => metric),
  )
  if (missing !== null) return { why: withoutHistogram(missing, missing.metric), waits: false }
  const why =
    watchedMs === 0
      ? 'one look so far, and it takes two'
      : `no request was answered in the ${formatSpan(Math.round(watchedMs))} watched`
  return { why, waits: true }
}

function ends(text: string, share: ShareBetween | null): WatchWindow['limits'][number] {
  return {
    text,
    low: share === null ? null : toNumber(share.low),
    high: share === null ? null : toNumber(share.high),
  }
}

/** Attempts of all replicas over a window; null where an engine of them does not count its failures. */
function attemptsOf(replicas: readonly ReplicaHistory[], windowMs: number): Attempts | null {
  return addAttempts(
    replicas.flatMap((replica) => {
      const window = replica.window(windowMs)
      return window === null ? [] : (replica.attempts(window.from, window.to) ?? [])
    }),
  )
}

/** How far the busiest kind of load is from each wall of a sweep; without one, the KV pool alone. */
function wallsOf({ sweep }: ViewInput, fleet: WatchFleet): readonly WatchWall[] {
  const walls: WatchWall[] = []
  if (sweep !== null && fleet.up > 0) {
    const inFlight = fleet.running === null ? null : (fleet.running + (fleet.waiting ?? 0)) / fleet.up
    const rate = fleet.requests_per_s === null ? null : fleet.requests_per_s / fleet.up
    const isRate = sweep.points[0]?.load.kind === 'rate'
    for (const kind of ['slo', 'saturation'] as const) {
      const wall = sweep.walls[kind]
      if (wall === null) continue
      const now = isRate ? rate : inFlight
      walls.push({
        kind,
        at: wall.load,
        unit: isRate ? 'req/s a replica' : 'in flight a replica',
        now,
        share: now === null ? null : now / wall.load,
      })
    }
    if (sweep.walls.memory !== null) {
      const at = sweep.walls.memory.load
      walls.push({
        kind: 'memory',
        at,
        unit: 'in flight a replica',
        now: inFlight,
        share: inFlight === null ? null : inFlight / at,
      })
    }
  }
  if (fleet.kv_usage_max !== null)
    walls.push({
      kind: 'kv',
      at: 1,
      unit: 'of the KV pool',
      now: fleet.kv_usage_max,
      share: fleet.kv_usage_max,
    })
  return walls
}
