import { PlimsollError } from '../../base/errors.ts'
import type { StepTimeModel } from './step-time.ts'

/** One replica of the simulated engine. The names are vLLM's, in camel case. */
export interface EngineConfig {
  /** S: rows that may run at once. */
  readonly maxNumSeqs: number
  /** B: tokens that one step may hold. */
  readonly maxNumBatchedTokens: number
  /** A prefill chunk is never longer than this; 0 turns it off. */
  readonly longPrefillTokenThreshold: number
  /** Longest prompt plus output. */
  readonly maxModelLen: number
  /** Tokens of a KV block. */
  readonly blockSize: number
  /** Blocks of the pool with the null block, as `vllm:cache_config_info{num_gpu_blocks}`: one fewer can be used. */
  readonly numGpuBlocks: number
  readonly enablePrefixCaching: boolean
  readonly enableChunkedPrefill: boolean
  /** A waiting request is admitted only when the blocks of its whole prompt are free, not just those of its first chunk. */
  readonly reserveFullPrompt: boolean
  /** Blocks that an admission must leave free while something runs. */
  readonly watermarkBlocks: number
  /** Requests that may wait before more are shed; null is no limit. */
  readonly maxNumWaiting: number | null
  readonly stepTime: StepTimeModel
  /** α: time between a request's arrival and the first step that may hold it (HTTP, tokenising), ms. */
  readonly frontEndMs: number
  /** σ of the log-normal factor (mean 1) on each step's time; 0 turns it off. */
  readonly jitterSigma: number
}

/** vLLM V1's defaults on a GPU of 70 GiB and more, except for the seats (256), with a step time of 5 ms + 10 µs a token. */
export const defaultEngineConfig: EngineConfig = {
  maxNumSeqs: 256,
  maxNumBatchedTokens: 8192,
  longPrefillTokenThreshold: 0,
  maxModelLen: 131_072,
  blockSize: 16,
  numGpuBlocks: 27_500,
  enablePrefixCaching: true,
  enableChunkedPrefill: true,
  reserveFullPrompt: true,
  watermarkBlocks: 0,
  maxNumWaiting: null,
  stepTime: {
    baseMs: 5,
    kneeTokens: 0,
    perTokenMs: 0.01,
    perContextTokenMs: 0,
    perPairMs: 0,
    perSequenceMs: 0,
  },
  frontEndMs: 0,
  jitterSigma: 0,
}

const atLeast: ReadonlyArray<readonly [keyof EngineConfig, number]> = [
  ['maxNumSeqs', 1],
  ['maxNumBatchedTokens', 1],
  ['longPrefillTokenThreshold', 0],
  ['maxModelLen', 2],
  ['blockSize', 1],
  ['numGpuBlocks', 2],
  ['watermarkBlocks', 0],
]

/** Throws PLIM_ENGINE for a configuration that no engine could run with. */
export function checkEngineConfig(config: EngineConfig): void {
  for (const [name, low] of atLeast) requireInteger(name, config[name] as number, low)
  if (config.maxNumWaiting !== null) requireInteger('maxNumWaiting', config.maxNumWaiting, 0)
  requireNumber('frontEndMs', config.frontEndMs)
  requireNumber('jitterSigma', config.jitterSigma)
  for (const [name, value] of Object.entries(config.stepTime)) requireNumber(`stepTime.${name}`, value)
}

function requireInteger(name: string, value: number, low: number): void {
  if (Number.isSafeInteger(value) && value >= low) return
  throw new PlimsollError('PLIM_ENGINE', `the engine cannot run with ${name} = ${value}`, {
    expected: `a whole number, at least ${low}`,
    received: String(value),
  })
}

function requireNumber(name: string, value: number): void {
  if (Number.isFinite(value) && value >= 0) return
  throw new PlimsollError('PLIM_ENGINE', `the engine cannot run with ${name} = ${value}`, {
    expected: 'a number, 0 or more',
    received: String(value),
  })
}

/**
 * Blocks that a request holds at its longest: ⌈(prompt + output) ÷ block⌉. The last sampled token is never computed, but its
 * slot is counted: engines that schedule a step ahead reserve it.
 */
export function blocksNeeded(promptTokens: number, outputTokens: number, blockSize: number): number {
  return Math.ceil((promptTokens + outputTokens) / blockSize)
}

/** Blocks that requests can use: the null block is taken off. */
export function usableBlocks(config: EngineConfig): number {
  return config.numGpuBlocks - 1
}
