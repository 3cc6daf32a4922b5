import { PlimsollError } from '../base/errors.ts'
import { parseObjective } from '../measure/metrics/parse-objective.ts'
import type { Limit, Objective } from '../measure/metrics/objective.ts'
import { describeLimit } from '../measure/metrics/objective.ts'
import { readRun } from '../measure/record/read-run.ts'
import type { RunManifest } from '../measure/record/manifest.ts'
import type { Rows } from '../measure/record/rows.ts'
import { readServerSamples } from '../measure/record/server-journal.ts'
import type { ServerSample } from '../measure/record/server-samples.ts'
import { analyseSignals, refuseSignal, type SignalSeries } from '../operate/scale/signals.ts'
import type { SignalsDocument } from '../report/scale-documents.ts'
import type { FlowDeps } from './flow-deps.ts'
import { serverFactsFrom } from './run-facts.ts'

export interface SignalsConfig {
  readonly path: string
  /** An objective on TTFT or TPOT; null: the one that the run was made with. */
  readonly objective: string | null
  readonly holdMs: number
  readonly coldStartMs: number | null
  /** A signal that a policy is to be made on; null: none is asked for. */
  readonly on: string | null
}

export interface SignalsOutcome {
  readonly document: SignalsDocument
}

/** Which of the recorded signals moved before the objective was missed, and how long before. */
export async function signalsFlow(config: SignalsConfig, deps: FlowDeps): Promise<SignalsOutcome> {
  const record = await readRun(config.path)
  const samples = await readServerSamples(config.path)
  const limit = limitOf(config, record.manifest.config)
  const latency = latencySeries(limit, record.rows, samples)
  if (latency.samples.length === 0) {
    throw new PlimsollError('PLIM_RUN_FOLDER', 'there is no latency over time in this run', {
      expected: 'answered requests, or a folder of plimsoll watch --record',
      where: { file: config.path },
    })
  }
  const signals = [...serverSignals(samples), ...clientSignals(record.rows)].filter(({ samples: all }) =>
    all.some(({ value }) => value !== null),
  )
  const analysis = analyseSignals(latency, signals, { limit: limit.limitMs, holdMs: config.holdMs })
  const refused = config.on === null ? null : refuseSignal(analysis, config.on, config.coldStartMs)
  const best = analysis.signals.find(({ kind, leadMs }) => kind === 'early' && leadMs !== null)
  return {
    document: {
      schema: 'plimsoll.signals/1',
      plimsoll: deps.version,
      run: config.path,
      ...urlOf(record.manifest),
      limit: describeLimit(limit),
      breach_at_s: analysis.breachAtMs === null ? null : analysis.breachAtMs / 1000,
      signals: analysis.signals.map((signal) => ({
        name: signal.name,
        unit: signal.unit,
        kind: signal.kind,
        lead_s: signal.leadMs === null ? null : signal.leadMs / 1000,
        quiet: signal.quiet,
        extreme: signal.extreme,
        correlation: signal.correlation,
        why: signal.why,
      })),
      best: best?.name ?? null,
      policy: config.on === null ? null : { on: config.on, refused },
    },
  }
}

/** A watch knows the pages that it read, which may be those of a Prometheus server; an embedded engine is gone. */
function urlOf({ target, server }: RunManifest): Pick<SignalsDocument, 'url'> {
  const isServer = target !== null && target.api !== 'metrics' && !serverFactsFrom(server).embedded
  return isServer ? { url: target.url } : {}
}

/** The first limit on TTFT or TPOT: what is missed first is what a scaler has to be ahead of. */
function limitOf(config: SignalsConfig, runConfig: unknown): Limit {
  const own = (runConfig as { objectives?: unknown }).objectives
  const texts =
    config.objective !== null
      ? [config.objective]
      : Array.isArray(own)
        ? own.flatMap((each: unknown) => {
            const text = typeof each === 'string' ? each : (each as { text?: unknown } | null)?.text
            return typeof text === 'string' ? [text] : []
          })
        : []
  for (const text of texts) {
    const objective: Objective = parseObjective(text, '--slo')
    const found = [...objective.each, ...objective.run].find(
      ({ metric }) => metric === 'ttft' || metric === 'tpot',
    )
    if (found !== undefined) return found
  }
  throw new PlimsollError('PLIM_OBJECTIVE', 'no limit on TTFT or TPOT is known for this run', {
    expected: "--slo 'ttft < 500ms'",
  })
}

function latencySeries(limit: Limit, rows: Rows, samples: readonly ServerSample[]): SignalSeries {
  const name = limit.metric
  const answered = rows.flatMap((row) => {
    const value = limit.metric === 'ttft' ? row.ttft_ms : row.tpot_ms
    const since = limit.metric === 'ttft' ? row.ttft_ms : row.e2e_ms
    return row.planned_ms === null || value === null || since === null
      ? []
      : [{ atMs: row.planned_ms + since, value }]
  })
  if (answered.length > 0) return { name, unit: 'ms', samples: binned(answered) }
  const times = [...new Set(samples.map(({ at_ms }) => at_ms))]
  return {
    name,
    unit: 'ms',
    samples: times.flatMap((atMs) => {
      const known = samples.filter(
        (sample) =>
          sample.at_ms === atMs && (limit.metric === 'ttft' ? sample.ttft_ms : sample.tpot_ms) !== null,
      )
      const weight = known.reduce((sum, { requests }) => sum + (requests ?? 1), 0)
      if (weight <= 0) return []
      const total = known.reduce(
        (sum, sample) =>
          sum + (sample.requests ?? 1) * ((limit.metric === 'ttft' ? sample.ttft_ms : sample.tpot_ms) ?? 0),
        0,
      )
      return [{ atMs, value: total / weight }]
    }),
  }
}

/** Means of each second. */
function binned(
  points: readonly { readonly atMs: number; readonly value: number }[],
): SignalSeries['samples'] {
  const bins = new Map<number, { sum: number; n: number }>()
  for (const { atMs, value } of points) {
    const second = Math.floor(atMs / 1000)
    const bin = bins.get(second) ?? { sum: 0, n: 0 }
    bins.set(second, { sum: bin.sum + value, n: bin.n + 1 })
  }
  return [...bins]
    .sort(([a], [b]) => a - b)
    .map(([second, { sum, n }]) => ({ atMs: second * 1000, value: sum / n }))
}

const kinds = [
  ['waiting', 'requests', 'waiting', 'sum'],
  ['running', 'requests', 'running', 'sum'],
  ['kv', 'share', 'kv_usage', 'most'],
  ['preemptions', 'in all', 'preemptions', 'sum'],
  ['cpu', 'share', 'cpu', 'most'],
  ['gpu_memory', 'share', 'gpu_memory', 'most'],
  ['gpu_busy', 'share', 'gpu_busy', 'most'],
] as const

/** The fleet's signals over time. A sum in which a replica is silent is not known. */
function serverSignals(samples: readonly ServerSample[]): readonly SignalSeries[] {
  const looks = new Map<number, ServerSample[]>()
  for (const sample of samples) {
    const look = looks.get(sample.at_ms)
    if (look === undefined) looks.set(sample.at_ms, [sample])
    else look.push(sample)
  }
  return kinds.map(([name, unit, field, how]) => ({
    name,
    unit,
    samples: [...looks].map(([atMs, look]) => {
      const values = look.map((sample) => sample[field])
      const known = values.filter((value) => value !== null)
      const value =
        how === 'sum'
          ? known.length < values.length
            ? null
            : known.reduce((sum, each) => sum + each, 0)
          : known.length === 0
            ? null
            : Math.max(...known)
      return { atMs, value }
    }),
  }))
}

/** What the client alone could see of it, second by second. */
function clientSignals(rows: Rows): readonly SignalSeries[] {
  const sent = rows.filter((row) => row.planned_ms !== null)
  if (sent.length === 0) return []
  const last = sent.reduce(
    (latest, row) => Math.max(latest, (row.planned_ms ?? 0) + (row.done_ms ?? row.e2e_ms ?? 0)),
    Number.NEGATIVE_INFINITY,
  )
  const seconds = Math.min(100_000, Math.ceil(last / 1000) + 1)
  const inFlight = new Int32Array(seconds + 1)
  const awaited = new Int32Array(seconds + 1)
  const arrivals = new Int32Array(seconds + 1)
  const open = (into: Int32Array, fromMs: number, toMs: number): void => {
    // Counted at whole seconds: there from the first at or after its send up to its end.
    const from = Math.min(seconds, Math.max(0, Math.ceil(fromMs / 1000)))
    const to = Math.min(seconds, Math.max(0, Math.ceil(toMs / 1000)))
    into[from] = (into[from] ?? 0) + 1
    into[to] = (into[to] ?? 0) - 1
  }
  for (const row of sent) {
    const at = row.planned_ms ?? 0
    const end = at + (row.done_ms ?? row.e2e_ms ?? last - at)
    open(inFlight, at, end)
    open(awaited, at, row.ttft_ms === null ? end : at + row.ttft_ms)
    const second = Math.min(seconds, Math.max(0, Math.floor(at / 1000)))
    arrivals[second] = (arrivals[second] ?? 0) + 1
  }
  const running = (changes: Int32Array): SignalSeries['samples'] => {
    let now = 0
    return Array.from(changes.subarray(0, seconds), (change, second) => {
      now += change
      return { atMs: second * 1000, value: now }
    })
  }
  return [
    { name: 'client_in_flight', unit: 'requests', samples: running(inFlight) },
    { name: 'client_awaiting_first_token', unit: 'requests', samples: running(awaited) },
    {
      name: 'client_arrivals',
      unit: 'req/s',
      samples: Array.from(arrivals.subarray(0, seconds), (count, second) => ({
        atMs: (second + 1) * 1000,
        value: count,
      })),
    },
  ]
}
