import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { randomStream, standardNormal } from '../base/random.ts'
import { inFlightAtArrivals, loadSwings } from './swings.ts'

describe('inFlightAtArrivals', () => {
  it('counts who came before and has not ended', () => {
    expect([...inFlightAtArrivals([0, 1, 2, 10], [5, 3, 4, 11])]).toEqual([0, 1, 2, 0])
    expect([...inFlightAtArrivals([0, 1], [Number.POSITIVE_INFINITY, 2])]).toEqual([0, 1])
    expect([...inFlightAtArrivals([], [])]).toEqual([])
  })
  it('is what counting by hand gives', () => {
    const requests = fc.array(fc.tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 1, max: 30 })), {
      maxLength: 40,
    })
    fc.assert(
      fc.property(requests, (list) => {
        const sorted = list.toSorted((a, b) => a[0] - b[0])
        const starts = sorted.map(([at]) => at)
        const ends = sorted.map(([at, lasted]) => at + lasted)
        const byHand = starts.map((at, i) => ends.slice(0, i).filter((end) => end > at).length)
        expect([...inFlightAtArrivals(starts, ends)]).toEqual(byHand)
      }),
    )
  })
})

describe('loadSwings', () => {
  const walk = (memory: number, n: number): Float64Array => {
    const random = randomStream(7, `walk ${memory}`)
    let last = 0
    return Float64Array.from({ length: n }, () => {
      last = memory * last + standardNormal(random)
      return 50 + last
    })
  }
  it.each([
    ['a load that moves over twenty arrivals leaves a thirtieth to a fiftieth', 0.95, 5000, 90, 190],
    ['one without memory swings with nearly every request', 0, 5000, 2000, 5000],
  ])('%s', (_, memory, n, least, most) => {
    const swings = loadSwings(walk(memory, n)) ?? 0
    expect(swings).toBeGreaterThan(least)
    expect(swings).toBeLessThan(most)
  })
  it('a constant load, as of a closed loop, is no swing that could be missed', () => {
    expect(loadSwings(new Float64Array(400).fill(7))).toBe(400)
  })
  it('the filling of an empty server is left out', () => {
    const filling = Float64Array.from({ length: 1000 }, (_, i) => Math.min(i, 15))
    expect(loadSwings(filling)).toBeGreaterThan(900)
  })
  it('fewer than two requests say nothing', () => expect(loadSwings(Int32Array.from([3]))).toBeNull())
})
