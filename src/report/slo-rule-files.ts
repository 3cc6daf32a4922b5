import { stringify } from 'yaml'
import type { PromRule, RuleGroup } from '../operate/slo/rules.ts'
import { promText } from '../operate/slo/prometheus-duration.ts'

/** A rule file as `promtool check rules` takes it. */
export function plainRules(groups: readonly RuleGroup[], header: readonly string[]): string {
  return commented(header) + yamlText({ groups: groups.map(groupJson) })
}

/** The same as a PrometheusRule of the Prometheus operator. */
export function prometheusRule(
  groups: readonly RuleGroup[],
  name: string,
  labels: Readonly<Record<string, string>>,
  header: readonly string[],
): string {
  return (
    commented(header) +
    yamlText({
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: { name: kubernetesName(name), labels },
      spec: { groups: groups.map(groupJson) },
    })
  )
}

/** Lower-case letters, digits and dashes, at most 63. */
export function kubernetesName(name: string): string {
  const text = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  return text.slice(0, 63).replace(/-+$/, '') || 'slo'
}

function groupJson({ name, intervalSeconds, rules }: RuleGroup): object {
  return { name, interval: promText(intervalSeconds), rules: rules.map(ruleJson) }
}

function ruleJson(rule: PromRule): object {
  if (rule.kind === 'record') return { record: rule.record, expr: rule.expr, labels: rule.labels }
  return {
    alert: rule.alert,
    expr: rule.expr,
    ...(rule.forText === null ? {} : { for: rule.forText }),
    labels: rule.labels,
    annotations: rule.annotations,
  }
}

/** YAML without folded lines: an expression that is broken for its width is hard to search for. */
export function yamlText(value: object): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
}

export function commented(lines: readonly string[]): string {
  return lines.map((line) => (line === '' ? '#\n' : `# ${line}\n`)).join('')
}
