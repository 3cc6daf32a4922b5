import { noun } from '../base/noun.ts'
import { decimalsForError, formatCount, formatNumber, formatPercent, formatPlain } from '../base/units.ts'
import type { CompareDocument, ComparedArm, ComparedMetric } from './compare-document.ts'
import { changeText, changeUnit, pText, shareText } from './compare-change.ts'

type Mark = (text: string) => string

/** What a comparison rests on, line by line: runs, power, order, exact test, what else differs; with `explain` the working. */
export function compareNotes(document: CompareDocument, mark: Mark, explain: boolean): readonly string[] {
  const primary = document.metrics.find((metric) => metric.primary)
  return [
    design(document),
    ...(primary === undefined ? [] : [...power(primary, document), ...exact(primary), ...single(primary)]),
    ...order(document),
    ...residue(document, mark),
    ...leftOut(document.arms.a, 'A'),
    ...leftOut(document.arms.b, 'B'),
    ...document.not_compared.map(({ metric, why }) => `not compared: ${metric} (${why})`),
    ...(explain && primary !== undefined ? working(primary, document) : []),
  ]
}

function runsText({ arms, design: { paired_by: by } }: CompareDocument, primary?: ComparedMetric): string {
  const [a, b] = [primary?.a.n ?? arms.a.runs.length, primary?.b.n ?? arms.b.runs.length]
  if (by === 'row') return `${formatCount(a)} ${noun(a, 'pair')}`
  return `${formatCount(a)} + ${formatCount(b)} runs`
}

function design(document: CompareDocument): string {
  const { design: plan, arms, kind } = document
  const primary = document.metrics.find((metric) => metric.primary)
  const names = kind === 'csv' ? '' : `; A is ${arms.a.name}, B is ${arms.b.name}`
  const paired =
    plan.paired_by === null ? `not paired: ${plan.why}` : `paired by ${plan.paired_by}: ${plan.why}`
  return `${runsText(document, primary)}, ${paired}${names}`
}

function power(metric: ComparedMetric, document: CompareDocument): readonly string[] {
  const { minimum_detectable: least, runs_needed: needed, change, power_at_margin: atMargin } = metric
  const { power: asked, margin, paired_by: by } = document.design
  if (least === null) return []
  const size = (value: number): string => `${shareText(value).replace(' %', '')} ${changeUnit(metric.scale)}`
  const both = (n: number): string =>
    by === null ? `${formatCount(n)} + ${formatCount(n)}` : `${formatCount(n)} ${noun(n, 'pair')}`
  const chance =
    atMargin === null ? '' : `; a change of ${size(margin)} would be seen with ${formatPercent(atMargin, 0)}`
  const lines = [
    `${by === null ? runsText(document, metric) : `${formatCount(metric.a.n)} ${noun(metric.a.n, 'pair')}`} can show ${size(least)} (${formatPercent(asked, 0)} power)${chance}`,
  ]
  if (metric.verdict === 'inconclusive' && metric.no_regression) {
    lines.push(`that much is shown: it is not worse by ${size(margin)}`)
  }
  if (metric.verdict !== 'inconclusive' || needed === null) return lines
  const parts: string[] = []
  if (needed.power !== null && change !== null) {
    parts.push(`for ${size(Math.abs(change))} take ${both(needed.power)}`)
  }
  if (needed.equivalence !== null) {
    parts.push(`to show that nothing changed by ${size(margin)} take ${both(needed.equivalence)}`)
  }
  if (by === null) parts.push('or pair them: with the same seeds in both arms fewer may do')
  return parts.length === 0 ? lines : [...lines, parts.join('; ')]
}

function exact({ exact: test, verdict }: ComparedMetric): readonly string[] {
  if (test === null) return []
  const name = test.test === 'sign_flip' ? 'sign flips of all pairs' : 'all rearrangements of the runs'
  const bound = test.smallest_p > 0.05 ? `; so few can never go below ${pText(test.smallest_p)}` : ''
  const shown = verdict !== 'inconclusive' && verdict !== 'equivalent' && verdict !== 'no_regression'
  const apart =
    shown && test.p > 0.05 && test.smallest_p <= 0.05 ? ': it does not show what the t test does' : ''
  return [`exact test (${name}): p ${pText(test.p)}${bound}${apart}`]
}

function single(metric: ComparedMetric): readonly string[] {
  return metric.verdict === null && metric.why !== null ? [metric.why] : []
}

function order({ order: found }: CompareDocument): readonly string[] {
  if (found === null || found.order.length < 3) return []
  const lines: string[] = []
  const { imbalance } = found
  const letters = found.order.length <= 40 ? found.order : `${found.order.slice(0, 40)}…`
  const balance =
    Math.abs(imbalance) < 1e-9
      ? 'a steady drift cancels'
      : `not balanced: B stands ${formatPlain(Math.abs(imbalance), 2)} runs ${imbalance > 0 ? 'later' : 'earlier'}, so a drift of 1 % a run would shift the change by ${formatPlain(Math.abs(imbalance), 2)} points`
  lines.push(`order ${letters}: ${balance}`)
  if (found.drifts && found.drift_per_run !== null) {
    const bias =
      found.drift_bias !== null && Math.abs(imbalance) >= 1e-9
        ? `, which makes ${changeText(found.drift_bias, null)} of the change`
        : ''
    lines.push(
      `the runs drift by ${changeText(found.drift_per_run, found.drift_interval)} each${bias} → interleave: plimsoll compare --run`,
    )
  }
  if (found.order_matters && found.order_effect !== null) {
    lines.push(
      `an order effect: pairs that begin with A differ by ${changeText(found.order_effect, null)} from those that begin with B → more warm-up, a pause between runs`,
    )
  }
  return lines
}

function residue({ residue: items }: CompareDocument, mark: Mark): readonly string[] {
  if (items.length === 0) return []
  const texts = items.map(({ name, a, b, explains }) => {
    const note = explains === null ? '' : ` ${mark(`${explains.why} → ${explains.next}`)}`
    return `${name} ${shorten(a)} → ${shorten(b)}${note}`
  })
  return [`also different: ${texts.join(', ')}`]
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}

function leftOut({ left_out: left }: ComparedArm, name: string): readonly string[] {
  return left.map(({ path, why }) => `not used of ${name}: ${path} (${why})`)
}

/** "B − A = 19.3 − 20.0 = −0.7 ms; ± t₀.₉₇₅(8) × 0.506 = 2.306 × 0.506 = 1.17 ms (± 1.01 by the rule of two)". */
function working(metric: ComparedMetric, { design: { alpha } }: CompareDocument): readonly string[] {
  const { a, b, difference, unit, runs_needed: needed, p, t } = metric
  const { value, half_width: half, degrees, half_width_rule_of_two: two } = difference
  if (half === null || two === null || degrees === null) return []
  const decimals = decimalsForError(half) + 1
  const number = (figure: number): string => formatNumber(figure, decimals)
  const se = two / 2
  const quantile = se === 0 ? null : half / se
  const lines = [
    `B − A = ${number(b.mean)} − ${number(a.mean)} = ${number(value)} ${unit}`.trimEnd(),
    quantile === null
      ? 'its standard error is 0'
      : `± t(${formatPercent(1 - alpha / 2, 1)}, ${formatPlain(degrees)} degrees of freedom) × standard error = ${formatPlain(quantile, 4)} × ${number(se)} = ± ${number(half)} ${unit} (± ${number(two)} by the rule of two)`,
  ]
  if (p !== null && t !== null)
    lines.push(
      `t = ${formatPlain(t, 4)}, p = ${pText(p)}${metric.scale === 'log' ? ', on logarithms: changes are ratios' : ''}`,
    )
  if (needed?.rule_of_two !== null && needed?.rule_of_two !== undefined) {
    lines.push(
      `runs for an interval as narrow as this difference: ${needed.rule_of_two} by the rule of two, ${needed.t ?? 'none'} with t, which is an even chance to see it; ${needed.power ?? 'over a million'} for the power asked for`,
    )
  }
  return lines
}
