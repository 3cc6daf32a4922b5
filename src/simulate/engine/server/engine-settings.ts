import { PlimsollError } from '../../../base/errors.ts'
import {
  checkEngineConfig,
  drafting,
  type EngineConfig,
  schedulingPolicies,
  type SpeculativeDecoding,
} from '../engine-config.ts'
import { engineSettingForms } from './engine-setting-table.ts'
import { enginePreset } from '../presets.ts'
import { parseFault } from '../fault-grammar.ts'
import type { StepTimeModel } from '../step-time.ts'
import type { OutputLength } from './answer-text.ts'

/** Everything that a simulated server is started with; JSON can carry it to another process. */
export interface EngineSettings {
  readonly host: string
  readonly port: number
  readonly modelName: string
  readonly preset: string
  readonly config: EngineConfig
  readonly seed: string
  readonly outputLength: OutputLength
  /** As they were written; read again by whoever uses them. */
  readonly faults: readonly string[]
  readonly truthPath: string | null
}

/** Settings as flags say them, by their names without dashes; `true` and `false` are switches. */
export type SettingTexts = Readonly<Record<string, string | boolean | readonly string[] | undefined>>

/**
 * The settings that flags or a configuration file say, over those of the preset. Throws PLIM_USAGE that names the flag, PLIM_FAULT for a
 * fault that cannot be read, PLIM_ENGINE for what no engine could run with.
 */
export function readEngineSettings(texts: SettingTexts): EngineSettings {
  for (const [name, value] of Object.entries(texts)) {
    if (value === undefined || name in engineSettingForms) continue
    throw new PlimsollError('PLIM_USAGE', `the engine has no setting "${name}"`, {
      expected: Object.keys(engineSettingForms).join(', '),
      received: name,
    })
  }
  const { name: preset, config: base } = enginePreset(text(texts, 'preset') ?? 'demo')
  const blockSize = count(texts, 'block-size', 1) ?? base.blockSize
  const config: EngineConfig = {
    ...base,
    blockSize,
    maxNumSeqs: count(texts, 'max-num-seqs', 1) ?? base.maxNumSeqs,
    maxNumBatchedTokens: count(texts, 'max-num-batched-tokens', 1) ?? base.maxNumBatchedTokens,
    longPrefillTokenThreshold:
      count(texts, 'long-prefill-token-threshold', 0) ?? base.longPrefillTokenThreshold,
    maxModelLen: count(texts, 'max-model-len', 2) ?? base.maxModelLen,
    maxNumWaiting: count(texts, 'max-num-waiting', 0) ?? base.maxNumWaiting,
    numGpuBlocks: poolBlocks(texts, blockSize, base),
    policy: policy(texts) ?? base.policy,
    speculative: speculative(texts) ?? base.speculative,
    asyncScheduling: onOff(texts, 'async-scheduling') ?? base.asyncScheduling,
    mixedChunk: onOff(texts, 'mixed-chunk') ?? base.mixedChunk,
    hostMs: duration(texts, 'host-time') ?? base.hostMs,
    watermarkBlocks: count(texts, 'watermark-blocks', 0) ?? base.watermarkBlocks,
    enablePrefixCaching: onOff(texts, 'prefix-caching') ?? base.enablePrefixCaching,
    enableChunkedPrefill: onOff(texts, 'chunked-prefill') ?? base.enableChunkedPrefill,
    stepTime: { ...base.stepTime, ...parseStepTime(text(texts, 'step-time') ?? '') },
    frontEndMs: duration(texts, 'front-end') ?? base.frontEndMs,
    jitterSigma: number(texts, 'jitter', 0) ?? base.jitterSigma,
  }
  checkEngineConfig(config)
  refuseIdleSettings(texts, config.policy)
  const faults = list(texts, 'fault')
  for (const fault of faults) parseFault(fault)
  return {
    host: text(texts, 'host') ?? '127.0.0.1',
    port: port(texts),
    modelName: text(texts, 'model') ?? 'plimsoll-demo',
    preset,
    config,
    seed: text(texts, 'seed') ?? '1',
    outputLength: outputLength(texts),
    faults,
    truthPath: text(texts, 'truth') ?? null,
  }
}

/** `c0=6.4ms,c1=17.1us,…,t0=273`: any of the coefficients of the step time, times with their unit (ms where none is given). */
export function parseStepTime(written: string): Partial<StepTimeModel> {
  const model: Record<string, number> = {}
  for (const part of written.split(',').filter((one) => one.trim() !== '')) {
    const found = /^\s*([a-z]\d|knee)\s*=\s*([\d.]+(?:e[+-]?\d+)?)\s*([a-zµ]*)\s*$/i.exec(part)
    const name = stepTimeNames[(found?.[1] ?? '').toLowerCase()]
    const value = Number(found?.[2])
    const unit = name === 'kneeTokens' ? knee[found?.[3] ?? ''] : msPerUnit[found?.[3] ?? '']
    if (name === undefined || unit === undefined || !Number.isFinite(value)) {
      throw wrong('step-time', part.trim(), engineSettingForms['step-time'] as string)
    }
    model[name] = value * unit
  }
  return model
}

const stepTimeNames: Readonly<Record<string, keyof StepTimeModel>> = {
  c0: 'baseMs',
  c1: 'perTokenMs',
  c2: 'perContextTokenMs',
  c3: 'perPairMs',
  c4: 'perSequenceMs',
  t0: 'kneeTokens',
  knee: 'kneeTokens',
}
const msPerUnit: Readonly<Record<string, number>> = { '': 1, ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000 }
const knee: Readonly<Record<string, number>> = { '': 1, tok: 1, tokens: 1 }

function poolBlocks(texts: SettingTexts, blockSize: number, base: EngineConfig): number {
  const blocks = count(texts, 'num-gpu-blocks', 2)
  const tokens = count(texts, 'kv-tokens', 1)
  if (blocks !== undefined && tokens !== undefined) {
    throw wrong('kv-tokens', String(tokens), 'one of --num-gpu-blocks and --kv-tokens')
  }
  // The null block holds nothing: the pool is one block larger than what is asked for.
  if (tokens !== undefined) return Math.max(1, Math.floor(tokens / blockSize)) + 1
  if (blocks !== undefined) return blocks
  // Another block size cuts the same memory differently.
  return Math.max(1, Math.floor(((base.numGpuBlocks - 1) * base.blockSize) / blockSize)) + 1
}

/** What a policy's scheduler never looks at: SGLang has no cap on one prompt's chunk and no watermark, a static batch runs whole prompts. */
const idleSettings: Readonly<Record<EngineConfig['policy'], readonly string[]>> = {
  vllm: [],
  sglang: ['long-prefill-token-threshold', 'watermark-blocks'],
  static: [
    'long-prefill-token-threshold',
    'watermark-blocks',
    'max-num-batched-tokens',
    'chunked-prefill',
    'no-chunked-prefill',
    'prefix-caching',
    'no-prefix-caching',
  ],
}

function refuseIdleSettings(texts: SettingTexts, policy: EngineConfig['policy']): void {
  const idle = idleSettings[policy].find((name) => texts[name] !== undefined)
  if (idle === undefined) return
  throw new PlimsollError('PLIM_USAGE', `--${idle} is nothing to the policy ${policy}`, {
    expected: `the policy ${policy} without it`,
    received: `--policy ${policy} --${idle}`,
  })
}

function policy(texts: SettingTexts): EngineConfig['policy'] | undefined {
  const name = text(texts, 'policy')
  if (name === undefined) return undefined
  const found = schedulingPolicies.find((one) => one === name)
  if (found === undefined) throw wrong('policy', name, engineSettingForms['policy'] as string)
  return found
}

function speculative(texts: SettingTexts): SpeculativeDecoding | undefined {
  const draftTokens = count(texts, 'speculative', 1)
  const rates = text(texts, 'accept')
  if (draftTokens === undefined && rates === undefined) return undefined
  if (draftTokens === undefined || rates === undefined) {
    throw new PlimsollError('PLIM_USAGE', '--speculative and --accept belong together', {
      expected: '--speculative 3 --accept 0.8,0.6,0.4',
      received: draftTokens === undefined ? '--accept alone' : '--speculative alone',
    })
  }
  const read = rates.split(',').map((one) => (/^\s*\d*\.?\d+\s*$/.test(one) ? Number(one) : Number.NaN))
  if (read.length <= draftTokens && read.every((rate) => rate <= 1)) return drafting(draftTokens, read)
  throw wrong('accept', rates, engineSettingForms['accept'] as string)
}

function outputLength(texts: SettingTexts): OutputLength {
  const kind = text(texts, 'output-dist') ?? 'lognormal'
  if (kind !== 'fixed' && kind !== 'uniform' && kind !== 'lognormal' && kind !== 'geometric') {
    throw wrong('output-dist', kind, engineSettingForms['output-dist'] as string)
  }
  return { kind, meanTokens: number(texts, 'output-mean', 1) ?? 128 }
}

function port(texts: SettingTexts): number {
  const value = count(texts, 'port', 0) ?? 8000
  if (value > 65_535) throw wrong('port', String(value), '0 to 65535')
  return value
}

function text(texts: SettingTexts, name: string): string | undefined {
  const value = texts[name]
  if (value === undefined || typeof value === 'string') return value
  throw wrong(name, String(value), engineSettingForms[name] as string)
}

function list(texts: SettingTexts, name: string): readonly string[] {
  const value = texts[name] ?? []
  return typeof value === 'string' ? [value] : typeof value === 'boolean' ? [] : value
}

function number(texts: SettingTexts, name: string, low: number): number | undefined {
  const written = text(texts, name)
  if (written === undefined) return undefined
  const value = /^\d[\d.]*(?:e[+-]?\d+)?$/i.test(written) ? Number(written) : Number.NaN
  if (value >= low && Number.isFinite(value)) return value
  throw wrong(name, written, engineSettingForms[name] as string)
}

/** A whole number; `450_000`, `450,000` and `450k` are the same. */
function count(texts: SettingTexts, name: string, low: number): number | undefined {
  const written = text(texts, name)
  if (written === undefined) return undefined
  const found = /^(\d[\d_,]*(?:\.\d+)?)([km]?)$/i.exec(written.trim())
  const factor = { '': 1, k: 1000, m: 1_000_000 }[(found?.[2] ?? '').toLowerCase()] ?? Number.NaN
  const value = Number((found?.[1] ?? 'x').replaceAll(/[_,]/g, '')) * factor
  if (Number.isSafeInteger(value) && value >= low) return value
  throw wrong(name, written, engineSettingForms[name] as string)
}

function duration(texts: SettingTexts, name: string): number | undefined {
  const written = text(texts, name)
  if (written === undefined) return undefined
  const found = /^(\d[\d.]*)\s*([a-zµ]*)$/.exec(written.trim())
  const value = Number(found?.[1]) * (msPerUnit[found?.[2] ?? ''] ?? Number.NaN)
  if (Number.isFinite(value)) return value
  throw wrong(name, written, engineSettingForms[name] as string)
}

/** `prefix-caching` as a switch or as on/off/true/false, or its `no-` form. */
function onOff(texts: SettingTexts, name: string): boolean | undefined {
  const negative = readSwitch(texts, `no-${name}`)
  return negative === undefined ? readSwitch(texts, name) : !negative
}

function readSwitch(texts: SettingTexts, name: string): boolean | undefined {
  const value = texts[name]
  if (value === undefined || typeof value === 'boolean') return value
  if (value === 'on' || value === 'true') return true
  if (value === 'off' || value === 'false') return false
  throw wrong(name, String(value), 'on or off')
}

function wrong(name: string, received: string, expected: string): PlimsollError {
  return new PlimsollError('PLIM_USAGE', `--${name} cannot be "${received}"`, {
    expected,
    received: `"${received}"`,
  })
}
