import { describe, expect, it } from 'vitest'
import { PlimsollError, describeError } from '../../../base/errors.ts'
import { parseStepTime, readEngineSettings, type SettingTexts } from './engine-settings.ts'

function refusal(texts: SettingTexts): string {
  try {
    readEngineSettings(texts)
    return ''
  } catch (error) {
    return error instanceof PlimsollError ? describeError(error) : String(error)
  }
}

describe('readEngineSettings', () => {
  it('is the preset where nothing is said', () => {
    expect(readEngineSettings({})).toMatchObject({
      host: '127.0.0.1',
      port: 8000,
      modelName: 'plimsoll-demo',
      preset: 'demo',
      seed: '1',
      faults: [],
      truthPath: null,
    })
  })

  it.each<[string, SettingTexts, object]>([
    ['seats', { 'max-num-seqs': '64' }, { maxNumSeqs: 64 }],
    ['tokens a step, grouped', { 'max-num-batched-tokens': '2_048' }, { maxNumBatchedTokens: 2048 }],
    [
      'a pool in tokens, with the null block added',
      { 'kv-tokens': '450k', 'block-size': '16' },
      { numGpuBlocks: 28_126 },
    ],
    ['a pool in blocks', { 'num-gpu-blocks': '5' }, { numGpuBlocks: 5 }],
    ['a switch turned off', { 'prefix-caching': false }, { enablePrefixCaching: false }],
    [
      'its negative form',
      { 'no-prefix-caching': true, 'no-chunked-prefill': 'true' },
      { enablePrefixCaching: false, enableChunkedPrefill: false },
    ],
    ['a switch as a word', { 'chunked-prefill': 'off' }, { enableChunkedPrefill: false }],
    ['jitter', { jitter: '0.03' }, { jitterSigma: 0.03 }],
    ['the front end', { 'front-end': '6ms' }, { frontEndMs: 6 }],
    ['another policy', { policy: 'sglang', 'mixed-chunk': true }, { policy: 'sglang', mixedChunk: true }],
    [
      'drafts, the last chance for the rest of the positions',
      { speculative: '4', accept: '0.8, 0.6' },
      { speculative: { draftTokens: 4, acceptRates: [0.8, 0.6, 0.6, 0.6] } },
    ],
    [
      'scheduling ahead',
      { 'async-scheduling': true, 'host-time': '400us' },
      { asyncScheduling: true, hostMs: 0.4 },
    ],
  ])('takes %s', (_, texts, config) => {
    expect(readEngineSettings(texts).config).toMatchObject(config)
  })

  it.each<[string, SettingTexts, RegExp]>([
    ['a name that does not exist', { seats: '3' }, /PLIM_USAGE.*"seats"/],
    ['a word for a number', { 'max-num-seqs': 'many' }, /--max-num-seqs cannot be "many"/],
    ['less than the least', { 'max-num-seqs': '0' }, /at least 1/],
    ['a number in parts', { port: '80.5' }, /--port/],
    ['a port that there is not', { port: '70000' }, /65535/],
    ['a preset that there is not', { preset: 'b300' }, /PLIM_ENGINE.*b300.*\n.*demo/],
    ['a pool said twice', { 'kv-tokens': '100', 'num-gpu-blocks': '9' }, /--kv-tokens/],
    ['a coefficient that there is not', { 'step-time': 'c9=1ms' }, /c0=6\.4ms/],
    ['a time in tokens', { 'step-time': 'c0=3tok' }, /--step-time/],
    ['a distribution that there is not', { 'output-dist': 'zipf' }, /lognormal/],
    [
      'a policy that there is not',
      { policy: 'orca' },
      /--policy cannot be "orca".*\n.*vllm, sglang or static/,
    ],
    ['drafts without chances', { speculative: '3' }, /--accept belong together.*\n.*--accept 0\.8/],
    ['more chances than drafted tokens', { speculative: '1', accept: '0.8,0.6' }, /--accept cannot be/],
    ['a chance above 1', { speculative: '1', accept: '80' }, /--accept cannot be/],
    ['drafts elsewhere', { policy: 'static', speculative: '1', accept: '1' }, /PLIM_ENGINE.*vllm/],
    ['a fault that cannot be read', { fault: 'stahl 3s' }, /PLIM_FAULT/],
  ])('refuses %s and says what would do', (_, texts, message) => {
    expect(refusal(texts)).toMatch(message)
  })

  it('reads coefficients with their units', () => {
    expect(parseStepTime('c0=6.4ms, c1=17.1us,c2=45ns,c3=0.99ns,c4=10µs,t0=273')).toEqual({
      baseMs: 6.4,
      perTokenMs: 17.1 * 1e-3,
      perContextTokenMs: 45 * 1e-6,
      perPairMs: 0.99 * 1e-6,
      perSequenceMs: 10 * 1e-3,
      kneeTokens: 273,
    })
    expect(parseStepTime('')).toEqual({})
  })
})

it.each<[string, SettingTexts, string]>([
  [
    'sglang',
    { policy: 'sglang', 'watermark-blocks': '2' },
    '--watermark-blocks is nothing to the policy sglang',
  ],
  ['static', { policy: 'static', 'no-chunked-prefill': true }, '--no-chunked-prefill is nothing'],
  ['static, of the cache', { policy: 'static', 'prefix-caching': false }, '--prefix-caching is nothing'],
])('a setting that the policy never looks at is refused: %s', (_, texts, said) => {
  expect(() => readEngineSettings(texts)).toThrow(said)
})
