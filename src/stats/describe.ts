/** The arithmetic mean; null for no values. */
export function mean(values: ArrayLike<number>): number | null {
  if (values.length === 0) return null
  let sum = 0
  let lost = 0
  for (let i = 0; i < values.length; i++) {
    // Neumaier's compensated sum: the mean of a million close values keeps its digits.
    const value = values[i] as number
    const next = sum + value
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum
    sum = next
  }
  return (Number.isFinite(lost) ? sum + lost : sum) / values.length
}

/** The sample variance (divisor n − 1); null below two values. */
export function variance(values: ArrayLike<number>): number | null {
  const centre = mean(values)
  if (centre === null || values.length < 2) return null
  let squares = 0
  let drift = 0
  for (let i = 0; i < values.length; i++) {
    const deviation = (values[i] as number) - centre
    squares += deviation * deviation
    drift += deviation
  }
  return Math.max(0, (squares - (drift * drift) / values.length) / (values.length - 1))
}

/** The sample standard deviation; null below two values. */
export function standardDeviation(values: ArrayLike<number>): number | null {
  const square = variance(values)
  return square === null ? null : Math.sqrt(square)
}

/** The middle value, or the mean of the two in the middle; null for no values. */
export function median(values: ArrayLike<number>): number | null {
  const n = values.length
  if (n === 0) return null
  const sorted = Float64Array.from(values).sort()
  const upper = sorted[n >> 1] as number
  if (n % 2 === 1) return upper
  const lower = sorted[(n >> 1) - 1] as number
  return lower === upper ? upper : lower + (upper - lower) / 2
}

/** Weighted effective sample size of Kish (1965): (Σw)² ÷ Σw²; null without weight. */
export function kishEffectiveSize(weights: ArrayLike<number>): number | null {
  let sum = 0
  let squares = 0
  for (let i = 0; i < weights.length; i++) {
    sum += weights[i] as number
    squares += (weights[i] as number) ** 2
  }
  return squares === 0 ? null : (sum * sum) / squares
}
