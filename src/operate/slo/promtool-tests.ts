import {
  alertNames,
  missingAlertName,
  type Labels,
  type PromRule,
  type SloRules,
  type WatchedSli,
} from './rules.ts'
import type { CountedSeries } from './counted-series.ts'
import type { Sli } from './sli.ts'
import { firingAt, scenariosFor, type Scenario } from './test-scenarios.ts'

interface ExpectedAlert {
  readonly exp_labels: Labels
  readonly exp_annotations: Labels
}

interface AlertLook {
  readonly eval_time: string
  readonly alertname: string
  readonly exp_alerts: readonly ExpectedAlert[]
}

interface ExprLook {
  readonly expr: string
  readonly eval_time: string
  readonly exp_samples: readonly { readonly labels: string; readonly value: number }[]
}

export interface PromtoolTest {
  readonly name: string
  readonly interval: string
  readonly input_series: readonly { readonly series: string; readonly values: string }[]
  readonly alert_rule_test: readonly AlertLook[]
  readonly promql_expr_test: readonly ExprLook[]
}

/** A file of `promtool test rules`. Only what promtool 2.42 has is used. */
export interface PromtoolTests {
  readonly rule_files: readonly string[]
  readonly evaluation_interval: string
  readonly tests: readonly PromtoolTest[]
}

/** Tests of one objective's rule file: each watched share goes through every scenario. */
export function promtoolTests(rules: SloRules, ruleFile: string): PromtoolTests {
  return {
    rule_files: [ruleFile],
    // Rules look once a minute here: twice as long an interval halves the counts of windows that are sums, not their ratios.
    evaluation_interval: '1m',
    tests: rules.watched
      .filter(({ sli }) => sli.series.good.length > 0)
      .flatMap((watched) => scenariosFor(rules).flatMap((scenario) => testOf(rules, watched, scenario))),
  }
}

function testOf(rules: SloRules, watched: WatchedSli, scenario: Scenario): readonly PromtoolTest[] {
  const { sli } = watched
  const lazy = scenario.lazyBad === true
  if (lazy && !sli.lazyBad) return []
  const pythonBound = sli.series.good.some(({ labels }) => labels['le']?.endsWith('.0') === true)
  if (scenario.plainBounds === true && !pythonBound) return []
  const absent = scenario.stretches.some(({ kind }) => kind === 'absent')
  return [
    {
      name: `${sli.id}: ${scenario.name}`,
      interval: '1m',
      input_series: absent ? [] : seriesOf(sli, scenario),
      alert_rule_test: scenario.looks.flatMap((minute) =>
        absent ? missingAt(rules, minute) : firingAlerts(rules, watched, scenario, minute),
      ),
      promql_expr_test: absent ? [] : expressions(watched, scenario),
    },
  ]
}

/** All alerts of a name are listed together: one that is unsure leaves the name out. */
function firingAlerts(
  rules: SloRules,
  { group }: WatchedSli,
  scenario: Scenario,
  minute: number,
): readonly AlertLook[] {
  return (['page', 'ticket'] as const).flatMap((severity) => {
    const states = rules.policy.tiers
      .filter((tier) => tier.severity === severity)
      .map((tier) => ({ tier, state: firingAt(tier, scenario, minute, rules.spec) }))
    if (states.length === 0 || states.some(({ state }) => state === 'unsure')) return []
    const alertname = alertNames[severity]
    return {
      eval_time: `${minute}m`,
      alertname,
      exp_alerts: states
        .filter(({ state }) => state === 'fires')
        .flatMap(({ tier }) =>
          group.rules.filter((rule) => isAlert(rule, alertname, tier.long)).map(expected),
        ),
    }
  })
}

function isAlert(rule: PromRule, name: string, long?: string): boolean {
  return rule.kind === 'alert' && rule.alert === name && (long === undefined || rule.labels['long'] === long)
}

function expected(rule: PromRule): ExpectedAlert {
  return { exp_labels: rule.labels, exp_annotations: rule.kind === 'alert' ? rule.annotations : {} }
}

/** Nothing is scraped: no page, and after a while the word that nothing is counted, once for each watched share. */
function missingAt(rules: SloRules, minute: number): readonly AlertLook[] {
  const missing = rules.watched.flatMap(({ group }) =>
    group.rules.filter((rule) => isAlert(rule, missingAlertName)).map(expected),
  )
  const at = `${minute}m`
  return [
    { eval_time: at, alertname: alertNames.page, exp_alerts: [] },
    { eval_time: at, alertname: missingAlertName, exp_alerts: minute > 12 ? missing : [] },
  ]
}

/** What was recorded at the end of a scenario with steady traffic: 0 where nothing is bad, nothing at all where nothing came. */
function expressions({ sli, group }: WatchedSli, scenario: Scenario): readonly ExprLook[] {
  const record = group.rules.find(
    (rule) => rule.kind === 'record' && rule.record.startsWith('slo:bad_ratio:'),
  )
  if (record?.kind !== 'record') return []
  const of = `${record.record}{slo="${sli.id}"}`
  // NaN cannot be written as an expected value: a series that is unequal to itself is one.
  const notNumbers = { expr: `count(${of} != ${of})`, exp_samples: [] }
  const looks: ExprLook[] = scenario.looks.map((minute) => ({ ...notNumbers, eval_time: `${minute}m` }))
  const clean = scenario.stretches.every(({ bad, good }) => bad === 0 && good > 0)
  const last = scenario.looks.at(-1)
  if (clean && last !== undefined) {
    looks.push({
      expr: `sum(${of})`,
      eval_time: `${last}m`,
      exp_samples: [{ labels: '{}', value: 0 }],
    })
  }
  return looks
}

/** The counters as they would be scraped, once a minute, in promtool's notation `start+step×times`. */
function seriesOf(sli: Sli, scenario: Scenario): PromtoolTest['input_series'] {
  const found = new Map<string, { good: number; bad: number }>()
  const plain = (one: CountedSeries): CountedSeries => {
    const le = one.labels['le']
    return scenario.plainBounds === true && le !== undefined
      ? { ...one, labels: { ...one.labels, le: le.replace(/\.0$/, '') } }
      : one
  }
  const count = (one: CountedSeries, kind: 'good' | 'bad'): void => {
    const key = seriesText(plain(one))
    const weights = found.get(key) ?? { good: 0, bad: 0 }
    weights[kind]++
    found.set(key, weights)
  }
  for (const one of sli.series.good) count(one, 'good')
  for (const one of sli.series.bad) count(one, 'bad')
  return [...found]
    .filter(([, weights]) => !(scenario.lazyBad === true && weights.good === 0))
    .map(([series, weights]) => ({ series, values: valuesOf(weights, scenario) }))
}

function seriesText({ name, labels }: CountedSeries): string {
  const all = { instance: 'replica-0:8000', job: 'engine', ...labels }
  const pairs = Object.entries(all)
    .filter(([, value]) => value !== '')
    .map(([label, value]) => `${label}=${JSON.stringify(value)}`)
  return `${name}{${pairs.join(', ')}}`
}

function valuesOf(weights: { good: number; bad: number }, scenario: Scenario): string {
  let value = 0
  const pieces: string[] = []
  for (const [index, { minutes, good, bad, kind }] of scenario.stretches.entries()) {
    const step = weights.good * good + weights.bad * bad
    if (kind === 'reset') value = 0
    // The first sample of the first stretch is at minute 0; later stretches begin one step on.
    const start = index === 0 || kind === 'reset' ? value : value + step
    const times = index === 0 ? minutes : minutes - 1
    pieces.push(`${start}+${step}x${times}`)
    value = start + step * times
  }
  return pieces.join(' ')
}
