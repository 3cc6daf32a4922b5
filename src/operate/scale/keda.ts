import { parsePrometheusNumber } from '../../measure/wire/prometheus-number.ts'

/*
 * What KEDA makes of a trigger's answer before the HorizontalPodAutoscaler sees it (kedacore/keda `prometheus_scaler.go`,
 * `external_scaler.go`, `fallback.go`). Its silences are the ones that hurt: an empty answer counts as 0 by default.
 */

export type KedaReading =
  | {
      readonly kind: 'value'
      readonly value: number
      readonly active: boolean
      readonly fromNothing: boolean
    }
  | { readonly kind: 'error'; readonly why: string }

export interface KedaPrometheusOptions {
  /** KEDA's default: empty, NaN and infinite answers are 0. */
  readonly ignoreNullValues?: boolean
  readonly activationThreshold?: number
}

/** The prometheus scaler: exactly one element, or none. Active only above the activation threshold, not at it. */
export function kedaPrometheus(
  elements: readonly (number | string)[],
  { ignoreNullValues = true, activationThreshold = 0 }: KedaPrometheusOptions = {},
): KedaReading {
  if (elements.length > 1)
    return { kind: 'error', why: `the query gave ${elements.length} elements, not one` }
  const [element] = elements
  const value =
    element === undefined
      ? null
      : typeof element === 'string'
        ? parsePrometheusNumber(element.trim())
        : element
  if (value !== null && Number.isFinite(value)) {
    return { kind: 'value', value, active: value > activationThreshold, fromNothing: false }
  }
  const what = element === undefined ? 'an empty answer' : `the answer ${element}`
  if (!ignoreNullValues) return { kind: 'error', why: what }
  return { kind: 'value', value: 0, active: 0 > activationThreshold, fromNothing: true }
}

/** The number that KEDA reads from an external scaler: the float only where it is above 0, else the old integer; never negative. */
export function kedaExternalValue(message: {
  readonly metricValue: number
  readonly metricValueFloat: number
}): number {
  const value = message.metricValueFloat > 0 ? message.metricValueFloat : message.metricValue
  return Math.max(0, value)
}

export interface KedaFallback {
  readonly failureThreshold: number
  readonly replicas: number
  readonly behavior: 'static' | 'currentReplicas' | 'currentReplicasIfHigher' | 'currentReplicasIfLower'
}

/** Replicas while a trigger fails; null: the fallback is not reached, and the HPA keeps what it has. */
export function kedaFallback(
  fallback: KedaFallback | null,
  failures: number,
  current: number,
): number | null {
  if (fallback === null || failures <= fallback.failureThreshold) return null
  switch (fallback.behavior) {
    case 'currentReplicas':
      return current
    case 'currentReplicasIfHigher':
      return Math.max(current, fallback.replicas)
    case 'currentReplicasIfLower':
      return Math.min(current, fallback.replicas)
    default:
      return fallback.replicas
  }
}

/** Between 0 and the minimum: KEDA itself. Active or within the cool-down keeps the minimum, else the idle count (or 0). */
export function kedaFloor(
  active: boolean,
  secondsSinceActive: number,
  options: {
    readonly minReplicas: number
    readonly idleReplicas: number | null
    readonly cooldownSeconds: number
  },
): number {
  const { minReplicas, idleReplicas, cooldownSeconds } = options
  if (active || secondsSinceActive < cooldownSeconds) return Math.max(1, minReplicas)
  return idleReplicas ?? minReplicas
}
