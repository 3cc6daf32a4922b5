import { parseAllDocuments } from 'yaml'
import { PlimsollError } from '../base/errors.ts'
import { readPromSeconds } from '../operate/slo/prometheus-duration.ts'
import { checkObjectivePercent, type OwnSource, type SloSpec } from '../operate/slo/slo-spec.ts'
import { parseRational } from '../stats/rational.ts'
import { percentOf, shared, type SloOverrides } from './slo-shared.ts'

type Json = Readonly<Record<string, unknown>>

/** Whether a text is OpenSLO (openslo.com). */
export function isOpenSlo(text: string): boolean {
  return /^\s*apiVersion:\s*['"]?openslo\//m.test(text)
}

/**
 * The SLOs of an OpenSLO v1 file that this house can watch: ratio metrics of Prometheus counters, a rolling window, Occurrences.
 * Throws PLIM_CONFIG that names what it cannot take.
 */
export function readOpenSlo(text: string, file: string, overrides: SloOverrides): readonly SloSpec[] {
  const documents = parseAllDocuments(text)
  const objects = (Array.isArray(documents) ? documents : []).map((document) => {
    const [broken] = document.errors
    if (broken !== undefined) throw refuse(file, 'this is not YAML', undefined, broken.message)
    return document.toJS() as Json | null
  })
  const indicators = new Map(
    objects
      .filter((one): one is Json => one !== null && one['kind'] === 'SLI')
      .map((one) => [at(one, 'metadata', 'name'), at(one, 'spec') as Json]),
  )
  return objects
    .filter((one): one is Json => one !== null && one['kind'] === 'SLO')
    .flatMap((slo) => specsOf(slo, indicators, file, overrides))
}

function specsOf(
  slo: Json,
  indicators: ReadonlyMap<unknown, Json>,
  file: string,
  overrides: SloOverrides,
): readonly SloSpec[] {
  const name = word(at(slo, 'metadata', 'name')) ?? ''
  const spec = (at(slo, 'spec') ?? {}) as Json
  if (slo['apiVersion'] !== 'openslo/v1')
    throw refuse(file, `${name} is not openslo/v1`, 'apiVersion: openslo/v1')
  if ((spec['budgetingMethod'] ?? 'Occurrences') !== 'Occurrences') {
    throw refuse(
      file,
      `${name} has the budgeting method ${word(spec['budgetingMethod']) ?? 'unknown'}`,
      'Occurrences: events are counted here',
    )
  }
  const [window] = (spec['timeWindow'] ?? []) as readonly Json[]
  const period = word(window?.['duration']) ?? ''
  if (window === undefined || window['isRolling'] === false || window['calendar'] !== undefined) {
    throw refuse(file, `${name} has no rolling window`, 'timeWindow: [{ duration: 30d, isRolling: true }]')
  }
  readPromSeconds(period, `the window of ${name}`)
  const indicator =
    (at(spec, 'indicator', 'spec') as Json | undefined) ?? indicators.get(spec['indicatorRef']) ?? {}
  const ratio = indicator['ratioMetric'] as Json | undefined
  if (ratio === undefined || ratio['total'] === undefined) {
    throw refuse(file, `${name} has no ratio of counters`, 'ratioMetric with total, and good or bad')
  }
  if (ratio['counter'] === false) {
    throw refuse(
      file,
      `the ratio of ${name} is not made of counters`,
      'counter: true, and queries of counters',
    )
  }
  const good = ratio['good'] === undefined ? undefined : queryOf(ratio['good'], name, file)
  const bad = ratio['bad'] === undefined ? undefined : queryOf(ratio['bad'], name, file)
  const own: OwnSource = {
    total: queryOf(ratio['total'], name, file),
    ...(bad !== undefined ? { bad } : good === undefined ? {} : { good }),
  }
  const objectives = (spec['objectives'] ?? []) as readonly Json[]
  return objectives.map((objective, index): SloSpec => {
    const objectiveText = targetOf(objective, name, file)
    return {
      service: word(spec['service']) ?? 'llm',
      name: objectives.length === 1 ? name : `${name}-${String(index + 1)}`,
      each: [],
      objective: parseRational(objectiveText),
      objectiveText,
      period,
      shed: 'bad',
      engine: 'own',
      own,
      match: {},
      ...shared({}, overrides, file),
    }
  })
}

function targetOf(objective: Json, name: string, file: string): string {
  const percent =
    objective['targetPercent'] === undefined
      ? percentOf(word(objective['target']) ?? '0').slice(0, -1)
      : (word(objective['targetPercent']) ?? '0')
  const verdict = checkObjectivePercent(percent)
  if (verdict.kind === 'ok') return `${percent}%`
  throw refuse(
    file,
    `the target of ${name} ${verdict.kind === 'warn' ? 'looks like a fraction' : 'cannot be kept'}`,
    'target: 0.995, or targetPercent: 99.5',
    `${percent} %`,
  )
}

function queryOf(metric: unknown, name: string, file: string): string {
  const query = at(metric as Json, 'metricSource', 'spec', 'query')
  if (typeof query !== 'string')
    throw refuse(file, `${name} has no query`, 'metricSource: { type: Prometheus, spec: { query } }')
  return query.trim()
}

function at(value: Json | undefined, ...path: readonly string[]): unknown {
  let here: unknown = value
  for (const key of path) here = (here as Json | undefined)?.[key]
  return here
}

function refuse(file: string, message: string, expected?: string, received?: string): PlimsollError {
  return new PlimsollError('PLIM_CONFIG', message, {
    ...(expected === undefined ? {} : { expected }),
    ...(received === undefined ? {} : { received }),
    where: { file },
  })
}

function word(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}
