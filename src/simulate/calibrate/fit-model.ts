import { PlimsollError } from '../../base/errors.ts'
import { noun } from '../../base/noun.ts'
import type { EngineConfig } from '../engine/engine-config.ts'
import { measuredPoints, simulatedPoints, type MeanPoint, type MeasuredRun } from './measured-run.ts'
import { randomStream, standardNormal } from '../../base/random.ts'
import { bent } from './fit-run.ts'
import { cholesky, inverse } from './matrix.ts'
import { minimizeBySimplex } from './simplex.ts'
import type { Range, StepBounds } from './step-bounds.ts'
import {
  coefficientNames,
  coefficientsAt,
  engineWith,
  logRanges,
  pointOf,
  type CoefficientName,
  type Coefficients,
  type EngineSettings,
} from './step-coefficients.ts'

/** A step-time model with what is known of its coefficients. */
export interface FittedEngine {
  readonly settings: EngineSettings
  readonly coefficients: Coefficients
  /** Covariance of the natural logarithms of the coefficients, in the order of `coefficientNames`. */
  readonly logCovariance: readonly (readonly number[])[]
  /** Coefficients that the runs cannot rule out, drawn by the covariance and drawn in until they fit nearly as well. */
  readonly ensemble: readonly Coefficients[]
  readonly boundedBy: StepBounds['source']
  /** Root mean square of the relative errors of the points. */
  readonly rmsError: number
  /** Standard deviation of a measured figure's logarithm that covariance and ensemble rest on. */
  readonly noise: number
  readonly points: readonly { readonly measured: MeanPoint; readonly fitted: MeanPoint }[]
  /** Pairs whose estimates cannot be told apart: |correlation| above 0.95. */
  readonly collinear: readonly (readonly [CoefficientName, CoefficientName, number])[]
  /** What the fit has seen; a prediction outside is a guess. */
  readonly hull: {
    readonly promptTokens: readonly [number, number]
    readonly outputTokens: readonly [number, number]
  }
}

/** A relative error of 1 % of every figure is taken as noise at least: no fit is better than its model. */
const leastNoise = 0.01
/** Before any data a coefficient may be off by a factor of 3 either way (one standard deviation). */
const priorLogSd = Math.log(3)
const ensembleSize = 20
/** The 90th percentile of χ² with seven degrees of freedom: how much worse than the best a set of seven may fit. */
const worseAtMost = 12.017

export interface FitModelOptions {
  /** Simulations of all runs in each of the two halves of a search. */
  readonly evaluations: number
  /** One search from here, of a fit that gets new runs; null: two, from starts made of the points. */
  readonly from: Coefficients | null
  /** Called after each simulation of the search, with how many were made and how many there may be. */
  readonly onEvaluation?: (done: number, atMost: number) => void
}

export const defaultFitModelOptions: FitModelOptions = { evaluations: 300, from: null }

/**
 * Fits the step time to load tests by simulating each of them: the same requests, the same users or times. Two searches by
 * Nelder and Mead from starts made of the points themselves; covariance from the Jacobian of the points by the logarithms.
 * @throws PlimsollError PLIM_NUMBER where the runs cannot tell the coefficients apart at all.
 */
export function fitModel(
  runs: readonly MeasuredRun[],
  settings: EngineSettings,
  bounds: StepBounds,
  { evaluations, from, onEvaluation }: FitModelOptions = defaultFitModelOptions,
): FittedEngine {
  const measured = runs.flatMap(measuredPoints)
  refuseThin(runs, measured)
  const ranges = logRanges(bounds)
  const errorsOf = (config: EngineConfig): number[] =>
    weightedErrors(
      measured,
      runs.flatMap((run) => simulatedPoints(run, config)),
    )
  let evaluated = 0
  const atMost = evaluations * 2 * (from === null ? 2 : 1)
  const loss = (point: readonly number[]): number => {
    const errors = errorsOf(engineWith(settings, coefficientsAt(ranges, point)))
    const wandering = point.reduce((sum, x) => sum + x * x, 0)
    const sum = bentSum(errors)
    onEvaluation?.(Math.min(++evaluated, atMost), atMost)
    return Number.isFinite(sum) ? sum / errors.length + 1e-6 * wandering : Number.MAX_VALUE
  }
  const starts = startsOf(measured, from).map((start) => pointOf(ranges, start))
  const ends = starts.map((start) => {
    const rough = minimizeBySimplex(loss, start, 0.7, evaluations)
    return minimizeBySimplex(loss, rough.at, 0.3, evaluations)
  })
  const best = ends.reduce((least, end) => (end.value < least.value ? end : least))
  const coefficients = coefficientsAt(ranges, best.at)
  const config = engineWith(settings, coefficients)
  const errors = errorsOf(config)
  const noise = noiseOf(errors)
  const errorsWith = (of: Coefficients): number[] => errorsOf(engineWith(settings, of))
  const logCovariance = covariance(coefficients, noise, errorsWith)
  const fitted = runs.flatMap((run) => simulatedPoints(run, config))
  return {
    settings,
    coefficients,
    logCovariance,
    ensemble: ensembleOf(coefficients, logCovariance, (of) => {
      const worse = (bentSum(errorsWith(of)) - bentSum(errors)) / (noise * noise)
      return worse <= worseAtMost
    }),
    boundedBy: bounds.source,
    noise,
    rmsError: rootMeanSquare(measured, fitted),
    points: measured.map((point, i) => ({ measured: point, fitted: fitted[i] as MeanPoint })),
    collinear: collinearPairs(logCovariance),
    hull: {
      promptTokens: extent(runs.flatMap((run) => run.requests.map((request) => request.promptTokens))),
      outputTokens: extent(runs.flatMap((run) => run.requests.map((request) => request.outputTokens))),
    },
  }
}

function refuseThin(runs: readonly MeasuredRun[], points: readonly MeanPoint[]): void {
  const loads = new Set(runs.map((run) => run.closed?.users ?? `open ${run.name}`)).size
  const lengths = new Set(points.map((point) => Math.floor(Math.log2(point.promptTokens)))).size
  if (points.length >= 3 && (loads > 1 || lengths > 1)) return
  throw new PlimsollError('PLIM_NUMBER', 'these runs cannot tell seven coefficients apart', {
    expected: 'several concurrencies, and prompts of two lengths at least a factor of two apart',
    received: `${points.length} ${noun(points.length, 'point')}: ${loads} ${noun(loads, 'load')}, ${lengths} ${noun(lengths, 'length')} of prompts`,
    hint: 'plimsoll sweep --prompt 64 and again with --prompt 4000, then fit both',
  })
}

/**
 * simulated ÷ measured − 1 of TTFT and TPOT, point by point, each times its weight: what is known to `leastNoise` or better counts in
 * full, what its own requests scatter in counts the less.
 */
function weightedErrors(measured: readonly MeanPoint[], simulated: readonly MeanPoint[]): number[] {
  return measured.flatMap((point, i) => {
    const other = simulated[i] as MeanPoint
    const ttft = weightOf(point.ttftError) * (other.ttftMs / point.ttftMs - 1)
    if (point.tpotMs === null || other.tpotMs === null) return [ttft]
    return [ttft, weightOf(point.tpotError) * (other.tpotMs / point.tpotMs - 1)]
  })
}

/** The standard deviation of a figure known to `leastNoise` ÷ its own, errors of the model (another `leastNoise`) and scatter together. */
function weightOf(relativeError: number): number {
  return leastNoise / Math.hypot(leastNoise, relativeError)
}

/** Standard deviation of a measured figure around the model's, ÷ the figure: the fit's noise, and what its own requests scatter. */
export function figureNoise({ noise }: Pick<FittedEngine, 'noise'>, relativeError: number): number {
  return noise / weightOf(relativeError)
}

/**
 * Where the searches begin: from the fit before; else from the points, once with a knee far out (the weights are nearly all of a
 * step) and once with none (they are nothing beside what every step costs).
 */
function startsOf(measured: readonly MeanPoint[], from: Coefficients | null): Coefficients[] {
  if (from !== null) return [from]
  const first = guess(measured)
  return [first, { ...first, overheadMs: 0.95 * first.weightsMs, weightsMs: 0.1 * first.weightsMs }]
}

/** Rules of thumb between coefficients (from silicon tables: an H100 has c0/c2 = 155k tokens, c1/c3 = 17k) and two figures. */
function guess(points: readonly MeanPoint[]): Coefficients {
  const stepMs = Math.min(...points.map((point) => point.tpotMs ?? Number.POSITIVE_INFINITY), 1000)
  const sorted = points.toSorted((a, b) => a.promptTokens - b.promptTokens)
  const first = sorted[0] as MeanPoint
  const last = sorted.at(-1) as MeanPoint
  const span = last.promptTokens - first.promptTokens
  const slope = span > 0 ? (last.ttftMs - first.ttftMs) / span : 0
  const perTokenMs = slope > 0 ? Math.min(slope, stepMs / 50) : stepMs / 400
  return {
    overheadMs: 0.1 * stepMs,
    weightsMs: 0.85 * stepMs,
    perTokenMs,
    perContextTokenMs: stepMs / 155_000,
    perPairMs: perTokenMs / 17_000,
    perSequenceMs: stepMs / 700,
    frontEndMs: Math.max(0.1, Math.min(...points.map((point) => point.ttftMs)) - stepMs),
  }
}

/** (JᵀJ/s² + prior)⁻¹, J by central differences of ±3 %. */
function covariance(
  coefficients: Coefficients,
  noise: number,
  errorsOf: (of: Coefficients) => number[],
): number[][] {
  const step = 0.03
  const columns = coefficientNames.map((name) => {
    const up = errorsOf({ ...coefficients, [name]: coefficients[name] * Math.exp(step) })
    const down = errorsOf({ ...coefficients, [name]: coefficients[name] * Math.exp(-step) })
    return up.map((value, i) => (value - (down[i] as number)) / (2 * step))
  })
  const information = columns.map((a, i) =>
    columns.map((b, j) => {
      let sum = 0
      for (let k = 0; k < a.length; k++) sum += (a[k] as number) * (b[k] as number)
      return sum / (noise * noise) + (i === j ? 1 / (priorLogSd * priorLogSd) : 0)
    }),
  )
  return inverse(information)
}

/** Of the relative errors themselves, whatever they weigh. */
function rootMeanSquare(measured: readonly MeanPoint[], fitted: readonly MeanPoint[]): number {
  const errors = measured.flatMap((point, i) => {
    const other = fitted[i] as MeanPoint
    const ttft = other.ttftMs / point.ttftMs - 1
    return point.tpotMs === null || other.tpotMs === null ? [ttft] : [ttft, other.tpotMs / point.tpotMs - 1]
  })
  return Math.sqrt(errors.reduce((sum, error) => sum + error * error, 0) / errors.length)
}

/** One point that a busy machine spoilt shall not bend the rest: large errors count straight. */
function bentSum(errors: readonly number[]): number {
  return errors.reduce((sum, error) => sum + bent(error), 0)
}

function noiseOf(errors: readonly number[]): number {
  const free = Math.max(1, errors.length - coefficientNames.length)
  return Math.max(leastNoise, Math.sqrt(bentSum(errors) / free))
}

/**
 * Draws from the normal distribution of the logarithms. It is only straight near the best, so that a draw which does not fit
 * nearly as well is moved half the way back, as often as it takes.
 */
function ensembleOf(
  best: Coefficients,
  logCovariance: readonly (readonly number[])[],
  fits: (of: Coefficients) => boolean,
): Coefficients[] {
  const random = randomStream(1, 'ensemble')
  const lower = cholesky(logCovariance)
  return Array.from({ length: ensembleSize }, () => {
    const normal = coefficientNames.map(() => standardNormal(random))
    const shifts = coefficientNames.map((_, i) =>
      normal.reduce((sum, z, k) => sum + (lower[i]?.[k] ?? 0) * z, 0),
    )
    for (let share = 1; share > 0.01; share /= 2) {
      const pairs = coefficientNames.map(
        (name, i) => [name, best[name] * Math.exp(share * (shifts[i] as number))] as const,
      )
      const drawn = Object.fromEntries(pairs) as Record<CoefficientName, number>
      if (fits(drawn)) return drawn
    }
    return best
  })
}

function collinearPairs(of: readonly (readonly number[])[]): FittedEngine['collinear'] {
  const at = (i: number, j: number): number => of[i]?.[j] ?? 0
  return coefficientNames.flatMap((a, i) =>
    coefficientNames.slice(i + 1).flatMap((b, k) => {
      const j = i + 1 + k
      const correlation = at(i, j) / Math.sqrt(at(i, i) * at(j, j))
      return Math.abs(correlation) > 0.95 ? [[a, b, correlation] as const] : []
    }),
  )
}

function extent(values: readonly number[]): readonly [number, number] {
  return values.reduce<Range>(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  )
}
