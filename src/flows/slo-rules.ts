import { nativeUntested } from '../operate/slo/native-sli.ts'
import { promtoolTests } from '../operate/slo/promtool-tests.ts'
import { groupsOf, rulesOf, type SloRules } from '../operate/slo/rules.ts'
import { sloId } from '../operate/slo/slo-spec.ts'
import { grafanaDashboard } from '../report/slo-dashboard.ts'
import { openSloText } from '../report/slo-openslo.ts'
import { alertmanagerRouting } from '../report/slo-alertmanager.ts'
import { commented, plainRules, prometheusRule, yamlText } from '../report/slo-rule-files.ts'
import { readSloSpecs, type TextFile } from './slo-specs.ts'
import type { SloOverrides } from './slo-shared.ts'

/** The objectives of some files as rules, checked. */
export function sloRules(files: readonly TextFile[], overrides: SloOverrides): readonly SloRules[] {
  return readSloSpecs(files, overrides).map(rulesOf)
}

export interface MadeFile {
  readonly name: string
  readonly text: string
}

/** Every file that an objective becomes, and what all of them share. */
export function sloFiles(all: readonly SloRules[]): readonly MadeFile[] {
  return [
    ...all.flatMap(filesOf),
    ...(all.length === 0 ? [] : [{ name: 'alertmanager.yaml', text: alertmanagerRouting() }]),
  ]
}

function filesOf(rules: SloRules): readonly MadeFile[] {
  const id = sloId(rules.spec)
  const header = headerOf(rules)
  const ruleFile = `${id}.rules.yaml`
  const groups = groupsOf(rules)
  return [
    { name: ruleFile, text: plainRules(groups, header) },
    {
      name: `${id}.prometheusrule.yaml`,
      text: prometheusRule(groups, `slo-${id}`, { 'app.kubernetes.io/managed-by': 'plimsoll' }, header),
    },
    {
      name: `${id}.test.yaml`,
      text:
        commented([
          `promtool test rules ${id}.test.yaml`,
          ...untestedSlis(rules).map((sli) => `${sli}: ${nativeUntested}`),
        ]) + yamlText(promtoolTests(rules, ruleFile)),
    },
    { name: `${id}.dashboard.json`, text: grafanaDashboard(rules) },
    { name: `${id}.openslo.yaml`, text: openSloText(rules) },
  ]
}

/** Shares for which promtool has no notation. */
export function untestedSlis({ watched, spec }: SloRules): readonly string[] {
  if (spec.histograms !== 'native') return []
  return watched.filter(({ sli }) => sli.notes.includes(nativeUntested)).map(({ sli }) => sli.id)
}

function headerOf(rules: SloRules): readonly string[] {
  const { spec, policy } = rules
  return [
    `Made by plimsoll slo rules from ${spec.file}: change that file, not this one.`,
    `${spec.service}/${spec.name}: ${spec.objectiveText} of requests over ${spec.period}; policy ${policy.name}.`,
    ...rules.watched.flatMap(({ sli }) => [
      `${sli.id}: ${sli.what}`,
      ...sli.notes.map((note) => `  ${note}`),
    ]),
    ...(rules.joint === null
      ? []
      : [
          'Separate counters only bound what holds for all parts at once: slo:joint_bad_ratio_low and _high.',
          'An alert of one part is sound for all of them together; that none fires proves nothing.',
        ]),
  ]
}
