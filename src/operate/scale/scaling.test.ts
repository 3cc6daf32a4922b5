import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rational, toDecimalText } from '../../stats/rational.ts'
import {
  coldStartSeconds,
  drainSeconds,
  shardedLoadSeconds,
  triggerRate,
  warmPool,
  weightLoadSeconds,
} from './cold-start.ts'
import { hpaReplicas } from './hpa.ts'

describe('hpaReplicas', () => {
  it.each([
    ['a tie at the tolerance holds', 3, '110', '100', 3],
    ['just above scales up', 3, '111', '100', 4],
    ['well below scales down', 10, '70', '100', 7],
    ['decimals are exact', 3, '0.44', '0.4', 3],
    ['missing holds', 6, null, '10', 6],
    ['NaN holds', 6, 'NaN', '10', 6],
    ['infinite holds', 6, '+Inf', '10', 6],
    ['beyond a double holds', 6, '1e400', '10', 6],
    ['empty holds', 6, '', '10', 6],
    ['zero load scales to none', 6, 0, '10', 0],
    ['a target of 0 holds', 6, 5, 0, 6],
  ])('%s', (_, current, metric, target, wanted) => expect(hpaReplicas(current, metric, target)).toBe(wanted))

  it('Kubernetes in doubles scales on the tie', () => {
    expect(hpaReplicas(3, '110', '100', { arithmetic: 'kubernetes' })).toBe(4)
    expect(hpaReplicas(4, '50', '100', { arithmetic: 'kubernetes', tolerance: '0.5' })).toBe(4)
    expect(hpaReplicas(3, rational(11n, 10n), 1, { arithmetic: 'kubernetes' })).toBe(4)
  })
  it('both agree away from ties', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 997 }), (current, metric) => {
        const [exact, kubernetes] = [
          hpaReplicas(current, metric, 991),
          hpaReplicas(current, metric, 991, { arithmetic: 'kubernetes' }),
        ]
        expect(Math.abs(exact - kubernetes)).toBeLessThanOrEqual((current * metric) % 991 === 0 ? 1 : 0)
      }),
    )
  })
})

describe('cold start', () => {
  it('a ramp is met exactly by the pool, and the trigger leaves just the ramp', () => {
    expect(warmPool('0.16', 40, '6.4')).toBe(1)
    expect(warmPool('0.161', 40, '6.4')).toBe(2)
    expect(warmPool('-1', 40, '6.4')).toBe(0)
    expect(toDecimalText(triggerRate(8, '0.1', 40))).toBe('4')
  })
  it('bounds', () => {
    expect(
      coldStartSeconds({
        loadSeconds: 8,
        scheduleSeconds: 5,
        initSeconds: 20,
        warmupSeconds: 7,
        probePeriodSeconds: 10,
      }),
    ).toEqual({ min: 40, max: 50 })
    expect(shardedLoadSeconds(140, 4, 2, 500)).toBe(17.5)
    expect(drainSeconds(120, 20, 8, 2)).toBeNull()
    expect(() => weightLoadSeconds(1, 0)).toThrow('bandwidth')
  })
})
