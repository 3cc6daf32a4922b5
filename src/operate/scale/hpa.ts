import {
  ceil,
  compare,
  divide,
  multiply,
  rational,
  subtract,
  toRational,
  type RationalInput,
} from '../../stats/rational.ts'

/** `exact`: decimals as written. `kubernetes`: its IEEE doubles, to predict what the controller will really do. */
export type HpaArithmetic = 'exact' | 'kubernetes'

/**
 * Replicas that a HorizontalPodAutoscaler wants for one metric: current where |1 − metric/target| is within the tolerance,
 * else ⌈current·metric ÷ target⌉. A metric that is missing or not finite keeps the current number; so does a target that
 * is not above 0.
 */
export function hpaReplicas(
  current: number,
  metric: RationalInput | null,
  target: RationalInput,
  options: { readonly tolerance?: string; readonly arithmetic?: HpaArithmetic } = {},
): number {
  if (metric === null || isMissing(metric)) return current
  const tolerance = options.tolerance ?? '0.1'
  const wanted = toRational(target)
  if (wanted.num <= 0n) return current
  if ((options.arithmetic ?? 'exact') === 'kubernetes') {
    const ratio = floatOf(metric) / floatOf(target)
    return Math.abs(1 - ratio) <= Number(tolerance) ? current : Math.ceil(ratio * current)
  }
  const ratio = divide(toRational(metric), wanted)
  const off = subtract(rational(1n), ratio)
  const distance = off.num < 0n ? { num: -off.num, den: off.den } : off
  if (compare(distance, toRational(tolerance)) <= 0) return current
  return Number(ceil(multiply(rational(current), ratio)))
}

/** Empty, NaN or infinite as a double: what the controller would not act on. */
function isMissing(metric: RationalInput): boolean {
  if (typeof metric === 'object') return false
  return (typeof metric === 'string' && metric.trim() === '') || !Number.isFinite(Number(metric))
}

function floatOf(value: RationalInput): number {
  return typeof value === 'object' ? Number(value.num) / Number(value.den) : Number(value)
}
