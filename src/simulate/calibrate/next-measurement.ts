/** How a measurement's figures move with the logarithms of the coefficients: one row a figure, in the order of `coefficientNames`. */
export type Sensitivity = readonly (readonly number[])[]

/** What could be measured next, and what it would show. */
export interface Candidate<Load> {
  readonly load: Load
  readonly rows: Sensitivity
}

export interface Chosen<Load> {
  readonly load: Load
  /** Standard deviation of the logarithm of the asked figure before it and, as the design foretells, after it. */
  readonly before: number
  readonly after: number
}

type Matrix = readonly (readonly number[])[]

/** Variance of the logarithm of a figure whose logarithm has that gradient: gᵀ Σ g, at least 0. */
export function figureVariance(gradient: readonly number[], covariance: Matrix): number {
  return Math.max(0, dot(gradient, times(covariance, gradient)))
}

/**
 * Covariance after a measurement: (Σ⁻¹ + JᵀJ ÷ s²)⁻¹, one row at a time by the formula of Sherman and Morrison (Annals of
 * Mathematical Statistics 21, 1950): Σ − Σj·jᵀΣ ÷ (s² + jᵀΣj). `noise` is the standard deviation s of a figure's logarithm, above 0.
 */
export function covarianceAfter(covariance: Matrix, rows: Sensitivity, noise: number): number[][] {
  let now = covariance.map((row) => [...row])
  for (const row of rows) {
    const through = times(now, row)
    const by = noise * noise + dot(row, through)
    now = now.map((line, i) =>
      line.map((value, j) => value - ((through[i] as number) * (through[j] as number)) / by),
    )
  }
  return now
}

/**
 * The candidate after which one figure is known best. That is the criterion c of the theory of design, sequentially and at the present
 * estimate: least gᵀ(M + m)⁻¹g over the candidates' information m (Elfving, Annals of Mathematical Statistics 23, 1952; for models that
 * are not linear Atkinson, Donev and Tobias, Optimum Experimental Designs, 2007, chapters 10 and 17). Null without candidates. Of equal
 * ones the first.
 */
export function chooseNext<Load>(
  candidates: readonly Candidate<Load>[],
  gradient: readonly number[],
  covariance: Matrix,
  noise: number,
): Chosen<Load> | null {
  const before = Math.sqrt(figureVariance(gradient, covariance))
  let best: Chosen<Load> | null = null
  for (const { load, rows } of candidates) {
    const after = Math.sqrt(figureVariance(gradient, covarianceAfter(covariance, rows, noise)))
    if (best === null || after < best.after) best = { load, before, after }
  }
  return best
}

/** Central differences of the logarithms of figures by each logarithm of the coefficients: `step` either way, a row for each figure. */
export function sensitivity(
  figuresAt: (shifts: readonly number[]) => readonly number[],
  axes: number,
  step: number,
): number[][] {
  const columns = Array.from({ length: axes }, (_, axis) => {
    const shifted = (by: number): readonly number[] =>
      figuresAt(Array.from({ length: axes }, (__, i) => (i === axis ? by : 0)))
    const up = shifted(step)
    const down = shifted(-step)
    return up.map((value, i) => Math.log(value / (down[i] as number)) / (2 * step))
  })
  const figures = columns[0]?.length ?? 0
  return Array.from({ length: figures }, (_, i) => columns.map((column) => column[i] as number))
}

function times(matrix: Matrix, vector: readonly number[]): number[] {
  return matrix.map((row) => dot(row, vector))
}

function dot(a: readonly number[], b: readonly number[]): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number)
  return sum
}
