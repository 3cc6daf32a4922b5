import { describe, expect, test } from 'vitest'
import { PlimsollError } from '../../base/errors.ts'
import { checkEngineConfig, defaultEngineConfig } from './engine-config.ts'
import { enginePreset, enginePresets, overrideConfig } from './presets.ts'
import { stepTimeMs } from './step-time.ts'

describe('presets', () => {
  test.each(enginePresets.map((one) => [one.name, one] as const))(
    '%s can run and says where it is from',
    (_, one) => {
      expect(() => checkEngineConfig(one.config)).not.toThrow()
      expect(one.source.length).toBeGreaterThan(20)
      expect(enginePreset(one.name.toUpperCase())).toBe(one)
    },
  )

  // The kernel tables' own columns "decode ms at a context of 1k" for batches of 1, 32, 128 and 256, and "prefill
  // tokens/s at 2k"; the hinge is off by up to 17 %, and the overhead per step is ours.
  test.each([
    ['h100-8b', [5.9, 8.1, 12.3, 18.6], 52_200],
    ['h100-70b-tp8', [9.4, 10.2, 13.2, 18.1], 27_500],
    ['h200-8b', [4.6, 6.1, 9.5, 14.6], 48_500],
    ['h200-70b-tp4', [11.7, 12.6, 17.1, 24.7], 17_200],
    ['a100-70b-tp4', [26.4, 32.1, 44, 68.4], 6450],
  ])('%s decodes and prefills about as fast as its tables', (name, decodeMs, prefillPerSecond) => {
    const model = enginePreset(name).config.stepTime
    ;[1, 32, 128, 256].forEach((rows, i) => {
      const kernels =
        stepTimeMs(model, {
          tokens: rows,
          decodeContextTokens: rows * 1000,
          prefillPairs: 0,
          sequences: rows,
        }) -
        0.8 -
        0.01 * rows
      expect(Math.abs(kernels / (decodeMs[i] as number) - 1)).toBeLessThan(0.17)
    })
    const prefillMs =
      stepTimeMs(model, { tokens: 2048, decodeContextTokens: 0, prefillPairs: 2048 * 1024, sequences: 1 }) -
      0.8
    expect(Math.abs(2_048_000 / prefillMs / prefillPerSecond - 1)).toBeLessThan(0.2)
  })

  test('single coefficients can be changed, the rest stays', () => {
    const { config } = enginePreset('h100-8b')
    const changed = overrideConfig(config, { maxNumSeqs: 8 }, { baseMs: 9 })
    expect(changed).toEqual({ ...config, maxNumSeqs: 8, stepTime: { ...config.stepTime, baseMs: 9 } })
  })

  test('an unknown name is answered with the names there are', () => {
    expect(() => enginePreset('h300')).toThrow(PlimsollError)
    expect(() => enginePreset('h300')).toThrow('there is no engine preset "h300"')
  })

  test.each([
    ['no seats', { maxNumSeqs: 0 }],
    ['half a block', { blockSize: 0.5 }],
    ['a pool of the null block alone', { numGpuBlocks: 1 }],
    ['time that is not a number', { frontEndMs: Number.NaN }],
    ['steps that take less than no time', { stepTime: { ...defaultEngineConfig.stepTime, baseMs: -1 } }],
  ])('%s is refused', (_, over) => {
    expect(() => checkEngineConfig({ ...defaultEngineConfig, ...over })).toThrow(PlimsollError)
  })
})
