/** ln √(2π). */
const logRootTwoPi = 0.9189385332046727

/**
 * δ(x) = ln Γ(x + 1) − (x + ½) ln x + x − ln √(2π), the error of Stirling's formula. By its asymptotic series (Bernoulli
 * numbers, DLMF 5.11.1) above 16, and below by the exact step δ(x) − δ(x + 1) = (x + ½) ln(1 + 1/x) − 1.
 */
export function stirlingError(x: number): number {
  let stepped = 0
  let z = x
  while (z < 16) {
    stepped += (z + 0.5) * Math.log1p(1 / z) - 1
    z++
  }
  const square = 1 / (z * z)
  const series =
    (1 / 12 -
      square *
        (1 / 360 -
          square * (1 / 1260 - square * (1 / 1680 - square * (1 / 1188 - (square * 691) / 360360))))) /
    z
  return stepped + series
}

/** ln Γ(x) for x > 0. */
export function logGamma(x: number): number {
  if (x === 1 || x === 2) return 0
  return (x - 0.5) * Math.log(x) - x + logRootTwoPi + stirlingError(x)
}

/**
 * Loader's deviance term x ln(x ÷ m) + m − x, without cancellation where x is near m: with v = (x − m) ÷ (x + m),
 * ln(x ÷ m) = 2(v + v³/3 + v⁵/5 + …).
 */
export function bd0(x: number, m: number): number {
  const difference = x - m
  if (Math.abs(difference) > 0.1 * (x + m)) return x * Math.log(x / m) - difference
  const v = difference / (x + m)
  const square = v * v
  let sum = difference * v
  let term = 2 * x * v
  for (let odd = 3; odd < 1000; odd += 2) {
    term *= square
    const next = sum + term / odd
    if (next === sum) break
    sum = next
  }
  return sum
}

/** Γ's regularised upper tail Q(a, x) for a > 0, x ≥ 0: series below a + 1, Lentz's continued fraction above (DLMF 8.11, 8.9). */
export function gammaTail(a: number, x: number): number {
  if (x <= 0) return 1
  return x < a + 1 ? 1 - gammaSeries(a, x) : gammaFraction(a, x)
}

/** Γ's regularised lower part P(a, x) = 1 − Q(a, x). */
export function gammaCdf(a: number, x: number): number {
  if (x <= 0) return 0
  return x < a + 1 ? gammaSeries(a, x) : 1 - gammaFraction(a, x)
}

/** x^a e^−x ÷ Γ(a), by the same saddle-point form as the beta's. */
function gammaFront(a: number, x: number): number {
  return Math.sqrt(a / (2 * Math.PI)) * Math.exp(-stirlingError(a) - bd0(a, x))
}

function gammaSeries(a: number, x: number): number {
  let term = 1 / a
  let sum = term
  for (let n = 1; n < 1_000_000; n++) {
    term *= x / (a + n)
    sum += term
    if (term < sum * 1e-17) break
  }
  return gammaFront(a, x) * sum
}

function gammaFraction(a: number, x: number): number {
  const tiny = 1e-300
  let b = x + 1 - a
  let c = 1 / tiny
  let d = 1 / b
  let fraction = d
  for (let n = 1; n < 1_000_000; n++) {
    const numerator = -n * (n - a)
    b += 2
    d = numerator * d + b
    if (Math.abs(d) < tiny) d = tiny
    c = b + numerator / c
    if (Math.abs(c) < tiny) c = tiny
    d = 1 / d
    const factor = d * c
    fraction *= factor
    if (Math.abs(factor - 1) < 1e-16) break
  }
  return gammaFront(a, x) * fraction
}
