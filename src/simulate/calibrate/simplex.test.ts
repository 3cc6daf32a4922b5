import { assert, double, property, tuple } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { minimizeBySimplex } from './simplex.ts'

describe('the simplex', () => {
  test('finds the bottom of a bowl from wherever it starts', () => {
    const place = double({ min: -3, max: 3, noNaN: true })
    assert(
      property(tuple(place, place, place), tuple(place, place, place), (bottom, start) => {
        const bowl = (at: readonly number[]): number =>
          at.reduce((sum, x, i) => sum + (i + 1) * (x - (bottom[i] as number)) ** 2, 0)
        const found = minimizeBySimplex(bowl, start, 1, 500)
        expect(found.value).toBeLessThan(1e-3)
        expect(found.value).toBe(bowl(found.at))
        expect(found.evaluations).toBeLessThanOrEqual(505)
      }),
      { numRuns: 30 },
    )
  })

  test('goes round the bend of a valley (Rosenbrock)', () => {
    const valley = (at: readonly number[]): number => {
      const [x, y] = at as [number, number]
      return 100 * (y - x * x) ** 2 + (1 - x) ** 2
    }
    const { at } = minimizeBySimplex(valley, [-1.2, 1], 0.5, 400)
    expect(at[0]).toBeCloseTo(1, 3)
    expect(at[1]).toBeCloseTo(1, 3)
  })

  test('goes over a staircase, where no derivative would help', () => {
    const steps = (at: readonly number[]): number => Math.floor(10 * Math.abs((at[0] as number) - 2)) / 10
    expect(minimizeBySimplex(steps, [0], 1, 200).value).toBe(0)
  })
})
