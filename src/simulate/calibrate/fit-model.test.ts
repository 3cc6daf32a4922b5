import { describe, expect, test } from 'vitest'
import { exponential, randomStream } from '../../base/random.ts'
import { PlimsollError } from '../../base/errors.ts'
import type { EngineConfig } from '../engine/engine-config.ts'
import { createEngine } from '../engine/engine.ts'
import { enginePreset } from '../engine/presets.ts'
import { runVirtual } from '../engine/run-virtual.ts'
import { fitModel } from './fit-model.ts'
import { cholesky, inverse } from './matrix.ts'
import type { MeasuredRun } from './measured-run.ts'
import { predictLoad, predictRun } from './predict.ts'
import { openBounds } from './step-bounds.ts'
import { coefficientNames } from './step-coefficients.ts'

const truth: EngineConfig = { ...enginePreset('h100-8b').config, enablePrefixCaching: false }

/** A load test of an engine: a closed loop of `users`, or Poisson at `perSecond`. */
function measure(
  engine: EngineConfig,
  name: string,
  load: { users: number } | { perSecond: number },
  prompt: number,
  output: number,
  count: number,
): MeasuredRun {
  const closed = 'users' in load ? { users: load.users, thinkMs: 0 } : null
  const random = randomStream(name, 'measured')
  let atMs = 0
  let next = closed === null ? count : Math.min(closed.users, count)
  const request = (id: number, arrivalMs: number) => ({
    id,
    arrivalMs,
    promptTokenIds: { length: prompt, seed: null },
    outputTokens: output,
  })
  const results = runVirtual(createEngine(engine, randomStream(name, 'engine'), { events: 'requests' }), {
    arrivals: Array.from({ length: next }, (_, id) =>
      request(id, 'perSecond' in load ? (atMs += (1000 * exponential(random)) / load.perSecond) : 0),
    ),
    onResult: ({ endMs }) => (closed === null || next >= count ? null : request(next++, endMs)),
  })
  return {
    name,
    closed,
    requests: results
      .map(({ id, facts }) => ({
        order: id as number,
        atMs: facts?.arrivalMs ?? 0,
        promptTokens: prompt,
        outputTokens: output,
        ttftMs: (facts?.firstTokenMs ?? 0) - (facts?.arrivalMs ?? 0),
        tpotMs: ((facts?.lastTokenMs ?? 0) - (facts?.firstTokenMs ?? 0)) / (output - 1),
        lagMs: 0,
        counts: true,
      }))
      .sort((a, b) => a.order - b.order),
  }
}

const sweeps = [
  ...[1, 8, 32, 96].map((users) => measure(truth, `short ${users}`, { users }, 32, 64, 8 * users)),
  ...[1, 8, 32].map((users) => measure(truth, `long ${users}`, { users }, 4000, 64, 6 * users)),
  measure(truth, 'middle', { users: 1 }, 1000, 8, 10),
]
const { stepTime: _, frontEndMs: __, ...settings } = truth
const noisy: EngineConfig = { ...truth, jitterSigma: 0.04 }

describe('fitModel', () => {
  const model = fitModel(sweeps, settings, openBounds, { evaluations: 400, from: null })

  test('meets its own points', () => {
    expect(model.rmsError).toBeLessThan(0.02)
    expect(model.points).toHaveLength(8)
  })

  test.each([
    ['a quarter of what it carries', { perSecond: 8 }, 1024, 128],
    ['more of it', { perSecond: 18 }, 1024, 128],
    ['many users with short answers', { users: 48 }, 500, 32],
  ])('foretells a load that it has not seen to a twentieth: %s', (_name, load, prompt, output) => {
    const later = measure(truth, 'later', load, prompt, output, 400)
    const {
      points: [point],
    } = predictRun(model, later)
    const ttft = later.requests.reduce((sum, one) => sum + one.ttftMs, 0) / 400
    const tpot = later.requests.reduce((sum, one) => sum + (one.tpotMs ?? 0), 0) / 400
    expect(Math.abs((point?.ttftMs.value ?? 0) / ttft - 1)).toBeLessThan(0.05)
    expect(Math.abs((point?.tpotMs?.value ?? 0) / tpot - 1)).toBeLessThan(0.05)
    expect(point?.tpotMs?.low).toBeLessThanOrEqual(tpot * 1.02)
    expect(point?.tpotMs?.high).toBeGreaterThanOrEqual(tpot * 0.98)
  })

  test('without long prompts it knows what it does not know', () => {
    const short = fitModel(sweeps.slice(0, 4), settings, openBounds, { evaluations: 200, from: null })
    const at = coefficientNames.indexOf('perContextTokenMs')
    const known = Math.sqrt(model.logCovariance[at]?.[at] ?? 0)
    const unknown = Math.sqrt(short.logCovariance[at]?.[at] ?? 0)
    expect(unknown).toBeGreaterThan(2 * known)
  })

  test('one point is refused, with what would do', () => {
    expect(() => fitModel(sweeps.slice(0, 1), settings, openBounds)).toThrow(PlimsollError)
    expect(() => fitModel(sweeps.slice(0, 1), settings, openBounds)).toThrow(
      'cannot tell seven coefficients apart',
    )
  })

  test('noise of 4 % a step does not mislead it', () => {
    const runs = [
      ...[1, 8, 32].map((users) => measure(noisy, `short ${users}`, { users }, 32, 64, 10 * users)),
      ...[1, 8, 32].map((users) => measure(noisy, `long ${users}`, { users }, 4000, 64, 6 * users)),
    ]
    const fitted = fitModel(runs, settings, openBounds, { evaluations: 300, from: null })
    const later = measure(noisy, 'later', { perSecond: 12 }, 1024, 128, 400)
    const {
      points: [point],
    } = predictRun(fitted, later)
    const tpot = later.requests.reduce((sum, one) => sum + (one.tpotMs ?? 0), 0) / 400
    expect(Math.abs((point?.tpotMs?.value ?? 0) / tpot - 1)).toBeLessThan(0.06)
  })

  test('near the wall it tells the distance, not a latency', () => {
    const asked = {
      promptTokens: { kind: 'fixed' as const, tokens: 1024 },
      outputTokens: { kind: 'fixed' as const, tokens: 128 },
      tpotLimitMs: null,
      requests: 300,
      seed: '1',
    }
    const calm = predictLoad(model, { ...asked, perSecond: 5 })
    expect(calm.latency?.ttftMeanMs.value).toBeGreaterThan(0)
    const wall = predictLoad(model, { ...asked, perSecond: calm.capacityPerSecond.value })
    expect(wall.latency).toBeNull()
    expect(wall.load.value).toBeCloseTo(1, 6)
  })
})

describe('matrices', () => {
  const matrix = [
    [4, 1, 0.5],
    [1, 3, 0.2],
    [0.5, 0.2, 2],
  ]
  test('the inverse times the matrix is one', () => {
    const by = inverse(matrix)
    const product = by.map((row) =>
      [0, 1, 2].map((j) => row.reduce((sum, x, k) => sum + x * (matrix[k]?.[j] ?? 0), 0)),
    )
    product.forEach((row, i) => row.forEach((x, j) => expect(x).toBeCloseTo(i === j ? 1 : 0, 12)))
  })

  test('L·Lᵀ is the matrix again', () => {
    const lower = cholesky(matrix)
    matrix.forEach((row, i) =>
      row.forEach((x, j) =>
        expect((lower[i] ?? []).reduce((sum, y, k) => sum + y * (lower[j]?.[k] ?? 0), 0)).toBeCloseTo(x, 12),
      ),
    )
  })
})
