import { noun } from '../../base/noun.ts'
import { calculator, type Calculator } from '../../stats/calculators/calculator.ts'
import { countFigure, plain, rateText, shareText } from '../../stats/calculators/figures.ts'
import { assumed, needed } from '../../stats/calculators/inputs.ts'
import { count, rate, share } from '../../stats/calculators/quantities.ts'
import { dynamoThroughput } from '../scale/dynamo.ts'

export const dynamoCalculator: Calculator = calculator({
  name: 'dynamo',
  group: 'Scaling',
  brief: "How many engines does Dynamo's planner want for a predicted rate?",
  formula: '⌈demand × (1 − hit rate) ÷ what one serves within the SLA⌉, within its bounds',
  inputs: {
    demand: needed(rate, 'predicted, of requests or prompt tokens', { bare: true, also: ['peak'] }),
    each: needed(rate, 'what one engine serves within the SLA, in the same unit', {
      bare: true,
      also: ['engine'],
    }),
    'hit-rate': assumed(share, '0%', 'of the prefix cache: prefill only', { also: ['hits'] }),
    min: assumed(count(0), '1', 'least engines'),
    max: assumed(count(0), '1M', 'most engines'),
  },
  examples: [
    ['40/s 6.4/s', 'decode engines by requests'],
    ['10000tok/s 4000tok/s --hit-rate 25%', 'prefill engines by tokens'],
  ],
  work({ demand, each, 'hit-rate': hitRate, min, max }) {
    const needs = demand.value * (1 - hitRate.value)
    const engines = dynamoThroughput(needs, each.value, { min, max })
    const why = 'one engine serves nothing within the SLA'
    return {
      answer: engines === null ? `none: ${why}` : `${plain(engines)} ${noun(engines, 'engine')}`,
      results: { engines: countFigure(engines, 'engines', why) },
      working: [
        ...(hitRate.value > 0
          ? [`${rateText(demand.exact)} × (1 − ${shareText(hitRate.exact)}) = ${rateText(needs)}`]
          : []),
        engines === null
          ? why
          : `⌈${rateText(needs)} ÷ ${rateText(each.exact)}⌉ = ${plain(engines)}, within ${plain(min)} to ${plain(max)}`,
      ],
      assumptions: ['mean lengths of prompt and answer; time in the queue is not in the model'],
      mistake: 'no margin and nothing to lose: the planner sizes for the prediction itself',
      next: ['plimsoll calc replicas', 'plimsoll plan SWEEP --peak RATE'],
    }
  },
})
