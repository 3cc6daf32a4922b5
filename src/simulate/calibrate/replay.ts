import { randomStream } from '../../base/random.ts'
import { createEngine } from '../engine/engine.ts'
import type { Engine, EngineRequest } from '../engine/engine-interface.ts'
import type { RequestFacts, RequestId } from '../engine/request-state.ts'
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

/** Sends the run's requests, when its scheduler had them, to a simulated engine (one for each rank) with that step time. */
export function replayRun(
  run: RealRun,
  settings: Omit<EngineConfig, 'stepTime'>,
  stepTime: StepTimeModel,
): Replay {
  const engines = Array.from({ length: run.dataParallel }, (_, rank) =>
    createEngine({ ...settings, stepTime }, randomStream(0, 'replay', rank), { events: 'requests' }),
  )
  const firstTokenMs = new Float64Array(run.requests.length).fill(Number.POSITIVE_INFINITY)
  const lastTokenMs = new Float64Array(run.requests.length).fill(Number.POSITIVE_INFINITY)
  const tell = (id: RequestId, facts: RequestFacts | null): void => {
    if (facts === null || facts.firstTokenMs < 0) return
    firstTokenMs[id as number] = facts.firstTokenMs
    lastTokenMs[id as number] = facts.lastTokenMs
  }
  const requests = run.requests.map((one, id) => ({
    id,
    arrivalMs: one.queuedMs,
    promptTokenIds: { length: one.promptTokens, blockHashes: one.blockIds, blockTokens: run.blockSize },
    outputTokens: one.outputTokens,
  }))
  const [only] = engines
  if (engines.length === 1 && only !== undefined) {
    for (const { id, facts } of runVirtual(only, { arrivals: requests })) tell(id, facts)
  } else runRanks(engines, requests, tell)
  return {
    firstTokenMs,
    lastTokenMs,
    preemptions: engines.reduce((sum, engine) => sum + engine.stats().preemptions, 0),
  }
}

/** Each request goes to the rank with the least of 4·waiting + running, as vLLM balances its data-parallel ranks. */
function runRanks(
  engines: readonly Engine[],
  requests: readonly EngineRequest[],
  tell: (id: RequestId, facts: RequestFacts | null) => void,
): void {
  const hear = (engine: Engine, nowMs: number): void => {
    for (const event of engine.advance(nowMs)) if (event.kind === 'finished') tell(event.id, event.facts)
  }
  const catchUp = (engine: Engine, untilMs: number): void => {
    for (;;) {
      const wakeMs = engine.nextWakeMs()
      if (wakeMs === null || wakeMs >= untilMs) return
      hear(engine, wakeMs)
    }
  }
  for (const request of requests) {
    let best: Engine | null = null
    let least = Number.POSITIVE_INFINITY
    for (const engine of engines) {
      catchUp(engine, request.arrivalMs)
      const { waiting, running } = engine.stats(request.arrivalMs)
      const score = 4 * waiting + running
      if (score < least) {
        least = score
        best = engine
      }
    }
    best?.submit(request, request.arrivalMs)
  }
  for (const engine of engines) catchUp(engine, Number.POSITIVE_INFINITY)
}
