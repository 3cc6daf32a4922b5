import { expect, test } from 'vitest'
import { sfc32 } from '../../base/random.ts'
import { pool, pooledEffectiveSizes, pooledOneSidedEnds, summarizePooled } from './pooled-values.ts'

const options = { percentiles: ['99.5'], percentileType: '1' } as const

/** Lists of which some are empty and some are not there. */
function lists(count: number): (readonly number[] | null)[] {
  const random = sfc32(1, 2, 3)
  return Array.from({ length: count }, (_, at) =>
    at % 13 === 5
      ? null
      : Array.from(
          { length: at % 7 === 0 ? 0 : 1 + (at % 300) },
          () => 10 - 20 * Math.log(1 - random.next()),
        ),
  )
}

test('values that are read again whenever they are needed give what held ones give, to the last digit', () => {
  const all = lists(1500)
  const held = pool(all, (list) => list)
  const read = pool(all, (list) => list, 1000)
  expect(read.length).toBeGreaterThan(150_000)
  expect([read.length, read.ends]).toEqual([held.length, held.ends])
  expect(read.ends.length).toBe(all.filter((list) => list !== null).length)
  expect(pooledEffectiveSizes(read, [20, 60, 100])).toEqual(pooledEffectiveSizes(held, [20, 60, 100]))
  expect(summarizePooled(read, options)).toEqual(summarizePooled(held, options))
  expect(pooledOneSidedEnds(read, '99')).toEqual(pooledOneSidedEnds(held, '99'))
})

test('nothing to pool', () => {
  for (const limit of [0, 1000]) {
    const none = pool([null, [], null] as readonly (readonly number[] | null)[], (list) => list, limit)
    expect([none.length, [...none.ends]]).toEqual([0, [0]])
    expect(summarizePooled(none, options)).toMatchObject({ n: 0, mean: null, p99: null })
  }
})
