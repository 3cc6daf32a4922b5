import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { randomStream } from '../base/random.ts'
import { iact } from './autocorrelation.ts'
import { laggedProducts } from './fourier.ts'

/** The definition. */
function direct(values: readonly number[], first: number, count: number, centre: number): number[] {
  return Array.from({ length: count }, (_, k) =>
    values
      .slice(first + k)
      .reduce((sum, value, at) => sum + (value - centre) * ((values[at] ?? 0) - centre), 0),
  )
}

test('products at some lags are the sums of the definition, in one piece or in many', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 1, maxLength: 200 }),
      fc.nat(),
      fc.nat(),
      fc.constantFrom(0, 2.5),
      (values, some, others, centre) => {
        const first = some % values.length
        const count = 1 + (others % (values.length - first))
        const found = laggedProducts(values, first, count, centre)
        expect(found).toHaveLength(count)
        for (const [k, product] of direct(values, first, count, centre).entries())
          expect(found[k]).toBeCloseTo(product, 6)
      },
    ),
  )
})

test('a memory longer than the first transform reaches is found with the next ones', () => {
  const random = randomStream(7, 'memory')
  const values = new Float64Array(200_000)
  for (let i = 1; i < values.length; i++) values[i] = 0.9995 * (values[i - 1] as number) + random.next() - 0.5
  const { tau, window } = iact(values)
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const products = laggedProducts(values, 0, values.length, mean)
  // Sokal's window over all lags at once.
  let [sum, lag] = [1, 0]
  while (lag < 5 * sum) sum += (2 * (products[++lag] as number)) / (products[0] as number)
  expect(window).toBe(lag)
  expect(window).toBeGreaterThan(4096)
  expect(tau).toBeCloseTo(sum, 6)
})
