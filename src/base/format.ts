/**
 * Numbers as they are printed: thousands grouped, the unit always there, and no more digits than the error allows. Locale and
 * environment play no part: the same value is the same text everywhere.
 */

const minus = '−'

/** `value` with `decimals` digits behind the point and its thousands grouped: 1204.4 is "1,204". */
export function formatNumber(value: number, decimals = 0): string {
  if (!Number.isFinite(value)) return value > 0 ? '∞' : value < 0 ? `${minus}∞` : 'unknown'
  const text = Math.abs(value).toFixed(Math.min(Math.max(decimals, 0), 12))
  const [whole = '0', fraction] = text.split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  const sign = value < 0 && /[1-9]/.test(text) ? minus : ''
  return fraction === undefined ? sign + grouped : `${sign}${grouped}.${fraction}`
}

/** A whole number: 3421 is "3,421". */
export function formatCount(value: number): string {
  return formatNumber(value, Number.isInteger(value) ? 0 : decimalsFor(value))
}

/** Digits behind the point that leave `significant` figures of `value`. */
export function decimalsFor(value: number, significant = 3): number {
  if (value === 0 || !Number.isFinite(value)) return 0
  const exponent = Math.floor(Math.log10(Math.abs(value)))
  return Math.min(Math.max(significant - 1 - exponent, 0), 9)
}

/**
 * Digits behind the point that an error of ± `halfWidth` leaves meaningful: one figure of the error, two where it begins with a
 * 1 (the rounding rule of the Particle Data Group, simplified). ± 57 gives 0, ± 1.5 gives 1, ± 0.03 gives 2.
 */
export function decimalsForError(halfWidth: number): number {
  if (!(halfWidth > 0) || !Number.isFinite(halfWidth)) return 0
  const exponent = Math.floor(Math.log10(halfWidth))
  const leading = halfWidth / 10 ** exponent
  return Math.min(Math.max((leading < 2 ? 1 : 0) - exponent, 0), 6)
}

/** A unit of time for a column or row, chosen once so that its figures compare by eye. */
export interface TimeScale {
  readonly unit: 'µs' | 'ms' | 's' | 'min'
  /** Milliseconds in one unit. */
  readonly ms: number
}

/** Milliseconds up to 2 s, as latencies are usually told; seconds and minutes above; microseconds under 10 µs. */
export function timeScale(typicalMs: number): TimeScale {
  const size = Math.abs(typicalMs)
  if (size > 0 && size < 0.01) return { unit: 'µs', ms: 0.001 }
  if (size < 2000) return { unit: 'ms', ms: 1 }
  return size < 600_000 ? { unit: 's', ms: 1000 } : { unit: 'min', ms: 60_000 }
}

/** A time with its unit: three figures unless `decimals` says otherwise. 0.42 is "0.42 ms", 14900 "14.9 s". */
export function formatDuration(ms: number, decimals?: number, scale: TimeScale = timeScale(ms)): string {
  const value = ms / scale.ms
  return `${formatNumber(value, decimals ?? decimalsFor(value))} ${scale.unit}`
}

/** A span as people say it, whole seconds where it is long: "6m12s", "2h5m", "30s", "400ms". */
export function formatSpan(ms: number): string {
  if (ms === 0) return '0s'
  if (ms < 1000) return `${formatNumber(ms, Number.isInteger(ms) ? 0 : decimalsFor(ms))}ms`
  if (ms < 60_000) return `${trimZeros(formatNumber(ms / 1000, ms < 10_000 ? 1 : 0))}s`
  const seconds = Math.round(ms / 1000)
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const
  const first = parts.findIndex(([count]) => count > 0)
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count}${unit}`)
    .join('')
}

function trimZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}

/** A number with at most `significant` figures and no trailing zeros: 6 is "6", 4.317 "4.32". */
export function formatPlain(value: number, significant = 3): string {
  return trimZeros(formatNumber(value, decimalsFor(value, significant)))
}

/** Events per second, "4.32 req/s"; whole numbers stay whole. */
export function formatRate(perSecond: number, unit = 'req/s'): string {
  const decimals = perSecond >= 100 ? 0 : decimalsFor(perSecond)
  return `${trimZeros(formatNumber(perSecond, decimals))} ${unit}`
}

/**
 * A share of 0..1 as a percentage, with the figures that tell it from 0 % and from 100 %: 0.724 is "72 %", 0.05 "5.0 %",
 * 0.992 "99.2 %", 0.99996 "99.996 %". Only exactly 0 and 1 print as such.
 */
export function formatPercent(share: number, decimals?: number): string {
  const percent = share * 100
  if (decimals !== undefined) return `${formatNumber(percent, decimals)} %`
  const distance = percent > 50 && percent < 100 ? 100 - percent : Math.abs(percent)
  if (distance === 0 || percent === 100) return `${formatNumber(percent)} %`
  return `${formatNumber(percent, distance >= 9.95 ? 0 : Math.max(decimalsFor(distance, distance < 1 ? 1 : 2), 1))} %`
}

/** Decimal multiples, as disks and networks are sold: "1.5 MB". */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const
  let value = bytes
  let step = 0
  while (Math.abs(value) >= 1000 && step < units.length - 1) {
    value /= 1000
    step++
  }
  return `${trimZeros(formatNumber(value, step === 0 ? 0 : decimalsFor(value)))} ${units[step]!}`
}
