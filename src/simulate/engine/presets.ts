import { PlimsollError } from '../../base/errors.ts'
import { defaultEngineConfig, type EngineConfig } from './engine-config.ts'
import type { StepTimeModel } from './step-time.ts'

/** An engine with known coefficients, and where they are from. */
export interface EnginePreset {
  readonly name: string
  /** What it stands for, as "Llama-3.1-8B on one H100 SXM". */
  readonly title: string
  readonly config: EngineConfig
  /** Where the coefficients are from, and how far to trust them. */
  readonly source: string
}

const siliconTables =
  'composed from the kernel tables of ai-dynamo/aiconfigurator (systems/data, vLLM 0.24.0, A100: 0.14.0; Apache-2.0), BF16: hinge error 3–6 % on average; 0.8 ms a step (0.6–1.2) are added for norms, sampling and the CPU'
const vllmRuns =
  'fitted, within physical bounds, to a run of vLLM 0.19 published with casys-kaist/LLMServingSim (MIT); the middle of two fits that differ by up to 40 % in single coefficients: indicative'

/** What the kernel tables leave out of a step. */
const perStepOverheadMs = 0.8

/** name, title, c0 ms, T0 tokens, c1 µs, c2 ns, c3 ns, c4 µs, pool tokens, maxNumBatchedTokens, maxNumSeqs */
type Row = readonly [name: string, title: string, ...Nine]
type Nine = readonly [number, number, number, number, number, number, number, number, number]

/**
 * Kernel sums of the silicon tables. c0 is without the overhead per step. Pools: 0.9 of the memory, less weights and 2 GiB
 * a GPU (±1 GiB), divided by the bytes of a token: an estimate, ±10 %. Budgets and seats are vLLM's defaults for the GPU, seats at most 256.
 */
const silicon: readonly Row[] = [
  ['h100-8b', 'Llama-3.1-8B on one H100 SXM', 6.4, 273, 17.1, 45, 0.99, 10, 440_000, 8192, 256],
  ['h100-70b-tp2', 'Llama-3.1-70B on two H100 SXM', 28.4, 270, 100, 55.6, 2.47, 10, 28_000, 8192, 256],
  ['h100-70b-tp4', 'Llama-3.1-70B on four H100 SXM', 15.4, 138, 52.1, 27.3, 1.22, 10, 487_000, 8192, 256],
  ['h100-70b-tp8', 'Llama-3.1-70B on eight H100 SXM', 9.6, 75, 31.9, 13.2, 0.62, 10, 1_420_000, 8192, 256],
  ['h200-8b', 'Llama-3.1-8B on one H200 SXM', 4.8, 141, 17, 32.7, 1, 10, 880_000, 8192, 256],
  ['h200-70b-tp2', 'Llama-3.1-70B on two H200 SXM', 21, 147, 94.1, 39.9, 2.53, 10, 380_000, 8192, 256],
  ['h200-70b-tp4', 'Llama-3.1-70B on four H200 SXM', 12.1, 108, 53.2, 19.9, 1.23, 10, 1_200_000, 8192, 256],
  ['h200-70b-tp8', 'Llama-3.1-70B on eight H200 SXM', 7.8, 69, 31.9, 10, 0.62, 10, 2_840_000, 8192, 256],
  ['a100-8b', 'Llama-3.1-8B on one A100 SXM 80 GB', 11, 70, 48.8, 85.8, 3.46, 10, 440_000, 2048, 256],
  ['a100-70b-tp4', 'Llama-3.1-70B on four A100 SXM 80 GB', 28.2, 56, 140, 57.6, 4.54, 10, 487_000, 2048, 256],
  [
    'a100-70b-tp8',
    'Llama-3.1-70B on eight A100 SXM 80 GB',
    17,
    41,
    89.3,
    27.3,
    2.42,
    10,
    1_420_000,
    2048,
    256,
  ],
]

/**
 * Fits to real runs; c0 holds everything per step. The pool of the 4090 is the one that its log printed. T0 is c0 ÷ c1, as
 * the fitted form max(c0, c1·T) has it, less about 1 ms of c0; c4 was chosen so that our replay of the run has its means: of its last 200
 * of 300 requests, TTFT, TPOT and E2E are within 2 % on the 4090 (187 evictions) and the pair of PRO 6000.
 */
const fitted: readonly Row[] = [
  ['rtx4090-8b', 'Llama-3.1-8B on one RTX 4090', 17.25, 170, 90, 189, 5.6, 15, 41_408, 2048, 256],
  ['rtxpro6000-8b', 'Llama-3.1-8B on one RTX PRO 6000', 13.25, 290, 42, 95, 2.9, 20, 566_000, 2048, 128],
  ['rtxpro6000-32b-tp2', 'Qwen3-32B on two RTX PRO 6000', 33.95, 190, 171, 146, 2.7, 65, 438_000, 2048, 128],
]

function preset(
  [name, title, c0, T0, c1, c2, c3, c4, poolTokens, B, S]: Row,
  overheadMs: number,
): EnginePreset {
  const stepTime: StepTimeModel = {
    baseMs: Number((c0 + overheadMs).toFixed(6)),
    kneeTokens: T0,
    perTokenMs: c1 * 1e-3,
    perContextTokenMs: c2 * 1e-6,
    perPairMs: c3 * 1e-6,
    perSequenceMs: c4 * 1e-3,
  }
  const config = {
    ...defaultEngineConfig,
    stepTime,
    numGpuBlocks: Math.floor(poolTokens / defaultEngineConfig.blockSize) + 1,
    maxNumBatchedTokens: B,
    maxNumSeqs: S,
    frontEndMs: 6,
  }
  return { name, title, config, source: overheadMs > 0 ? siliconTables : vllmRuns }
}

/**
 * What `plimsoll sweep` meets without a server: made up, so that a sweep of short answers passes all three walls within two
 * minutes on a laptop. Nobody's GPU.
 */
const demo: EnginePreset = {
  name: 'demo',
  title: 'a made-up engine that shows all three walls',
  source: 'made up for demonstrations: no GPU behaves like this one',
  config: {
    ...defaultEngineConfig,
    maxNumBatchedTokens: 2048,
    maxModelLen: 8192,
    numGpuBlocks: 901,
    frontEndMs: 0.5,
    jitterSigma: 0.03,
    stepTime: {
      baseMs: 5.7,
      kneeTokens: 0,
      perTokenMs: 0.0076,
      perContextTokenMs: 0,
      perPairMs: 0,
      perSequenceMs: 0.057,
    },
  },
}

/** Every preset, the demo first. */
export const enginePresets: readonly EnginePreset[] = [
  demo,
  ...silicon.map((row) => preset(row, perStepOverheadMs)),
  ...fitted.map((row) => preset(row, 0)),
]

/** The preset called `name`; throws PLIM_ENGINE with the names that there are. */
export function enginePreset(name: string): EnginePreset {
  const found = enginePresets.find((one) => one.name === name.toLowerCase())
  if (found !== undefined) return found
  throw new PlimsollError('PLIM_ENGINE', `there is no engine preset "${name}"`, {
    expected: enginePresets.map((one) => one.name).join(', '),
    received: name,
  })
}

/** A configuration with single values changed, coefficients of the step time too. */
export function overrideConfig(
  config: EngineConfig,
  changes: Partial<Omit<EngineConfig, 'stepTime'>>,
  stepTime: Partial<StepTimeModel> = {},
): EngineConfig {
  return { ...config, ...changes, stepTime: { ...config.stepTime, ...stepTime } }
}
