import { randomStream, standardNormal } from '../../base/random.ts'
import type { StepTimeModel } from '../engine/step-time.ts'
import { architectureCalled } from './architecture.ts'
import { gpuCalled } from './gpu.ts'
import type { RealRun } from './real-run.ts'
import { realEngineConfig, replayRun, type Replay } from './replay.ts'
import { minimizeBySimplex } from './simplex.ts'
import { atBounds, modelAt, openBounds, physicalBounds, searchAxes, type StepBounds } from './step-bounds.ts'

/** One end of the search: the step time, what its replay says of the whole run, and how far it is from the requests fitted on. */
export interface FittedModel {
  readonly stepTime: StepTimeModel
  readonly replay: Replay
  /** Mean of the squared relative errors, large ones counted straight. */
  readonly loss: number
  /** Coefficients that stand at an end of their range: there physics decides, not the data. */
  readonly atBounds: readonly string[]
}

export interface RunFit {
  /** The first so many requests were fitted on. */
  readonly fitOn: number
  readonly bounds: StepBounds
  readonly best: FittedModel
  /** Ends of the searches that fit about as well as the best (loss up to 1.5 times), the best first. */
  readonly alike: readonly FittedModel[]
  readonly evaluations: number
}

export interface FitRunOptions {
  /** Requests, in order of arrival, that the fit may see the times of. */
  readonly fitOn: number
  /** Searches from far-apart starts. */
  readonly starts: number
  /** Replays of each search. */
  readonly evaluations: number
  /** Draws the starts. */
  readonly seed: number
}

export const defaultFitRunOptions: FitRunOptions = { fitOn: 100, starts: 5, evaluations: 400, seed: 1 }

/**
 * Fits the step time to the first requests of a real run, by replaying all of it: arrivals and lengths of every request are
 * known, times only of the first. Bounded by physics where GPU and model are known.
 */
export function fitRun(run: RealRun, options: FitRunOptions = defaultFitRunOptions): RunFit {
  const gpu = gpuCalled(run.gpuName)
  const shape = architectureCalled(run.model)
  const bounds =
    gpu === null || shape === null
      ? openBounds
      : physicalBounds(gpu, shape, run.gpus, run.gpus * (run.expertParallel ? run.dataParallel : 1))
  const settings = realEngineConfig(run)
  const fitOn = Math.min(options.fitOn, run.requests.length)
  const random = randomStream(options.seed, 'fit-starts')
  let evaluations = 0
  const found: FittedModel[] = []

  const pull = bounds.source === 'physics' ? 1e-5 : 1e-4

  function lossAt(point: readonly number[]): number {
    // A whisper of preference for the middle of the ranges: what the data leave open does not run off. Where nothing else
    // bounds it, a word.
    const wandering = point.reduce((sum, x) => sum + x * x, 0)
    return replayLoss(run, replayRun(run, settings, modelAt(bounds, point)), fitOn) + pull * wandering
  }

  for (let start = 0; start < options.starts; start++) {
    const from = Array.from({ length: searchAxes }, () => (start === 0 ? 0 : 1.5 * standardNormal(random)))
    // Twice, the second time from where the first ended with a fresh simplex: a flat one is no proof of an end.
    const half = Math.floor(options.evaluations / 2)
    const rough = minimizeBySimplex(lossAt, from, 1, half)
    const end = minimizeBySimplex(lossAt, rough.at, 0.5, options.evaluations - half)
    evaluations += rough.evaluations + end.evaluations
    const stepTime = modelAt(bounds, end.at)
    const replay = replayRun(run, settings, stepTime)
    found.push({ stepTime, replay, loss: replayLoss(run, replay, fitOn), atBounds: atBounds(end.at) })
  }
  found.sort((a, b) => a.loss - b.loss)
  const best = found[0] as FittedModel
  const alike = found.filter((one) => one.loss <= 1.5 * best.loss)
  return { fitOn, bounds, best, alike, evaluations }
}

/** Beyond this relative error a request counts in proportion: one odd request shall not bend the whole. */
const straightBeyond = 0.05

/**
 * Mean over the first `fitOn` requests of the squared relative errors of TTFT, E2E and the time between first and last token.
 * TTFT is taken relative to a tenth of E2E at least: a step more or less is nothing that the step time could be blamed for.
 */
export function replayLoss(run: RealRun, replay: Replay, fitOn: number): number {
  let sum = 0
  for (let i = 0; i < fitOn; i++) {
    const one = run.requests[i] as RealRun['requests'][number]
    const first = replay.firstTokenMs[i] as number
    const last = replay.lastTokenMs[i] as number
    const e2e = one.lastTokenMs - one.queuedMs
    const decode = one.lastTokenMs - one.firstTokenMs
    const ttft = Math.max(one.firstTokenMs - one.queuedMs, e2e / 10)
    sum += bent((first - one.firstTokenMs) / ttft) + bent((last - one.lastTokenMs) / e2e)
    if (decode > 0) sum += bent((last - first - decode) / decode)
  }
  return Number.isFinite(sum) ? sum / Math.max(1, fitOn) : Number.MAX_VALUE
}

/** Huber's function: the square up to 5 %, straight beyond. */
export function bent(error: number): number {
  const size = Math.abs(error)
  return size < straightBeyond ? size * size : straightBeyond * (2 * size - straightBeyond)
}
