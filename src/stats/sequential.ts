import { logGamma } from './gamma.ts'
import { normalCdf, normalDensity, normalQuantile } from './normal.ts'

/** An interval of a share that holds at every moment at once. */
export interface AnytimeInterval {
  readonly low: number
  readonly high: number
}

/**
 * Robbins' confidence sequence of a share after `bad` of `total` events: all p with B(a + S, b + n − S) ÷ B(a, b) ÷
 * (p^S(1 − p)^{n−S}) < 1/α, prior Beta(a, b). It may be looked at after every event (Robbins 1970; Ville's inequality).
 */
export function confidenceSequence(
  bad: number,
  total: number,
  alpha = 0.05,
  prior: readonly [a: number, b: number] = [1, 1],
): AnytimeInterval {
  const [a, b] = prior
  const logMixture = logBeta(a + bad, b + total - bad) - logBeta(a, b) + Math.log(alpha)
  const good = total - bad
  // The log of the mixture against p, above 0 where p is excluded; convex with its least value at the observed share.
  const excluded = (p: number): boolean =>
    logMixture - (bad === 0 ? 0 : bad * Math.log(p)) - (good === 0 ? 0 : good * Math.log1p(-p)) >= 0
  const share = total === 0 ? 0.5 : bad / total
  const edge = (inside: number, outside: number): number => {
    let near = inside
    let far = outside
    for (let step = 0; step < 200; step++) {
      const middle = (near + far) / 2
      if (middle === near || middle === far) break
      if (excluded(middle)) far = middle
      else near = middle
    }
    return near
  }
  return { low: bad === 0 ? 0 : edge(share, 0), high: good === 0 ? 1 : edge(share, 1) }
}

/** The fewest events, none of them bad, that put the sequence's upper end at or under `limit`. */
export function cleanEventsForLimit(limit: number, alpha = 0.05): number {
  // Without bad events the upper end is 1 − (α ÷ (n + 1))^{1/n}.
  const enough = (n: number): boolean => -Math.expm1(Math.log(alpha / (n + 1)) / n) <= limit
  let high = 1
  while (!enough(high)) high *= 2
  let low = Math.floor(high / 2)
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (enough(middle)) high = middle
    else low = middle
  }
  return high
}

/**
 * Chance that |Z| passes `z` at any of `looks` equally spaced looks when nothing differs (Armitage, McPherson and Rowe
 * 1969): their recursion over the density of the sum, by Simpson's rule.
 */
export function peekingError(looks: number, z: number): number {
  let error = 2 * normalCdf(-z)
  if (looks < 2) return error
  const intervals = 200
  let limit = z
  let grid = simpsonGrid(limit, intervals)
  let density = grid.map((point) => normalDensity(point.x))
  for (let look = 2; look <= looks; look++) {
    const nextLimit = z * Math.sqrt(look)
    let crossing = 0
    grid.forEach((point, i) => {
      const beyond = normalCdf(point.x - nextLimit) + normalCdf(-point.x - nextLimit)
      crossing += point.weight * (density[i] as number) * beyond
    })
    error += crossing
    if (look === looks) break
    const nextGrid = simpsonGrid(nextLimit, intervals)
    const previous = density
    const from = grid
    density = nextGrid.map(({ x }) =>
      from.reduce(
        (sum, point, i) => sum + point.weight * (previous[i] as number) * normalDensity(x - point.x),
        0,
      ),
    )
    grid = nextGrid
    limit = nextLimit
  }
  return error
}

/** Pocock's constant boundary (1977): the z to use at each of `looks` equally spaced looks so that the whole errs with α. */
export function pocockBoundary(looks: number, alpha = 0.05): number {
  let low = normalQuantile(1 - alpha / 2)
  if (looks < 2) return low
  // Bonferroni is always enough.
  let high = normalQuantile(1 - alpha / (2 * looks))
  let lowExcess = Math.log(peekingError(looks, low) / alpha)
  let highExcess = Math.log(peekingError(looks, high) / alpha)
  for (let step = 0; step < 20 && high - low > 1e-10; step++) {
    const next = high - (highExcess * (high - low)) / (highExcess - lowExcess)
    const excess = Math.log(peekingError(looks, next) / alpha)
    if (Math.abs(excess) < 1e-12) return next
    if (excess > 0) {
      low = next
      lowExcess = excess
      highExcess /= 2
    } else {
      high = next
      highExcess = excess
      lowExcess /= 2
    }
  }
  return (low + high) / 2
}

function simpsonGrid(limit: number, intervals: number): { x: number; weight: number }[] {
  const width = (2 * limit) / intervals
  return Array.from({ length: intervals + 1 }, (_, i) => ({
    x: -limit + i * width,
    weight: ((i === 0 || i === intervals ? 1 : i % 2 === 1 ? 4 : 2) * width) / 3,
  }))
}

function logBeta(a: number, b: number): number {
  return logGamma(a) + logGamma(b) - logGamma(a + b)
}
