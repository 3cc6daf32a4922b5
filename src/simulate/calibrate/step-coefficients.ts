import { plainScheduling, type EngineConfig, type SchedulingChoice } from '../engine/engine-config.ts'
import type { Range, StepBounds } from './step-bounds.ts'

/** The seven numbers that a fit to load tests looks for, ms; `frontEndMs` is what a request spends before the scheduler has it. */
export const coefficientNames = [
  'overheadMs',
  'weightsMs',
  'perTokenMs',
  'perContextTokenMs',
  'perPairMs',
  'perSequenceMs',
  'frontEndMs',
] as const

export type CoefficientName = (typeof coefficientNames)[number]
export type Coefficients = Readonly<Record<CoefficientName, number>>
/** Of a plain vLLM, see `plainScheduling`. */
export type EngineSettings = Omit<EngineConfig, 'stepTime' | 'frontEndMs' | keyof SchedulingChoice>

/** The engine with those coefficients: t = overhead + max(weights, c1·T) + …, so that the knee is at weights ÷ c1. */
export function engineWith(settings: EngineSettings, of: Coefficients): EngineConfig {
  return {
    ...plainScheduling,
    ...settings,
    frontEndMs: of.frontEndMs,
    stepTime: {
      baseMs: of.overheadMs + of.weightsMs,
      kneeTokens: of.weightsMs / of.perTokenMs,
      perTokenMs: of.perTokenMs,
      perContextTokenMs: of.perContextTokenMs,
      perPairMs: of.perPairMs,
      perSequenceMs: of.perSequenceMs,
    },
  }
}

/** Ranges in which every coefficient is above 0, so that its logarithm can be searched. */
export function logRanges(bounds: StepBounds): Record<CoefficientName, Range> {
  const above0 = ([low, high]: Range): Range => [Math.max(low, high / 10_000), high]
  return {
    overheadMs: above0(bounds.overheadMs),
    weightsMs: above0(bounds.weightsMs),
    perTokenMs: above0(bounds.perTokenMs),
    perContextTokenMs: above0(bounds.perContextTokenMs),
    perPairMs: above0(bounds.perPairMs),
    perSequenceMs: above0(bounds.perSequenceMs),
    frontEndMs: [0.01, 100],
  }
}

/** Real numbers to coefficients: each is drawn into its range by the logistic function of its logarithm. */
export function coefficientsAt(
  ranges: Readonly<Record<CoefficientName, Range>>,
  point: readonly number[],
): Coefficients {
  const pairs = coefficientNames.map((name, i) => {
    const [low, high] = ranges[name]
    return [name, low * (high / low) ** (1 / (1 + Math.exp(-(point[i] as number))))] as const
  })
  return Object.fromEntries(pairs) as Record<CoefficientName, number>
}

/** The way back; what lies outside is put just inside. */
export function pointOf(
  ranges: Readonly<Record<CoefficientName, Range>>,
  coefficients: Coefficients,
): number[] {
  return coefficientNames.map((name) => {
    const [low, high] = ranges[name]
    const share = Math.log(coefficients[name] / low) / Math.log(high / low)
    const inside = Math.min(Math.max(share, 0.02), 0.98)
    return Math.log(inside / (1 - inside))
  })
}
