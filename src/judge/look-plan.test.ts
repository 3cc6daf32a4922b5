import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { toNumber } from '../stats/rational.ts'
import { decideByLooks, lookSchedule, lookTails, type Look } from './look-plan.ts'

describe('the schedule of looks', () => {
  test.each([
    [
      'one as soon as anything can be decided, then from the shortest hold on',
      132,
      660,
      2112,
      [132, 660, 1320, 2112],
    ],
    ['the shortest hold is no longer than the first look', 132, 50, 2112, [132, 264, 528, 1056, 2112]],
    ['the shortest hold is the last look', 132, 5000, 5000, [132, 5000]],
    ['the plan has fewer requests than a first look', 132, 660, 40, [40]],
    ['a last look that is also a doubled one stands once', 100, 100, 400, [100, 200, 400]],
  ])('%s', (_, first, holdsFrom, most, counts) => {
    expect(lookSchedule({ first, holdsFrom, most, looks: 5 }).counts).toEqual(counts)
  })

  it('rises, ends at the most, and never has more looks than were paid for', () => {
    const size = fc.integer({ min: 1, max: 100_000 })
    fc.assert(
      fc.property(size, size, size, fc.integer({ min: 2, max: 8 }), (first, holdsFrom, most, looks) => {
        const { counts, holdsFrom: from } = lookSchedule({ first, holdsFrom, most, looks })
        expect(counts.length).toBeLessThanOrEqual(looks)
        expect(counts.at(-1)).toBe(most)
        expect(counts.every((count, at) => at === 0 || count > counts[at - 1]!)).toBe(true)
        expect(counts.some((count) => count >= from)).toBe(true)
      }),
    )
  })
})

describe('the error of a look', () => {
  it('adds up to what was asked for, over all looks, points and parts', () => {
    const small = fc.integer({ min: 1, max: 40 })
    fc.assert(
      fc.property(small, small, small, (points, looks, parts) => {
        const { kept, missed } = lookTails({ error: '5%', points, looks, parts })
        expect(toNumber(kept) * points * looks).toBeCloseTo(0.05, 12)
        expect(toNumber(missed) * points * looks * parts).toBeCloseTo(0.05, 12)
      }),
    )
  })
})

describe('a point, looked at', () => {
  const schedule = lookSchedule({ first: 100, holdsFrom: 200, most: 800, looks: 5 })
  const at = (looks: Readonly<Record<number, Partial<Look> | null>>) => (count: number) => {
    const look = looks[count]
    return look === null ? null : { met: 'inconclusive' as const, growing: false, ...look }
  }
  const yes = { met: 'yes' as const }
  const no = { met: 'no' as const }

  test.each([
    ['fails at the first look', { 100: no }, 'fails', 1, 100],
    ['does not hold before its shortest time', { 100: yes, 200: no }, 'fails', 2, 200],
    ['holds at the first look that may say so', { 100: yes, 200: yes }, 'holds', 2, 200],
    ['does not hold while the queue grows', { 200: { ...yes, growing: true }, 400: yes }, 'holds', 3, 400],
    ['fails although the queue grows', { 200: { ...no, growing: true } }, 'fails', 2, 200],
    ['is open after its last look', {}, 'undecided', 4, 800],
    ['is open where nothing is judged', { 800: { met: null } }, 'undecided', 4, 800],
  ] as const)('%s', (_, looks, decision, taken, requests) => {
    expect(decideByLooks(schedule, at(looks))).toEqual({ decision, looks: taken, requests })
  })

  it('waits for a look that cannot be taken yet, and does not skip it', () => {
    expect(decideByLooks(schedule, at({ 200: null, 400: yes }))).toBeNull()
  })
})
