import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { sfc32, type Random } from '../base/random.ts'
import { decideByLooks, lookSchedule, lookTails, type PointDecision } from '../judge/look-plan.ts'
import { clopperPearsonLower, clopperPearsonUpper } from '../stats/binomial.ts'
import { toNumber } from '../stats/rational.ts'
import { nextRate, plannedPoints, rateAnswer, type RateSearch, type TriedRate } from './rate-search.ts'

const search: RateSearch = { from: 10, resolution: 0.05, mostPoints: 10 }
const letters = { h: 'holds', f: 'fails', u: 'undecided', i: 'invalid' } as const
/** "10h 20f": rates with what they said. */
const tried = (text: string): TriedRate[] =>
  text
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => ({
      ratePerSecond: Number(word.slice(0, -1)),
      decision: letters[word.slice(-1) as keyof typeof letters],
    }))

describe('the next rate', () => {
  test.each([
    ['begins where it is told', '', 10],
    ['doubles while rates hold', '10h', 20],
    ['halves until one holds', '10f 5f', 2.5],
    ['goes down from a rate that says nothing', '10u', 5],
    ['goes up again from there', '10u 5h', 20],
    ['then the geometric middle', '10h 20f', 14.1],
    ['and so on', '10h 20f 14.1h', 16.8],
    ['an open rate is neither end: first the gap below it', '10h 20f 14.1u', 11.9],
    ['then the gap above it', '10h 20f 14.1u 11.9h 13h 13.5h', 16.8],
    ['done within the resolution', '10h 20f 14.1h 14.7f', null],
    ['done when nothing lies between but what was tried', '10h 10.5u 11f', null],
    ['above what the client cannot send nothing is tried', '10h 20i', 14.1],
    ['a spoilt point between the ends is open', '10h 20f 14.1i', 11.9],
    ['a spoilt first point is tried lower', '10i', 5],
    ['two spoilt points in a row are the last', '10i 5i', null],
    ['also between two ends', '10h 20f 14.1i 11.9i', null],
    ['the points are spent', '1h 2h 4h 8h 16h 32h 64h 128h 256h 512h', null],
  ])('%s: %s', (_, text, next) => {
    expect(nextRate(search, tried(text))).toBe(next)
  })
})

describe('the answer', () => {
  test.each([
    ['nothing yet', '', [null, null], []],
    ['a bracket', '10h 20f', [10, 20], []],
    ['the highest that holds, the lowest that fails', '5h 10h 20f 40f', [10, 20], []],
    ['an open rate is inside the interval', '10h 14u 20f', [10, 20], [14]],
    ['one that holds above it closes it', '10h 14u 16h 20f', [16, 20], []],
    ['one that holds above one that fails is not used', '10h 14f 16h', [10, 14], []],
    ['no rate holds', '5f 10f', [null, 5], []],
    ['no rate fails', '10h 20h', [20, null], []],
    ['a spoilt point decides nothing', '10h 20i', [10, null], [20]],
  ])('%s: %s', (_, text, [holdsAt, failsAt], open) => {
    expect(rateAnswer(search, tried(text))).toMatchObject({ holdsAt, failsAt, open })
  })

  it('says what was not used', () => {
    expect(rateAnswer(search, tried('10h 14f 16h')).holdsAbove).toEqual([16])
  })
})

describe('a search of a server that never errs', () => {
  const rate = fc.double({ min: 0.02, max: 5000, noNaN: true })

  it('ends with the truth between ends that are within the resolution', () => {
    const resolutions = fc.constantFrom(0.01, 0.05, 0.2, 0.5)
    fc.assert(
      fc.property(rate, rate, resolutions, (truth, from, resolution) => {
        const found = searchOn({ from, resolution, mostPoints: 60 }, (each) =>
          each <= truth ? 'holds' : 'fails',
        )
        expect(found.resolved).toBe(true)
        expect(found.holdsAt).toBeLessThanOrEqual(truth)
        expect(found.failsAt).toBeGreaterThan(truth)
      }),
    )
  })

  it('ends within the planned points when it begins within a factor of four of the truth', () => {
    fc.assert(
      fc.property(rate, fc.double({ min: 0.3, max: 3.9, noNaN: true }), (truth, off) => {
        const mostPoints = plannedPoints(0.05)
        const found = searchOn({ from: truth / off, resolution: 0.05, mostPoints }, (each) =>
          each <= truth ? 'holds' : 'fails',
        )
        expect(found.resolved).toBe(true)
      }),
    )
  })

  it('always ends, whatever its points say, and never tries a rate twice', () => {
    const decisions = fc.infiniteStream(
      fc.constantFrom('holds', 'fails', 'undecided', 'invalid') as fc.Arbitrary<TriedRate['decision']>,
    )
    fc.assert(
      fc.property(rate, decisions, (from, said) => {
        const points: TriedRate[] = []
        const asked = { from, resolution: 0.05, mostPoints: 25 }
        for (;;) {
          const next = nextRate(asked, points)
          if (next === null) break
          expect(points.map(({ ratePerSecond }) => ratePerSecond)).not.toContain(next)
          expect(next).toBeGreaterThan(0)
          points.push({ ratePerSecond: next, decision: said.next().value })
        }
        expect(points.length).toBeLessThanOrEqual(25)
      }),
    )
  })
})

function searchOn(
  asked: RateSearch,
  decide: (rate: number) => TriedRate['decision'],
): ReturnType<typeof rateAnswer> {
  const points: TriedRate[] = []
  for (;;) {
    const next = nextRate(asked, points)
    if (next === null) return rateAnswer(asked, points)
    points.push({ ratePerSecond: next, decision: decide(next) })
  }
}

// A server whose requests are bad, each on its own, with a chance that rises with the rate and is the limit at rate 100. The decision of
// the search and the naive one see the same requests; only when they look, and how sure they must be, differs.
describe('searches of a server that is known', () => {
  const limit = 0.1
  const truth = 100
  const badShare = (rate: number): number => limit * (rate / truth) ** 3
  const looks = 5
  const points = plannedPoints(0.05)
  const tails = lookTails({ error: '5%', points, looks, parts: 1 })
  const kept = toNumber(tails.kept)
  const missed = toNumber(tails.missed)
  const schedule = lookSchedule({ first: 132, holdsFrom: 132, most: 2112, looks })

  /** Bad ones among the first 1, 2, … of 2,112 requests. */
  function requests(share: number, random: Random): Uint16Array {
    const bad = new Uint16Array(2113)
    for (let n = 1; n <= 2112; n++) bad[n] = bad[n - 1]! + (random.next() < share ? 1 : 0)
    return bad
  }

  type Met = 'yes' | 'no' | 'inconclusive'
  const known = new Map<string, Met>()

  function met(bad: number, n: number, toKeep: number, toMiss: number): Met {
    const key = `${bad} of ${n} at ${toKeep}, ${toMiss}`
    const before = known.get(key)
    if (before !== undefined) return before
    const now =
      clopperPearsonUpper(bad, n, toKeep) <= limit
        ? 'yes'
        : clopperPearsonLower(bad, n, toMiss) > limit
          ? 'no'
          : 'inconclusive'
    known.set(key, now)
    return now
  }

  const bySchedule = (bad: Uint16Array): PointDecision =>
    decideByLooks(schedule, (n) => ({ met: met(bad[n]!, n, kept, missed), growing: false }))!.decision

  /** Looks every 33 requests at plain 95 %, and stops at the first that decides. */
  function byPeeking(bad: Uint16Array): PointDecision {
    for (let n = 33; n <= 2112; n += 33) {
      const now = met(bad[n]!, n, 0.05, 0.05)
      if (now !== 'inconclusive') return now === 'yes' ? 'holds' : 'fails'
    }
    return 'undecided'
  }

  it('a point just above the limit is called holding no more often than its share of the error; peeking calls it so far more often', () => {
    const random = sfc32(7, 11, 13)
    const trials = 4000
    let wrong = 0
    let wrongByPeeking = 0
    for (let trial = 0; trial < trials; trial++) {
      const bad = requests(limit * 1.001, random)
      if (bySchedule(bad) === 'holds') wrong++
      if (byPeeking(bad) === 'holds') wrongByPeeking++
    }
    expect(wrong / trials).toBeLessThanOrEqual(kept * looks)
    expect(wrongByPeeking / trials).toBeGreaterThan(0.2)
  })

  it('a point just below it is called failing no more often than its share of the error', () => {
    const random = sfc32(17, 19, 23)
    const trials = 4000
    let wrong = 0
    for (let trial = 0; trial < trials; trial++) {
      if (bySchedule(requests(limit * 0.999, random)) === 'fails') wrong++
    }
    expect(wrong / trials).toBeLessThanOrEqual(missed * looks)
  })

  it('over a whole search either end is wrong in at most 5 %; of searches that peek in over a quarter', () => {
    const asked: RateSearch = { from: 60, resolution: 0.05, mostPoints: points }
    const searches = 400
    const wrongEnds = (
      decide: (bad: Uint16Array) => PointDecision,
      seed: number,
    ): [low: number, high: number] => {
      const random = sfc32(seed, 2, 3)
      let low = 0
      let high = 0
      for (let each = 0; each < searches; each++) {
        const { holdsAt, failsAt } = searchOn(asked, (rate) =>
          decide(requests(Math.min(1, badShare(rate)), random)),
        )
        if (holdsAt !== null && holdsAt > truth) low++
        if (failsAt !== null && failsAt < truth) high++
      }
      return [low / searches, high / searches]
    }
    const [low, high] = wrongEnds(bySchedule, 1)
    expect(low).toBeLessThanOrEqual(0.05)
    expect(high).toBeLessThanOrEqual(0.05)
    const [lowByPeeking, highByPeeking] = wrongEnds(byPeeking, 1)
    expect(lowByPeeking + highByPeeking).toBeGreaterThan(0.25)
  }, 60_000)
})
