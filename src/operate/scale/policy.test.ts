import { describe, expect, it } from 'vitest'
import { rational, toNumber } from '../../stats/rational.ts'
import { backlogDuringStart, inFlightAt, scalePolicy, usableShare, type PolicyBasis } from './policy.ts'

const curve = [
  { requestsPerSecond: 2, inFlight: 4 },
  { requestsPerSecond: 6, inFlight: 16 },
  { requestsPerSecond: 8, inFlight: 32 },
]
const basis: PolicyBasis = {
  requestsPerSecond: '8',
  usableShare: '0.8',
  curve,
  rampPerSecond: null,
  coldStart: null,
  minReplicas: 1,
  maxReplicas: 8,
}

describe('scalePolicy', () => {
  it('without a ramp it aims at the usable share, by the tested loads', () => {
    expect(scalePolicy(basis)).toMatchObject({
      targetPerSecond: 6.4,
      targetInFlight: 19,
      warmPool: 0,
      reserveInFlight: 0,
      scaleDownStabilizationSeconds: 300,
    })
  })
  it('a growth that costs less as a warm pool is kept warm: 0.1/s each second for 40 s is one replica', () => {
    const policy = scalePolicy({
      ...basis,
      rampPerSecond: '0.1',
      coldStart: { minSeconds: 30, maxSeconds: 40 },
    })
    expect(policy).toMatchObject({
      warmPool: 1,
      reserveInFlight: 19,
      targetPerSecond: 6.4,
      minReplicas: 1,
      maxReplicas: 9,
    })
    expect(policy.working.join('\n')).toContain('order at 1 × 8 − 4 = 4 req/s, 4 a replica')
  })
  it('a small fleet aims lower instead, at what a start leaves', () => {
    const policy = scalePolicy({
      ...basis,
      maxReplicas: 2,
      rampPerSecond: '0.1',
      coldStart: { minSeconds: 40, maxSeconds: 40 },
    })
    expect(policy).toMatchObject({ targetPerSecond: 4, triggerPerSecond: 4, targetInFlight: 10, warmPool: 0 })
  })
  it('a margin that covers the growth needs nothing more', () => {
    const policy = scalePolicy({
      ...basis,
      minReplicas: 4,
      rampPerSecond: '0.1',
      coldStart: { minSeconds: 40, maxSeconds: 40 },
    })
    expect(policy).toMatchObject({ targetPerSecond: 6.4, warmPool: 0 })
  })
  it('what takes long to start is removed slowly', () => {
    const policy = scalePolicy({
      ...basis,
      coldStart: { minSeconds: 300, maxSeconds: 400 },
      rampPerSecond: '0',
    })
    expect(policy).toMatchObject({ scaleDownStabilizationSeconds: 800, scaleDownPeriodSeconds: 400 })
  })
})

it.each([
  ['a tested rate is its own point', 6, 16],
  ['between two, rounded down', 7, 24],
  ['below the first, towards the origin', 1, 2],
  ['never under one', 0.1, 1],
  ['beyond the last, the last', 100, 32],
])('in flight: %s', (_, rate, inFlight) => expect(inFlightAt(curve, rate)).toBe(inFlight))

it('a heavier load that served less is not on the curve', () => {
  expect(inFlightAt([...curve, { requestsPerSecond: 7, inFlight: 64 }], 8)).toBe(32)
  expect(inFlightAt([], 8)).toBe(1)
})

it('margins and backlogs', () => {
  expect(usableShare('0.2', 'derate')).toEqual(rational(4, 5))
  expect(toNumber(usableShare('0.25', 'uplift'))).toBe(0.8)
  expect(backlogDuringStart(10, 8, 8)).toEqual({ waiting: 16, waitSeconds: 2 })
  expect(backlogDuringStart(5, 8, 8)).toEqual({ waiting: 0, waitSeconds: 0 })
})
