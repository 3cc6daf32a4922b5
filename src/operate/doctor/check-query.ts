import { nearest } from '../../base/edit-distance.ts'
import { parsePrometheusNumber } from '../../measure/wire/prometheus-number.ts'
import type { Catalogue, EngineId, KnownMetric, Rename } from '../catalogue/catalogue.ts'
import { seriesNames } from '../catalogue/catalogue.ts'
import { catalogues, enginesOfName, metricOfSeries } from '../catalogue/engines.ts'
import { selectorsOf, type Selector } from './promql.ts'

export type FindingKind =
  | 'syntax' // no PromQL
  | 'renamed' // the engine calls it otherwise now
  | 'unknown_metric' // looks like the engine's, and is not
  | 'missing_total' // a counter without its _total
  | 'wrong_label'
  | 'label_value' // no series has that value
  | 'wrong_type' // rate of a gauge, a quantile of what is no histogram, a counter as it stands
  | 'no_bucket' // a bound that the histogram has not
  | 'le_spelling' // right bound, spelled so that some version does not match
  | 'several_values' // an autoscaler takes one
  | 'silence_is_zero' // no data scales down
  | 'not_exported' // the live engine has no such series
  | 'empty' // the live server answers with nothing
  | 'not_a_number'
  | 'stale'
  | 'time_weighted' // a mean of ratios
  | 'absent_is_not_zero' // a ratio whose errors have no series yet
  | 'unreachable' // a ratio compared with 1 or more
  | 'zero_window'
  | 'summary' // quantiles of a client, added up
  | 'undefined_record' // a record that no rule makes

/** What is wrong with a use of a metric, and what to write instead. */
export interface Finding {
  readonly kind: FindingKind
  readonly severity: 'error' | 'warning'
  readonly message: string
  /** What should stand there. */
  readonly suggestion: string | null
}

/** What is known to be exported, live or by the catalogue. */
export interface KnownSeries {
  readonly engine: EngineId | null
  /** Names as they are scraped, with the labels that their series have and the bounds of histograms; null: only the catalogue is known. */
  readonly live: ReadonlyMap<string, LiveSeries> | null
}

export interface LiveSeries {
  readonly type: string
  readonly labels: ReadonlyMap<string, ReadonlySet<string>>
}

const ratesOf = new Set(['rate', 'irate', 'increase', 'delta', 'deriv', 'resets'])
const counterRates = new Set(['rate', 'irate', 'increase'])
/** Labels that the scrape or the cluster adds, and those that nobody exports but everybody may. */
const addedLabels = new Set([
  'job',
  'instance',
  'namespace',
  'pod',
  'container',
  'service',
  'endpoint',
  'node',
  'cluster',
  'region',
  'zone',
  'app',
  'deployment',
  'le',
  'quantile',
  'prometheus',
])

/** Checks each series in a query. */
export function checkQuery(query: string, known: KnownSeries): readonly Finding[] {
  return selectorsOf(query).flatMap((selector) => checkSelector(selector, known))
}

/** Whether there is anything to hold a name against: it is known here, was renamed, looks like an engine's, or is on the live page. */
export function isJudged(name: string, known: KnownSeries): boolean {
  const owned = enginesOfName(name).some(({ engine }) => known.engine === null || engine === known.engine)
  return owned || known.live?.has(name) === true || renameOf(name) !== null || otherPrefix(name) !== null
}

function checkSelector(selector: Selector, known: KnownSeries): readonly Finding[] {
  const { name } = selector
  // Records of rules have colons of their own; only names that look like an engine's are judged.
  const owners = enginesOfName(name).filter(({ engine }) => known.engine === null || engine === known.engine)
  const renamed = renameOf(name)
  if (renamed !== null) return [renameFinding(selector, renamed)]
  const sibling = otherPrefix(name)
  if (sibling !== null) return [sibling]
  if (owners.length === 0) return []
  const owned = owners.map((catalogue) => ({ catalogue, metric: metricOfSeries(catalogue, name) }))
  const found = owned.find(({ metric }) => metric !== null)
  const live = known.live?.get(name)
  if (found?.metric === undefined || found.metric === null) {
    if (live !== undefined) return []
    const [owner] = owners
    if (owner === undefined) return []
    return [nativeFinding(selector, owner) ?? unknownFinding(name, owner)]
  }
  const { catalogue, metric } = found
  const findings = [
    ...checkType(selector, metric),
    ...checkLabels(selector, catalogue, metric, live),
    ...checkBounds(selector, metric, live),
  ]
  if (known.live !== null && live === undefined) {
    findings.push({
      kind: 'not_exported',
      severity: 'error',
      message: `${name} is a metric of ${catalogue.title}, but this engine does not show it`,
      suggestion: null,
    })
  }
  return findings
}

function renameOf(name: string): { readonly rename: Rename; readonly suffix: string } | null {
  for (const catalogue of Object.values(catalogues)) {
    for (const rename of catalogue.renames) {
      for (const suffix of ['', '_bucket', '_sum', '_count']) {
        if (name === rename.from + suffix) return { rename, suffix }
      }
      // The name in the code, without the _total that the page has.
      if (rename.from.endsWith('_total') && name === rename.from.slice(0, -'_total'.length))
        return { rename, suffix: '' }
    }
  }
  return null
}

function renameFinding({ name }: Selector, { rename, suffix }: { rename: Rename; suffix: string }): Finding {
  const suggestion = rename.to === null ? null : rename.to + suffix
  return {
    kind: 'renamed',
    severity: 'error',
    message:
      suggestion === null
        ? `${name} is gone: ${rename.note}`
        : `${name} is ${suggestion} now: ${rename.note}`,
    suggestion,
  }
}

/** `vllm_num_requests_running` for `vllm:num_requests_running`, and the endpoint picker's older prefixes. */
function otherPrefix(name: string): Finding | null {
  for (const { prefix, metrics } of Object.values(catalogues)) {
    if (!prefix.endsWith(':')) continue
    const underscored = prefix.replace(':', '_')
    if (!name.startsWith(underscored)) continue
    const right = prefix + name.slice(underscored.length)
    if (metrics.some((metric) => seriesNames(metric).includes(right))) {
      return {
        kind: 'renamed',
        severity: 'error',
        message: `${name} has an underscore where the engine has a colon`,
        suggestion: right,
      }
    }
  }
  const old =
    /^(?:inference_objective|inference_pool|inference_extension|llm_d_inference_scheduler)_(.+)$/.exec(name)
  if (old === null) return null
  return {
    kind: 'renamed',
    severity: 'warning',
    message: `${name} is a deprecated name of the endpoint picker`,
    suggestion: `llm_d_epp_${old[1] ?? ''}`,
  }
}

/** Functions that only native histograms have: who uses one means such a histogram. */
const nativeOnly = new Set([
  'histogram_count',
  'histogram_sum',
  'histogram_avg',
  'histogram_fraction',
  'histogram_stddev',
  'histogram_stdvar',
])

/** A histogram by its bare name, asked as a native one: there it has no series of its own, and a page of text cannot show it. */
function nativeFinding({ name, inside }: Selector, catalogue: Catalogue): Finding | null {
  const isHistogram = catalogue.metrics.some((metric) => metric.type === 'histogram' && metric.name === name)
  if (!isHistogram || !inside.some((one) => nativeOnly.has(one))) return null
  return {
    kind: 'wrong_type',
    severity: 'warning',
    message: `${name} is asked as a native histogram: as ${catalogue.title} shows it on a page of text it is a classic one`,
    suggestion: null,
  }
}

function unknownFinding(name: string, catalogue: Catalogue): Finding {
  const all = catalogue.metrics.flatMap(seriesNames)
  if (all.includes(`${name}_total`)) {
    return {
      kind: 'missing_total',
      severity: 'error',
      message: `${name} is scraped as ${name}_total: the client library adds it to counters`,
      suggestion: `${name}_total`,
    }
  }
  if (name.endsWith('_total') && all.includes(name.slice(0, -'_total'.length))) {
    return {
      kind: 'unknown_metric',
      severity: 'error',
      message: `${name} has a _total that ${catalogue.title} does not write`,
      suggestion: name.slice(0, -'_total'.length),
    }
  }
  const base = catalogue.metrics.find((metric) => metric.type === 'histogram' && metric.name === name)
  if (base !== undefined) {
    return {
      kind: 'wrong_type',
      severity: 'error',
      message: `${name} is a histogram: its series end in _bucket, _sum and _count`,
      suggestion: `${name}_bucket`,
    }
  }
  const near = nearestName(name, all)
  return {
    kind: 'unknown_metric',
    severity: 'error',
    message: `${catalogue.title} has no ${name} (as of ${catalogue.asOf})`,
    suggestion: near,
  }
}

function checkType({ name, inside, range }: Selector, metric: KnownMetric): Finding[] {
  const [around] = inside
  if (metric.type === 'gauge' && around !== undefined && counterRates.has(around)) {
    return [
      {
        kind: 'wrong_type',
        severity: 'error',
        message: `${around}() of ${name}, which is a gauge: every fall counts as a restart`,
        suggestion: `${around === 'increase' ? 'delta' : 'deriv'}(${name}[${range ?? '5m'}]), or the gauge itself`,
      },
    ]
  }
  if (inside.includes('histogram_quantile') && !(metric.type === 'histogram' && name.endsWith('_bucket'))) {
    return [
      {
        kind: 'wrong_type',
        severity: 'error',
        message: `histogram_quantile() needs buckets, and ${name} is ${metric.type === 'histogram' ? 'not its buckets' : `a ${metric.type}`}`,
        suggestion: metric.type === 'histogram' ? `${metric.name}_bucket` : null,
      },
    ]
  }
  const counted = metric.type === 'counter' || metric.type === 'histogram'
  const excused = inside.some(
    (one) =>
      ratesOf.has(one) ||
      [
        'absent',
        'count',
        'timestamp',
        'absent_over_time',
        'count_over_time',
        'present_over_time',
        'group',
        'changes',
        'label_values',
      ].includes(one),
  )
  if (counted && !excused && range === null) {
    return [
      {
        kind: 'wrong_type',
        severity: 'warning',
        message: `${name} only rises from the engine's start: as it stands it says how long that was ago`,
        suggestion: `rate(${name}[5m])`,
      },
    ]
  }
  return []
}

function checkLabels(
  { name, matchers, by }: Selector,
  catalogue: Catalogue,
  metric: KnownMetric,
  live: LiveSeries | undefined,
): Finding[] {
  // `http_requests_total` is everybody's name: which labels it has is not for one engine to say.
  if (!name.startsWith(catalogue.prefix)) return []
  const labels = [...catalogue.labels, ...metric.labels]
  const findings: Finding[] = []
  const used = new Set([...matchers.map(({ label }) => label), ...by])
  for (const label of used) {
    if (addedLabels.has(label) || labels.includes(label) || live?.labels.has(label) === true) continue
    // An engine without labels of its own may be given any by its scrape.
    if (labels.length === 0) continue
    const near =
      labels.find((one) => one.startsWith(label) || one.endsWith(label) || label.startsWith(one)) ?? null
    findings.push({
      kind: 'wrong_label',
      severity: 'error',
      message: `${name} has no label ${label}; it has ${labels.join(', ')}`,
      suggestion: near,
    })
  }
  if (live !== undefined) {
    for (const { label, operator, value } of matchers) {
      const values = live.labels.get(label)
      // A reason or a status has no series before it first happens; a model is there or it is not.
      if (values === undefined || !catalogue.labels.includes(label)) continue
      if (operator !== '=' || value === '' || value.includes('$')) continue
      if (!values.has(value)) {
        findings.push({
          kind: 'label_value',
          severity: 'error',
          message: `no series of ${name} has ${label}="${value}"; there is ${[...values].slice(0, 5).join(', ')}`,
          suggestion: [...values][0] ?? null,
        })
      }
    }
  }
  return findings
}

function checkBounds(
  { name, matchers }: Selector,
  metric: KnownMetric,
  live: LiveSeries | undefined,
): Finding[] {
  if (!name.endsWith('_bucket')) return []
  const bounds = live === undefined ? metric.buckets : [...(live.labels.get('le') ?? [])]
  return matchers.flatMap(({ label, operator, value }): Finding[] => {
    if (label !== 'le' || operator !== '=' || value === '+Inf' || value.includes('$')) return []
    const wanted = parsePrometheusNumber(value)
    if (wanted === null || bounds === null) return []
    const numbers = bounds.map(Number).filter(Number.isFinite)
    if (!numbers.includes(wanted)) {
      const below = Math.max(...numbers.filter((one) => one < wanted))
      const above = Math.min(...numbers.filter((one) => one > wanted))
      return [
        {
          kind: 'no_bucket',
          severity: 'error',
          message: `${name} has no bucket le="${value}": the nearest are ${Number.isFinite(below) ? below : 'none'} and ${Number.isFinite(above) ? above : 'none'}; the query finds nothing`,
          suggestion: null,
        },
      ]
    }
    const pattern = Number.isInteger(wanted) ? `le=~"${wanted}([.]0)?"` : null
    return pattern === null
      ? []
      : [
          {
            kind: 'le_spelling',
            severity: 'warning',
            message: `le="${value}" is spelled ${wanted} by some and ${wanted}.0 by others (Prometheus 3 writes ${wanted}.0)`,
            suggestion: pattern,
          },
        ]
  })
}

/** The name that this one begins or is misspelt from; else the one that shares the most words, when more than half are shared. */
function nearestName(name: string, all: readonly string[]): string | null {
  return nearest(name, all, { most: Math.floor(name.length / 8) }) ?? mostWordsShared(name, all)
}

function mostWordsShared(name: string, all: readonly string[]): string | null {
  const words = new Set(name.split(/[:_]/))
  let best: string | null = null
  let most = words.size / 2
  for (const candidate of all) {
    const theirs = candidate.split(/[:_]/)
    const shared =
      theirs.filter((word) => words.has(word)).length - Math.abs(theirs.length - words.size) * 0.1
    if (shared > most) {
      most = shared
      best = candidate
    }
  }
  return best
}
