import { describe, expect, it } from 'vitest'
import { dynamoLoad, dynamoPrefillDemand, dynamoThroughput } from './dynamo.ts'
import { hpaReplicas } from './hpa.ts'
import { defaultBehavior, freshHpaState, hpaStep, type HpaBehavior } from './hpa-behavior.ts'
import { hpaAverageValue, hpaOfMetrics, hpaPods, hpaValue, type HpaPod } from './hpa-metrics.ts'
import { kedaExternalValue, kedaFallback, kedaFloor, kedaPrometheus } from './keda.ts'
import { calmKpa, kpaStep } from './knative.ts'
import { rayStep, rayWanted, type RayState } from './ray.ts'
import { wvaRequiredTokens, wvaSaturation } from './wva.ts'

describe('HPA', () => {
  it.each([
    ['half as much again', 4, 1.5, 6],
    ['half', 3, 0.5, 2],
    ['1.1 is over the tolerance in doubles', 4, 1.1, 5],
    ['0.9 is within', 10, 0.9, 10],
  ])('%s', (_, current, ratio, replicas) =>
    expect(hpaReplicas(current, ratio, 1, { arithmetic: 'kubernetes' })).toBe(replicas),
  )
  it.each([
    [4, 50, 205, 4],
    [4, 50, 220, 5],
    [4, 50, 221, 5],
    [4, 50, 180, 4],
    [4, 5, 40, 8],
    [8, 5, 40, 8],
    [8, 5, 60, 12],
    [8, 5, 0, 0],
    [0, 5, 12, 3],
    [8, 5, null, 8],
    [8, 5, Number.NaN, 8],
  ])('AverageValue: %d replicas, target %d, total %s → %d', (current, target, total, replicas) =>
    expect(hpaAverageValue(current, total, target)).toBe(replicas),
  )
  it('Value shrinks a fleet whose pods still load', () => {
    expect(hpaValue(10, 6, 150, 100)).toBe(9)
    expect(hpaValue(0, 0, 150, 100)).toBe(2)
    expect(hpaValue(10, 6, 105, 100)).toBe(10)
    expect(hpaValue(10, 6, null, 100)).toBe(10)
  })
  const pods = (...values: readonly (number | null | 'loading')[]): HpaPod[] =>
    values.map((value) => (value === 'loading' ? { value: 0, ready: false } : { value, ready: true }))
  it.each([
    ['all measured', pods(15, 15), 2, 10, 3],
    ['within tolerance', pods(10, 10.5), 2, 10, 2],
    ['up, one loads: counts as idle', pods(20, 20, 'loading'), 3, 10, 4],
    ['up, one without a metric: counts as idle', pods(20, null), 2, 10, 2],
    ['down, one without a metric: counts as at its target', pods(2, null), 2, 10, 2],
    ['down, all measured', pods(2, 2, 2, 2), 4, 10, 1],
    ['up turned to down changes nothing', pods(12, null, null), 3, 10, 3],
    ['nothing measured', pods(null, 'loading'), 2, 10, 2],
  ])('Pods: %s', (_, list, current, target, replicas) =>
    expect(hpaPods(current, list, target)).toBe(replicas),
  )
  it('several metrics: the largest; a broken one stops a scale-down', () => {
    expect([hpaOfMetrics(4, [3, 6]), hpaOfMetrics(4, [3, null]), hpaOfMetrics(4, [6, null])]).toEqual([
      6, 4, 6,
    ])
    expect(hpaOfMetrics(4, [null])).toBeNull()
  })

  const bounds = { minReplicas: 1, maxReplicas: 100 }
  it('the default policy grows from 1 to 5 and from 10 to 20 in one period', () => {
    expect(hpaStep(freshHpaState, 1, 100, 0, bounds).replicas).toBe(5)
    const first = hpaStep(freshHpaState, 10, 100, 0, bounds)
    expect(first).toMatchObject({ replicas: 20, limitedBy: 'policy' })
    expect(hpaStep(first.state, 20, 100, 10_000, bounds).replicas).toBe(20)
    expect(hpaStep(first.state, 20, 100, 15_000, bounds).replicas).toBe(40)
  })
  it('down takes the largest recommendation of 300 s', () => {
    let state = freshHpaState
    for (const [atMs, wanted] of [
      [0, 10],
      [145_000, 6],
    ] as const) {
      const step = hpaStep(state, 10, wanted, atMs, bounds)
      expect(step.replicas).toBe(10)
      state = step.state
    }
    const held = hpaStep(state, 10, 4, 290_000, bounds)
    expect(held).toMatchObject({ replicas: 10, limitedBy: 'stabilization' })
    expect(hpaStep(held.state, 10, 4, 301_000, bounds).replicas).toBe(6)
  })
  it('bounds, disabled directions and slow removal', () => {
    expect(hpaStep(freshHpaState, 2, 0, 0, { minReplicas: 2, maxReplicas: 4 }).replicas).toBe(2)
    expect(hpaStep(freshHpaState, 9, 9, 0, { minReplicas: 2, maxReplicas: 4 })).toMatchObject({
      replicas: 4,
      limitedBy: 'bounds',
    })
    const frozen: HpaBehavior = {
      up: { ...defaultBehavior.up, select: 'Disabled' },
      down: { ...defaultBehavior.down, select: 'Disabled' },
    }
    expect(hpaStep(freshHpaState, 3, 9, 0, bounds, frozen).replicas).toBe(3)
    expect(hpaStep(freshHpaState, 3, 1, 0, bounds, frozen).replicas).toBe(3)
    const slow: HpaBehavior = {
      ...defaultBehavior,
      down: {
        stabilizationSeconds: 0,
        select: 'Min',
        policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }],
      },
    }
    const one = hpaStep(freshHpaState, 9, 2, 0, bounds, slow)
    expect(one.replicas).toBe(8)
    expect(hpaStep(one.state, 8, 2, 30_000, bounds, slow).replicas).toBe(8)
    expect(hpaStep(one.state, 8, 2, 60_000, bounds, slow).replicas).toBe(7)
  })
})

describe('KEDA', () => {
  it.each([
    ['an empty answer', []],
    ['NaN', ['NaN']],
    ['infinity', ['+Inf']],
    ['minus infinity', ['-Inf']],
    ['an empty text', ['']],
  ])('%s is 0 and inactive by default, and an error when nulls are not ignored', (_, elements) => {
    expect(kedaPrometheus(elements)).toEqual({ kind: 'value', value: 0, active: false, fromNothing: true })
    expect(kedaPrometheus(elements, { ignoreNullValues: false }).kind).toBe('error')
  })
  it('two elements are an error, a threshold that is met is not passed', () => {
    expect(kedaPrometheus([1, 2])).toEqual({ kind: 'error', why: 'the query gave 2 elements, not one' })
    expect(kedaPrometheus(['5'], { activationThreshold: 5 })).toMatchObject({ value: 5, active: false })
    expect(kedaPrometheus([5.1], { activationThreshold: 5 })).toMatchObject({ active: true })
  })
  it('an external scaler’s float is read only above 0', () => {
    expect(kedaExternalValue({ metricValueFloat: 0, metricValue: 7 })).toBe(7)
    expect(kedaExternalValue({ metricValueFloat: 1.5, metricValue: 7 })).toBe(1.5)
    expect(kedaExternalValue({ metricValueFloat: -3, metricValue: -2 })).toBe(0)
  })
  it('fallbacks and the floor', () => {
    const fallback = { failureThreshold: 3, replicas: 6 } as const
    expect(kedaFallback({ ...fallback, behavior: 'static' }, 3, 12)).toBeNull()
    expect(kedaFallback({ ...fallback, behavior: 'static' }, 4, 12)).toBe(6)
    expect(kedaFallback({ ...fallback, behavior: 'currentReplicas' }, 4, 12)).toBe(12)
    expect(kedaFallback({ ...fallback, behavior: 'currentReplicasIfHigher' }, 4, 2)).toBe(6)
    expect(kedaFallback({ ...fallback, behavior: 'currentReplicasIfLower' }, 4, 12)).toBe(6)
    expect(kedaFallback(null, 99, 12)).toBeNull()
    const floor = { minReplicas: 0, idleReplicas: null, cooldownSeconds: 300 }
    expect([kedaFloor(true, 0, floor), kedaFloor(false, 299, floor), kedaFloor(false, 300, floor)]).toEqual([
      1, 1, 0,
    ])
  })
})

describe('Knative', () => {
  it('panics when twice as many pods are wanted as are ready', () => {
    const step = kpaStep(calmKpa, { ready: 2, stable: 100, panic: 400 }, 0)
    expect(step).toMatchObject({
      stable: 2,
      panic: 6,
      panicking: true,
      desired: 6,
      excessBurstCapacity: -411,
    })
    const later = kpaStep(step.state, { ready: 6, stable: 100, panic: 100 }, 30_000)
    expect(later).toMatchObject({ panicking: true, desired: 6 })
    expect(kpaStep(later.state, { ready: 6, stable: 100, panic: 100 }, 60_001)).toMatchObject({
      panicking: false,
      desired: 3,
    })
  })
  it.each([
    [10, 700, 900, 10],
    [10, 100, 100, 5],
  ])('ready %d, stable %d, panic %d → %d', (ready, stable, panic, desired) =>
    expect(kpaStep(calmKpa, { ready, stable, panic }, 0)).toMatchObject({ panicking: false, desired }),
  )
})

describe('Ray Serve', () => {
  it('3 running, 10 ongoing, target 2 → 5, after more than 300 ticks', () => {
    expect(rayWanted(3, 10)).toBe(5)
    let state: RayState = 0
    for (let tick = 1; tick <= 300; tick++) {
      const step = rayStep(state, 3, 10)
      expect(step.replicas).toBe(3)
      state = step.state
    }
    expect(rayStep(state, 3, 10).replicas).toBe(5)
    expect(rayStep(-6000, 3, 2).replicas).toBe(1)
    expect(rayStep(-5999, 3, 2).replicas).toBe(3)
    expect(rayStep(-5999, 3, 10).state).toBe(1)
    expect(rayStep(200, 3, 6).state).toBe(0)
    expect(rayStep(0, 0, 1).replicas).toBe(1)
  })
})

describe('llm-d', () => {
  it.each([
    ['spare 0.115', [0.65, 0.72], 'hold'],
    ['spare 0.10000000000000003 is not under 0.1', [0.65, 0.75], 'hold'],
    ['spare under 0.1', [0.75, 0.72], 'up'],
    ['a saturated replica hides behind an idle one', [0.95, 0.2], 'hold'],
    ['all saturated', [0.9, 0.9], 'up'],
    ['one fewer would do', [0.2, 0.2, 0.2], 'down'],
    ['one alone stays', [0.2], 'hold'],
    ['none', [], 'hold'],
  ])('v1: %s', (_, kvs, action) =>
    expect(
      wvaSaturation(
        kvs.map((kv) => ({ kv, queue: 0 })),
        0,
      ).action,
    ).toBe(action),
  )
  it('v1 waits for pending pods and sees queues', () => {
    expect(wvaSaturation([{ kv: 0.79, queue: 0 }], 1).action).toBe('hold')
    expect(wvaSaturation([{ kv: 0.9, queue: 9 }], 1).action).toBe('hold')
    expect(wvaSaturation([{ kv: 0.1, queue: 3 }], 0).action).toBe('up')
    expect(
      wvaSaturation(
        [
          { kv: 0.95, queue: 0 },
          { kv: 0.2, queue: 0 },
        ],
        0,
      ).spareKv,
    ).toBeCloseTo(0.6, 12)
  })
  it('v2', () =>
    expect(wvaRequiredTokens(80_000, 0.8, { ready: 2, pending: 1, tokensEach: 30_000 })).toBe(10_000))
})

describe('Dynamo', () => {
  const rule = { slaMs: 500, sensitivity: 0.8, min: 1, max: 4 }
  it.each([
    ['all over', [600, 700], 3],
    ['one over is none', [600, 100], 2],
    ['all low, and the survivor too', [100, 100], 1],
    ['low, but the survivor would not be', [390, 390], 2],
    ['one not known', [100, null], 2],
    ['at the most', [600, 600, 600, 600], 4],
    ['one alone stays', [1], 1],
  ])('load: %s', (_, estimates, replicas) => expect(dynamoLoad(estimates, rule, false)).toBe(replicas))
  it('holds while it scales; throughput', () => {
    expect(dynamoLoad([600, 700], rule, true)).toBe(2)
    expect(dynamoThroughput(40, 6.4, { min: 1, max: 20 })).toBe(7)
    expect(dynamoThroughput(0, 6.4, { min: 1, max: 20 })).toBe(1)
    expect(dynamoThroughput(40, 0, { min: 1, max: 20 })).toBeNull()
    expect(dynamoPrefillDemand(10, 1000, 0.25)).toBe(7500)
  })
})
