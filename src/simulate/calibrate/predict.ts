import { exponential, randomStream } from '../../base/random.ts'
import { drawLength, type LengthDistribution } from '../../measure/workload/length-distribution.ts'
import { mean } from '../../stats/describe.ts'
import { percentile } from '../../stats/percentile.ts'
import { createEngine } from '../engine/engine.ts'
import type { EngineConfig } from '../engine/engine-config.ts'
import { runVirtual } from '../engine/run-virtual.ts'
import { figureNoise, type FittedEngine } from './fit-model.ts'
import { lengthMoments, meanFieldWalls, type MeanFieldWalls } from './mean-field.ts'
import {
  measuredPoints,
  measuredRate,
  simulatedPoints,
  simulatedRate,
  type MeanPoint,
  type MeasuredRun,
} from './measured-run.ts'
import { engineWith } from './step-coefficients.ts'

/** A figure with the interval that the coefficients leave open: 5th to 95th percentile of the draws. */
export interface Predicted {
  readonly value: number
  readonly low: number
  readonly high: number
}

export interface PredictedLoad {
  readonly perSecond: number
  readonly promptTokens: LengthDistribution
  readonly outputTokens: LengthDistribution
  readonly tpotLimitMs: number | null
  readonly requests: number
  readonly seed: string
}

export interface Prediction {
  readonly capacityPerSecond: Predicted
  readonly walls: MeanFieldWalls
  /** Asked rate ÷ capacity. */
  readonly load: Predicted
  /** Null where the interval of `load` reaches 1: there a small error of the capacity is any latency. */
  readonly latency: {
    readonly ttftMeanMs: Predicted
    readonly ttftP99Ms: Predicted
    readonly tpotMeanMs: Predicted
    readonly tpotP99Ms: Predicted
    readonly e2eMeanMs: Predicted
  } | null
}

/** Engines that the fit cannot rule out, the best first. */
export function likelyEngines({ settings, coefficients, ensemble }: FittedEngine): EngineConfig[] {
  return [coefficients, ...ensemble].map((one) => engineWith(settings, one))
}

/** Loads above this are given as this: the limit is below an idle step, and nothing fits. */
const heaviest = 1000

/** Another load on the fitted engine: walls by the mean field, latencies by simulation, each with its interval. */
export function predictLoad(model: FittedEngine, asked: PredictedLoad): Prediction {
  const { perSecond, tpotLimitMs } = asked
  const lengths = drawnLengths(asked)
  const moments = lengthMoments(lengths)
  const engines = likelyEngines(model)
  const walls = engines.map((engine) => meanFieldWalls(engine, moments, { tpotLimitMs }))
  const capacityPerSecond = predictedFrom(walls.map((wall) => wall.capacityPerSecond))
  const load = predictedFrom(walls.map((wall) => Math.min(heaviest, perSecond / wall.capacityPerSecond)))
  if (load.high >= 1) return { capacityPerSecond, walls: walls[0] as MeanFieldWalls, load, latency: null }
  const runs = engines.map((engine) => latencies(engine, asked, lengths))
  const figure = (of: (run: Latencies) => number): Predicted => predictedFrom(runs.map(of))
  return {
    capacityPerSecond,
    walls: walls[0] as MeanFieldWalls,
    load,
    latency: {
      ttftMeanMs: figure((run) => mean(run.ttft) ?? 0),
      ttftP99Ms: figure((run) => level(run.ttft)),
      tpotMeanMs: figure((run) => mean(run.tpot) ?? 0),
      tpotP99Ms: figure((run) => level(run.tpot)),
      e2eMeanMs: figure((run) => mean(run.e2e) ?? 0),
    },
  }
}

/** A run that the fit has not seen, foretold: its points, and what comes out of it in all where it is a closed loop. */
export interface PredictedRun {
  readonly points: readonly {
    readonly point: MeanPoint
    readonly ttftMs: Predicted
    readonly tpotMs: Predicted | null
  }[]
  readonly perSecond: Predicted | null
}

/**
 * Foretells a run from when its requests were sent and how long they are. The intervals are those of what is measured: what the
 * coefficients leave open, the noise of the fit, and what as many requests scatter.
 */
export function predictRun(model: FittedEngine, run: MeasuredRun): PredictedRun {
  const engines = likelyEngines(model)
  const all = engines.map((engine) => simulatedPoints(run, engine))
  const measured = measuredPoints(run)
  const [best = []] = all
  const rates = engines.flatMap((engine) => simulatedRate(run, engine)?.perSecond ?? [])
  return {
    points: best.map((point, i) => {
      const tpot = all.flatMap((points) => points[i]?.tpotMs ?? [])
      const { ttftError, tpotError } = measured[i] as MeanPoint
      return {
        point,
        ttftMs: widened(
          predictedFrom(all.map((points) => (points[i] as MeanPoint).ttftMs)),
          figureNoise(model, ttftError),
        ),
        tpotMs: tpot.length === 0 ? null : widened(predictedFrom(tpot), figureNoise(model, tpotError)),
      }
    }),
    perSecond:
      rates.length === 0
        ? null
        : widened(predictedFrom(rates), figureNoise(model, measuredRate(run)?.error ?? 0)),
  }
}

/** Φ⁻¹(0.95). */
const z95 = 1.6448536269514722

/**
 * Two independent sources of error: the half widths add by their squares. A time or a rate is not below 0, so the interval ends there;
 * it holds what it held.
 */
function widened({ value, low, high }: Predicted, noise: number): Predicted {
  const half = z95 * noise * value
  return {
    value,
    low: Math.max(0, value - Math.hypot(value - low, half)),
    high: value + Math.hypot(high - value, half),
  }
}

/** Pairs of prompt and output tokens of a load. */
export function drawnLengths(
  asked: Pick<PredictedLoad, 'promptTokens' | 'outputTokens' | 'requests' | 'seed'>,
): Array<readonly [number, number]> {
  const prompts = randomStream(asked.seed, 'prompt-lengths')
  const outputs = randomStream(asked.seed, 'output-lengths')
  return Array.from(
    { length: asked.requests },
    () => [drawLength(asked.promptTokens, prompts), drawLength(asked.outputTokens, outputs)] as const,
  )
}

interface Latencies {
  readonly ttft: number[]
  readonly tpot: number[]
  readonly e2e: number[]
}

/** Poisson arrivals; the first fifth fills the engine and is not counted. */
function latencies(
  engine: EngineConfig,
  { perSecond, seed }: PredictedLoad,
  lengths: ReadonlyArray<readonly [number, number]>,
): Latencies {
  const random = randomStream(seed, 'arrivals')
  let atMs = 0
  const results = runVirtual(createEngine(engine, randomStream(seed, 'engine'), { events: 'requests' }), {
    arrivals: lengths.map(([prompt, output], id) => ({
      id,
      arrivalMs: (atMs += (1000 * exponential(random)) / perSecond),
      promptTokenIds: { length: prompt, seed: null },
      outputTokens: output,
    })),
  })
  const found: Latencies = { ttft: [], tpot: [], e2e: [] }
  for (const { id, facts } of results) {
    if (facts === null || (id as number) < lengths.length / 5) continue
    found.ttft.push(facts.firstTokenMs - facts.arrivalMs)
    found.e2e.push(facts.lastTokenMs - facts.arrivalMs)
    if (facts.outputTokens > 1) {
      found.tpot.push((facts.lastTokenMs - facts.firstTokenMs) / (facts.outputTokens - 1))
    }
  }
  return found
}

/** Value and interval of a figure of `likelyEngines`: the first is that of the best coefficients. */
export function predictedFrom(values: readonly number[]): Predicted {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (p: string): number => percentile(sorted, p) ?? Number.NaN
  const value = values[0] as number
  return { value, low: Math.min(value, at('5')), high: Math.max(value, at('95')) }
}

function level(values: readonly number[]): number {
  return (
    percentile(
      values.toSorted((a, b) => a - b),
      '99',
    ) ?? 0
  )
}
