import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { inverse } from './matrix.ts'
import { chooseNext, covarianceAfter, figureVariance, sensitivity } from './next-measurement.ts'

const number = fc.double({ min: -3, max: 3, noNaN: true })
const row = fc.array(number, { minLength: 3, maxLength: 3 })
const rows = fc.array(row, { minLength: 1, maxLength: 4 })
/** A·Aᵀ + 1: symmetric, positive definite. */
const covariance = fc
  .array(row, { minLength: 3, maxLength: 3 })
  .map((of) =>
    of.map((a, i) =>
      of.map((b, j) => a.reduce((sum, x, k) => sum + x * (b[k] as number), 0) + (i === j ? 1 : 0)),
    ),
  )
const noise = fc.double({ min: 0.05, max: 2, noNaN: true })

describe('covarianceAfter', () => {
  test('is the inverse of the information with that of the new rows', () => {
    fc.assert(
      fc.property(covariance, rows, noise, (before, seen, s) => {
        const information = inverse(before).map((line, i) =>
          line.map(
            (value, j) =>
              value + seen.reduce((sum, one) => sum + (one[i] as number) * (one[j] as number), 0) / (s * s),
          ),
        )
        const after = covarianceAfter(before, seen, s)
        inverse(information).forEach((line, i) =>
          line.forEach((value, j) => expect(after[i]?.[j]).toBeCloseTo(value, 6)),
        )
      }),
    )
  })

  test('no measurement makes any figure less known, and the order of measurements does not matter', () => {
    fc.assert(
      fc.property(covariance, rows, row, noise, (before, seen, gradient, s) => {
        const after = figureVariance(gradient, covarianceAfter(before, seen, s))
        expect(after).toBeLessThanOrEqual(figureVariance(gradient, before) + 1e-9)
        const turned = figureVariance(gradient, covarianceAfter(before, seen.toReversed(), s))
        expect(turned).toBeCloseTo(after, 6)
      }),
    )
  })

  test('a measurement that nothing moves changes nothing', () => {
    fc.assert(
      fc.property(covariance, noise, (before, s) => {
        expect(covarianceAfter(before, [[0, 0, 0]], s)).toEqual(before)
      }),
    )
  })
})

describe('chooseNext', () => {
  test('none of the candidates leaves the figure better known than the chosen one', () => {
    fc.assert(
      fc.property(
        covariance,
        fc.array(rows, { minLength: 1, maxLength: 6 }),
        row,
        noise,
        (before, all, gradient, s) => {
          const candidates = all.map((seen, load) => ({ load, rows: seen }))
          const chosen = chooseNext(candidates, gradient, before, s)
          for (const { rows: seen } of candidates) {
            const after = Math.sqrt(figureVariance(gradient, covarianceAfter(before, seen, s)))
            expect(chosen?.after).toBeLessThanOrEqual(after)
          }
          expect(chosen?.after).toBeLessThanOrEqual((chosen?.before ?? 0) + 1e-9)
        },
      ),
    )
  })

  const open = [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ]
  const one = (axis: number, size: number): number[] => [0, 1, 2].map((i) => (i === axis ? size : 0))

  test.each([
    ['it sees what the figure rests on, and not what is open elsewhere', one(1, 1), 'second'],
    ['of two that see it the one that it moves more', one(0, 1), 'first twice'],
    ['a figure that rests on two wants the one that sees both', [1, 1, 0], 'both'],
  ])('%s', (_, gradient, load) => {
    const candidates = [
      { load: 'first', rows: [one(0, 1)] },
      { load: 'first twice', rows: [one(0, 2)] },
      { load: 'second', rows: [one(1, 1)] },
      { load: 'third, loudly', rows: [one(2, 100)] },
      { load: 'both', rows: [[1, 1, 0]] },
    ]
    expect(chooseNext(candidates, gradient, open, 0.1)?.load).toBe(load)
  })

  test('nothing to choose from', () => {
    expect(chooseNext([], [1, 0, 0], open, 0.1)).toBeNull()
  })
})

describe('sensitivity', () => {
  test('of a product of powers is its exponents', () => {
    const rowsOf = sensitivity(([a = 0, b = 0]) => [Math.exp(2 * a - b), 3 * Math.exp(0.5 * b)], 2, 0.05)
    expect(rowsOf.flat().map((value) => Number(value.toFixed(9)))).toEqual([2, -1, 0, 0.5])
  })
})
