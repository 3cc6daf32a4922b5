import { randomStream } from '../../base/random.ts'
import { createEngine } from '../engine/engine.ts'
import { defaultEngineConfig, type EngineConfig } from '../engine/engine-config.ts'
import { runVirtual } from '../engine/run-virtual.ts'
import type { StepTimeModel } from '../engine/step-time.ts'
import { architectureCalled, modelSizes } from './architecture.ts'
import { gpuCalled } from './gpu.ts'
import type { RealRun } from './real-run.ts'

/** What a replay says of each request of the run, in the run's order; ms since the first request. */
export interface Replay {
  readonly firstTokenMs: Float64Array
  readonly lastTokenMs: Float64Array
  readonly preemptions: number
}

/** Memory of a GPU that is neither weights nor keys and values, bytes: 2 ± 1 GiB. */
const besideWeights = 2 * 2 ** 30

/**
 * The settings of the run's engine with a step time still to come. A pool that the run does not tell is reckoned from the
 * memory, which is off by ±10 %, so it is only to be trusted where it does not bind.
 */
export function realEngineConfig(run: RealRun): Omit<EngineConfig, 'stepTime'> {
  const longest = run.requests.reduce((most, one) => Math.max(most, one.promptTokens + one.outputTokens), 0)
  return {
    ...defaultEngineConfig,
    maxNumSeqs: run.maxNumSeqs,
    maxNumBatchedTokens: run.maxNumBatchedTokens,
    maxModelLen: Math.max(run.maxModelLen ?? defaultEngineConfig.maxModelLen, longest),
    blockSize: run.blockSize,
    numGpuBlocks: run.numGpuBlocks ?? reckonedBlocks(run),
    enablePrefixCaching: run.enablePrefixCaching,
    frontEndMs: 0,
  }
}

function reckonedBlocks(run: RealRun): number {
  const shape = architectureCalled(run.model)
  const memory = run.gpuMemoryBytes ?? gpuCalled(run.gpuName)?.memoryBytes ?? null
  if (shape === null || memory === null) return defaultEngineConfig.numGpuBlocks
  const sizes = modelSizes(shape)
  const free = run.gpus * (run.gpuMemoryUtilization * memory - besideWeights) - 2 * sizes.parameters
  return Math.max(2, 1 + Math.floor(free / (2 * sizes.kvValues * run.blockSize)))
}

/** Sends the run's requests, when its scheduler had them, to a simulated engine with that step time. */
export function replayRun(
  run: RealRun,
  settings: Omit<EngineConfig, 'stepTime'>,
  stepTime: StepTimeModel,
): Replay {
  const engine = createEngine({ ...settings, stepTime }, randomStream(0, 'replay'), { events: 'requests' })
  const firstTokenMs = new Float64Array(run.requests.length)
  const lastTokenMs = new Float64Array(run.requests.length)
  const results = runVirtual(engine, {
    arrivals: run.requests.map((one, id) => ({
      id,
      arrivalMs: one.queuedMs,
      promptTokenIds: {
        length: one.promptTokens,
        blockHashes: one.blockIds,
        blockTokens: run.blockSize,
      },
      outputTokens: one.outputTokens,
    })),
  })
  firstTokenMs.fill(Number.POSITIVE_INFINITY)
  lastTokenMs.fill(Number.POSITIVE_INFINITY)
  for (const { id, facts } of results) {
    if (facts === null || facts.firstTokenMs < 0) continue
    firstTokenMs[id as number] = facts.firstTokenMs
    lastTokenMs[id as number] = facts.lastTokenMs
  }
  return { firstTokenMs, lastTokenMs, preemptions: engine.stats().preemptions }
}
