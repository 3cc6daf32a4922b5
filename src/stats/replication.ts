import { mean } from './describe.ts'

/** One-way random effects: what differs between runs against what differs inside them. */
export interface RunEffect {
  readonly betweenMeanSquare: number
  readonly withinMeanSquare: number
  /** Intraclass correlation, at least 0: (MSB − MSW) ÷ (MSB + (m − 1)·MSW). */
  readonly icc: number
  /** Design effect 1 + (m − 1)·ICC: how many times fewer independent values the requests are. */
  readonly designEffect: number
}

/** ANOVA of runs of requests (Fisher); m is the mean run length adjusted for unequal runs. Null without two runs and spare values. */
export function runEffect(runs: readonly (readonly number[])[]): RunEffect | null {
  const filled = runs.filter((run) => run.length > 0)
  const total = filled.reduce((sum, run) => sum + run.length, 0)
  if (filled.length < 2 || total <= filled.length) return null
  const grand = mean(filled.flat()) as number
  let between = 0
  let within = 0
  for (const run of filled) {
    const centre = mean(run) as number
    between += run.length * (centre - grand) ** 2
    for (const value of run) within += (value - centre) ** 2
  }
  const betweenMeanSquare = between / (filled.length - 1)
  const withinMeanSquare = within / (total - filled.length)
  const m = (total - filled.reduce((sum, run) => sum + run.length ** 2, 0) / total) / (filled.length - 1)
  const scale = betweenMeanSquare + (m - 1) * withinMeanSquare
  const icc = scale === 0 ? 0 : Math.max(0, (betweenMeanSquare - withinMeanSquare) / scale)
  return { betweenMeanSquare, withinMeanSquare, icc, designEffect: 1 + (m - 1) * icc }
}

/** Standard errors of a mean over `runs` of `requestsPerRun`, run and request standard deviations known. */
export interface PoolingError {
  /** As if every request were independent. */
  readonly naiveSe: number
  readonly trueSe: number
  readonly icc: number
  readonly designEffect: number
}

/** What pooling requests over runs hides: Var(run mean) = σ²_run + σ²_request ÷ m. */
export function poolingError(
  runSd: number,
  requestSd: number,
  requestsPerRun: number,
  runs: number,
): PoolingError {
  const total = runSd ** 2 + requestSd ** 2
  const icc = total === 0 ? 0 : runSd ** 2 / total
  return {
    naiveSe: Math.sqrt(total / (runs * requestsPerRun)),
    trueSe: Math.sqrt((runSd ** 2 + requestSd ** 2 / requestsPerRun) / runs),
    icc,
    designEffect: 1 + (requestsPerRun - 1) * icc,
  }
}

/**
 * Requests per run that buy the smallest error for a given time: √(c_run ÷ c_request · σ²_request ÷ σ²_run) (Kalibera and
 * Jones, "Rigorous benchmarking in reasonable time", 2013). Null where runs do not differ: then one long run is best.
 */
export function requestsPerRun(
  runCost: number,
  requestCost: number,
  requestVariance: number,
  runVariance: number,
): number | null {
  if (runVariance <= 0 || requestCost <= 0) return null
  return Math.max(1, Math.round(Math.sqrt((runCost / requestCost) * (requestVariance / runVariance))))
}

/** Bias of mean(B) − mean(A) when every run is `driftPerRun` worse than the one before, for an order such as `ABBA`; null without both arms. */
export function orderBias(order: string, driftPerRun: number): number | null {
  const at = (arm: string): number[] => order.split('').flatMap((letter, i) => (letter === arm ? [i] : []))
  const a = mean(at('A'))
  const b = mean(at('B'))
  return a === null || b === null ? null : (b - a) * driftPerRun
}
