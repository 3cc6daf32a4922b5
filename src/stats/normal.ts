import { PlimsollError } from '../base/errors.ts'

const rootTwoPi = 2.5066282746310002

export function normalDensity(z: number): number {
  return Math.exp(-0.5 * z * z) / rootTwoPi
}

/** Φ(z), accurate in both tails. */
export function normalCdf(z: number): number {
  return z <= 0 ? lowerTail(-z) : 1 - lowerTail(z)
}

/** 1 − Φ(z), accurate where it is small. */
export function normalTail(z: number): number {
  return normalCdf(-z)
}

/**
 * Φ⁻¹(p) for 0 ≤ p ≤ 1 (the ends are infinite): Halley's method on ln Φ from the asymptotic start, which it reaches in a
 * few steps because Φ is log-concave.
 */
export function normalQuantile(p: number): number {
  if (!(p >= 0 && p <= 1)) {
    throw new PlimsollError('PLIM_NUMBER', 'a probability lies between 0 and 1', { received: String(p) })
  }
  if (p === 0.5) return 0
  const tail = Math.min(p, 1 - p)
  if (tail === 0) return p === 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  const target = Math.log(tail)
  let z =
    tail > 0.2
      ? (0.5 - tail) * rootTwoPi
      : Math.sqrt(-2 * target - Math.log(2 * Math.PI * Math.max(1, -2 * target)))
  for (let step = 0; step < 50; step++) {
    const probability = lowerTail(z)
    const error = Math.log(probability) - target
    // d ln Q(z)/dz = −h with h = φ/Q; the second derivative is −h(h − z).
    const hazard = normalDensity(z) / probability
    const newton = error / hazard
    const next = z + newton / (1 + 0.5 * newton * (hazard - z))
    if (Math.abs(next - z) <= 2e-16 * Math.max(1, Math.abs(z))) {
      z = next
      break
    }
    z = next
  }
  return p < 0.5 ? -z : z
}

/** P(Z > z) for z ≥ 0: the series of DLMF 7.6.2 near the middle, the continued fraction 7.9.1 in the tail. */
function lowerTail(z: number): number {
  if (z > 38.6) return 0
  if (z < 2.5) {
    let term = z
    let sum = z
    for (let n = 1; n < 500; n++) {
      term *= (z * z) / (2 * n + 1)
      const next = sum + term
      if (next === sum) break
      sum = next
    }
    return 0.5 - normalDensity(z) * sum
  }
  // Mills' ratio 1/(z + 1/(z + 2/(z + 3/(z + …)))), from the far end.
  let ratio = z
  for (let n = 40 + Math.ceil(400 / z); n >= 1; n--) ratio = z + n / ratio
  return normalDensity(z) / ratio
}
