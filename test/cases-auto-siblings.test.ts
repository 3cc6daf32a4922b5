import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import {
  desiredOrHeld,
  fleetReading,
  knownReading,
  latencyAction,
  observedTotal,
  replicasOfGroups,
  sizeChanges,
  stabilizedDown,
  type Observation,
} from '../src/operate/scale/hold.ts'
import { defaultBehavior, freshHpaState, hpaStep } from '../src/operate/scale/hpa-behavior.ts'
import { hpaAverageValue, hpaPods, hpaValue } from '../src/operate/scale/hpa-metrics.ts'
import { hpaReplicas } from '../src/operate/scale/hpa.ts'
import { kedaExternalValue, kedaFallback, kedaPrometheus } from '../src/operate/scale/keda.ts'
import { calmKpa, kpaDefaults, kpaStep } from '../src/operate/scale/knative.ts'
import { rayWanted } from '../src/operate/scale/ray.ts'
import { wvaSaturation } from '../src/operate/scale/wva.ts'

// Further cases of the kinds of `auto-*`, their expectations worked out by hand from the originals' formulas.

describe('readings: unknown is not idle', () => {
  test.each([
    ['NaN in any case', 'nan', null],
    ['infinity, spelled out', 'Infinity', null],
    ['a blank', '  ', null],
    ['beyond a double', '1e309', null],
    ['below 0, a mark and no length', -1, null],
    ['below 0, as text', '-1', null],
    ['hexadecimal, which Go refuses without an exponent', '0x10', null],
    ['digits in groups', '1,000', null],
    ['half a number', '12abc', null],
    ['nothing', undefined, null],
    ['an exponent', '1e3', 1000],
    ['a sign and blanks', ' +42 ', 42],
    ['the least double', '5e-324', 5e-324],
    ['a true 0', '0', 0],
    ['minus 0 is 0', -0, -0],
  ])('%s', (_, raw, known) => expect(knownReading(raw)).toBe(known))

  test.each([
    ['exactly at the target', 6, '60', 10, [6, false]],
    ['a hair above', 6, '60.000000001', 10, [7, false]],
    ['exact decimals: 0.3 ÷ 0.1 is 3, not 4', 1, '0.3', '0.1', [3, false]],
    ['the least reading still asks for one', 6, '5e-324', 10, [1, false]],
    ['a true 0 goes to the least', 6, 0, 10, [1, false]],
    ['more than the most', 6, 1e9, 10, [20, false]],
    ['unknown above the most: the bounds hold all the same', 25, 'NaN', 10, [20, true]],
    ['unknown below the least', 0, null, 10, [1, true]],
  ])('%s', (_, current, raw, target, wanted) => {
    const { desired, held } = desiredOrHeld(current, raw, target, { min: 1, max: 20 })
    expect([desired, held]).toEqual(wanted)
  })

  test.each<[string, Observation, number | null]>([
    ['several add up', { kind: 'vector', values: [1, '2', 3.5] }, 6.5],
    ['one unknown makes all unknown', { kind: 'vector', values: [100, null] }, null],
    ['one infinite too', { kind: 'vector', values: ['+Inf', 1] }, null],
    ['zeros are known', { kind: 'vector', values: [0, 0] }, 0],
    ['empty', { kind: 'vector', values: [] }, null],
    ['an error', { kind: 'error' }, null],
  ])('a vector: %s', (_, observation, total) => expect(observedTotal(observation)).toBe(total))

  it('never shrinks on silence', () => {
    const silent = fc.constantFrom('NaN', '', null, undefined, '+Inf', '-Inf', '1e400', '-3')
    fc.assert(
      fc.property(silent, fc.integer({ min: 1, max: 20 }), (raw, current) => {
        expect(desiredOrHeld(current, raw, 10, { min: 1, max: 20 })).toEqual({ desired: current, held: true })
      }),
    )
  })
})

describe('fleets with silent replicas', () => {
  const pod = (name: string, kv: number | null, queue: number | null) => ({ pod: name, kv, queue })
  test.each([
    ['all silent', [pod('a', null, null)], [null, ['a'], false, false]],
    ['half of one: its queue is silent', [pod('a', 0.2, 0), pod('b', 0.9, null)], [0.2, ['b'], false, false]],
    ['a NaN is silent', [pod('a', 0.2, 0), pod('b', Number.NaN, 0)], [0.2, ['b'], false, false]],
    ['at the limit is not over it', [pod('a', 0.8, 5)], [0.8, [], true, false]],
    ['over by the queue alone', [pod('a', 0.1, 6)], [0.1, [], false, true]],
    ['over, with one silent', [pod('a', 0.9, 0), pod('b', null, 1)], [0.9, ['b'], false, true]],
    ['nobody', [], [null, [], false, false]],
  ])('%s', (_, replicas, wanted) => {
    const fleet = fleetReading(replicas, { kv: 0.8, queue: 5 })
    expect([fleet.meanKv, fleet.unknown, fleet.mayScaleDown, fleet.scaleUp]).toEqual(wanted)
  })
  test.each([
    ['asked, none finished yet', { requests: 5, sumSeconds: 0, count: 0, scraped: true }, [null, 'hold']],
    ['idle with an old page', { requests: 0, sumSeconds: 0, count: 0, scraped: false }, [null, 'hold']],
    ['a sum that is NaN', { requests: 5, sumSeconds: Number.NaN, count: 5, scraped: true }, [null, 'hold']],
    ['requests not told', { requests: null, sumSeconds: 1, count: 5, scraped: true }, [null, 'hold']],
    ['busy', { requests: 4, sumSeconds: 1, count: 4, scraped: true }, [0.25, 'decide_by_load']],
  ])('a latency: %s', (_, window, wanted) => {
    const { meanSeconds, action } = latencyAction(window)
    expect([meanSeconds, action]).toEqual(wanted)
  })
  it('groups: their leaders speak; one without a leader is unknown', () => {
    const replicas = replicasOfGroups([
      { group: 'a', role: 'worker', kv: 0, queue: 0 },
      { group: 'a', role: 'leader', kv: 0.5, queue: 3 },
      { group: 'b', role: 'worker', kv: 0.9, queue: 9 },
    ])
    expect(replicas).toEqual([
      { pod: 'a', kv: 0.5, queue: 3 },
      { pod: 'b', kv: null, queue: null },
    ])
  })
  test.each([
    [
      'a reading of exactly the window’s age counts',
      [
        [0, 9],
        [300, 2],
      ],
      300,
      9,
    ],
    [
      'one second older does not',
      [
        [0, 9],
        [301, 2],
      ],
      301,
      2,
    ],
    ['the newest alone', [[0, 4]], 0, 4],
    [
      'one of the future does not',
      [
        [0, 4],
        [10, 9],
      ],
      5,
      4,
    ],
  ] as const)('stabilised: %s', (_, made, now, most) =>
    expect(
      stabilizedDown(
        made.map(([atSeconds, replicas]) => ({ atSeconds, replicas })),
        now,
        300,
      ),
    ).toBe(most),
  )
  it('changes of size', () => {
    expect(sizeChanges(3, [3, 3, 4, 4, 3])).toBe(2)
    expect(sizeChanges(3, [])).toBe(0)
  })
})

describe('HPA, in IEEE doubles', () => {
  // ⌈ratio × current⌉ unless |1 − ratio| ≤ 0.1; computed apart from the product.
  const by = (current: number, metric: number, target: number): number => {
    const ratio = metric / target
    return Math.abs(1 - ratio) <= 0.1 ? current : Math.ceil(ratio * current)
  }
  test.each([
    ['1.1 falls out of the band in doubles', 4, 1.1, 1, 5],
    ['110 of 100 the same', 4, 110, 100, 5],
    ['0.9 stays within', 10, 0.9, 1, 10],
    ['90 of 100 stays', 10, 90, 100, 10],
    ['89.99 does not', 10, 89.99, 100, 9],
    ['0.44 of 0.4 is 1.0999999999999999 where doubles are divided', 3, 0.44, 0.4, 3],
    ['0.3 of 0.1 is 2.9999999999999996', 1, 0.3, 0.1, 3],
    ['0.7 of 0.1 is 6.999999999999999', 3, 0.7, 0.1, 21],
    ['0', 7, 0, 100, 0],
  ])('%s', (_, current, metric, target, replicas) => {
    expect(hpaReplicas(current, metric, target, { arithmetic: 'kubernetes' })).toBe(replicas)
    expect(by(current, metric, target)).toBe(replicas)
  })
  it('is that formula everywhere', () => {
    const value = fc.double({ min: 0, max: 1e4, noNaN: true })
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        value,
        fc.integer({ min: 1, max: 1000 }),
        (current, metric, target) => {
          expect(hpaReplicas(current, metric, target, { arithmetic: 'kubernetes' })).toBe(
            by(current, metric, target),
          )
        },
      ),
    )
  })
  test.each([
    ['milli-units: 0.0004 is 0', 3, 0.0004, 1, 0],
    ['0.0005 is a thousandth: one', 3, 0.0005, 1, 1],
    ['within tolerance of all: 44 of 4 × 10', 4, 44, 10, 5],
    ['43 is', 4, 43, 10, 4],
    ['36 is', 4, 36, 10, 4],
    ['35.9 is not, and needs four all the same', 4, 35.9, 10, 4],
    ['nobody runs: no tolerance', 0, 11, 10, 2],
    ['0.44 of 0.4, in the thousandths that the API has: 440 of 400 is 1.1', 1, 0.44, 0.4, 2],
    ['infinity keeps', 4, Number.POSITIVE_INFINITY, 10, 4],
  ])('AverageValue, %s', (_, current, total, target, replicas) =>
    expect(hpaAverageValue(current, total, target)).toBe(replicas),
  )
  it('Value: by ready pods, so loading ones shrink the fleet', () => {
    expect(hpaValue(10, 6, 150, 100)).toBe(9)
    expect(hpaValue(10, 10, 150, 100)).toBe(15)
    expect(hpaValue(4, 0, 150, 100)).toBe(0)
  })
  const ready = (value: number | null) => ({ value, ready: true })
  const loading = (value: number | null) => ({ value, ready: false })
  test.each([
    ['an unready pod without a metric is no missing one: down goes on', [ready(2), loading(null)], 2, 10, 1],
    ['a missing one holds it: it counts as at its target', [ready(2), ready(null)], 2, 10, 2],
    ['unready and missing on the way up: both as 0', [ready(40), loading(9), ready(null)], 3, 10, 4],
    ['means are whole thousandths: 10.0009 is 10', [ready(10.0009), ready(10.0009)], 2, 10, 2],
    ['NaN is missing', [ready(20), ready(Number.NaN)], 2, 10, 2],
    ['everything unready', [loading(5), loading(5)], 2, 10, 2],
  ])('Pods: %s', (_, pods, current, target, replicas) =>
    expect(hpaPods(current, pods, target)).toBe(replicas),
  )
  const bounds = { minReplicas: 1, maxReplicas: 100 }
  it('a recommendation of exactly 300 s is out of the window, one of 299.999 s is in it', () => {
    const { state } = hpaStep(freshHpaState, 10, 10, 0, bounds)
    expect(hpaStep(state, 10, 4, 299_999, bounds).replicas).toBe(10)
    expect(hpaStep(state, 10, 4, 300_000, bounds).replicas).toBe(4)
  })
  it('four pods or all of them again, whichever is more; one period apart', () => {
    const from = (current: number): number =>
      hpaStep(freshHpaState, current, 1000, 0, { minReplicas: 0, maxReplicas: 1000 }).replicas
    expect([0, 1, 3, 4, 5, 50].map(from)).toEqual([4, 5, 7, 8, 10, 100])
    const percent = {
      ...defaultBehavior,
      up: { ...defaultBehavior.up, policies: [{ type: 'Percent' as const, value: 10, periodSeconds: 60 }] },
    }
    expect(hpaStep(freshHpaState, 11, 100, 0, bounds, percent).replicas).toBe(13)
  })
})

describe('KEDA', () => {
  test.each([
    ['at the threshold', ['10'], { activationThreshold: 10 }, [10, false]],
    ['above by a hair', ['10.0000001'], { activationThreshold: 10 }, [10.0000001, true]],
    ['below 0 it is inactive', ['-1'], {}, [-1, false]],
    ['a threshold below 0 makes an empty answer active', [], { activationThreshold: -1 }, [0, true]],
    ['a true 0', ['0'], {}, [0, false]],
    ['infinity counts as nothing', ['+Inf'], {}, [0, false]],
    ['NaN too', ['NaN'], { activationThreshold: 0 }, [0, false]],
    ['a number in the answer', [7], {}, [7, true]],
  ])('%s', (_, elements, options, wanted) => {
    const reading = kedaPrometheus(elements, options)
    expect(reading.kind === 'value' ? [reading.value, reading.active] : reading).toEqual(wanted)
  })
  it('refuses', () => {
    for (const elements of [[], ['NaN'], ['+Inf']])
      expect(kedaPrometheus(elements, { ignoreNullValues: false }).kind).toBe('error')
    expect(kedaPrometheus(['1', '1']).kind).toBe('error')
    expect(kedaPrometheus(['0'], { ignoreNullValues: false }).kind).toBe('value')
  })
  test.each([
    [0.5, 0, 0.5],
    [0, 7, 7],
    [-1, 7, 7],
    [-1, -7, 0],
    [0, 0, 0],
    [1e-9, 5, 1e-9],
  ])('external: float %d, integer %d → %d', (metricValueFloat, metricValue, value) =>
    expect(kedaExternalValue({ metricValueFloat, metricValue })).toBe(value),
  )
  it('the fallback begins after the threshold, not at it', () => {
    const fallback = { failureThreshold: 3, replicas: 6, behavior: 'static' } as const
    expect([2, 3, 4].map((failures) => kedaFallback(fallback, failures, 9))).toEqual([null, null, 6])
  })
})

describe('the others', () => {
  it('Knative: the edge of panic, no ready pod, and the burst capacities that mean something', () => {
    const step = (ready: number, stable: number, panic: number, over: Partial<typeof kpaDefaults> = {}) =>
      kpaStep(calmKpa, { ready, stable, panic }, 0, { ...kpaDefaults, ...over })
    expect(step(3, 70, 420)).toMatchObject({ panic: 6, panicking: true, desired: 6 })
    expect(step(3, 70, 350)).toMatchObject({ panic: 5, panicking: false, desired: 1 })
    expect(step(0, 0, 0)).toMatchObject({ desired: 0, panicking: false, excessBurstCapacity: -211 })
    expect(step(2, 0, 0, { burstCapacity: 0 }).excessBurstCapacity).toBe(0)
    expect(step(2, 0, 0, { burstCapacity: -1 }).excessBurstCapacity).toBe(-1)
    expect(step(7, 70, 70)).toMatchObject({ desired: 3 })
  })
  it('Ray: factors work on the difference, bounds on the result', () => {
    expect(rayWanted(3, 10, { ...rayConfig, upscalingFactor: 0.5 })).toBe(4)
    expect(rayWanted(10, 4, { ...rayConfig, downscalingFactor: 0.5 })).toBe(6)
    expect(rayWanted(3, 0, rayConfig)).toBe(1)
    expect(rayWanted(3, 100, { ...rayConfig, maxReplicas: 8 })).toBe(8)
    expect(rayWanted(0, 0, { ...rayConfig, minReplicas: 0 })).toBe(0)
  })
  it('WVA: the mean of spares is compared strictly, in doubles', () => {
    const of = (...kv: readonly number[]) =>
      wvaSaturation(
        kv.map((one) => ({ kv: one, queue: 0 })),
        0,
      ).action
    // 0.8 − 0.7 is 0.10000000000000009 in doubles: not under 0.1.
    expect(of(0.7)).toBe('hold')
    expect(of(0.71)).toBe('up')
    expect(of(0.69)).toBe('hold')
    expect(wvaSaturation([{ kv: 0.1, queue: 2 }], 0).action).toBe('hold')
    expect(wvaSaturation([{ kv: 0.1, queue: 2.1 }], 0).action).toBe('up')
    expect(wvaSaturation([{ kv: 0.8, queue: 0 }], 0).saturated).toBe(1)
    expect(wvaSaturation([{ kv: 0.1, queue: 5 }], 0).saturated).toBe(1)
  })
})

const rayConfig = {
  targetOngoing: 2,
  minReplicas: 1,
  maxReplicas: 1000,
  upscalingFactor: 1,
  downscalingFactor: 1,
  upscaleDelaySeconds: 30,
  downscaleDelaySeconds: 600,
  tickSeconds: 0.1,
}
