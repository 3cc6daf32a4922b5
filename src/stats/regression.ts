import { mean, median } from './describe.ts'
import { tQuantile, tTwoSided } from './student-t.ts'

/** A straight line y = intercept + slope·x with the errors of its parts. */
export interface Line {
  readonly n: number
  readonly slope: number
  readonly intercept: number
  /** Standard errors; null with two points, which leave nothing over to judge by. */
  readonly slopeSe: number | null
  readonly interceptSe: number | null
  readonly r2: number | null
  /** Residual standard deviation, n − 2 degrees of freedom. */
  readonly residualSd: number | null
}

/** Ordinary least squares; null for fewer than two different x. */
export function ols(xs: ArrayLike<number>, ys: ArrayLike<number>): Line | null {
  const n = Math.min(xs.length, ys.length)
  const sums = moments(xs, ys, n)
  if (sums === null || sums.xx === 0) return null
  const { centreX, centreY, xx, xy, yy } = sums
  const slope = xy / xx
  const intercept = centreY - slope * centreX
  const residual = residualSquares(xs, ys, n, slope, intercept)
  const residualSd = n > 2 ? Math.sqrt(residual / (n - 2)) : null
  return {
    n,
    slope,
    intercept,
    slopeSe: residualSd === null ? null : residualSd / Math.sqrt(xx),
    interceptSe: residualSd === null ? null : residualSd * Math.sqrt(1 / n + (centreX * centreX) / xx),
    r2: yy === 0 ? null : 1 - residual / yy,
    residualSd,
  }
}

/** A two-sided t interval of a coefficient with n − 2 degrees of freedom; null where it has no standard error. */
export function coefficientInterval(
  estimate: number,
  se: number | null,
  n: number,
  confidence = 0.95,
): readonly [low: number, high: number] | null {
  if (se === null || n < 3) return null
  const half = tQuantile(1 - (1 - confidence) / 2, n - 2) * se
  return [estimate - half, estimate + half]
}

/** A line that a wild point cannot bend. */
export interface RobustLine {
  readonly n: number
  readonly slope: number
  /** Median of y − slope·x. */
  readonly intercept: number
  /** Sen's interval of the slope from Kendall's distribution (normal form); null below four points. */
  readonly slopeInterval: readonly [low: number, high: number] | null
}

/** Theil (1950) and Sen (1968): the median of the slopes between all pairs; null for fewer than two different x. */
export function theilSen(xs: ArrayLike<number>, ys: ArrayLike<number>, confidence = 0.95): RobustLine | null {
  const n = Math.min(xs.length, ys.length)
  const slopes: number[] = []
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      const run = (xs[j] as number) - (xs[i] as number)
      if (run !== 0) slopes.push(((ys[j] as number) - (ys[i] as number)) / run)
    }
  }
  const slope = median(slopes)
  if (slope === null) return null
  const residuals = Array.from({ length: n }, (_, i) => (ys[i] as number) - slope * (xs[i] as number))
  slopes.sort((a, b) => a - b)
  return {
    n,
    slope,
    intercept: median(residuals) as number,
    slopeInterval: senInterval(slopes, n, confidence),
  }
}

/** y = a + b·x + c·x², and whether the curve is real. */
export interface Parabola {
  readonly constant: number
  readonly linear: number
  readonly quadratic: number
  /** Null with three points. */
  readonly quadraticSe: number | null
  readonly quadraticP: number | null
}

/** Least squares of a parabola, by the part of x² that x cannot explain (Frisch and Waugh 1933); null below three different x. */
export function parabola(xs: ArrayLike<number>, ys: ArrayLike<number>): Parabola | null {
  const n = Math.min(xs.length, ys.length)
  const x = Array.from({ length: n }, (_, i) => xs[i] as number)
  const y = Array.from({ length: n }, (_, i) => ys[i] as number)
  const centre = mean(x)
  if (centre === null || new Set(x).size < 3) return null
  const shifted = x.map((value) => value - centre)
  const squares = shifted.map((value) => value * value)
  const squareLine = ols(shifted, squares) as Line
  const yLine = ols(shifted, y) as Line
  const curve = squares.map(
    (value, i) => value - squareLine.intercept - squareLine.slope * (shifted[i] as number),
  )
  const rest = y.map((value, i) => value - yLine.intercept - yLine.slope * (shifted[i] as number))
  const curveSquares = curve.reduce((sum, value) => sum + value * value, 0)
  const quadratic = curve.reduce((sum, value, i) => sum + value * (rest[i] as number), 0) / curveSquares
  const residual = rest.reduce((sum, value, i) => sum + (value - quadratic * (curve[i] as number)) ** 2, 0)
  const quadraticSe = n > 3 ? Math.sqrt(residual / (n - 3) / curveSquares) : null
  const slopeAtCentre = yLine.slope - quadratic * squareLine.slope
  const constantAtCentre = yLine.intercept - quadratic * squareLine.intercept
  return {
    constant: constantAtCentre - slopeAtCentre * centre + quadratic * centre * centre,
    linear: slopeAtCentre - 2 * quadratic * centre,
    quadratic,
    quadraticSe,
    quadraticP: quadraticSe === null || quadraticSe === 0 ? null : tTwoSided(quadratic / quadraticSe, n - 3),
  }
}

/** Whether a series grows: the slope per step with an interval that allows for lag-1 correlation. */
export interface SlopeTest {
  readonly n: number
  /** Per sample; with one sample a second, per second. */
  readonly slope: number
  readonly low: number
  readonly high: number
  /** Lag-1 autocorrelation of the residuals, held to [0, 0.95]. */
  readonly lag1: number
  /** slope·(n − 1) ÷ mean: growth over the window; null where the mean is 0. */
  readonly growth: number | null
  /** The lower end is above 0 and the growth above 10 % of the mean. */
  readonly growing: boolean
}

/**
 * Slope of an evenly sampled series (requests in flight, once a second) by least squares, its standard error widened by
 * √((1 + r₁) ÷ (1 − r₁)), t interval with n − 2 degrees of freedom. Null below three values.
 */
export function slopeTest(series: ArrayLike<number>, confidence = 0.95): SlopeTest | null {
  const n = series.length
  const xs = Array.from({ length: n }, (_, i) => i)
  const line = ols(xs, series)
  const centre = mean(series)
  if (line === null || line.slopeSe === null || centre === null) return null
  const residuals = xs.map((x) => (series[x] as number) - line.intercept - line.slope * x)
  const squares = residuals.reduce((sum, value) => sum + value * value, 0)
  const products = residuals.slice(1).reduce((sum, value, i) => sum + value * (residuals[i] as number), 0)
  const lag1 = squares === 0 ? 0 : Math.min(0.95, Math.max(0, products / squares))
  const se = line.slopeSe * Math.sqrt((1 + lag1) / (1 - lag1))
  const half = tQuantile(1 - (1 - confidence) / 2, n - 2) * se
  const low = line.slope - half
  const growth = centre === 0 ? null : (line.slope * (n - 1)) / centre
  return {
    n,
    slope: line.slope,
    low,
    high: line.slope + half,
    lag1,
    growth,
    growing: low > 0 && growth !== null && growth > 0.1,
  }
}

function moments(
  xs: ArrayLike<number>,
  ys: ArrayLike<number>,
  n: number,
): { centreX: number; centreY: number; xx: number; xy: number; yy: number } | null {
  if (n < 2) return null
  let centreX = 0
  let centreY = 0
  for (let i = 0; i < n; i++) {
    centreX += (xs[i] as number) / n
    centreY += (ys[i] as number) / n
  }
  let xx = 0
  let xy = 0
  let yy = 0
  for (let i = 0; i < n; i++) {
    const x = (xs[i] as number) - centreX
    const y = (ys[i] as number) - centreY
    xx += x * x
    xy += x * y
    yy += y * y
  }
  return { centreX, centreY, xx, xy, yy }
}

function residualSquares(
  xs: ArrayLike<number>,
  ys: ArrayLike<number>,
  n: number,
  slope: number,
  intercept: number,
): number {
  let sum = 0
  for (let i = 0; i < n; i++) sum += ((ys[i] as number) - intercept - slope * (xs[i] as number)) ** 2
  return sum
}

/** Sen's interval: ranks (N ± z·√(n(n−1)(2n+5)/18)) ÷ 2 of the N ordered slopes. */
function senInterval(
  sorted: readonly number[],
  n: number,
  confidence: number,
): readonly [number, number] | null {
  if (n < 4) return null
  const z = tQuantile(1 - (1 - confidence) / 2, Number.POSITIVE_INFINITY)
  const half = z * Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18)
  const low = Math.floor((sorted.length - half) / 2)
  const high = Math.ceil((sorted.length + half) / 2)
  if (low < 0 || high >= sorted.length) return null
  return [sorted[low] as number, sorted[high] as number]
}
