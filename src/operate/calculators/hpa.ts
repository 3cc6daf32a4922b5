import { noun } from '../../base/noun.ts'
import type { Warning } from '../../base/warnings.ts'
import { calculator, impossible, type Calculator } from '../../stats/calculators/calculator.ts'
import {
  countFigure,
  plain,
  shareText,
  timesFigure,
  wordFigure,
  type Figure,
} from '../../stats/calculators/figures.ts'
import { assumed, needed } from '../../stats/calculators/inputs.ts'
import { count, number, share } from '../../stats/calculators/quantities.ts'
import { divide, multiply, rational, toDecimalText } from '../../stats/rational.ts'
import { hpaReplicas } from '../scale/hpa.ts'
import { hpaValue } from '../scale/hpa-metrics.ts'

export const hpaCalculator: Calculator = calculator({
  name: 'hpa',
  group: 'Scaling',
  brief: 'What will a HorizontalPodAutoscaler do with this metric?',
  formula: 'replicas = ⌈current × metric ÷ target⌉, unless |1 − metric ÷ target| ≤ 10 %',
  inputs: {
    current: needed(count(0), 'replicas now', { bare: true, also: ['replicas', 'now'] }),
    metric: needed(number, 'what the metric says (average of a replica)', { bare: true, also: ['value'] }),
    target: needed(number, 'what it should be', { bare: true }),
    tolerance: assumed(share, '10%', 'dead band'),
  },
  examples: [
    ['3 110 100', 'a tie that Kubernetes scales on'],
    ['3 111 100', 'just beyond the dead band'],
    ['10 70 100', 'down'],
    ['3 0.44 0.4', 'the same tie, the other way round'],
  ],
  work({ current, metric, target, tolerance }) {
    if (target.exact.num === 0n) throw impossible('a target of 0 is never met', 'a target above 0', '0')
    const band = toDecimalText(tolerance.exact)
    const options = { tolerance: band }
    const texts = [toDecimalText(metric.exact), toDecimalText(target.exact)] as const
    const exact = hpaReplicas(current, ...texts, options)
    const kubernetes = hpaReplicas(current, ...texts, { ...options, arithmetic: 'kubernetes' })
    const ratio = divide(metric.exact, target.exact)
    const wanted = multiply(rational(current), ratio)
    const results: Record<string, Figure> = {
      replicas: countFigure(kubernetes, 'replicas'),
      exact: countFigure(exact, 'replicas'),
      ratio: timesFigure(ratio),
      same: wordFigure(exact === kubernetes),
    }
    const inDoubles = Math.abs(1 - metric.value / target.value)
    const warnings: Warning[] = []
    if (exact !== kubernetes) {
      warnings.push({
        kind: 'number_disagrees',
        message: `in doubles |1 − ${plain(ratio)}| is ${String(inDoubles)}, so Kubernetes goes to ${plain(kubernetes)} where the decimals say ${plain(exact)}`,
        cause: 'the metric sits exactly on the edge of the dead band',
        next: 'a target that is not met exactly',
        evidence: { kubernetes, exact },
      })
    }
    const thousandths = hpaValue(current, current, metric.value, target.value, tolerance.value)
    if (current > 0 && Number.isFinite(thousandths) && thousandths !== kubernetes) {
      const milli = (value: number): string => `${plain(Math.round(value * 1000))}m`
      warnings.push({
        kind: 'number_disagrees',
        message: `as whole thousandths, which the API's quantities are, ${milli(metric.value)} ÷ ${milli(target.value)} goes to ${plain(thousandths)}`,
        cause: 'the metric sits exactly on the edge of the dead band',
        next: 'a target that is not met exactly',
        evidence: { kubernetes, thousandths },
      })
    }
    return {
      answer:
        current === kubernetes
          ? `stays at ${plain(current)}`
          : `${plain(current)} → ${plain(kubernetes)} ${noun(kubernetes, 'replica')}`,
      results,
      working: [
        `metric ÷ target = ${plain(metric.exact)} ÷ ${plain(target.exact)} = ${plain(ratio)}, ${inDoubles <= tolerance.value ? 'inside' : 'outside'} ± ${shareText(tolerance.exact)}`,
        `current × ratio = ${plain(current)} × ${plain(ratio)} = ${plain(wanted)}${exact === current ? '' : ` → ⌈ ⌉ = ${plain(exact)}`}`,
      ],
      assumptions: [
        'one metric, no stabilisation window, no policies, no bounds: those come after',
        'a metric that is missing keeps the number',
      ],
      mistake:
        'a metric that grows with the replicas (a total) instead of an average of each: the loop never settles',
      warnings,
      next: ['plimsoll scale', 'plimsoll calc trigger'],
    }
  },
})
