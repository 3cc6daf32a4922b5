import { parseRational, toDecimalText, toNumber } from '../stats/rational.ts'
import type { AlertTier } from '../operate/slo/policy.ts'
import { factorText, type SloRules } from '../operate/slo/rules.ts'
import { sloId } from '../operate/slo/slo-spec.ts'
import { commented, kubernetesName } from './slo-rule-files.ts'
import { stringify } from 'yaml'

/** What OpenSLO has no field for: its alert conditions know one window, ours ask a short one too. */
export const shortWindowAnnotation = 'plimsoll/short-window'

/**
 * An objective as OpenSLO v1: one SLO for each watched share, its counters as Prometheus queries, with an AlertPolicy and an
 * AlertCondition for each alert and an AlertNotificationTarget for each severity. An alert condition knows one window: the short one of
 * our multiwindow alerts stands in an annotation, and the rule file has the alert as it really is.
 */
export function openSloText(rules: SloRules): string {
  const { spec } = rules
  const target = toDecimalText(parseRational(spec.objectiveText), 20)
  const alerts = alertDocuments(rules)
  const slos = rules.watched.map(({ sli }) => ({
    apiVersion: 'openslo/v1',
    kind: 'SLO',
    metadata: { name: kubernetesName(sli.id), displayName: `${spec.service}/${spec.name}: ${sli.what}` },
    spec: {
      description: `${sli.what}; ${spec.objectiveText} over ${spec.period}`,
      service: spec.service,
      indicator: {
        metadata: { name: kubernetesName(`${sli.id}-sli`) },
        spec: {
          ratioMetric: ratioOf(rules, sli.id),
        },
      },
      timeWindow: [{ duration: spec.period, isRolling: true }],
      budgetingMethod: 'Occurrences',
      objectives: [{ displayName: spec.objectiveText, target: Number(target) }],
      alertPolicies: alerts.policies.map(({ metadata }) => ({ alertPolicyRef: metadata.name })),
    },
  }))
  const documents: readonly object[] = [...slos, ...alerts.policies, ...alerts.conditions, ...alerts.targets]
  return (
    commented([
      spec.own === null
        ? 'The queries read what the rule file records.'
        : 'The queries read the counters themselves.',
    ]) + documents.map((one) => stringify(one, { lineWidth: 0 })).join('---\n')
  )
}

interface Document {
  readonly apiVersion: 'openslo/v1'
  readonly kind: string
  readonly metadata: { readonly name: string; readonly [key: string]: unknown }
  readonly spec: object
}

/** The alerts of an objective, shared by all of its shares. */
function alertDocuments({ spec, policy }: SloRules): {
  readonly policies: readonly Document[]
  readonly conditions: readonly Document[]
  readonly targets: readonly Document[]
} {
  const document = (kind: string, metadata: Document['metadata'], body: object): Document => ({
    apiVersion: 'openslo/v1',
    kind,
    metadata,
    spec: body,
  })
  const name = (tier: AlertTier): string => kubernetesName(`${sloId(spec)}-${tier.severity}-${tier.long}`)
  const severities = [...new Set(policy.tiers.map(({ severity }) => severity))]
  return {
    policies: policy.tiers.map((tier) =>
      document(
        'AlertPolicy',
        { name: name(tier) },
        {
          description: `${policy.name}: ${tier.severity} on ${tier.long} and ${tier.short}`,
          alertWhenNoData: true,
          alertWhenResolved: false,
          alertWhenBreaching: true,
          conditions: [{ conditionRef: name(tier) }],
          notificationTargets: [{ targetRef: tier.severity }],
        },
      ),
    ),
    conditions: policy.tiers.map((tier) =>
      document(
        'AlertCondition',
        { name: name(tier), annotations: { [shortWindowAnnotation]: tier.short } },
        {
          description: `the budget burns at ${policy.comparator === '>' ? 'more than' : 'at least'} ${factorText(tier.factor)}x over ${tier.long}, and over ${tier.short} still`,
          severity: tier.severity,
          condition: {
            kind: 'burnrate',
            op: policy.comparator === '>' ? 'gt' : 'gte',
            threshold: toNumber(tier.factor),
            lookbackWindow: tier.long,
            alertAfter: '0m',
          },
        },
      ),
    ),
    targets: severities.map((severity) =>
      document(
        'AlertNotificationTarget',
        { name: severity },
        {
          description: severity === 'page' ? 'somebody is woken' : 'somebody looks in working hours',
          target: severity === 'page' ? 'pager' : 'tickets',
        },
      ),
    ),
  }
}

/** Own counters as they are; else what the rules record, which are numbers of events within a window and rise and fall. */
function ratioOf({ spec, ...rules }: SloRules, id: string): object {
  if (spec.own !== null) {
    const { total, bad, good } = spec.own
    return {
      counter: true,
      ...(bad === undefined ? {} : { bad: metric(bad) }),
      ...(good === undefined ? {} : { good: metric(good) }),
      total: metric(total),
    }
  }
  const window = shortest({ spec, ...rules })
  return {
    counter: false,
    bad: metric(`slo:bad:increase${window}{slo="${id}"}`),
    total: metric(`slo:requests:increase${window}{slo="${id}"}`),
  }
}

function shortest(rules: SloRules): string {
  const record = rules.watched[0]?.group.rules[0]
  return record?.kind === 'record' ? record.record.replace(/^.*:increase/, '') : '5m'
}

function metric(query: string): object {
  return { metricSource: { type: 'Prometheus', spec: { query } } }
}
