import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { divide, rational, toDecimalText } from '../stats/rational.ts'
import { burstFacts, replicasForAvailability, upChances } from './availability.ts'
import { admission, batchWasTested, engineFlags } from './engine-flags.ts'
import { fleetSize, replicasLost, survivorLoad, type FleetDemand } from './fleet-size.ts'

const seed: FleetDemand = {
  peak: '40',
  perReplica: '8',
  margin: { share: '20%', kind: 'derate' },
  imbalance: 1,
  failures: 1,
  zones: null,
  gpusPerReplica: 1,
  burstWindowSeconds: null,
}

describe('replicasLost', () => {
  it.each([
    ['single ones', 8, 2, null, 2],
    ['no more than there are', 1, 2, null, 1],
    ['one of three zones', 9, 0, { count: 3, lost: 1 }, 3],
    ['the fullest of uneven zones: 3 + 2 of 3, 2, 2', 7, 0, { count: 3, lost: 2 }, 5],
    ['whichever takes more', 9, 4, { count: 3, lost: 1 }, 4],
  ])('%s', (_, replicas, failures, zones, lost) => {
    expect(replicasLost(replicas, { failures, zones })).toBe(lost)
  })

  it('leaves as many as a plan is made for', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 0, max: 5 }),
        fc.integer({ min: 2, max: 6 }),
        fc.integer({ min: 1, max: 5 }),
        (peak, failures, count, lost) => {
          fc.pre(lost < count)
          const demand = { ...seed, peak: String(peak), failures, zones: { count, lost } }
          const chosen = fleetSize(demand).chosen!
          expect(chosen.replicas - replicasLost(chosen.replicas, demand)).toBeGreaterThanOrEqual(
            chosen.serving,
          )
        },
      ),
    )
  })
})

describe('fleetSize', () => {
  it('the seed: 40/s, 8/s each, 20 %, one failure is 8, with the working', () => {
    const { chosen } = fleetSize(seed)
    expect(chosen?.replicas).toBe(8)
    expect(chosen?.working).toEqual([
      'each is run at 80 %: 8 × 0.8 = 6.4',
      '40 ÷ 6.4 = 6.25 → 7',
      'one may die: N − 1 ≥ 7 → 8',
    ])
  })

  it('a margin that is not said is read both ways, and none is chosen where they differ', () => {
    const { readings, chosen } = fleetSize({ ...seed, margin: { share: '0.2', kind: 'unsaid' } })
    expect(readings.map(({ margin, replicas }) => [margin, replicas])).toEqual([
      ['derate', 8],
      ['uplift', 7],
    ])
    expect(chosen).toBeNull()
    expect(readings[1]?.working).toEqual([
      'the peak is 20 % higher: 40 × 1.2 = 48',
      '48 ÷ 8 = 6',
      'one may die: N − 1 ≥ 6 → 7',
    ])
  })

  it('where both readings agree there is nothing to choose', () => {
    expect(
      fleetSize({ ...seed, peak: '12', margin: { share: '0.2', kind: 'unsaid' } }).chosen?.replicas,
    ).toBe(3)
  })

  it.each([
    [
      'a manager’s number: no margin, nothing survived',
      { margin: { share: 0, kind: 'derate' as const }, failures: 0 },
      5,
    ],
    ['imbalance', { imbalance: '1.15' }, 9],
    ['a zone of three', { failures: 0, zones: { count: 3, lost: 1 } }, 12],
    ['a zone and a replica: the larger', { zones: { count: 3, lost: 1 } }, 12],
    ['no demand', { peak: 0, zones: { count: 3, lost: 1 } }, 0],
    ['bursts of a second', { burstWindowSeconds: 1 }, 10],
  ])('%s', (_, over, replicas) => expect(fleetSize({ ...seed, ...over }).chosen?.replicas).toBe(replicas))

  it('tensor-parallel groups count in GPUs', () => {
    const { chosen } = fleetSize({ ...seed, gpusPerReplica: 4 })
    expect(chosen?.gpus).toBe(32)
    expect(chosen?.working.at(-1)).toBe('8 replicas × 4 GPUs = 32 GPUs')
    expect(() => fleetSize({ ...seed, gpusPerReplica: 0 })).toThrow('GPU')
  })

  it('the survivors carry no more than was measured', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5000 }),
        fc.integer({ min: 1, max: 90 }),
        fc.integer({ min: 0, max: 3 }),
        fc.option(fc.integer({ min: 2, max: 5 })),
        fc.constantFrom(null, 1, 60),
        (peak, margin, failures, zones, burstWindowSeconds) => {
          const demand: FleetDemand = {
            ...seed,
            peak,
            margin: { share: `${margin}%`, kind: 'derate' },
            failures,
            zones: zones === null ? null : { count: zones, lost: 1 },
            burstWindowSeconds,
          }
          const { chosen, burst } = fleetSize(demand)
          const load = survivorLoad(demand, chosen!)
          expect(load!.num).toBeLessThanOrEqual(load!.den)
          const calm = survivorLoad({ ...demand, burstWindowSeconds: null }, chosen!)
          expect(divide(load!, calm!)).toEqual(divide(burst, rational(1n)))
        },
      ),
    )
  })
})

describe('availability', () => {
  it('what each replica more buys', () => {
    const chances = upChances(7, 8, 0.99)
    expect(chances.map(({ replicas }) => replicas)).toEqual([7, 8, 9])
    expect(chances[1]?.chance).toBeCloseTo(0.9973099222604793, 12)
    expect(replicasForAvailability(7, 0.99, 0.999)).toBe(9)
    expect(upChances(0, 0, 0.99)).toEqual([])
    expect(() => replicasForAvailability(7, 0.001, 0.999)).toThrow('spare')
  })
  it('the minute hides its seconds', () => {
    const [second] = burstFacts('40', '1.25')
    expect(second?.peakToMean).toBe(1.375)
    expect(second?.covered).toBeCloseTo(0.9473719508932413, 12)
    expect(burstFacts(0, 1)).toEqual([])
  })
})

describe('admission', () => {
  const basis = {
    inFlight: 31.2,
    requestsPerSecond: '8',
    ttftLimitMs: 2000,
    ttftP99Ms: 800,
    maxWaitMs: null,
    prefillTokensPerSecond: '20000',
  }
  it('bounds the queue by the time that the objective leaves', () => {
    const limits = admission(basis)
    expect(limits).toMatchObject({ maxRunning: 32, maxWaitMs: 1200, maxQueued: 9, maxInFlight: 41 })
    expect(limits.maxQueuedTokens).toBe(40_000)
    expect(engineFlags(limits)['vllm']).toEqual([
      '--max-num-seqs 32',
      '--max-num-queued-reqs 41',
      '--max-num-queued-tokens 40000',
    ])
  })
  it.each([
    ['no limit on TTFT', { ttftLimitMs: null }, null],
    ['no P99', { ttftP99Ms: null }, null],
    ['given', { maxWaitMs: 500, ttftLimitMs: null }, 500],
    ['none left', { ttftP99Ms: 2500 }, 0],
  ])('the wait: %s', (_, over, waitMs) => expect(admission({ ...basis, ...over }).maxWaitMs).toBe(waitMs))
  it('nothing beyond what was tested', () => {
    expect(batchWasTested(512, { maxNumSeqs: 128, maxInFlight: 256 })).toEqual({
      allowed: false,
      reason: 'outside_tested_range',
      tested: 128,
    })
    expect(batchWasTested(256, { maxNumSeqs: null, maxInFlight: 256 }).allowed).toBe(true)
  })
  it('the need stays exact', () => {
    const demand: FleetDemand = {
      ...seed,
      peak: '42',
      perReplica: '3',
      margin: { share: '0.3', kind: 'derate' },
    }
    expect(toDecimalText(fleetSize(demand).chosen!.need)).toBe('20')
  })
})
