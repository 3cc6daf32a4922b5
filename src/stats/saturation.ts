/** Completions against arrivals of one window, as Poisson counts. */
export interface Balance {
  /** Completions ÷ arrivals; null without arrivals. */
  readonly ratio: number | null
  /** (A − C) ÷ √(A + C). */
  readonly z: number | null
  /** Fewer than 95 % were completed, and that is not chance (z > 1.96). */
  readonly saturated: boolean
}

/** Whether arrivals outrun completions. Refused requests are no completions: a server that sheds is not stable by it. */
export function flowBalance(arrivals: number, completions: number): Balance {
  if (arrivals === 0) return { ratio: null, z: null, saturated: false }
  const ratio = completions / arrivals
  const z = (arrivals - completions) / Math.sqrt(arrivals + completions)
  return { ratio, z, saturated: ratio < 0.95 && z > 1.96 }
}

/** d ln X ÷ d ln N between two tested loads; null where a logarithm has no meaning. */
export function elasticity(
  load1: number,
  throughput1: number,
  load2: number,
  throughput2: number,
): number | null {
  if (!(load1 > 0 && load2 > 0 && throughput1 > 0 && throughput2 > 0) || load1 === load2) return null
  return Math.log(throughput2 / throughput1) / Math.log(load2 / load1)
}

/** Below this elasticity more load brings no more throughput: the last point shows the capacity and no lower bound of it. */
export const flatElasticity = 0.1

/** A tested load with what it gave. */
export interface LoadPoint {
  readonly load: number
  readonly throughput: number
}

/** Gunther's universal scalability law X(N) = λN ÷ (1 + σ(N − 1) + κN(N − 1)). */
export interface ScalabilityLaw {
  /** Throughput of one. */
  readonly lambda: number
  /** Contention. */
  readonly sigma: number
  /** Crosstalk. */
  readonly kappa: number
  /** Where X is largest: √((1 − σ) ÷ κ); null without crosstalk. */
  readonly peakLoad: number | null
}

/**
 * Fits the law by least squares of N ÷ X = (1 + σ(N − 1) + κN(N − 1)) ÷ λ, each point weighted by its relative error
 * (Gunther, "Guerrilla Capacity Planning", 2007). Null for fewer than three different loads or where no law fits.
 */
export function fitScalability(points: readonly LoadPoint[]): ScalabilityLaw | null {
  const usable = points.filter((point) => point.load > 0 && point.throughput > 0)
  if (new Set(usable.map((point) => point.load)).size < 3) return null
  // Normal equations of y = a + b·u + c·v with rows scaled by 1/y.
  const matrix = [0, 1, 2].map(() => [0, 0, 0, 0])
  for (const { load, throughput } of usable) {
    const y = load / throughput
    const row = [1 / y, (load - 1) / y, (load * (load - 1)) / y, 1]
    for (let i = 0; i < 3; i++) {
      for (let j = 0; j < 4; j++)
        (matrix[i] as number[])[j] = entry(matrix, i, j) + (row[i] as number) * (row[j] as number)
    }
  }
  const solution = solve(matrix)
  if (solution === null) return null
  const [a, b, c] = solution
  if (!(a > 0)) return null
  const sigma = b / a
  const kappa = c / a
  const peakLoad = kappa > 0 && sigma < 1 ? Math.sqrt((1 - sigma) / kappa) : null
  return { lambda: 1 / a, sigma, kappa, peakLoad }
}

/** Throughput of the law at a load. */
export function scalabilityAt(law: ScalabilityLaw, load: number): number {
  return (law.lambda * load) / (1 + law.sigma * (load - 1) + law.kappa * load * (load - 1))
}

/** Kleinrock's knee: the tested load with the most throughput per latency; null for no points. */
export function kleinrockKnee(points: readonly (LoadPoint & { readonly latency: number })[]): number | null {
  let best: { load: number; power: number } | null = null
  for (const { load, throughput, latency } of points) {
    const power = throughput / latency
    if (latency > 0 && (best === null || power > best.power)) best = { load, power }
  }
  return best?.load ?? null
}

/**
 * Kneedle (Satopää et al. 2011) on the rising part of a sweep: the tested load where the curve, both axes normalised, is
 * farthest above the diagonal. It moves with the axis, so it is shown and never used as a capacity. Null below three points.
 */
export function kneedle(points: readonly LoadPoint[], axis: 'linear' | 'log2' = 'linear'): number | null {
  const sorted = points.toSorted((a, b) => a.load - b.load)
  let top = 0
  sorted.forEach((point, i) => {
    if (point.throughput > (sorted[top] as LoadPoint).throughput) top = i
  })
  const rising = sorted.slice(0, top + 1)
  if (rising.length < 3) return null
  const scale = (load: number): number => (axis === 'linear' ? load : Math.log2(load))
  const first = rising[0] as LoadPoint
  const last = rising.at(-1) as LoadPoint
  let best = first.load
  let bestHeight = Number.NEGATIVE_INFINITY
  for (const { load, throughput } of rising) {
    const x = (scale(load) - scale(first.load)) / (scale(last.load) - scale(first.load))
    const y = (throughput - first.throughput) / (last.throughput - first.throughput)
    if (y - x > bestHeight) {
      bestHeight = y - x
      best = load
    }
  }
  return best
}

/** Gauss with pivoting on three rows of [A | y]; null for a singular system. */
function solve(rows: number[][]): readonly [number, number, number] | null {
  for (let column = 0; column < 3; column++) {
    let pivot = column
    for (let row = column + 1; row < 3; row++) {
      if (Math.abs(entry(rows, row, column)) > Math.abs(entry(rows, pivot, column))) pivot = row
    }
    if (entry(rows, pivot, column) === 0) return null
    ;[rows[column], rows[pivot]] = [rows[pivot] as number[], rows[column] as number[]]
    for (let row = 0; row < 3; row++) {
      if (row === column) continue
      const factor = entry(rows, row, column) / entry(rows, column, column)
      for (let j = column; j < 4; j++)
        (rows[row] as number[])[j] = entry(rows, row, j) - factor * entry(rows, column, j)
    }
  }
  return [0, 1, 2].map((i) => entry(rows, i, 3) / entry(rows, i, i)) as unknown as readonly [
    number,
    number,
    number,
  ]
}

function entry(rows: readonly (readonly number[])[], row: number, column: number): number {
  return rows[row]?.[column] as number
}
