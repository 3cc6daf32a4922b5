import { describe, expect, test } from 'vitest'
import { defaultEngineConfig, type EngineConfig } from '../engine/engine-config.ts'
import { enginePreset } from '../engine/presets.ts'
import { createEngine } from '../engine/engine.ts'
import { runVirtual } from '../engine/run-virtual.ts'
import { exponential, randomStream } from '../../base/random.ts'
import { lengthMoments, meanFieldStep, meanFieldWalls } from './mean-field.ts'

/** Output tokens a second over the middle of a burst that keeps the engine full. */
function saturatedPerSecond(config: EngineConfig, prompt: number, output: number, requests: number): number {
  const engine = createEngine(config, randomStream(1, 'engine'), { events: 'requests' })
  const results = runVirtual(engine, {
    arrivals: Array.from({ length: requests }, (_, id) => ({
      id,
      arrivalMs: 0,
      promptTokenIds: { length: prompt, seed: null },
      outputTokens: output,
    })),
  })
  const ends = results.map((result) => result.endMs).sort((a, b) => a - b)
  const [from, to] = [ends[Math.floor(requests * 0.3)] as number, ends[Math.floor(requests * 0.8)] as number]
  return (0.5 * requests * 1000) / (to - from)
}

describe('walls by the mean field', () => {
  test.each([
    ['1,024 / 128 on an H100', enginePreset('h100-8b').config, 1024, 128],
    ['256 / 256 with 64 seats', { ...enginePreset('a100-8b').config, maxNumSeqs: 64 }, 256, 256],
    ['2,048 / 64 on an H200', enginePreset('h200-8b').config, 2048, 64],
  ])('%s: within a twelfth of the saturated simulation', (_, config, prompt, output) => {
    const walls = meanFieldWalls(config, lengthMoments([[prompt, output]]))
    const simulated = saturatedPerSecond(config, prompt, output, 3000)
    expect(Math.abs(walls.capacityPerSecond / simulated - 1)).toBeLessThan(1 / 12)
  })

  test('the step of half the load is within 15 % of the simulated TPOT', () => {
    const { config } = enginePreset('h100-8b')
    const lengths = lengthMoments([[1024, 128]])
    const perSecond = 0.5 * meanFieldWalls(config, lengths).capacityPerSecond
    const random = randomStream(1, 'arrivals')
    let atMs = 0
    const results = runVirtual(createEngine(config, randomStream(1, 'engine'), { events: 'requests' }), {
      arrivals: Array.from({ length: 3000 }, (_, id) => ({
        id,
        arrivalMs: (atMs += (1000 * exponential(random)) / perSecond),
        promptTokenIds: { length: 1024, seed: null },
        outputTokens: 128,
      })),
    })
    const tpot = results.map(({ facts }) => ((facts?.lastTokenMs ?? 0) - (facts?.firstTokenMs ?? 0)) / 127)
    const mean = tpot.reduce((sum, ms) => sum + ms, 0) / tpot.length
    const stepMs = meanFieldStep(config, lengths, perSecond)?.stepMs as number
    expect(Math.abs(stepMs / mean - 1)).toBeLessThan(0.15)
  })

  test('a tighter limit on the step binds earlier, and says so', () => {
    const { config } = enginePreset('h100-8b')
    const lengths = lengthMoments([[1024, 128]])
    const tight = meanFieldWalls(config, lengths, { tpotLimitMs: 12 })
    const loose = meanFieldWalls(config, lengths, { tpotLimitMs: 20 })
    expect(tight.binding).toBe('slo')
    expect(tight.capacityPerSecond).toBeLessThan(loose.capacityPerSecond)
    expect(meanFieldStep(config, lengths, tight.capacityPerSecond)?.stepMs).toBeCloseTo(12, 6)
  })

  test('a step that costs nothing beyond its base has no compute wall', () => {
    const config = { ...defaultEngineConfig, stepTime: { ...defaultEngineConfig.stepTime, perTokenMs: 0 } }
    const walls = meanFieldWalls(config, lengthMoments([[100, 100]]))
    expect(walls.perSecond.compute).toBe(Number.POSITIVE_INFINITY)
    // N = λ·o·t: 256 rows at a step of 5 ms and 100 tokens each are 512 requests a second.
    expect(walls.perSecond.seats).toBeCloseTo(512, 3)
  })
})
