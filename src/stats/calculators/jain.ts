import { jainIndex } from '../jain.ts'
import { calculator, type Calculator } from './calculator.ts'
import { countFigure, numberFigure, plain } from './figures.ts'
import { several } from './inputs.ts'
import { number } from './quantities.ts'

export const jainCalculator: Calculator = calculator({
  name: 'jain',
  group: 'Admission',
  brief: 'How evenly was it shared between tenants or replicas?',
  formula: 'J = (Σx)² ÷ (n · Σx²), from 1 ÷ n to 1',
  inputs: {
    shares: several(number, 1, 'what each one got, in one unit', { bare: true, also: ['values', 'x'] }),
  },
  examples: [
    ['1 2 3 4', 'four tenants'],
    ['5 5 5 5', 'all the same'],
    ['8 0 0 0', 'one has everything'],
  ],
  work({ shares }) {
    const values = shares.map(({ value }) => value)
    const index = jainIndex(values)
    const sum = values.reduce((total, value) => total + value, 0)
    const squares = values.reduce((total, value) => total + value * value, 0)
    return {
      answer: index === null ? 'nobody got anything' : `J = ${plain(index)}`,
      results: {
        index: numberFigure(index, 'nobody got anything'),
        least: numberFigure(1 / values.length),
        like: countFigure(
          index === null ? null : index * values.length,
          'equal shares',
          'nobody got anything',
        ),
      },
      working: [
        `Σx = ${plain(sum)}, Σx² = ${plain(squares)}, n = ${values.length}`,
        index === null
          ? 'there is nothing to share'
          : `${plain(sum)}² ÷ (${values.length} × ${plain(squares)}) = ${plain(index)}: as if ${plain(index * values.length)} of ${values.length} had equal shares`,
      ],
      assumptions: ['every one asked for the same, or the values are shares of what each was promised'],
      mistake: 'requests as the unit: one long prompt can cost as much as a hundred short ones; count tokens',
    }
  },
})
