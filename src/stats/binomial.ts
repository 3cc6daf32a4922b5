import { PlimsollError } from '../base/errors.ts'
import { betaCdf, betaQuantile } from './beta.ts'
import { bd0, stirlingError } from './gamma.ts'
import { normalQuantile } from './normal.ts'

/** P(B = k) of `n` trials with probability `p` (Loader 2000). */
export function binomialMass(k: number, n: number, p: number): number {
  requireTrials(n, p)
  if (k < 0 || k > n || !Number.isInteger(k)) return 0
  if (p === 0) return k === 0 ? 1 : 0
  if (p === 1) return k === n ? 1 : 0
  if (k === 0) return Math.exp(n * Math.log1p(-p))
  if (k === n) return Math.exp(n * Math.log(p))
  const exponent =
    stirlingError(n) - stirlingError(k) - stirlingError(n - k) - bd0(k, n * p) - bd0(n - k, n * (1 - p))
  return Math.sqrt(n / (2 * Math.PI * k * (n - k))) * Math.exp(exponent)
}

/** P(B ≤ k). `complement` = 1 − p may be given where it is known more exactly. */
export function binomialCdf(k: number, n: number, p: number, complement: number = 1 - p): number {
  requireTrials(n, p)
  const whole = Math.floor(k)
  if (whole < 0) return 0
  if (whole >= n) return 1
  if (p === 0) return 1
  if (p === 1) return 0
  return betaCdf(complement, n - whole, whole + 1, p)
}

/** P(B > k), accurate where it is small. */
export function binomialTail(k: number, n: number, p: number, complement: number = 1 - p): number {
  requireTrials(n, p)
  const whole = Math.floor(k)
  if (whole < 0) return 1
  if (whole >= n || p === 0) return 0
  if (p === 1) return 1
  return betaCdf(p, whole + 1, n - whole, complement)
}

/** The smallest k with P(B ≤ k) ≥ q. */
export function binomialQuantile(q: number, n: number, p: number, complement: number = 1 - p): number {
  requireTrials(n, p)
  if (!(q >= 0 && q <= 1)) {
    throw new PlimsollError('PLIM_NUMBER', 'a probability lies between 0 and 1', { received: String(q) })
  }
  if (q === 0) return 0
  if (q === 1) return p === 0 ? 0 : n
  const enough = (k: number): boolean =>
    q <= 0.5 ? binomialCdf(k, n, p, complement) >= q : binomialTail(k, n, p, complement) <= 1 - q
  const guess = Math.floor(n * p + normalQuantile(q) * Math.sqrt(n * p * complement))
  let step = 1
  let high = Math.min(n, Math.max(0, guess))
  let low = high - 1
  while (high < n && !enough(high)) {
    low = high
    high = Math.min(n, high + step)
    step *= 2
  }
  step = 1
  while (low >= 0 && enough(low)) {
    high = low
    low = Math.max(-1, low - step)
    step *= 2
  }
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (enough(middle)) high = middle
    else low = middle
  }
  return high
}

/** An interval of a share. */
export interface ShareInterval {
  readonly low: number
  readonly high: number
}

/** Wilson's score interval (1927) of `bad` out of `total`; null without trials. `confidence` in (0, 1), two-sided. */
export function wilson(bad: number, total: number, confidence = 0.95): ShareInterval | null {
  if (total === 0) return null
  requireCount(bad, total)
  const z = normalQuantile(1 - (1 - confidence) / 2)
  const share = bad / total
  const square = (z * z) / total
  const centre = (share + square / 2) / (1 + square)
  const half = (z / (1 + square)) * Math.sqrt((share * (1 - share)) / total + square / (4 * total))
  return { low: bad === 0 ? 0 : centre - half, high: bad === total ? 1 : centre + half }
}

/** Clopper and Pearson's exact interval (1934), from beta quantiles; null without trials. Two-sided. */
export function clopperPearson(bad: number, total: number, confidence = 0.95): ShareInterval | null {
  if (total === 0) return null
  const tail = (1 - confidence) / 2
  return { low: clopperPearsonLower(bad, total, tail), high: clopperPearsonUpper(bad, total, tail) }
}

/** The share that is exceeded with at most probability `tail` given `bad` of `total`: the lower end of a one-sided interval. */
export function clopperPearsonLower(bad: number, total: number, tail: number): number {
  requireCount(bad, total)
  return bad === 0 ? 0 : betaQuantile(tail, bad, total - bad + 1)
}

/** The upper end of a one-sided interval at confidence 1 − `tail`. */
export function clopperPearsonUpper(bad: number, total: number, tail: number): number {
  requireCount(bad, total)
  if (bad === total) return 1
  // 1 − I⁻¹ of the mirrored tail: a tail of 1e-12 would not survive 1 − tail.
  return 1 - betaQuantile(tail, total - bad, bad + 1)
}

function requireTrials(n: number, p: number): void {
  if (!(Number.isInteger(n) && n >= 0 && p >= 0 && p <= 1)) {
    throw new PlimsollError('PLIM_NUMBER', 'a binomial has a whole number of trials and a probability', {
      received: `n ${n}, p ${p}`,
    })
  }
}

function requireCount(bad: number, total: number): void {
  if (!(Number.isInteger(bad) && Number.isInteger(total) && bad >= 0 && bad <= total)) {
    throw new PlimsollError('PLIM_NUMBER', 'a count lies between 0 and its total', {
      received: `${bad} of ${total}`,
    })
  }
}
