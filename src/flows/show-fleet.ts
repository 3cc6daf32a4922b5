import { PlimsollError } from '../base/errors.ts'
import type { Warning } from '../base/warnings.ts'
import {
  fleetFromClassic,
  fleetFromNative,
  fleetFromQuantiles,
  fleetFromRequests,
  levelShare,
  type FleetPercentile,
} from '../judge/fleet-percentiles.ts'
import { isInWindow } from '../measure/metrics/run-window.ts'
import type { ImportSource } from '../measure/record/manifest.ts'
import { readRun } from '../measure/record/read-run.ts'
import type { RequestRow } from '../measure/record/request-row.ts'
import type { Rows } from '../measure/record/rows.ts'
import { histogramOf, type HistogramValue } from '../measure/wire/prometheus-histogram.ts'
import {
  alignBounds,
  parseNativeHistograms,
  type NativeHistogram,
  type NativeSeries,
} from '../measure/wire/prometheus-native.ts'
import { parsePrometheusText, type Scrape } from '../measure/wire/prometheus-text.ts'
import { exponentialCount } from '../stats/exponential-histogram.ts'
import type { ReplicaKnots } from '../stats/mixture.ts'
import { percentileKey } from '../stats/percentile.ts'
import type { FleetDocument, FleetFigure, FleetSource } from '../report/fleet-document.ts'
import { namedTwice, placesOnce } from './places-once.ts'
import type { FlowDeps } from './flow-deps.ts'
import { shownRun } from './show.ts'

const levels = ['50', '90', '99'] as const

const metrics = [
  ['ttft_ms', 'TTFT', (row: RequestRow) => row.ttft_ms],
  ['tpot_ms', 'TPOT', (row: RequestRow) => row.tpot_ms],
  ['e2e_ms', 'E2E', (row: RequestRow) => row.e2e_ms],
] as const

type Replica =
  | { readonly kind: 'requests'; readonly source: FleetSource; readonly rows: Rows }
  | { readonly kind: 'scrape'; readonly source: FleetSource; readonly scrape: Scrape }
  | { readonly kind: 'native'; readonly source: FleetSource; readonly series: NativeSeries }
  | {
      readonly kind: 'quantiles'
      readonly source: FleetSource
      readonly knots: Readonly<Record<string, ReplicaKnots>>
    }

/**
 * Percentiles of several replicas together: exact from the requests of run folders, to a bucket from Prometheus classic histograms (a
 * scrape) and native ones (an answer of its HTTP API, a series a replica), and as bounds where only published quantiles are known. They
 * are never averaged.
 */
export async function fleetFlow(paths: readonly string[], deps: FlowDeps): Promise<FleetDocument> {
  const tooFew = new PlimsollError('PLIM_USAGE', '--as-fleet puts several replicas together', {
    expected: 'two run folders or scrapes, or more; of an answer of Prometheus each series is one',
    received: paths.length === 1 ? (paths[0] ?? '') : 'none',
  })
  if (paths.length === 0 || (paths.length === 1 && !isAnswer(paths[0] ?? ''))) throw tooFew
  // One folder is one replica, by whatever path it is given.
  await placesOnce(
    paths,
    (first, again) =>
      new PlimsollError('PLIM_USAGE', 'one replica is given twice, and would count as two', {
        expected: 'run folders or scrapes of different replicas',
        received: namedTwice(first, again),
      }),
  )
  const replicas: Replica[] = []
  for (const path of paths) {
    replicas.push(...(isAnswer(path) ? await readAnswer(path, deps) : [await readReplica(path, deps)]))
  }
  if (replicas.length < 2) throw tooFew
  const kinds = new Set(replicas.map(({ kind }) => kind))
  if ((kinds.has('scrape') || kinds.has('native')) && kinds.size > 1) {
    throw new PlimsollError('PLIM_USAGE', 'histograms and runs cannot be put together', {
      expected: 'all of them run folders, or all of them Prometheus text, or all answers of its HTTP API',
      received: replicas.map(({ source }) => `${source.path}: ${source.kind}`).join(', '),
      hint: "a scrape counts since the server's start, a run its own window",
    })
  }
  const warnings: Warning[] = []
  const figures = kinds.has('native')
    ? nativeFigures(replicas, warnings)
    : kinds.has('scrape')
      ? scrapeFigures(replicas, warnings)
      : kinds.has('quantiles')
        ? quantileFigures(replicas, warnings)
        : requestFigures(replicas, warnings)
  return {
    schema: 'plimsoll.fleet/1',
    plimsoll: deps.version,
    sources: replicas.map(({ source }) => source),
    figures,
    warnings: [...warnings, ...weightWarning(replicas)],
  }
}

async function readReplica(path: string, deps: FlowDeps): Promise<Replica> {
  if (/\.(prom|txt|metrics)$/.test(path)) {
    const scrape = parsePrometheusText(await deps.files.readText(path))
    const n = latencyFamilies(scrape).map((name) => histogramOf(scrape, name)?.buckets.at(-1)?.count ?? 0)
    return {
      kind: 'scrape',
      source: { path, kind: 'scrape', n: n.length === 0 ? null : Math.max(...n) },
      scrape,
    }
  }
  const record = await readRun(path)
  const { source } = record.manifest
  if (source !== undefined && !source.rows_known) {
    return {
      kind: 'quantiles',
      source: { path, kind: 'quantiles', n: record.rows.length },
      knots: publishedKnots(source.published, record.rows.filter(({ ok }) => ok).length),
    }
  }
  const { window } = shownRun(record)
  const rows = record.rows.filter(
    (row) => row.ok && isInWindow(row, { startMs: window.start_ms, endMs: window.end_ms }),
  )
  return { kind: 'requests', source: { path, kind: 'requests', n: rows.length }, rows }
}

/** A run folder may be given by one of its files: only other JSON is an answer of Prometheus. */
function isAnswer(path: string): boolean {
  return path.endsWith('.json') && !/(^|[\\/])(run|sweep)\.json$/.test(path)
}

async function readAnswer(path: string, deps: FlowDeps): Promise<readonly Replica[]> {
  const all = parseNativeHistograms(await deps.files.readText(path), path)
  return all.map((series) => {
    const labels = Object.entries(series.labels).map(([name, value]) => `${name}="${value}"`)
    const n = observations(series.histogram)
    return {
      kind: 'native',
      source: { path: all.length === 1 ? path : `${path}{${labels.join(',')}}`, kind: 'native', n },
      series,
    }
  })
}

/** Null for a rate, which counts no observations. */
function observations(histogram: NativeHistogram): number | null {
  const n = histogram.kind === 'custom' ? (histogram.value.count ?? 0) : exponentialCount(histogram.value)
  return Number.isInteger(n) ? n : null
}

function nativeFigures(replicas: readonly Replica[], warnings: Warning[]): FleetFigure[] {
  const all = replicas.flatMap((replica) => (replica.kind === 'native' ? [replica.series] : []))
  const names = [...new Set(all.map(({ name }) => name))]
  return names.map((name) => {
    const histograms = all.filter((series) => series.name === name).map(({ histogram }) => histogram)
    const sizes = histograms.map(observations)
    const n = sizes.includes(null) ? null : sizes.reduce((sum: number, size) => sum + (size ?? 0), 0)
    const label = name ?? 'histogram (seconds)'
    const exponential = histograms.flatMap((one) => (one.kind === 'exponential' ? [one.value] : []))
    const custom = alignBounds(histograms.flatMap((one) => (one.kind === 'custom' ? [one.value] : []))).map(
      milliseconds,
    )
    if (exponential.length > 0 && custom.length > 0) {
      throw new PlimsollError('PLIM_USAGE', `${label}: exponential buckets and custom ones cannot be added`, {
        expected: 'native histograms of one kind',
        received: `${exponential.length} exponential, ${custom.length} with custom bounds`,
      })
    }
    const of = (level: string): FleetPercentile =>
      custom.length > 0
        ? fleetFromClassic(custom, level, 'ms')
        : fleetFromNative(exponential, level, 'ms', 1000)
    return figureOf(label, label, n, of, warnings)
  })
}

function requestFigures(replicas: readonly Replica[], warnings: Warning[]): FleetFigure[] {
  return metrics.flatMap(([metric, label, of]) => {
    const lists = replicas.map((replica) =>
      (replica.kind === 'requests' ? replica.rows : []).map(of).filter((value) => value !== null),
    )
    const n = lists.reduce((sum, list) => sum + list.length, 0)
    return n === 0
      ? []
      : [figureOf(metric, label, n, (level) => fleetFromRequests(lists, level, 'ms'), warnings)]
  })
}

function scrapeFigures(replicas: readonly Replica[], warnings: Warning[]): FleetFigure[] {
  const scrapes = replicas.flatMap((replica) => (replica.kind === 'scrape' ? [replica.scrape] : []))
  const names = [...new Set(scrapes.flatMap(latencyFamilies))]
  if (names.length === 0) {
    throw new PlimsollError('PLIM_PROMETHEUS', 'no latency histogram is in these scrapes', {
      expected: 'a classic histogram in seconds, such as vllm:time_to_first_token_seconds',
      where: { file: replicas[0]?.source.path ?? '' },
    })
  }
  return names.flatMap((name) => {
    const histograms = scrapes.map((scrape) => histogramOf(scrape, name)).filter((found) => found !== null)
    if (histograms.length < scrapes.length) return []
    const inMs = histograms.map(milliseconds)
    const n = inMs.reduce((sum, { buckets }) => sum + (buckets.at(-1)?.count ?? 0), 0)
    return [figureOf(name, name, n, (level) => fleetFromClassic(inMs, level, 'ms'), warnings)]
  })
}

function quantileFigures(replicas: readonly Replica[], warnings: Warning[]): FleetFigure[] {
  return metrics.flatMap(([metric, label]) => {
    const knots = replicas.map((replica) => knotsOf(replica, metric))
    if (knots.every((one) => one.knots.length === 0)) return []
    return [figureOf(metric, label, null, (level) => fleetFromQuantiles(knots, level), warnings)]
  })
}

/** Where some replicas have their requests, their own quantiles stand beside the others' published ones. */
function knotsOf(replica: Replica, metric: string): ReplicaKnots {
  if (replica.kind === 'quantiles')
    return replica.knots[metric] ?? { knots: [], weight: replica.source.n ?? 1 }
  const of = metrics.find(([name]) => name === metric)?.[2]
  const rows = replica.kind === 'requests' ? replica.rows : []
  const values = of === undefined ? [] : rows.map(of).filter((value) => value !== null)
  const own = ['1', '5', '10', '25', '50', '75', '90', '95', '99', '99.9', '100']
  return {
    weight: values.length,
    knots: own.flatMap((level) => {
      const value = fleetFromRequests([values], level).value
      return value === null ? [] : [[levelShare(level), value] as const]
    }),
  }
}

/**
 * What an import published, as known quantiles; the largest value is one too. Runs that were imported before the manifest said what a
 * figure is are read by its name: `p99_ttft_ms`, `time_to_first_token.p99`.
 */
function publishedKnots(published: ImportSource['published'], n: number): Record<string, ReplicaKnots> {
  const patterns = [
    ['ttft_ms', /ttft|time_to_first_token/],
    ['tpot_ms', /tpot|time_per_output_token/],
    ['e2e_ms', /e2e|request_latency|latenc/],
  ] as const
  return Object.fromEntries(
    patterns.map(([metric, pattern]) => {
      const knots = published.flatMap(({ name, value, metric: about, statistic }) => {
        if (about !== undefined && statistic !== undefined) {
          const own = statistic === 'max' ? '100' : statistic
          return value === null || about !== metric || !/^\d/.test(own)
            ? []
            : [[levelShare(own), value] as const]
        }
        const level = /median/.test(name) ? '50' : /(?:^|[._])p(\d+(?:\.\d+)?)(?:_|$)/.exec(name)?.[1]
        return value === null || level === undefined || !pattern.test(name)
          ? []
          : [[levelShare(level), value] as const]
      })
      return [metric, { weight: n, knots }]
    }),
  )
}

function figureOf(
  metric: string,
  label: string,
  n: number | null,
  of: (level: string) => FleetPercentile,
  warnings: Warning[],
): FleetFigure {
  const percentiles = Object.fromEntries(
    levels.map((level) => {
      const { method, value, low, high, each, warnings: found } = of(level)
      // The tail is where it matters: of each metric its highest percentile speaks.
      if (level === levels.at(-1))
        warnings.push(...found.map((one) => ({ ...one, message: `${label} p${level}: ${one.message}` })))
      return [percentileKey(level), { method, value, low, high, each }] as const
    }),
  )
  return { metric, label, n, percentiles }
}

/** Families of latencies in seconds, by the words that engines use. */
function latencyFamilies(scrape: Scrape): string[] {
  return scrape.families
    .filter(
      ({ name, type }) =>
        type === 'histogram' &&
        name.endsWith('_seconds') &&
        /time_to_first_token|time_per_output_token|inter_token_latency|e2e_request_latency|request_latency|request_duration|queue_time|ttft|tpot/.test(
          name,
        ),
    )
    .map(({ name }) => name)
}

function milliseconds(histogram: HistogramValue): HistogramValue {
  return {
    ...histogram,
    buckets: histogram.buckets.map((bucket) => ({ ...bucket, le: Math.round(bucket.le * 1e6) / 1e3 })),
  }
}

/** Runs of very different sizes: the fleet's percentile is that of its traffic, not of its machines. */
function weightWarning(replicas: readonly Replica[]): Warning[] {
  const sizes = replicas.map(({ source }) => source.n).filter((n) => n !== null)
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)]
  if (sizes.length < 2 || least === 0 || most / least < 2) return []
  return [
    {
      kind: 'mix_shift',
      message: `from ${least} to ${most} requests a replica: each weighs as its traffic did`,
      cause: 'runs of different length or share of the traffic',
      next: 'runs of the same window',
      evidence: { least, most },
    },
  ]
}
