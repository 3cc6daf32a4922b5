import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { nearestRank } from '../../stats/percentile.ts'
import { addToSketch, liveSketch, mergeSketch, sketchQuantile } from './live-sketch.ts'

const times = fc.array(fc.double({ min: 0.002, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 200 })
const percent = fc.constantFrom('1', '50', '90', '99', '100')

it('a quantile is within 2.2 % of the nearest rank', () => {
  fc.assert(
    fc.property(times, percent, (values, percent) => {
      const sketch = liveSketch()
      for (const value of values) addToSketch(sketch, value)
      const sorted = values.toSorted((a, b) => a - b)
      const exact = sorted[nearestRank(sorted.length, percent) - 1]!
      expect(Math.abs(sketchQuantile(sketch, percent)! / exact - 1)).toBeLessThan(0.022)
    }),
  )
})

it('merged sketches are the sketch of all', () => {
  fc.assert(
    fc.property(times, times, percent, (some, others, percent) => {
      const [a, b, all] = [liveSketch(), liveSketch(), liveSketch()]
      for (const value of some) addToSketch(a, value)
      for (const value of others) addToSketch(b, value)
      for (const value of [...some, ...others]) addToSketch(all, value)
      mergeSketch(a, b.counts, b.maxMs)
      expect(a).toEqual(all)
      expect(sketchQuantile(a, percent)).toBe(sketchQuantile(all, percent))
    }),
  )
})

it('nothing has no quantile; zero and the enormous have a place', () => {
  const sketch = liveSketch()
  expect(sketchQuantile(sketch, '50')).toBe(null)
  addToSketch(sketch, 0)
  addToSketch(sketch, 1e12)
  expect(sketchQuantile(sketch, '50')).toBe(0.001)
  expect(sketch.total).toBe(2)
})
