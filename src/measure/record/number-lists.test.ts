import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sfc32 } from '../../base/random.ts'
import { numberLists } from './number-lists.ts'

/** Lists of all lengths, longer than a block of 16,384 too, some absent. */
function lists(count: number): (readonly number[] | null)[] {
  const random = sfc32(1, 2, 3)
  return Array.from({ length: count }, (_, at) => {
    if (at % 17 === 3) return null
    const length = at % 101 === 50 ? 40_000 : Math.floor(random.next() * 900)
    return Array.from({ length }, () => random.next() - 0.5)
  })
}

test.each([
  { why: 'all are held', folder: false, held: 1_000_000 },
  { why: 'most lie in the file', folder: true, held: 50_000 },
  { why: 'two blocks are held at least', folder: true, held: 1 },
])('lists come back as they were, to the last digit: $why', async ({ folder, held }) => {
  const place = await mkdtemp(join(tmpdir(), 'plimsoll-lists-'))
  const all = lists(700)
  const kept = numberLists({ folder: folder ? place : null, held })
  for (const list of all) kept.push(list)
  expect(kept.length).toBe(all.length)
  for (let pass = 0; pass < 2; pass++) {
    for (const [at, list] of all.entries()) {
      const passing = kept.passing(at)
      expect(passing === null ? null : Array.from(passing)).toEqual(list)
    }
  }
  const random = sfc32(4, 5, 6)
  for (let asked = 0; asked < 300; asked++) {
    const at = Math.floor(random.next() * all.length)
    expect(kept.at(at)).toEqual(all[at])
  }
  const [one, other] = [kept.at(5), kept.at(6)]
  expect([one, other]).toEqual([all[5], all[6]])
  expect(kept.at(all.length)).toBeNull()
  // More may come after something was read.
  kept.push([1, 2, 3])
  expect(kept.at(all.length)).toEqual([1, 2, 3])
  // The file has no name: nothing is left behind.
  expect(await readdir(place)).toEqual([])
  await rm(place, { recursive: true })
})

test('a folder that takes no file is named', () => {
  const kept = numberLists({ folder: '/dev/null', held: 1 })
  const much = new Float64Array(60_000)
  expect(() => kept.push(much)).toThrow(/scratch file/)
})
