/*
 * How a HorizontalPodAutoscaler turns each kind of metric into replicas, in its own arithmetic: IEEE doubles over integers of
 * thousandths (kubernetes `pkg/controller/podautoscaler/replica_calculator.go`). To predict it, not to better it.
 */

/** What the controller skips: a ratio this near to 1. */
export const hpaTolerance = 0.1

/** The API's quantities are whole thousandths. */
function milli(value: number): number {
  return Math.round(value * 1000)
}

function within(ratio: number, tolerance: number): boolean {
  return Math.abs(1 - ratio) <= tolerance
}

/**
 * External or object metric with an `AverageValue` target: ⌈total ÷ target⌉ outside the tolerance. It does not look at readiness, so
 * pods that load neither cascade nor shrink the fleet. Null or NaN (no metric): current.
 */
export function hpaAverageValue(
  current: number,
  total: number | null,
  target: number,
  tolerance: number = hpaTolerance,
): number {
  if (total === null || !Number.isFinite(total)) return current
  const usage = milli(total)
  const wanted = milli(target)
  const ratio = usage / (wanted * current)
  return current !== 0 && within(ratio, tolerance) ? current : Math.ceil(usage / wanted)
}

/**
 * External or object metric with a `Value` target: ⌈ratio · ready⌉, but compared with all replicas: while pods load, an overload can
 * recommend fewer (10 replicas, 6 ready, 1.5 times the target: 9).
 */
export function hpaValue(
  current: number,
  ready: number,
  value: number | null,
  target: number,
  tolerance: number = hpaTolerance,
): number {
  if (value === null || !Number.isFinite(value)) return current
  const ratio = milli(value) / milli(target)
  if (current === 0) return Math.ceil(ratio)
  return within(ratio, tolerance) ? current : Math.ceil(ratio * ready)
}

/** One pod as the controller sees it. `value` null: no metric. */
export interface HpaPod {
  readonly value: number | null
  readonly ready: boolean
}

/**
 * Pods metric with an `AverageValue` target: pods without a metric count as exactly at the target on the way down and as idle on the
 * way up, unready ones as idle on the way up; a correction that turns the direction round changes nothing.
 */
export function hpaPods(
  current: number,
  pods: readonly HpaPod[],
  target: number,
  tolerance: number = hpaTolerance,
): number {
  const wanted = milli(target)
  const measured = pods.filter(({ value, ready }) => ready && value !== null && Number.isFinite(value))
  if (measured.length === 0) return current
  // A pod that is not ready is unready, whether or not it was measured; missing is a ready one without a metric.
  const unready = pods.filter(({ ready }) => !ready).length
  const missing = pods.length - measured.length - unready
  const values = measured.map(({ value }) => milli(value ?? 0))
  const ratio = ratioOf(values, wanted)
  const rebalanced = missing > 0 || (unready > 0 && ratio > 1)
  if (!rebalanced) return within(ratio, tolerance) ? current : Math.ceil(ratio * measured.length)
  const filler = ratio < 1 ? wanted : 0
  const filled = [
    ...values,
    ...Array.from({ length: missing }, () => filler),
    ...(ratio > 1 ? Array.from({ length: unready }, () => 0) : []),
  ]
  const corrected = ratioOf(filled, wanted)
  const turned = (ratio < 1 && corrected > 1) || (ratio > 1 && corrected < 1)
  if (within(corrected, tolerance) || turned) return current
  const replicas = Math.ceil(corrected * filled.length)
  return (corrected < 1 && replicas > current) || (corrected > 1 && replicas < current) ? current : replicas
}

function ratioOf(values: readonly number[], target: number): number {
  // The controller's mean is an integer division.
  const mean = Math.trunc(values.reduce((sum, value) => sum + value, 0) / values.length)
  return mean / target
}

/** Several metrics: the largest wins; those that cannot be computed stop a scale-down, null when all are so. */
export function hpaOfMetrics(current: number, proposals: readonly (number | null)[]): number | null {
  const known = proposals.filter((proposal) => proposal !== null)
  if (known.length === 0) return null
  const largest = Math.max(...known)
  return known.length < proposals.length && largest < current ? current : largest
}
