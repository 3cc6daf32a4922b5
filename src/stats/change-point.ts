import type { Random } from '../base/random.ts'

/** The best single split of a series by E-divisive. */
export interface ChangePoint {
  /** Values before the change. */
  readonly tau: number
  /** Where the second segment ends. */
  readonly kappa: number
  /** nm ÷ (n + m) times the energy distance of the two segments. */
  readonly statistic: number
}

/**
 * E-divisive (Matteson and James, JASA 109, 2014) with exponent 1: the split τ and end κ with the largest
 * nm ÷ (n + m) · (2·mean|x − y| − mean|x − x′| − mean|y − y′|). Null when there are not two segments of `minimum` values.
 */
export function bestChangePoint(values: ArrayLike<number>, minimum = 2): ChangePoint | null {
  const size = values.length
  const least = Math.max(2, minimum)
  if (size < 2 * least) return null
  const before = withinSums(values)
  let best: ChangePoint | null = null
  for (let tau = least; tau <= size - least; tau++) {
    // Σ|x − y| between the first τ values and the second segment, grown one value at a time.
    let between = 0
    let after = 0
    for (let kappa = tau + 1; kappa <= size; kappa++) {
      const added = values[kappa - 1] as number
      for (let i = 0; i < tau; i++) between += Math.abs((values[i] as number) - added)
      for (let j = tau; j < kappa - 1; j++) after += Math.abs((values[j] as number) - added)
      const m = kappa - tau
      if (m < least) continue
      const energy =
        (2 * between) / (tau * m) -
        (2 * (before[tau] as number)) / (tau * (tau - 1)) -
        (2 * after) / (m * (m - 1))
      const statistic = ((tau * m) / (tau + m)) * energy
      if (best === null || statistic > best.statistic) best = { tau, kappa, statistic }
    }
  }
  return best
}

/** p of the best split against shuffled series. Null where there is no split. */
export function changePointP(
  values: readonly number[],
  random: Random,
  options: { readonly minimum?: number; readonly shuffles?: number } = {},
): number | null {
  const observed = bestChangePoint(values, options.minimum)
  if (observed === null) return null
  const shuffles = options.shuffles ?? 199
  let extreme = 0
  for (let shuffle = 0; shuffle < shuffles; shuffle++) {
    const shuffled = values.slice()
    for (let i = shuffled.length - 1; i > 0; i--) {
      const j = Math.floor(random.next() * (i + 1))
      const kept = shuffled[i] as number
      shuffled[i] = shuffled[j] as number
      shuffled[j] = kept
    }
    const found = bestChangePoint(shuffled, options.minimum)
    if (found !== null && found.statistic >= observed.statistic * (1 - 1e-12)) extreme++
  }
  return (extreme + 1) / (shuffles + 1)
}

/** Σ|x_i − x_j| over the pairs of the first τ values, for every τ. */
function withinSums(values: ArrayLike<number>): Float64Array {
  const sums = new Float64Array(values.length + 1)
  for (let tau = 1; tau <= values.length; tau++) {
    let added = 0
    for (let i = 0; i < tau - 1; i++) added += Math.abs((values[i] as number) - (values[tau - 1] as number))
    sums[tau] = (sums[tau - 1] as number) + added
  }
  return sums
}
