import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sfc32 } from '../../base/random.ts'
import { sourceOf, type ValueSource } from '../../stats/value-source.ts'
import { createOrderIndex } from './order-index.ts'

/** The same numbers in pieces that all lie in one buffer, as a file's would. */
function inPieces(values: Float64Array, size: number): ValueSource {
  const buffer = new Float64Array(size)
  return {
    length: values.length,
    each(visit) {
      for (let start = 0; start < values.length; start += size) {
        const piece = values.subarray(start, start + size)
        buffer.set(piece)
        visit(buffer.subarray(0, piece.length))
      }
    },
  }
}

describe('order statistics of many values are those of sorting', () => {
  test.each<[string, (random: () => number, index: number) => number]>([
    ['latencies', (random) => 10 - 20 * Math.log(1 - random())],
    ['negative and positive', (random) => random() - 0.5],
    ['many equal', (random) => Math.floor(random() * 5)],
    ['all equal', () => 7],
    ['ascending', (_, index) => index],
    ['from tiny to huge', (random) => 10 ** (random() * 600 - 300)],
    ['zeros and denormals', (random) => (random() < 0.5 ? 0 : Number.MIN_VALUE * Math.floor(random() * 9))],
  ])('%s', (_, make) => {
    const random = sfc32(1, 2, 3)
    const values = Float64Array.from({ length: 100_003 }, (_, index) => make(() => random.next(), index))
    const sorted = Float64Array.from(values).sort()
    const before = Float64Array.from(values)
    const index = createOrderIndex(sourceOf(values))
    const ranks = [1, 2, 50_001, 90_002, 99_002, 99_902, 100_002, 100_003]
    expect(index.at(ranks)).toEqual(ranks.map((rank) => sorted[rank - 1]))
    expect(index.at([77_777, 1])).toEqual([sorted[77_776], sorted[0]])
    const all = [...Array(500).keys()].map((step) => 1 + step * 200)
    expect(index.at(all)).toEqual(all.map((rank) => sorted[rank - 1]))
    expect(values).toEqual(before)
  })

  test('any few values, any rank', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ noNaN: true }), { minLength: 1, maxLength: 50 }), (list) => {
        const sorted = Float64Array.from(list).sort()
        const ranks = list.map((_, index) => index + 1)
        expect(createOrderIndex(sourceOf(Float64Array.from(list))).at(ranks)).toEqual([...sorted])
      }),
    )
  })

  // More than are collected of one beginning: they are told apart by further bits, down to the last.
  test.each<[string, (random: () => number) => number]>([
    ['within a millionth of each other', (random) => 10 + random() * 1e-5],
    ['a few hundred different ones', (random) => 9 + Math.floor(random() * 200) / 100],
    ['differing in their last bits', (random) => 10 + Math.floor(random() * 50) * 2 ** -49],
    ['negative and close', (random) => -10 - random() * 1e-5],
    ['all equal', () => 7],
  ])('close values, %s', (_, make) => {
    const random = sfc32(1, 2, 3)
    const values = Float64Array.from({ length: 700_001 }, () => make(() => random.next()))
    const sorted = Float64Array.from(values).sort()
    const ranks = [1, 2, 350_001, 630_001, 665_001, 693_001, 699_301, 700_000, 700_001]
    const index = createOrderIndex(inPieces(values, 10_007))
    expect(index.at(ranks)).toEqual(ranks.map((rank) => sorted[rank - 1]))
    expect(index.at([123_456, 1])).toEqual([sorted[123_455], sorted[0]])
  })
})
