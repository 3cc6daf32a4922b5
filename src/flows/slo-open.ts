import { parseAllDocuments } from 'yaml'
import { readPromSeconds } from '../operate/slo/prometheus-duration.ts'
import { checkObjectivePercent, type OwnSource, type SloSpec } from '../operate/slo/slo-spec.ts'
import { parseRational } from '../stats/rational.ts'
import { at, refuse, word, type Json } from './slo-open-objects.ts'
import { openSloPolicy, type OpenObjects } from './slo-open-alerts.ts'
import { percentOf, shared, type SloOverrides } from './slo-shared.ts'

/** Whether a text is OpenSLO (openslo.com). */
export function isOpenSlo(text: string): boolean {
  return /^\s*apiVersion:\s*['"]?openslo\//m.test(text)
}

/** The named objects of OpenSLO files, to which an SLO of any of them may refer. */
export interface OpenSloFiles extends OpenObjects {
  readonly indicators: ReadonlyMap<unknown, Json>
  readonly slos: readonly { readonly slo: Json; readonly file: string }[]
}

/** Everything of the kinds that are known in some OpenSLO files. Throws PLIM_CONFIG for what is not YAML. */
export function readOpenSloFiles(
  files: readonly { readonly path: string; readonly text: string }[],
): OpenSloFiles {
  const objects = files.flatMap(({ path, text }) => {
    const documents = parseAllDocuments(text)
    return (Array.isArray(documents) ? documents : []).flatMap((document) => {
      const [broken] = document.errors
      if (broken !== undefined) throw refuse(path, 'this is not YAML', undefined, broken.message)
      const object = document.toJS() as Json | null
      return object === null ? [] : [{ object, file: path }]
    })
  })
  const named = (kind: string): ReadonlyMap<unknown, Json> =>
    new Map(
      objects
        .filter(({ object }) => object['kind'] === kind)
        .map(({ object }) => [at(object, 'metadata', 'name'), object]),
    )
  return {
    indicators: named('SLI'),
    policies: named('AlertPolicy'),
    conditions: named('AlertCondition'),
    slos: objects
      .filter(({ object }) => object['kind'] === 'SLO')
      .map(({ object, file }) => ({ slo: object, file })),
  }
}

/**
 * The SLOs of OpenSLO v1 files that this house can watch: ratio metrics of Prometheus counters, a rolling window, Occurrences, with their
 * alert policies unless the command line names one. Throws PLIM_CONFIG that names what it cannot take.
 */
export function readOpenSlo(files: OpenSloFiles, overrides: SloOverrides): readonly SloSpec[] {
  return files.slos.flatMap(({ slo, file }) => specsOf(slo, files, file, overrides))
}

function specsOf(slo: Json, files: OpenSloFiles, file: string, overrides: SloOverrides): readonly SloSpec[] {
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
    (at(spec, 'indicator', 'spec') as Json | undefined) ??
    (at(files.indicators.get(spec['indicatorRef']), 'spec') as Json | undefined) ??
    {}
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
  const policy = openSloPolicy(slo, name, files, file)
  const service = word(spec['service']) ?? 'llm'
  // The service is part of an objective's id here: a name that begins with it keeps its id.
  const shortName = name.startsWith(`${service}-`) ? name.slice(service.length + 1) : name
  return objectives.map((objective, index): SloSpec => {
    const objectiveText = targetOf(objective, name, file)
    return {
      service,
      name: objectives.length === 1 ? shortName : `${shortName}-${String(index + 1)}`,
      each: [],
      objective: parseRational(objectiveText),
      objectiveText,
      period,
      shed: 'bad',
      engine: 'own',
      own,
      match: {},
      ...shared({}, overrides, file),
      ...(policy === null || overrides.policy !== undefined ? {} : { policy }),
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
