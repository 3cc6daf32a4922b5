import { noun } from '../base/noun.ts'
import type { ObjectiveOutcome, RunDocument, SweepDocument } from './documents.ts'
import { runHeadline } from './render-run.ts'
import { sweepHeadline } from './render-sweep.ts'
import { escapeMarkup } from './svg-markup.ts'

/** One thing that was to hold. */
export interface Check {
  readonly name: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  /** The evidence in a sentence. */
  readonly reason: string
}

/**
 * What a pipeline judges of a run: that its numbers may be used, and each objective. What cannot be told, and what is counted but
 * never judged, is skipped with its reason: neither green nor red.
 */
export function runChecks(document: RunDocument): readonly Check[] {
  return [validity(document), ...document.objectives.map(objectiveCheck)]
}

/** Of a sweep: that there is a capacity, and that an open-loop run confirmed it. */
export function sweepChecks({
  points,
  capacity,
  objective,
  operating_point: point,
}: SweepDocument): readonly Check[] {
  const usable = points.filter(({ verdict }) => verdict.status !== 'INVALID')
  const checks: Check[] = [
    {
      name: 'the measurement may be used',
      outcome: usable.length > 0 ? 'passed' : 'failed',
      reason: `${usable.length} of ${points.length} ${noun(points.length, 'point')} may be used`,
    },
    {
      name: objective === null ? 'there is a capacity' : `some load keeps ${objective}`,
      outcome: capacity.load !== null ? 'passed' : objective === null ? 'skipped' : 'failed',
      reason: capacity.why,
    },
  ]
  const confirmation = point?.confirmation
  if (point !== null && confirmation !== undefined && confirmation !== null) {
    checks.push({
      name: 'the operating point is confirmed open loop',
      outcome: point.confirmed === true ? 'passed' : 'skipped',
      reason: confirmation.text,
    })
  }
  return checks
}

function validity({ verdict, stopped }: RunDocument): Check {
  const reasons = verdict.reasons.map(({ status, message }) => `${status}: ${message}`)
  if (stopped?.kind === 'early') reasons.push(stopped.why)
  const failed = verdict.status === 'INVALID' || stopped?.kind === 'early'
  return {
    name: 'the measurement may be used',
    outcome: failed ? 'failed' : 'passed',
    reason: reasons.length === 0 ? verdict.status : reasons.join('; '),
  }
}

function objectiveCheck({ text, met, judged, reason }: ObjectiveOutcome): Check {
  if (!judged) return { name: text, outcome: 'skipped', reason: `counted, never judged: ${reason}` }
  const outcome = met === 'yes' ? 'passed' : met === 'no' ? 'failed' : 'skipped'
  return { name: text, outcome, reason }
}

export function checksOf(document: RunDocument | SweepDocument): readonly Check[] {
  return document.schema === 'plimsoll.run/1' ? runChecks(document) : sweepChecks(document)
}

/** JUnit's XML as CI servers read it (the Ant/Jenkins dialect): a suite for the run, a case for each check. */
export function junitXml(document: RunDocument | SweepDocument): string {
  const checks = checksOf(document)
  const isRun = document.schema === 'plimsoll.run/1'
  const of = (outcome: Check['outcome']): number => checks.filter((check) => check.outcome === outcome).length
  const seconds = isRun ? document.window.measure_s : 0
  const counts = `tests="${checks.length}" failures="${of('failed')}" errors="0" skipped="${of('skipped')}"`
  const suite = escapeMarkup(`plimsoll ${isRun ? 'run' : 'sweep'} ${document.name}`)
  const cases = checks.map((check) => testCase(check, `plimsoll.${document.name}`))
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${suite}" ${counts} time="${seconds}">`,
    ...cases,
    `    <system-out>${escapeMarkup(isRun ? `${document.verdict.status} · ${runHeadline(document)}` : sweepHeadline(document))}</system-out>`,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function testCase({ name, outcome, reason }: Check, className: string): string {
  const head = `    <testcase classname="${escapeMarkup(className)}" name="${escapeMarkup(name)}"`
  const said = escapeMarkup(reason)
  if (outcome === 'failed')
    return `${head}>\n      <failure message="${said}">${said}</failure>\n    </testcase>`
  if (outcome === 'skipped') return `${head}>\n      <skipped message="${said}"/>\n    </testcase>`
  return `${head}/>`
}
