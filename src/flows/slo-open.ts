import { placed } from '../base/placed.ts'
import { readYamlDocuments } from '../base/positioned-yaml.ts'
import { readPromSeconds } from '../operate/slo/prometheus-duration.ts'
import { checkObjectivePercent, type OwnSource, type SloSpec } from '../operate/slo/slo-spec.ts'
import { parseRational } from '../stats/rational.ts'
import { at, placesIn, refuse, word, type Json, type Place } from './slo-open-objects.ts'
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
  const read = files.flatMap(({ path, text }) =>
    readYamlDocuments(text, path).map((document) => ({ document, file: path })),
  )
  const objects = read.flatMap(({ document: { value }, file }) =>
    value === null ? [] : [{ object: value as Json, file }],
  )
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
    place: placesIn(read.map(({ document }) => document)),
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
  const { place } = files
  const name = word(at(slo, 'metadata', 'name')) ?? ''
  const spec = (at(slo, 'spec') ?? {}) as Json
  if (slo['apiVersion'] !== 'openslo/v1')
    throw refuse(place(slo, 'apiVersion'), `${name} is not openslo/v1`, 'apiVersion: openslo/v1')
  if ((spec['budgetingMethod'] ?? 'Occurrences') !== 'Occurrences') {
    throw refuse(
      place(slo, 'spec', 'budgetingMethod'),
      `${name} has the budgeting method ${word(spec['budgetingMethod']) ?? 'unknown'}`,
      'Occurrences: events are counted here',
    )
  }
  const [window] = (spec['timeWindow'] ?? []) as readonly Json[]
  const period = word(window?.['duration']) ?? ''
  if (window === undefined || window['isRolling'] === false || window['calendar'] !== undefined) {
    throw refuse(
      window === undefined
        ? place(slo, 'spec', 'timeWindow')
        : place(window, window['calendar'] === undefined ? 'isRolling' : 'calendar'),
      `${name} has no rolling window`,
      'timeWindow: [{ duration: 30d, isRolling: true }]',
    )
  }
  placed(
    () => place(window, 'duration'),
    () => readPromSeconds(period, `the window of ${name}`),
  )
  const indicator =
    (at(spec, 'indicator', 'spec') as Json | undefined) ??
    (at(files.indicators.get(spec['indicatorRef']), 'spec') as Json | undefined) ??
    {}
  const ratio = indicator['ratioMetric'] as Json | undefined
  if (ratio === undefined || ratio['total'] === undefined) {
    throw refuse(
      place(slo, 'spec', 'indicator', 'spec', 'ratioMetric'),
      `${name} has no ratio of counters`,
      'ratioMetric with total, and good or bad',
    )
  }
  if (ratio['counter'] === false) {
    throw refuse(
      place(ratio, 'counter'),
      `the ratio of ${name} is not made of counters`,
      'counter: true, and queries of counters',
    )
  }
  const good = ratio['good'] === undefined ? undefined : queryOf(ratio['good'], name, place)
  const bad = ratio['bad'] === undefined ? undefined : queryOf(ratio['bad'], name, place)
  const own: OwnSource = {
    total: queryOf(ratio['total'], name, place),
    ...(bad !== undefined ? { bad } : good === undefined ? {} : { good }),
  }
  const objectives = (spec['objectives'] ?? []) as readonly Json[]
  const policy = openSloPolicy(slo, name, files)
  const service = word(spec['service']) ?? 'llm'
  // The service is part of an objective's id here: a name that begins with it keeps its id.
  const shortName = name.startsWith(`${service}-`) ? name.slice(service.length + 1) : name
  return objectives.map((objective, index): SloSpec => {
    const objectiveText = targetOf(objective, name, place)
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
      ...shared({}, overrides, { file, where: () => place(slo) }),
      ...(policy === null || overrides.policy !== undefined ? {} : { policy }),
    }
  })
}

function targetOf(objective: Json, name: string, place: Place): string {
  const percent =
    objective['targetPercent'] === undefined
      ? percentOf(word(objective['target']) ?? '0').slice(0, -1)
      : (word(objective['targetPercent']) ?? '0')
  const verdict = checkObjectivePercent(percent)
  if (verdict.kind === 'ok') return `${percent}%`
  throw refuse(
    place(objective, objective['targetPercent'] === undefined ? 'target' : 'targetPercent'),
    `the target of ${name} ${verdict.kind === 'warn' ? 'looks like a fraction' : 'cannot be kept'}`,
    'target: 0.995, or targetPercent: 99.5',
    `${percent} %`,
  )
}

function queryOf(metric: unknown, name: string, place: Place): string {
  const query = at(metric as Json, 'metricSource', 'spec', 'query')
  if (typeof query !== 'string')
    throw refuse(place(metric), `${name} has no query`, 'metricSource: { type: Prometheus, spec: { query } }')
  return query.trim()
}
