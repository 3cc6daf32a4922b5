import { PlimsollError } from '../../base/errors.ts'
import { allowedBadShare } from './budget.ts'
import { checkAlerts, refitPolicy, type AlertCheck } from './alert-check.ts'
import { policyFor, type AlertPolicy, type AlertTier } from './policy.ts'
import { promSeconds, promText } from './prometheus-duration.ts'
import { slisOf, type Sli } from './sli.ts'
import { sloId, type SloSpec } from './slo-spec.ts'
import { multiply, rational, toDecimalText, toNumber, type Rational } from '../../stats/rational.ts'

export type Labels = Readonly<Record<string, string>>

/** A rule as Prometheus loads it. */
export type PromRule =
  | { readonly kind: 'record'; readonly record: string; readonly expr: string; readonly labels: Labels }
  | {
      readonly kind: 'alert'
      readonly alert: string
      readonly expr: string
      readonly forText: string | null
      readonly labels: Labels
      readonly annotations: Labels
    }

export interface RuleGroup {
  readonly name: string
  readonly intervalSeconds: number
  readonly rules: readonly PromRule[]
}

/** One watched share with its rules and what its alerts can do. */
export interface WatchedSli {
  readonly sli: Sli
  readonly group: RuleGroup
}

/** An objective made into rules. */
export interface SloRules {
  readonly spec: SloSpec
  readonly policy: AlertPolicy
  /** Of the policy as it is used. */
  readonly checks: readonly AlertCheck[]
  /** Alerts whose factor was re-derived: what it was. */
  readonly refitted: readonly { readonly tier: AlertTier; readonly from: Rational }[]
  readonly watched: readonly WatchedSli[]
  /** Bounds of the joint share, where several limits are watched apart. */
  readonly joint: RuleGroup | null
}

/** Up to here a window is taken from the engine's own series; longer ones add up the shortest window's records. */
export const directSeconds: number = 6 * 3600

/** Rules of an objective. Throws PLIM_CONFIG where an alert can never fire, or a share cannot be counted. */
export function rulesOf(spec: SloSpec): SloRules {
  const wanted = policyFor(spec.policy, spec.period)
  const before = checkAlerts(wanted, spec.objective, spec.period)
  const never = before.filter(({ reachable }) => !reachable)
  if (never.length > 0 && spec.unreachable === 'refuse') throw unreachable(spec, wanted, never)
  const policy = refitPolicy(wanted, before)
  const slis = slisOf(spec)
  return {
    spec,
    policy,
    checks: checkAlerts(policy, spec.objective, spec.period),
    refitted: policy.tiers.flatMap((tier, index) => {
      const from = wanted.tiers[index]?.factor
      return from === undefined || from === tier.factor ? [] : [{ tier, from }]
    }),
    watched: slis.map((sli) => ({ sli, group: sliGroup(spec, policy, sli) })),
    joint: slis.length > 1 ? jointGroup(spec, policy, slis) : null,
  }
}

function unreachable(spec: SloSpec, policy: AlertPolicy, never: readonly AlertCheck[]): PlimsollError {
  const told = never.map(
    ({ tier, threshold, refitFactor }) =>
      `${factorText(tier.factor)}x on ${tier.long} needs ${percentText(threshold)} bad; ${
        refitFactor === null ? 'no factor can be reached' : `${factorText(refitFactor)}x can be reached`
      }`,
  )
  return new PlimsollError(
    'PLIM_CONFIG',
    `at ${spec.objectiveText} an alert of ${policy.name} can never fire`,
    {
      expected: `factors under 1 ÷ (100 % − ${spec.objectiveText}) = ${factorText(mostBurn(spec))}`,
      received: told.join('; '),
      where: { file: spec.file },
      hint: '--unreachable refit (or unreachable: refit in the file) takes the re-derived factors',
    },
  )
}

function mostBurn(spec: SloSpec): Rational {
  const allowed = allowedBadShare(spec.objective)
  return allowed.num === 0n ? rational(0) : { num: allowed.den, den: allowed.num }
}

/** 14.4, 6; a fraction that does not end is cut at four places. */
export function factorText(factor: Rational): string {
  return toDecimalText(factor, 4)
}

export function percentText(share: Rational, digits = 4): string {
  return `${toDecimalText(multiply(share, rational(100)), digits)} %`
}

/** Exact: decimals where they end, else numerator ÷ denominator as PromQL. */
export function promNumber(value: Rational): string {
  let den = value.den
  for (const prime of [2n, 5n]) while (den % prime === 0n) den /= prime
  return den === 1n ? toDecimalText(value, 60) : `(${value.num} / ${value.den})`
}

function windowsOf(policy: AlertPolicy): readonly string[] {
  const all = policy.tiers.flatMap(({ short, long }) => [short, long])
  return [...new Set(all)].sort((a, b) => (promSeconds(a) ?? 0) - (promSeconds(b) ?? 0))
}

function sliLabels(spec: SloSpec, sli: Sli): Labels {
  return { slo: sli.id, service: spec.service, objective: spec.name, sli: sli.part, ...spec.labels }
}

function sliGroup(spec: SloSpec, policy: AlertPolicy, sli: Sli): RuleGroup {
  const labels = sliLabels(spec, sli)
  const windows = windowsOf(policy)
  const base = windows[0] ?? '5m'
  const of = (record: string): string => `${record}{slo="${sli.id}"}`
  const record = (name: string, expr: string): PromRule => ({ kind: 'record', record: name, expr, labels })
  const ratio = (window: string): PromRule =>
    record(
      `slo:bad_ratio:increase${window}`,
      `${of(`slo:bad:increase${window}`)} / (${of(`slo:requests:increase${window}`)} > 0)`,
    )
  /** Events of a long window from the records of the shortest: each is in base ÷ interval of them. */
  const summed = (what: string, window: string): string =>
    `sum_over_time(${of(`slo:${what}:increase${base}`)}[${window}]) * ${spec.intervalSeconds} / ${promSeconds(base)}`
  const window = (text: string): readonly PromRule[] => {
    const direct = (promSeconds(text) ?? 0) <= directSeconds || text === base
    const sides = sli.between
    return [
      record(`slo:requests:increase${text}`, direct ? sli.total(text) : summed('requests', text)),
      record(`slo:bad:increase${text}`, direct ? sli.bad(text) : summed('bad', text)),
      ...(sides === null
        ? []
        : [
            record(`slo:bad_low:increase${text}`, direct ? sides.low(text) : summed('bad_low', text)),
            record(`slo:bad_high:increase${text}`, direct ? sides.high(text) : summed('bad_high', text)),
          ]),
      ratio(text),
    ]
  }
  const period = promText(promSeconds(spec.period) ?? 0)
  const allowed = allowedBadShare(spec.objective)
  return {
    name: `slo-${sli.id}`,
    intervalSeconds: spec.intervalSeconds,
    rules: [
      ...windows.flatMap(window),
      ...(windows.includes(period) ? [] : window(period)),
      record('slo:objective:ratio', `vector(${promNumber(spec.objective)})`),
      record('slo:budget_spent:ratio', `${of(`slo:bad_ratio:increase${period}`)} / ${promNumber(allowed)}`),
      record('slo:budget_left:ratio', `1 - ${of('slo:budget_spent:ratio')}`),
      ...policy.tiers.map((tier) => burnAlert(spec, policy, sli, tier)),
      missingAlert(spec, sli, base),
    ],
  }
}

export const alertNames: Readonly<Record<AlertTier['severity'], string>> = {
  page: 'SloBurnPage',
  ticket: 'SloBurnTicket',
}
export const missingAlertName = 'SloDataMissing'
/** How long the data may be away before somebody is told. */
export const missingFor = '10m'

/** Labels that an alert of a tier carries. */
export function alertLabels(spec: SloSpec, sli: Sli, tier: AlertTier): Labels {
  return { ...sliLabels(spec, sli), severity: tier.severity, long: tier.long }
}

export function missingLabels(spec: SloSpec, sli: Sli): Labels {
  return { ...sliLabels(spec, sli), severity: 'ticket' }
}

function burnAlert(spec: SloSpec, policy: AlertPolicy, sli: Sli, tier: AlertTier): PromRule {
  const threshold = promNumber(multiply(tier.factor, allowedBadShare(spec.objective)))
  const burns = (window: string): string =>
    `slo:bad_ratio:increase${window}{slo="${sli.id}"} ${policy.comparator} ${threshold}`
  const guards = [
    ...(spec.minBad > 0 ? [`slo:bad:increase${tier.long}{slo="${sli.id}"} >= ${spec.minBad}`] : []),
    ...(spec.minRequests > 0
      ? [`slo:requests:increase${tier.long}{slo="${sli.id}"} >= ${spec.minRequests}`]
      : []),
  ]
  const factor = factorText(tier.factor)
  return {
    kind: 'alert',
    alert: alertNames[tier.severity],
    expr: [burns(tier.long), burns(tier.short), ...guards].join('\nand\n'),
    forText: null,
    labels: alertLabels(spec, sli, tier),
    annotations: {
      summary: `${spec.service}/${spec.name}: too many of the last ${tier.long} were bad (${sli.what})`,
      description: `The ${spec.period} budget of ${spec.objectiveText} is spent at ${policy.comparator === '>' ? 'more than' : 'at least'} ${factor}x on ${tier.long} and ${tier.short}: at that rate it lasts ${daysText(spec, tier)}.`,
    },
  }
}

function daysText(spec: SloSpec, tier: AlertTier): string {
  const seconds = (promSeconds(spec.period) ?? 0) / toNumber(tier.factor)
  return seconds >= 2 * 86_400 ? `${toShort(seconds / 86_400)} days` : `${toShort(seconds / 3600)} hours`
}

function toShort(value: number): string {
  return String(Number(value.toPrecision(3)))
}

/** Silence is not health: no data is told, and says that nothing else will be. */
function missingAlert(spec: SloSpec, sli: Sli, base: string): PromRule {
  return {
    kind: 'alert',
    alert: missingAlertName,
    expr: `absent(slo:bad:increase${base}{slo="${sli.id}"})`,
    forText: missingFor,
    labels: missingLabels(spec, sli),
    annotations: {
      summary: `${spec.service}/${spec.name}: nothing is counted (${sli.what})`,
      description:
        'The engine is not scraped, its series have another name, label or bucket than these rules expect, or it was just started. While this lasts no burn alert can fire. plimsoll doctor tells which.',
    },
  }
}

/**
 * From separate counters the joint share is only bounded: at least as many requests are bad as in the worst part, at most as many as
 * in all parts together. Each part's alert is sound for the joint objective; that none fires proves nothing.
 */
function jointGroup(spec: SloSpec, policy: AlertPolicy, slis: readonly Sli[]): RuleGroup {
  const labels: Labels = { slo: sloId(spec), service: spec.service, objective: spec.name, ...spec.labels }
  const ids = slis.map(({ id }) => id).join('|')
  const of = (what: string, window: string): string => `slo:${what}:increase${window}{slo=~"${ids}"}`
  const period = promText(promSeconds(spec.period) ?? 0)
  const windows = [...new Set([...policy.tiers.map(({ long }) => long), period])]
  return {
    name: `slo-${sloId(spec)}-joint`,
    intervalSeconds: spec.intervalSeconds,
    rules: windows.flatMap((window): readonly PromRule[] => {
      const most = `(max(${of('requests', window)}) > 0)`
      return [
        {
          kind: 'record',
          record: `slo:joint_bad_ratio_low:increase${window}`,
          expr: `max(${of('bad', window)}) / ${most}`,
          labels,
        },
        {
          kind: 'record',
          record: `slo:joint_bad_ratio_high:increase${window}`,
          expr: `clamp_max(sum(${of('bad', window)}) / ${most}, 1)`,
          labels,
        },
      ]
    }),
  }
}

/** Recorded series that alerts or records read and no rule makes: a misspelt window, mostly. */
export function undefinedRecords(defined: readonly string[], used: readonly string[]): readonly string[] {
  return [...new Set(used)].filter((name) => !defined.includes(name))
}

/** The same for whole groups. */
export function undefinedInGroups(groups: readonly RuleGroup[]): readonly string[] {
  const rules = groups.flatMap((group) => group.rules)
  const defined = rules.flatMap((rule) => (rule.kind === 'record' ? [rule.record] : []))
  const used = rules.flatMap(({ expr }) => [...expr.matchAll(/\bslo:[\w:]+/g)].map(([name]) => name))
  return undefinedRecords(defined, used)
}

/** All groups of an objective. */
export function groupsOf(rules: SloRules): readonly RuleGroup[] {
  return [...rules.watched.map(({ group }) => group), ...(rules.joint === null ? [] : [rules.joint])]
}
