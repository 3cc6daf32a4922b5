import type { PercentileType } from '../../../stats/percentile.ts'
import type { ImportedRun, Published, PublishedMetric } from './imported-run.ts'
import { orderedValues, type OrderedValues } from './ordered-values.ts'
import { rateReadings, valueReadings, type RateInput, type ValueReading } from './readings.ts'

/** A tool's own figure beside what its own requests give. */
export interface Comparison {
  readonly name: string
  readonly metric: PublishedMetric
  readonly statistic: string
  readonly unit: Published['unit']
  readonly published: number | null
  /** By DESIGN §3, from the requests. Null: they do not tell it. */
  readonly ours: number | null
  readonly status: 'agrees' | 'differs' | 'not_published' | 'not_recomputable'
  /** Why it is null, or the formula that gives the tool's figure from the same requests; null where nothing is to be said. */
  readonly why: string | null
}

/** Figures are printed with two decimals by most tools; beyond that they must agree to one in a thousand. */
function isSame(a: number, b: number): boolean {
  return Math.abs(a - b) <= Math.max(1e-3 * Math.abs(b), 0.0051 * Math.min(1, Math.abs(b)), 1e-9)
}

const ways: readonly (readonly [type: PercentileType, why: string])[] = [
  ['1', ''],
  ['7', 'linear between ranks (numpy), ours is the nearest rank'],
  ['floor', 'the value at floor(n·p), ours is the nearest rank'],
  ['6', 'linear between ranks by n + 1, ours is the nearest rank'],
]

/**
 * Every published figure against the run's own requests. Where it differs, the readings that tools are known to have (with TTFT in
 * TPOT, to the end of the request, zeros for failures, linear percentiles, …) are tried on the same requests, and the first that
 * gives the tool's number is named.
 */
export function comparePublished(run: ImportedRun, rates: RateInput): readonly Comparison[] {
  const rows = run.rows.filter((row) => row.phase === 'measure')
  const readings = new Map<PublishedMetric, readonly ValueReading[]>()
  const drafts = run.published
    .filter(({ metric }) => metric !== 'other')
    .map((one): Draft => {
      const { name, metric, statistic, unit, value } = one
      const base = { name, metric, statistic, unit, published: value }
      if (!run.rowsKnown || run.broken !== undefined) {
        const cannot = run.rowsKnown
          ? 'a part of its requests is lost with the file'
          : 'the file has only summaries'
        const why = value === null ? one.why : cannot
        const status = value === null ? 'not_published' : 'not_recomputable'
        return { ...base, ours: null, status, why, explained: [] }
      }
      if (statistic === 'rate')
        return compareRate(base, rateReadings(metric, rows, rates, run.toolOutputTokens ?? null), one.why)
      const known = readings.get(metric) ?? withOwn(valueReadings(metric, rows), metric, run)
      readings.set(metric, known)
      return compareValue(base, known, one.why, formulaOf(run, metric))
    })
  return settle(drafts)
}

/** The readings with the tool's own TPOT behind ours, where it counts tokens otherwise. */
function withOwn(
  readings: readonly ValueReading[],
  metric: PublishedMetric,
  run: ImportedRun,
): readonly ValueReading[] {
  const { toolTpotMs } = run
  if (metric !== 'tpot_ms' || toolTpotMs === undefined) return readings
  const own: ValueReading = {
    why: "N by its own tokenizer, ours is the server's",
    values: () => {
      const measured: number[] = []
      for (const [at, row] of run.rows.entries()) if (row.ok && row.phase === 'measure') measured.push(at)
      return orderedValues(measured, toolTpotMs)
    },
  }
  return [...readings, own]
}

interface Explanation {
  /** The values that were read, '' for ours. */
  readonly reading: string
  /** The reading and the way in which its statistic is taken. */
  readonly text: string
}

/** A comparison with every reading that gives the tool's figure. */
interface Draft extends Comparison {
  readonly explained: readonly Explanation[]
}

/** Several readings may give one figure by chance: of those the one is named that explains most figures of the same metric. */
function settle(drafts: readonly Draft[]): readonly Comparison[] {
  const votes = new Map<string, number>()
  const key = (one: Draft, { reading }: Explanation): string => `${metricName(one.name)}\n${reading}`
  for (const one of drafts)
    for (const each of one.explained) votes.set(key(one, each), (votes.get(key(one, each)) ?? 0) + 1)
  return drafts.map((one) => {
    const { explained, ...comparison } = one
    const [best] = [...explained].sort(
      (a, b) => (votes.get(key(one, b)) ?? 0) - (votes.get(key(one, a)) ?? 0),
    )
    return best === undefined ? comparison : { ...comparison, why: best.text }
  })
}

/** A figure's name without its statistic: `ttft_ms` of `p99_ttft_ms`, `request_latency` of `request_latency.mean`. */
export function metricName(name: string): string {
  return name
    .replace(/^(?:mean|median|std|min|max|p[\d.]+)_/, '')
    .replace(/\.(?:mean|avg|average|median|std|std_dev|stddev|min|max|p[\d.]+)$/, '')
}

type Base = Pick<Comparison, 'name' | 'metric' | 'statistic' | 'unit' | 'published'>

function compareValue(
  base: Base,
  readings: readonly ValueReading[],
  whyNull: string | null,
  formula: string,
): Draft {
  const { statistic, published } = base
  const own = readings[0]
  const ours = own === undefined ? null : figure(own.values(), statistic, '1')
  if (published === null) return { ...base, ours, status: 'not_published', why: whyNull, explained: [] }
  if (ours === null) {
    return { ...base, ours, status: 'not_recomputable', why: 'its requests do not carry it', explained: [] }
  }
  if (isSame(ours, published)) return { ...base, ours, status: 'agrees', why: null, explained: [] }
  const explained: Explanation[] = []
  for (const { why, values: read } of readings) {
    const values = read()
    for (const [type, way] of isPercentile(statistic) ? ways : ways.slice(0, 1)) {
      const found = figure(values, statistic, type)
      if (found === null || !isSame(found, published)) continue
      explained.push({ reading: why, text: joined(why, way) })
      break
    }
    if (statistic === 'std') {
      const population = figure(values, 'population', '1')
      if (population !== null && isSame(population, published)) {
        const way = 'std of a population (÷ n), ours is of a sample (÷ (n − 1))'
        explained.push({ reading: why, text: joined(why, way) })
      }
    }
  }
  return {
    ...base,
    ours,
    status: 'differs',
    why: `no reading known here gives it from its own requests; its formula: ${formula}`,
    explained,
  }
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('; ')
}

function compareRate(
  base: Base,
  readings: readonly { readonly why: string; readonly value: number | null }[],
  whyNull: string | null,
): Draft {
  const ours = readings[0]?.value ?? null
  const { published } = base
  if (published === null) return { ...base, ours, status: 'not_published', why: whyNull, explained: [] }
  if (ours === null)
    return {
      ...base,
      ours,
      status: 'not_recomputable',
      why: 'the file does not say when its requests were sent',
      explained: [],
    }
  if (isSame(ours, published)) return { ...base, ours, status: 'agrees', why: null, explained: [] }
  const found = readings.find(({ value }) => value !== null && isSame(value, published))
  return {
    ...base,
    ours,
    status: 'differs',
    why: found?.why ?? 'another window or another count: no reading known here gives it',
    explained: [],
  }
}

function isPercentile(statistic: string): boolean {
  return /^\d/.test(statistic)
}

function figure(values: OrderedValues, statistic: string, type: PercentileType): number | null {
  if (values.length === 0) return null
  switch (statistic) {
    case 'mean':
      return values.mean
    case 'min':
      return values.percentile('0', '1')
    case 'max':
      return values.percentile('100', '1')
    case 'std':
      return values.standardDeviation ?? 0
    case 'population': {
      const sample = values.standardDeviation
      return sample === null ? 0 : sample * Math.sqrt((values.length - 1) / values.length)
    }
    default: {
      const share = Number(statistic)
      if (!isPercentile(statistic) || share > 100) return null
      return values.percentile(statistic, type)
    }
  }
}

function formulaOf(run: ImportedRun, metric: PublishedMetric): string {
  const { formulas } = run
  switch (metric) {
    case 'ttft_ms':
      return formulas.ttft
    case 'tpot_ms':
      return formulas.tpot
    case 'gaps_ms':
      return formulas.gaps
    case 'e2e_ms':
      return formulas.e2e
    default:
      return formulas.rate
  }
}
