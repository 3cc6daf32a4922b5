import { mean } from './describe.ts'
import { sampleOf, welch } from './two-means.ts'

/** The truncation point of White's marginal standard error rule, over batches. */
export interface Mser {
  /** Batches of `batch` values; what does not fill the last one is left out. */
  readonly batches: number
  /** Batches to cut, at most half of them. */
  readonly cutBatches: number
  /** Σ(z − z̄)² ÷ (m − d)² at the cut. */
  readonly objective: number
  /** Where the rule would cut if it might cut more than half (all but the last five). */
  readonly unrestrictedCutBatches: number
}

/**
 * MSER over batch means z_1…z_m (White, "An effective truncation heuristic for bias reduction in simulation output",
 * Simulation 69 (1997); batches of five: MSER-5). Null for fewer than two batches.
 */
export function mser(values: ArrayLike<number>, batch = 5): Mser | null {
  const means = batchMeans(values, batch)
  const m = means.length
  if (m < 2) return null
  const objectives = cutObjectives(means)
  let cut = 0
  for (let d = 1; d <= Math.floor(m / 2); d++) if (at(objectives, d) < at(objectives, cut)) cut = d
  let unrestricted = 0
  for (let d = 1; d <= m - 5; d++) if (at(objectives, d) < at(objectives, unrestricted)) unrestricted = d
  return { batches: m, cutBatches: cut, objective: at(objectives, cut), unrestrictedCutBatches: unrestricted }
}

/** How a series settles. `too_short`: fewer than ten batches, which decide nothing. */
export type SteadyStateKind = 'flat' | 'warmup' | 'slowdown' | 'no_steady_state' | 'too_short'

export interface SteadyState {
  readonly kind: SteadyStateKind
  /** Leading values to leave out; 0 where nothing is to be cut or no steady state was found. */
  readonly cut: number
  readonly mser: Mser | null
  /** |second half − first half| ÷ first half of the kept part. */
  readonly halfDrift: number | null
  /** Welch's p of the two halves. */
  readonly halfP: number | null
  /** Mean of the cut part ÷ mean of the kept part − 1. */
  readonly cutOff: number | null
  /** The evidence in a sentence. */
  readonly reason: string
}

export interface SteadyStateOptions {
  /** Values per batch; 5 as in MSER-5. */
  readonly batch?: number
  /** Which way of the figure is better; with it a cut part that was better than the rest is a slowdown, not a warm-up. */
  readonly better?: 'lower' | 'higher'
}

/**
 * Classifies a series of equal time bins (throughput, in-flight or mean latency a second). No steady state: the rule wants
 * to cut more than half and the parts do differ (without that, white noise of 100 bins was refused in 12 % of 1,000 tries), or the halves of the kept part differ (Welch p < 0.01 and by more than 2 %). Warm-up: more than
 * 5 % is cut, or the cut part is more than 5 % off. Slowdown as Barrett et al. ("Virtual machine warmup blows hot and
 * cold", 2017) name a run that gets worse.
 */
export function classifySteadyState(
  binned: ArrayLike<number>,
  options: SteadyStateOptions = {},
): SteadyState {
  const batch = options.batch ?? 5
  const rule = mser(binned, batch)
  const none = { cut: 0, mser: rule, halfDrift: null, halfP: null, cutOff: null }
  if (rule === null || rule.batches < 10) {
    const bins = binned.length
    return { ...none, kind: 'too_short', reason: `${bins} bins are too few; ${10 * batch} are needed` }
  }
  const means = batchMeans(binned, batch)
  const kept = means.slice(rule.cutBatches)
  const middle = kept.length >> 1
  const first = sampleOf(kept.slice(0, middle))
  const second = sampleOf(kept.slice(middle))
  const drift = first === null || second === null ? null : relative(second.mean, first.mean)
  const test = first === null || second === null ? null : welch(second, first)
  const halfDrift = drift === null ? null : Math.abs(drift)
  // Two constant halves leave no noise to test against: any difference between them is real.
  const halfP = test === null ? null : (test.p ?? (test.difference === 0 ? 1 : 0))
  const cutOff =
    rule.cutBatches === 0
      ? 0
      : relative(mean(means.slice(0, rule.cutBatches)) as number, mean(kept) as number)
  const found = { ...none, halfDrift, halfP, cutOff }

  if (rule.unrestrictedCutBatches > rule.batches / 2 && partsDiffer(means, rule.unrestrictedCutBatches)) {
    const share = ((100 * rule.unrestrictedCutBatches) / rule.batches).toFixed(0)
    return {
      ...found,
      kind: 'no_steady_state',
      reason: `it settles, if at all, only after ${share} % of the window`,
    }
  }
  if (halfP !== null && halfDrift !== null && halfP < 0.01 && halfDrift > 0.02) {
    const percent = (100 * halfDrift).toFixed(1)
    return { ...found, kind: 'no_steady_state', reason: `the halves of the kept part differ by ${percent} %` }
  }
  const cut = rule.cutBatches * batch
  if (rule.cutBatches > 0.05 * rule.batches || Math.abs(cutOff ?? 0) > 0.05) {
    const off = cutOff ?? 0
    const wasBetter =
      options.better === 'lower' ? off < -0.05 : options.better === 'higher' ? off > 0.05 : false
    const percent = (100 * off).toFixed(1)
    return {
      ...found,
      kind: wasBetter ? 'slowdown' : 'warmup',
      cut,
      reason: `the first ${cut} bins are ${off >= 0 ? '+' : ''}${percent} % off the rest`,
    }
  }
  return { ...found, kind: 'flat', cut, reason: 'no trend in the window' }
}

/** Welch p < 0.01 and means more than 2 % apart, before and after a cut. */
function partsDiffer(means: Float64Array, cut: number): boolean {
  const before = sampleOf(means.subarray(0, cut))
  const after = sampleOf(means.subarray(cut))
  if (before === null || after === null) return false
  const { p, difference } = welch(before, after)
  const apart = relative(before.mean, after.mean)
  return (p === null ? difference !== 0 : p < 0.01) && (apart === null || Math.abs(apart) > 0.02)
}

function batchMeans(values: ArrayLike<number>, batch: number): Float64Array {
  const means = new Float64Array(Math.floor(values.length / batch))
  for (let i = 0; i < means.length; i++) {
    let sum = 0
    for (let j = 0; j < batch; j++) sum += values[i * batch + j] as number
    means[i] = sum / batch
  }
  return means
}

/** Σ_{i>d}(z_i − z̄_d)² ÷ (m − d)² for d = 0 … m − 1, by Welford's update from the end: no cancellation. */
function cutObjectives(means: Float64Array): Float64Array {
  const m = means.length
  const objectives = new Float64Array(m)
  let centre = 0
  let squares = 0
  for (let d = m - 1; d >= 0; d--) {
    const count = m - d
    const step = at(means, d) - centre
    centre += step / count
    squares += step * (at(means, d) - centre)
    objectives[d] = squares / (count * count)
  }
  return objectives
}

function relative(value: number, base: number): number | null {
  if (value === base) return 0
  return base === 0 ? null : value / base - 1
}

function at(values: Float64Array, index: number): number {
  return values[index] as number
}
