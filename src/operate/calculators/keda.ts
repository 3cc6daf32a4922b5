import { noun } from '../../base/noun.ts'
import { calculator, impossible, type Calculator } from '../../stats/calculators/calculator.ts'
import { countFigure, numberFigure, plain, wordFigure, type Figure } from '../../stats/calculators/figures.ts'
import { assumed, optional, several, type Reading } from '../../stats/calculators/inputs.ts'
import { count, number, word } from '../../stats/calculators/quantities.ts'
import { hpaAverageValue } from '../scale/hpa-metrics.ts'
import { kedaPrometheus } from '../scale/keda.ts'

/** One element of a query's answer as Prometheus writes it, or `empty` for none. */
const element: Reading<string> = {
  placeholder: 'VALUE|empty|nan',
  read(text, what) {
    const plainText = text.trim()
    if (/^(empty|\[\]|nan|[+-]?inf(inity)?)$/i.test(plainText)) return plainText
    number.read(plainText.replace(/^-/, ''), what)
    return plainText.replaceAll(',', '')
  },
}

export const kedaCalculator: Calculator = calculator({
  name: 'keda',
  group: 'Scaling',
  brief: "What does KEDA make of a query's answer?",
  formula:
    'no element, or none that is finite → 0 by default; two elements → error; active only above the activation threshold',
  inputs: {
    answer: several(element, 1, 'what the query gave: numbers, +Inf, nan, or empty', { bare: true }),
    activation: assumed(number, '0', 'activationThreshold', { also: ['activation-threshold'] }),
    'ignore-null': assumed(word('yes', 'no'), 'yes', 'ignoreNullValues, as it is unless told otherwise', {
      also: ['ignore-null-values'],
    }),
    target: optional(number, 'AverageValue of the trigger, to see the replicas', { also: ['threshold'] }),
    current: assumed(count(1), '1', 'replicas now, with --target', { also: ['replicas', 'now'] }),
    min: assumed(count(0), '1', 'minReplicaCount', { also: ['min-replicas'] }),
  },
  examples: [
    ['empty --target 5 --current 10', 'an empty answer scales to the least at the peak'],
    ['empty --ignore-null no', 'the same as an error: KEDA falls back'],
    ['40 --target 5 --current 4', 'a queue of 40'],
    ['5 --activation 5', 'a threshold that is met is not passed'],
    ['3 4', 'not aggregated'],
  ],
  work({ answer, activation, 'ignore-null': ignoreNull, target, current, min }) {
    if (target !== null && target.exact.num === 0n)
      throw impossible('a target of 0 is never met', 'a target above 0', '0')
    if (target !== null && target.value < 0.0005)
      throw impossible(
        'the HPA counts in thousandths, and this target is 0 there',
        'a target of at least 0.001',
        plain(target.value),
      )
    const elements = answer.filter((one) => !/^(empty|\[\])$/i.test(one))
    const reading = kedaPrometheus(elements, {
      ignoreNullValues: ignoreNull === 'yes',
      activationThreshold: activation.value,
    })
    const value = reading.kind === 'value' ? reading.value : null
    const wanted = value === null || target === null ? null : hpaAverageValue(current, value, target.value)
    const replicas = wanted === null ? null : Math.max(min, wanted)
    const seen =
      elements.length === 0
        ? 'an empty answer'
        : elements.map((one) => (/^nan$/i.test(one) ? '0 ÷ 0' : one)).join(', ')
    const failure = elements.length > 1 ? `${elements.length} elements, not one` : `${seen} is refused`
    const why = reading.kind === 'error' ? failure : 'give --target'
    const results: Record<string, Figure> = {
      value: numberFigure(value, why),
      active: wordFigure(reading.kind === 'value' ? reading.active : null),
      error: wordFigure(reading.kind === 'error'),
      replicas: countFigure(
        replicas,
        'replicas',
        reading.kind === 'error' ? 'as many as now, or the fallback' : why,
      ),
    }
    return {
      answer:
        reading.kind === 'error'
          ? `an error: ${failure}`
          : `${plain(reading.value)}, ${reading.active ? 'active' : 'inactive'}${replicas === null ? '' : `: ${plain(current)} → ${plain(replicas)} ${noun(replicas, 'replica')}`}`,
      results,
      working: [
        reading.kind === 'error'
          ? `${failure}: counts towards the fallback`
          : reading.fromNothing
            ? `${seen} counts as 0, because nulls are ignored`
            : `${seen} is one element`,
        ...(reading.kind === 'value'
          ? [
              `${plain(reading.value)} ${reading.active ? '>' : '≤'} activation ${plain(activation.value)}: ${reading.active ? 'active' : 'inactive'}`,
            ]
          : []),
        ...(wanted === null || value === null || target === null
          ? []
          : [
              `⌈${plain(value)} ÷ ${plain(target.value)}⌉${wanted === current ? `, or ${plain(current)} within 10 %` : ''} = ${plain(wanted)}, at least ${plain(min)}`,
            ]),
      ],
      assumptions: [
        'the prometheus scaler with metric type AverageValue; the policies and windows of the HPA come after',
        'inactive goes to 0 or idle only after the cool-down, and only where the minimum is 0',
      ],
      mistake:
        'an answer that is empty because a metric was renamed looks like no load: ignoreNullValues: false and a fallback make it an error',
      next: ['plimsoll doctor --url ENGINE FILES', 'plimsoll scale policy'],
    }
  },
})
