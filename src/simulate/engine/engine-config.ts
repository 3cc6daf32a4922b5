import { PlimsollError } from '../../base/errors.ts'
import type { StepTimeModel } from './step-time.ts'

/** Who is in a step: vLLM V1's rules, SGLang's, or one batch after the other. */
export type SchedulingPolicy = 'vllm' | 'sglang' | 'static'

export const schedulingPolicies: readonly SchedulingPolicy[] = ['vllm', 'sglang', 'static']

/** A draft model (EAGLE and the like) that proposes tokens, which the model then verifies in one step. */
export interface SpeculativeDecoding {
  /** K: tokens of a draft. */
  readonly draftTokens: number
  /** Chance that the draft's token at each position is accepted, given that all before it were: K numbers, 0 to 1. */
  readonly acceptRates: readonly number[]
}

/** Drafting K tokens, accepted at the rates given; the last rate holds for the positions that have none. */
export function drafting(draftTokens: number, rates: readonly number[]): SpeculativeDecoding {
  const last = rates.at(-1) ?? Number.NaN
  return {
    draftTokens,
    acceptRates: Array.from({ length: Math.max(draftTokens, rates.length) }, (_, i) => rates[i] ?? last),
  }
}

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
  readonly policy: SchedulingPolicy
  /** Null: none. Policy `vllm` only. */
  readonly speculative: SpeculativeDecoding | null
  /** The next step is scheduled while the one before runs. Policy `vllm` only. */
  readonly asyncScheduling: boolean
  /** Decoding rows join the steps of a prefill (SGLang's `--enable-mixed-chunk`). Policy `sglang` only. */
  readonly mixedChunk: boolean
  /** Time of the host before each step, ms: asynchronous scheduling spends it while the step before runs. */
  readonly hostMs: number
  readonly stepTime: StepTimeModel
  /** α: time between a request's arrival and the first step that may hold it (HTTP, tokenising), ms. */
  readonly frontEndMs: number
  /** σ of the log-normal factor (mean 1) on each step's time; 0 turns it off. */
  readonly jitterSigma: number
}

export type SchedulingChoice = Pick<
  EngineConfig,
  'policy' | 'speculative' | 'asyncScheduling' | 'mixedChunk' | 'hostMs'
>

/** Plain vLLM: the scheduler that skips over steps, and that measurements are fitted to. */
export const plainScheduling: SchedulingChoice = {
  policy: 'vllm',
  speculative: null,
  asyncScheduling: false,
  mixedChunk: false,
  hostMs: 0,
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
  ...plainScheduling,
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
  requireNumber('hostMs', config.hostMs)
  checkPolicy(config)
  requireNumber('jitterSigma', config.jitterSigma)
  for (const [name, value] of Object.entries(config.stepTime)) requireNumber(`stepTime.${name}`, value)
}

function checkPolicy({ policy, speculative, asyncScheduling, mixedChunk }: EngineConfig): void {
  if (!schedulingPolicies.includes(policy)) {
    throw new PlimsollError('PLIM_ENGINE', `there is no scheduling policy "${policy}"`, {
      expected: schedulingPolicies.join(', '),
      received: policy,
    })
  }
  for (const [what, where, is] of [
    ['speculative decoding', 'vllm', speculative !== null],
    ['asynchronous scheduling', 'vllm', asyncScheduling],
    ['mixing chunks with decoding rows', 'sglang', mixedChunk],
  ] as const) {
    if (!is || policy === where) continue
    throw new PlimsollError('PLIM_ENGINE', `${what} is a matter of the policy ${where}`, {
      expected: where === 'sglang' ? 'the policy sglang (vllm always mixes)' : 'the policy vllm',
      received: policy,
    })
  }
  if (speculative === null) return
  requireInteger('speculative.draftTokens', speculative.draftTokens, 1)
  const { draftTokens, acceptRates } = speculative
  if (acceptRates.length === draftTokens && acceptRates.every((rate) => rate >= 0 && rate <= 1)) return
  throw new PlimsollError('PLIM_ENGINE', 'the engine needs to know how many drafted tokens are accepted', {
    expected: `${draftTokens} rates from 0 to 1, one for each position of the draft`,
    received: acceptRates.some((rate) => !Number.isNaN(rate)) ? acceptRates.join(', ') : 'none',
  })
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

/**
 * The same on this engine, which may reach ahead: a step of K drafted tokens holds K slots more, and vLLM's `allocate_slots` asks for K
 * more to draft into (its lookahead); a step scheduled before the result of the last is known holds K again.
 */
export function blocksAtMost(config: EngineConfig, promptTokens: number, outputTokens: number): number {
  const { speculative, asyncScheduling, maxModelLen, blockSize } = config
  if (speculative === null) return blocksNeeded(promptTokens, outputTokens, blockSize)
  const ahead = (asyncScheduling ? 3 : 2) * speculative.draftTokens
  return Math.ceil(Math.min(promptTokens + outputTokens + ahead, maxModelLen) / blockSize)
}

/** Blocks that requests can use: the null block is taken off. */
export function usableBlocks(config: EngineConfig): number {
  return config.numGpuBlocks - 1
}
