import type { StepTimeModel } from '../engine/step-time.ts'
import { modelSizes, type Architecture } from './architecture.ts'
import type { Gpu } from './gpu.ts'

/** Between which values a coefficient lies. A range whose low end is 0 is searched evenly, any other by its logarithm. */
export type Range = readonly [low: number, high: number]

/**
 * The six numbers that a fit looks for, in ms: per step beside the weights, the weights once, per token, per context token,
 * per pair, per row. The knee is no seventh: t = overhead + max(weights, c1·T) has it at weights ÷ c1.
 */
export interface StepBounds {
  readonly overheadMs: Range
  readonly weightsMs: Range
  readonly perTokenMs: Range
  readonly perContextTokenMs: Range
  readonly perPairMs: Range
  readonly perSequenceMs: Range
  /** What the ranges rest on. */
  readonly source: 'physics' | 'not negative'
}

const bytesPerValue = 2

/**
 * What physics leaves open when GPU and model are known: each coefficient at a share of the data sheet. The memory reaches
 * 50–97 % of its peak for weights and 30–97 % for keys and values (scattered blocks); matrix products 30–100 % of theirs on
 * one GPU and 15–100 % on several, where the sums over GPUs are in it; attention 2–100 %. Beside that a step takes 0–8 ms
 * of launches and CPU and a row up to 0.1 ms. Experts may be spread over more GPUs (`expertGpus`) than hold a replica.
 */
export function physicalBounds(
  gpu: Gpu,
  shape: Architecture,
  gpus: number,
  expertGpus: number = gpus,
): StepBounds {
  if (expertGpus > gpus)
    return joined(physicalBounds(gpu, shape, expertGpus), physicalBounds(gpu, shape, gpus))
  const sizes = modelSizes(shape)
  const bandwidth = (gpus * gpu.bandwidth) / 1000
  const flops = (gpus * gpu.flops) / 1000
  const slowest = gpus > 1 ? 0.15 : 0.3
  const perToken = (2 * sizes.perToken) / flops
  const perContext = (bytesPerValue * sizes.kvValues) / bandwidth
  const perPair = sizes.pairFlops / flops
  return {
    overheadMs: [0, 8],
    weightsMs: [
      (bytesPerValue * sizes.readForOne) / bandwidth / 0.97,
      (bytesPerValue * sizes.readForAll) / bandwidth / 0.5,
    ],
    perTokenMs: [perToken, perToken / slowest],
    perContextTokenMs: [perContext / 0.97, perContext / 0.3],
    perPairMs: [perPair, perPair / 0.02],
    perSequenceMs: [0, 0.1],
    source: 'physics',
  }
}

/** From the low ends of one to the high ends of the other. */
function joined(low: StepBounds, high: StepBounds): StepBounds {
  const range = (name: Exclude<keyof StepBounds, 'source'>): Range => [low[name][0], high[name][1]]
  return {
    overheadMs: range('overheadMs'),
    weightsMs: range('weightsMs'),
    perTokenMs: range('perTokenMs'),
    perContextTokenMs: range('perContextTokenMs'),
    perPairMs: range('perPairMs'),
    perSequenceMs: range('perSequenceMs'),
    source: 'physics',
  }
}

/** Where GPU or model is unknown: anything that any engine might be. What is fitted inside says little beyond its own load. */
export const openBounds: StepBounds = {
  overheadMs: [0, 20],
  weightsMs: [0.5, 200],
  perTokenMs: [0.0005, 2],
  perContextTokenMs: [1e-6, 0.005],
  perPairMs: [1e-8, 1e-4],
  perSequenceMs: [0, 0.5],
  source: 'not negative',
}

const order = [
  'overheadMs',
  'weightsMs',
  'perTokenMs',
  'perContextTokenMs',
  'perPairMs',
  'perSequenceMs',
] as const

/** How many numbers a point of the search has. */
export const searchAxes: number = order.length

/** The model at a point of the search: any six real numbers, each drawn into its range by the logistic function. */
export function modelAt(bounds: StepBounds, point: readonly number[]): StepTimeModel {
  const value = order.map((name, i) => drawnInto(bounds[name], point[i] as number))
  const [overheadMs, weightsMs, perTokenMs, perContextTokenMs, perPairMs, perSequenceMs] = value as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  return {
    baseMs: overheadMs + weightsMs,
    kneeTokens: weightsMs / perTokenMs,
    perTokenMs,
    perContextTokenMs,
    perPairMs,
    perSequenceMs,
  }
}

function drawnInto([low, high]: Range, x: number): number {
  const share = 1 / (1 + Math.exp(-x))
  return low === 0 ? share * high : low * (high / low) ** share
}

/** The coefficients that stand at an end of their range (within 3 % of its width): there physics decides, not the data. */
export function atBounds(point: readonly number[]): string[] {
  return order.filter((_, i) => Math.abs(point[i] as number) > 3.5)
}
