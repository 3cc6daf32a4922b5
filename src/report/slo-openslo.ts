import { parseRational, toDecimalText } from '../stats/rational.ts'
import type { SloRules } from '../operate/slo/rules.ts'
import { commented, kubernetesName } from './slo-rule-files.ts'
import { stringify } from 'yaml'

/**
 * An objective as OpenSLO v1: one SLO for each watched share, its counters as Prometheus queries. OpenSLO's alert conditions know one
 * window each, so the multiwindow alerts stay in the rule file.
 */
export function openSloText(rules: SloRules): string {
  const { spec } = rules
  const target = toDecimalText(parseRational(spec.objectiveText), 20)
  const documents = rules.watched.map(({ sli }) => ({
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
    },
  }))
  return (
    commented([
      spec.own === null
        ? 'The queries read what the rule file records.'
        : 'The queries read the counters themselves.',
    ]) + documents.map((one) => stringify(one, { lineWidth: 0 })).join('---\n')
  )
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
