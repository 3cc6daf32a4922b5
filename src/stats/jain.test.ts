import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { jainIndex } from './jain.ts'

it.each([
  ['all the same', [3, 3, 3], 1],
  ['one of four has everything', [1, 0, 0, 0], 0.25],
  ['one to four', [1, 2, 3, 4], 5 / 6],
  ['squares that would overflow', [1e200, 1e200], 1],
  ['alone', [7], 1],
  ['nobody', [], null],
  ['nobody got anything', [0, 0], null],
])('%s', (_, values, index) =>
  index === null ? expect(jainIndex(values)).toBeNull() : expect(jainIndex(values)).toBeCloseTo(index, 12),
)

it('lies within 1 ÷ n and 1, and does not change with the unit', () => {
  const amounts = fc.array(fc.double({ min: 1e-6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(amounts, (values) => {
      const index = jainIndex(values)!
      expect(index).toBeGreaterThanOrEqual(1 / values.length - 1e-12)
      expect(index).toBeLessThanOrEqual(1 + 1e-12)
      expect(jainIndex(values.map((value) => value * 1000))).toBeCloseTo(index, 9)
    }),
  )
})
