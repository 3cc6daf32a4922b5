import { PlimsollError } from '../base/errors.ts'
import { betaCdf, betaQuantileLogit } from './beta.ts'
import { gammaCdf, logGamma } from './gamma.ts'
import { normalCdf, normalQuantile } from './normal.ts'

/** P(T > |t|) of Student's t with `degrees` of freedom (fractions allowed, Infinity is the normal). */
export function tTail(t: number, degrees: number): number {
  requireDegrees(degrees)
  const size = Math.abs(t)
  if (degrees === Number.POSITIVE_INFINITY) return normalCdf(-size)
  if (size === Number.POSITIVE_INFINITY) return 0
  const square = size * size
  const x = degrees / (degrees + square)
  const y = square / (degrees + square)
  return 0.5 * betaCdf(x, degrees / 2, 0.5, y)
}

/** P(T ≤ t). */
export function tCdf(t: number, degrees: number): number {
  const tail = tTail(t, degrees)
  return t <= 0 ? tail : 1 - tail
}

/** The two-sided p value of a t statistic. */
export function tTwoSided(t: number, degrees: number): number {
  return Math.min(1, 2 * tTail(t, degrees))
}

/** Where P(T ≤ t) = p, 0 ≤ p ≤ 1; through the beta quantile in the logit, so that far tails keep their digits. */
export function tQuantile(p: number, degrees: number): number {
  requireDegrees(degrees)
  if (!(p >= 0 && p <= 1)) {
    throw new PlimsollError('PLIM_NUMBER', 'a probability lies between 0 and 1', { received: String(p) })
  }
  if (p === 0.5) return 0
  if (p === 0 || p === 1) return p === 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  if (degrees === Number.POSITIVE_INFINITY) return normalQuantile(p)
  const tail = Math.min(p, 1 - p)
  // 2·tail = I_x(ν/2, ½) with x = ν/(ν + t²), so t² = ν·e^(−logit x).
  const logit = betaQuantileLogit(2 * tail, 2 * Math.abs(p - 0.5), degrees / 2, 0.5)
  const size = Math.sqrt(degrees) * Math.exp(-logit / 2)
  return p < 0.5 ? -size : size
}

/**
 * P(T′ ≤ t) of the noncentral t: ∫ Φ(t·s − δ) f(s) ds over s = √(χ²_ν/ν), by Simpson's rule in a range outside which f is
 * below 1e-16. Absolute accuracy about 1e-11.
 */
export function noncentralTCdf(t: number, degrees: number, noncentrality: number): number {
  requireDegrees(degrees)
  const points = 2000
  const half = degrees / 2
  const top = Math.sqrt(upperChiSquare(degrees) / degrees)
  const spread = Math.sqrt(1 / (2 * degrees))
  const bottom = Math.max(0, 1 - 9 * spread)
  const width = (top - bottom) / points
  const logConstant = Math.log(2) + half * Math.log(half) - logGamma(half)
  let sum = 0
  for (let i = 0; i <= points; i++) {
    const s = bottom + i * width
    if (s === 0 && degrees > 1) continue
    const power = degrees === 1 ? 0 : (degrees - 1) * Math.log(s)
    const density = Math.exp(logConstant + power - half * s * s)
    const weight = i === 0 || i === points ? 1 : i % 2 === 1 ? 4 : 2
    sum += weight * density * normalCdf(t * s - noncentrality)
  }
  return Math.min(1, Math.max(0, (sum * width) / 3))
}

/** A value that χ² with `degrees` exceeds with probability below 1e-16. */
function upperChiSquare(degrees: number): number {
  let x = degrees + 10 * Math.sqrt(2 * degrees) + 20
  while (1 - gammaCdf(degrees / 2, x / 2) > 0) x *= 1.2
  return x
}

function requireDegrees(degrees: number): void {
  if (!(degrees > 0)) {
    throw new PlimsollError('PLIM_NUMBER', 'degrees of freedom are above 0', { received: String(degrees) })
  }
}
