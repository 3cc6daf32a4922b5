import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toDecimalText } from '../stats/rational.ts'
import { chanceEnoughUp, gpusFor, replicasFor, replicasOverZones, upliftCovers } from './replicas.ts'

describe('replicasFor', () => {
  it.each([
    ['the seed', { peak: '40', perReplica: '8', margin: '0.2', failures: 1 }, '6.25', 7, 8],
    ['a tie that floats miss', { peak: '42', perReplica: '3', margin: '30%', failures: 1 }, '20', 20, 21],
    [
      'uplift is the other reading',
      { peak: '40', perReplica: '8', margin: '0.2', marginKind: 'uplift' as const, failures: 1 },
      '6',
      6,
      7,
    ],
    ['no demand needs none, whatever may fail', { peak: '0', perReplica: '8', failures: 3 }, '0', 0, 0],
    [
      'a little demand needs one and the spare',
      { peak: '0.001', perReplica: '8', failures: 1 },
      '0.000125',
      1,
      2,
    ],
  ])('%s', (_, demand, need, serving, total) => {
    const found = replicasFor(demand)
    expect([toDecimalText(found.need), found.serving, found.total]).toEqual([need, serving, total])
  })

  it.each([
    ['a margin of all', { peak: 1, perReplica: 1, margin: 1 }, 'margin'],
    ['a negative margin', { peak: 1, perReplica: 1, margin: '-0.1' }, 'margin'],
    ['nothing carried', { peak: 1, perReplica: 0 }, 'replica'],
    ['a negative demand', { peak: -1, perReplica: 1 }, 'demand'],
    ['half a failure', { peak: 1, perReplica: 1, failures: 0.5 }, 'failures'],
    ['an imbalance under one', { peak: 1, perReplica: 1, imbalance: '0.9' }, 'mean'],
  ])('refuses %s', (_, demand, sentence) => expect(() => replicasFor(demand)).toThrow(sentence))

  it('serves enough, and one fewer would not', () => {
    const amount = fc.integer({ min: 1, max: 100_000 }).map((n) => `${n / 100}`)
    fc.assert(
      fc.property(amount, amount, fc.integer({ min: 0, max: 99 }), (peak, perReplica, percent) => {
        const { serving } = replicasFor({ peak, perReplica, margin: `${percent}%` })
        // In whole hundredths both sides are exact.
        const carries = (n: number): boolean =>
          BigInt(n) * BigInt(Math.round(Number(perReplica) * 100)) * BigInt(100 - percent) >=
          BigInt(Math.round(Number(peak) * 100)) * 100n
        expect(carries(serving)).toBe(true)
        expect(carries(serving - 1)).toBe(false)
      }),
    )
  })
})

it('zones, groups and chance', () => {
  expect(replicasOverZones(7, 3, 1)).toBe(12)
  expect(() => replicasOverZones(7, 2, 2)).toThrow('zones')
  expect(gpusFor(8, 4)).toBe(32)
  expect(chanceEnoughUp(0, 3, 0.5)).toBe(1)
  expect(chanceEnoughUp(4, 3, 0.99)).toBe(0)
  expect(upliftCovers('10', '0.1', 1)).toBeCloseTo(2 * Math.exp(-1), 12)
})
