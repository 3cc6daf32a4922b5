import { noun } from '../../base/noun.ts'
import type { Scrape } from '../../measure/wire/prometheus-text.ts'
import { seriesNames, type Catalogue, type EngineId } from '../catalogue/catalogue.ts'
import { catalogues } from '../catalogue/engines.ts'
import { checkQuery, isJudged, type Finding, type KnownSeries, type LiveSeries } from './check-query.ts'
import { undefinedRecords } from '../slo/rules.ts'
import { lintQuery } from './lint-rules.ts'
import { isOneValue, selectorsOf } from './promql.ts'
import { placeIn, syntaxFault, type SyntaxFault } from './syntax-fault.ts'
import type { MetricUse } from './read-uses.ts'

/** A use of a metric with what is wrong with it. */
export interface ExaminedUse {
  readonly use: MetricUse
  readonly findings: readonly Finding[]
  /** Its series that could not be held against anything: of no catalogue, of no live page, made by no rule. */
  readonly unchecked: readonly string[]
  /** The names of its series, each once. */
  readonly series: readonly string[]
}

/** Checks the uses of a file. */
export function examineUses(
  uses: readonly MetricUse[],
  known: KnownSeries,
  records: readonly string[] = [],
): readonly ExaminedUse[] {
  return uses.map((use) => {
    const names = [...new Set(selectorsOf(use.query).map(({ name }) => name))]
    return {
      use,
      findings: findingsOf(use, known, records),
      unchecked: names.filter((name) => !isJudged(name, known) && !records.includes(name)),
      series: names,
    }
  })
}

/** A query that cannot be read is told as such; what its pieces would be is then a guess. */
function findingsOf(use: MetricUse, known: KnownSeries, records: readonly string[]): readonly Finding[] {
  const fault = use.kind === 'name' ? null : syntaxFault(use.query)
  return fault === null
    ? distinct([
        ...nameOrQuery(use, known),
        ...autoscalerFindings(use),
        ...(use.kind === 'name' ? [] : lintQuery(use.query)),
        ...undefinedFindings(use, records),
      ])
    : [syntaxFinding(use.query, fault)]
}

function syntaxFinding(query: string, { message, at }: SyntaxFault): Finding {
  const { line, column } = placeIn(query, at)
  const place = query.trimEnd().includes('\n') ? `line ${line}, column ${column}` : `column ${column}`
  return {
    kind: 'syntax',
    severity: 'error',
    message: `this is no PromQL: ${message} (${place} of the query)`,
    suggestion: null,
  }
}

/** An autoscaler's bare name is not a query: a counter may stand there. */
function nameOrQuery(use: MetricUse, known: KnownSeries): readonly Finding[] {
  const findings = checkQuery(use.query, known)
  return use.kind === 'name' ? findings.filter(({ kind }) => kind !== 'wrong_type') : findings
}

/** Records whose family some rule makes, but not with this window: a misspelt one, mostly. */
function undefinedFindings({ query }: MetricUse, records: readonly string[]): readonly Finding[] {
  const family = (name: string): string => name.replace(/\d+[smhdwy]$/, '')
  const families = new Set(records.map(family))
  const used = selectorsOf(query).map(({ name }) => name)
  const candidates = used.filter((name) => name.includes(':') && families.has(family(name)))
  return undefinedRecords(records, candidates).map((name) => ({
    kind: 'undefined_record',
    severity: 'error',
    message: `no rule makes ${name}, although others of its kind are made`,
    suggestion: records.filter((record) => family(record) === family(name)).join(', ') || null,
  }))
}

function autoscalerFindings({ kind, query, silenceIsZero }: MetricUse): readonly Finding[] {
  if (kind !== 'autoscaler') return []
  const findings: Finding[] = []
  if (!isOneValue(query)) {
    findings.push({
      kind: 'several_values',
      severity: 'error',
      message:
        'KEDA takes one value, and this query gives one for each replica: from the second replica on it is an error',
      suggestion: `sum(${query.trim()})`,
    })
  }
  if (silenceIsZero) {
    findings.push({
      kind: 'silence_is_zero',
      severity: 'warning',
      message:
        'an empty answer counts as 0 and scales down: a renamed metric or a lost scrape looks like no load',
      suggestion: 'ignoreNullValues: "false", and a fallback with the replicas to keep',
    })
  }
  return findings
}

function distinct(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(
    (one, index) =>
      findings.findIndex(({ kind, message }) => kind === one.kind && message === one.message) === index,
  )
}

/** The engine behind a page of metrics: the one whose names it has. Null: none that is known. */
export function detectEngine(scrape: Scrape): EngineId | null {
  const names = scrape.families.flatMap((family) => family.samples.map(({ name }) => name))
  let best: EngineId | null = null
  let most = 0
  for (const { engine, prefix } of Object.values(catalogues)) {
    const count = names.filter((name) => name.startsWith(prefix)).length
    if (count > most) {
      best = engine
      most = count
    }
  }
  return best
}

/** Series of a page by their names, with the values of their labels. */
export function liveSeries(scrape: Scrape): ReadonlyMap<string, LiveSeries> {
  const found = new Map<string, { type: string; labels: Map<string, Set<string>> }>()
  for (const family of scrape.families) {
    for (const { name, labels } of family.samples) {
      const one = found.get(name) ?? { type: family.type, labels: new Map<string, Set<string>>() }
      found.set(name, one)
      for (const [label, value] of Object.entries(labels)) {
        const values = one.labels.get(label) ?? new Set<string>()
        values.add(value)
        one.labels.set(label, values)
      }
    }
  }
  return found
}

/** How a live page differs from the catalogue. */
export interface PageDifference {
  readonly engine: EngineId
  readonly shown: number
  readonly known: number
  /** In the catalogue and not on the page: switched off, another version, or nothing happened yet. */
  readonly missing: readonly string[]
  /** With the engine's prefix on the page and not in the catalogue. */
  readonly unknown: readonly string[]
  /** Histograms whose bounds are not the catalogue's. */
  readonly otherBounds: readonly string[]
}

export function comparePage(live: ReadonlyMap<string, LiveSeries>, catalogue: Catalogue): PageDifference {
  const known = new Set(catalogue.metrics.flatMap(seriesNames))
  const metricShown = (names: readonly string[]): boolean => names.some((name) => live.has(name))
  const missing = catalogue.metrics.filter((metric) => !metricShown(seriesNames(metric)))
  const unknown = [...live.keys()].filter(
    (name) => name.startsWith(catalogue.prefix) && !known.has(name) && !name.endsWith('_created'),
  )
  const otherBounds = catalogue.metrics.filter(({ name, buckets }) => {
    const bounds = live.get(`${name}_bucket`)?.labels.get('le')
    if (bounds === undefined || buckets === null) return false
    const mine = new Set([...bounds].map(Number).filter(Number.isFinite))
    return mine.size !== buckets.length || !buckets.every((bound) => mine.has(Number(bound)))
  })
  return {
    engine: catalogue.engine,
    shown: catalogue.metrics.length - missing.length,
    known: catalogue.metrics.length,
    missing: missing.map(({ name }) => name),
    unknown,
    otherBounds: otherBounds.map(({ name }) => name),
  }
}

/** What a Prometheus server answered to a query: how many values, how many of them no numbers, and how old the newest sample is. */
export interface LiveAnswer {
  readonly values: number
  readonly notNumbers: number
  /** Series of an empty query that the server has not at all: a comparison that is not met is empty too, and says nothing. */
  readonly absent: readonly string[]
  /** The same for series that the files themselves record. */
  readonly unrecorded: boolean
  readonly ageSeconds: number | null
}

/** Findings from what a server answered. */
export function answerFindings(use: MetricUse, answer: LiveAnswer): readonly Finding[] {
  const findings: Finding[] = []
  if (answer.unrecorded) {
    findings.push({
      kind: 'empty',
      severity: 'warning',
      message:
        'the server has nothing yet for what these files record: the rules are not loaded, or nothing came (a ratio of no requests is not recorded)',
      suggestion: null,
    })
  }
  if (answer.absent.length > 0) {
    findings.push({
      kind: 'empty',
      severity: 'error',
      message: `the server has nothing for ${answer.absent.join(', ')}${use.silenceIsZero ? ', which the autoscaler takes for 0' : ''}`,
      suggestion: null,
    })
  }
  if (answer.notNumbers > 0) {
    findings.push({
      kind: 'not_a_number',
      severity: 'warning',
      message: `${answer.notNumbers} of ${answer.values} ${noun(answer.values, 'value')} ${noun(answer.notNumbers, 'is', 'are')} NaN or infinite: a ratio of nothing`,
      suggestion: null,
    })
  }
  if (use.kind === 'autoscaler' && answer.values > 1) {
    findings.push({
      kind: 'several_values',
      severity: 'error',
      message: `${answer.values} values come back, and KEDA takes one`,
      suggestion: `sum(${use.query.trim()})`,
    })
  }
  if (answer.ageSeconds !== null && answer.ageSeconds > 120) {
    findings.push({
      kind: 'stale',
      severity: 'warning',
      message: `the newest sample is ${Math.round(answer.ageSeconds)} s old`,
      suggestion: null,
    })
  }
  return findings
}
