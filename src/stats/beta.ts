import { PlimsollError } from '../base/errors.ts'
import { bd0, logGamma, stirlingError } from './gamma.ts'

/**
 * The beta density times x(1 − x): x^a·y^b ÷ B(a, b) with y = 1 − x given apart, so that neither end loses digits. By
 * Loader's saddle-point form ("Fast and accurate computation of binomial probabilities", 2000), which keeps full relative
 * accuracy for large parameters.
 */
export function betaFrontFactor(x: number, y: number, a: number, b: number): number {
  if (x <= 0 || y <= 0) return 0
  const n = a + b
  const exponent = stirlingError(n) - stirlingError(a) - stirlingError(b) - bd0(a, n * x) - bd0(b, n * y)
  return Math.sqrt((a * b) / (2 * Math.PI * n)) * Math.exp(exponent)
}

/**
 * The regularised incomplete beta function I_x(a, b), by a continued fraction (Lentz's method). Relative
 * accuracy about 1e-13. Pass `y` = 1 − x where it is known more exactly.
 */
export function betaCdf(x: number, a: number, b: number, y: number = 1 - x): number {
  requirePositive(a, b)
  if (x <= 0) return 0
  if (y <= 0) return 1
  return x <= a / (a + b) ? continued(x, y, a, b) : 1 - continued(y, x, b, a)
}

/** The upper tail 1 − I_x(a, b), accurate where it is small. */
export function betaTail(x: number, a: number, b: number, y: number = 1 - x): number {
  return betaCdf(y, b, a, x)
}

/** Where I_x(a, b) = q. */
export function betaQuantile(q: number, a: number, b: number): number {
  requirePositive(a, b)
  if (!(q >= 0 && q <= 1)) {
    throw new PlimsollError('PLIM_NUMBER', 'a probability lies between 0 and 1', { received: String(q) })
  }
  if (q === 0) return 0
  if (q === 1) return 1
  const logit = betaQuantileLogit(q, 1 - q, a, b)
  return 1 / (1 + Math.exp(-logit))
}

/**
 * ln(x ÷ (1 − x)) at I_x(a, b) = q, where `complement` = 1 − q is given apart. Newton's method on ln I (or on the log of
 * the upper tail) inside a shrinking bracket: in the logit both ends of the unit interval have full accuracy.
 */
export function betaQuantileLogit(q: number, complement: number, a: number, b: number): number {
  const lowerTail = q <= complement
  const target = Math.log(lowerTail ? q : complement)
  let low = -745
  let high = 745
  let logit = startingLogit(q, a, b)
  for (let step = 0; step < 400; step++) {
    const x = 1 / (1 + Math.exp(-logit))
    const y = 1 / (1 + Math.exp(logit))
    const probability = lowerTail ? betaCdf(x, a, b, y) : betaCdf(y, b, a, x)
    const error = probability > 0 ? Math.log(probability) - target : Number.NEGATIVE_INFINITY
    if (error === 0) return logit
    const tooHigh = lowerTail ? error > 0 : error < 0
    if (tooHigh) high = logit
    else low = logit
    const slope = ((lowerTail ? 1 : -1) * betaFrontFactor(x, y, a, b)) / probability
    let next = logit - error / slope
    if (!(next > low && next < high)) next = (low + high) / 2
    if (Math.abs(next - logit) <= 1e-16 * Math.max(1, Math.abs(next)) || next === low || next === high)
      return next
    logit = next
  }
  return logit
}

function startingLogit(q: number, a: number, b: number): number {
  const centre = Math.log(a / b)
  // Near the ends I ~ x^a ÷ (a·B(a, b)): a good start where the normal picture is none.
  if (a < 1 && q < 0.5) {
    const logBeta = logGamma(a) + logGamma(b) - logGamma(a + b)
    return Math.max(-744, Math.min(centre, (Math.log(q * a) + logBeta) / a))
  }
  return centre
}

/**
 * I_x(a, b) = x^a·y^b ÷ B(a, b) · 1/(β₁ + α₂/(β₂ + α₃/(β₃ + …))) for λ = a − (a + b)x = (a + b)y − b ≥ 0, with
 * α_{n+1} = (a + n − 1)(a + b + n − 1)·n(b − n)x² ÷ (a + 2n − 1)² and
 * β_{n+1} = n + n(b − n)x ÷ (a + 2n − 1) + (a + n)(λ + 1 + n(1 + y)) ÷ (a + 2n + 1)
 * (Didonato and Morris, ACM TOMS 18, 1992, §3). No term cancels, so large a and x near 1 keep their digits.
 */
function continued(x: number, y: number, a: number, b: number): number {
  const lambda = x <= y ? a - (a + b) * x : (a + b) * y - b
  // Lentz: C and D carry the numerators' and denominators' ratios.
  let c = (a * (lambda + 1)) / (a + 1)
  let d = 0
  let fraction = c
  for (let n = 1; n <= 200_000; n++) {
    const width = a + 2 * n - 1
    const share = (n * (b - n) * x) / width
    const alpha = (share * (a + n - 1) * (a + b + n - 1) * x) / width
    const beta = n + share + ((a + n) * (lambda + 1 + n * (1 + y))) / (a + 2 * n + 1)
    d = 1 / (beta + alpha * d)
    c = beta + alpha / c
    const factor = c * d
    fraction *= factor
    if (Math.abs(factor - 1) < 2e-16) break
  }
  return betaFrontFactor(x, y, a, b) / fraction
}

function requirePositive(a: number, b: number): void {
  if (!(a > 0 && b > 0)) {
    throw new PlimsollError('PLIM_NUMBER', 'the parameters of a beta distribution are above 0', {
      received: `${a}, ${b}`,
    })
  }
}
