import { LineCounter, isMap, isScalar, parseAllDocuments, visit, type Pair, type Scalar } from 'yaml'
import { PlimsollError, type TextPosition } from '../../base/errors.ts'
import { brokenYaml, yamlPosition } from '../../base/positioned-yaml.ts'
import { catalogues } from '../catalogue/engines.ts'
import { seriesNames } from '../catalogue/catalogue.ts'
import { scalerMetric } from '../scale/scaler-metric.ts'

/** A place where a metric is asked for. */
export interface MetricUse {
  /** `autoscaler`: one value decides how many replicas there are. `name`: a bare name of a metric, not a query. */
  readonly kind: 'query' | 'autoscaler' | 'name'
  readonly query: string
  readonly where: TextPosition
  /** A KEDA trigger that takes an empty answer for 0: `ignoreNullValues`, which is on by default. */
  readonly silenceIsZero: boolean
}

const queryKeys = new Set(['expr', 'query', 'metricsQuery', 'seriesQuery', 'definition'])

/**
 * Every query and metric name in a file: rules and PrometheusRule, HPA, KEDA ScaledObject, the adapter's configuration, Grafana
 * dashboards, AIBrix' autoscalers; a `.promql` or `.txt` file is one query. JSON is read as the YAML that it is.
 * @throws PlimsollError PLIM_FILE for a file that is neither, or empty.
 */
export function readMetricUses(text: string, file: string): readonly MetricUse[] {
  const isQuery = /\.(promql|txt)$/.test(file)
  if (text.replaceAll(/^\s*#.*$/gm, '').trim() === '') {
    throw new PlimsollError('PLIM_FILE', 'nothing is in this file to check', {
      expected: isQuery ? 'a query' : 'rules, dashboards or autoscalers in YAML or JSON',
      received: text.trim() === '' ? 'an empty file' : 'comments alone',
      where: { file, line: 1, column: 1 },
    })
  }
  if (isQuery) {
    return [{ kind: 'query', query: text, where: { file, line: 1, column: 1 }, silenceIsZero: false }]
  }
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })
  const uses: MetricUse[] = []
  for (const document of Array.isArray(documents) ? documents : []) {
    const [broken] = document.errors
    if (broken !== undefined) {
      const what = 'this is neither YAML nor JSON (a query alone is read from a .promql file)'
      throw brokenYaml(broken, { text, file, lines, code: 'PLIM_FILE', what })
    }
    visit(document, {
      Pair(_, pair, path) {
        const use = useOf(
          pair,
          path.findLast((node) => isMap(node)),
        )
        if (use === null) return
        const range = (pair.value as Scalar).range
        uses.push({ ...use, where: yamlPosition({ file, lines }, range?.[0] ?? 0) })
      },
    })
  }
  return uses
}

function useOf(pair: Pair, parent: unknown): Omit<MetricUse, 'where'> | null {
  if (!isScalar(pair.key) || !isScalar(pair.value) || typeof pair.value.value !== 'string') return null
  const key = String(pair.key.value)
  const text = pair.value.value
  const said = (name: string): unknown => (isMap(parent) ? parent.get(name) : undefined)
  if (key === 'query' && isMap(parent) && parent.has('serverAddress')) {
    return {
      kind: 'autoscaler',
      query: text,
      silenceIsZero: said('ignoreNullValues') !== false && said('ignoreNullValues') !== 'false',
    }
  }
  if (
    key === 'query' &&
    ['datasource', 'custom', 'constant', 'interval', 'textbox'].includes(typeText(said('type')))
  )
    return null
  if (queryKeys.has(key)) return { kind: 'query', query: grafanaQuery(text), silenceIsZero: false }
  if (key === 'targetMetric' || (key === 'name' && looksLikeMetric(text))) {
    return { kind: 'name', query: prefixed(text), silenceIsZero: false }
  }
  return null
}

function typeText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** `label_values(metric, label)` of Grafana is no PromQL: what is in it is. */
function grafanaQuery(text: string): string {
  const inner = /^\s*label_values\(\s*(.+?)\s*,\s*\w+\s*\)\s*$/s.exec(text)?.[1]
  return inner === undefined ? text : `count(${inner})`
}

const prefixes = Object.values(catalogues).map(({ prefix }) => prefix)

function looksLikeMetric(text: string): boolean {
  return (
    text !== scalerMetric &&
    /^[a-zA-Z_][\w:]*$/.test(text) &&
    prefixes.some((prefix) => text.startsWith(prefix) || text.startsWith(prefix.replace(':', '_')))
  )
}

/** Autoscalers that know their engine leave its prefix out. */
function prefixed(name: string): string {
  if (prefixes.some((prefix) => name.startsWith(prefix))) return name
  for (const { prefix, metrics, renames } of Object.values(catalogues)) {
    const full = prefix + name
    if (
      metrics.some((metric) => seriesNames(metric).includes(full)) ||
      renames.some(({ from }) => from === full)
    )
      return full
  }
  return name
}

/** The series that the rules of a file record. */
export function recordsOf(text: string): readonly string[] {
  return [...text.matchAll(/^\s*(?:-\s*)?"?record"?:\s*['"]?([\w:]+)/gm)].map(([, name = '']) => name)
}
