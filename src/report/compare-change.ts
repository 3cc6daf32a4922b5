import type { ChangeScale } from '../judge/compare-metric.ts'
import { decimalsForError, formatNumber, formatPlain } from '../base/units.ts'

/** "−3.5 %": with the digits that its interval leaves. */
export function changeText(
  change: number | null,
  interval: readonly [number, number] | null,
  scale: ChangeScale = 'log',
): string {
  if (change === null) return 'from 0'
  return `${signed(change, interval)} ${changeUnit(scale)}`
}

export function changeUnit(scale: ChangeScale): string {
  return scale === 'points' ? 'points' : '%'
}

/** The smallest share that is told apart is a hundredth of a per cent. */
export function shareText(share: number): string {
  return `${formatNumber(share * 100, Number.isInteger(Number((share * 100).toFixed(6))) ? 0 : digits(share, null))} %`
}

export function signed(change: number, interval: readonly [number, number] | null): string {
  const text = formatNumber(change * 100, digits(change, interval))
  return `${change > 0 && /[1-9]/.test(text) ? '+' : ''}${text}`
}

/** A unit of the last printed digit of a change. */
export function lastDigit(change: number, interval: readonly [number, number] | null): number {
  return 10 ** -digits(change, interval) / 100
}

function digits(change: number, interval: readonly [number, number] | null): number {
  const half = interval === null ? Math.abs(change) : (interval[1] - interval[0]) / 2
  return half === 0 ? 1 : Math.min(4, Math.max(half < 0.2 ? 1 : 0, decimalsForError(half * 100)))
}

/** A p value with two figures, small ones as powers of ten. */
export function pText(p: number): string {
  return p < 0.001
    ? p.toExponential(0).replace('e-', ' × 10⁻').replace(/\d$/, superscript)
    : formatPlain(p, 2)
}

function superscript(digit: string): string {
  return '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)] ?? digit
}
