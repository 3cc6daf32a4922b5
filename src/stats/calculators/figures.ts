import { formatPlain } from '../../base/units.ts'
import { rational, toNumber, type Rational } from '../rational.ts'

/** A figure of an answer. `value` is null where there is none, and `text` then says why. */
export interface Figure {
  readonly value: number | string | boolean | null
  /** `ms`, `s`, `days`, `/s`, `tokens/s`, `share` (of 0..1), `x` (times), `bytes`, … or null where there is no unit. */
  readonly unit: string | null
  /** As people read it, unit included. */
  readonly text: string
}

type Value = number | Rational

function numberOf(value: Value): number {
  return typeof value === 'number' ? value : toNumber(value)
}

/**
 * A number in at most five figures; whole numbers whole. One that would round to a whole number without being it keeps as many
 * figures as tell them apart: 5.99999 is never printed as 6.
 */
export function plain(value: Value, significant = 5): string {
  const real = numberOf(value)
  if (!Number.isFinite(real)) return real > 0 ? '∞' : real < 0 ? '−∞' : 'not a number'
  if (Number.isInteger(real)) return formatPlain(real, significant)
  if (Math.abs(real) >= 1000) return formatPlain(real, significant)
  for (let figures = significant; figures <= 8; figures++) {
    const text = formatPlain(real, figures)
    if (!/^[−\d,]+$/.test(text)) return text
  }
  return formatPlain(real, significant)
}

const timeUnits = [
  ['days', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
  ['ms', 1],
  ['µs', 0.001],
] as const
type TimeUnit = (typeof timeUnits)[number][0]

function unitFor(ms: number): (typeof timeUnits)[number] {
  const size = Math.abs(ms)
  if (size === 0 || !Number.isFinite(size)) return ['s', 1000]
  if (size >= 172_800_000) return timeUnits[0]
  if (size >= 7_200_000 || (size >= 3_600_000 && size % 360_000 === 0)) return timeUnits[1]
  if (size >= 120_000) return timeUnits[2]
  if (size >= 1000) return timeUnits[3]
  return size >= 0.01 ? timeUnits[4] : timeUnits[5]
}

/** A time from milliseconds, in the unit that suits it: "8.28 s", "20 ms", "5 days". */
export function timeText(ms: Value): string {
  return timesLike(ms)(ms)
}

/** Texts of several times in the one unit that suits `typical`, so that they can be read as a sum. */
export function timesLike(typical: Value): (ms: Value) => string {
  const [unit, size] = unitFor(numberOf(typical))
  return (ms) => `${plain(numberOf(ms) / size)} ${unit}`
}

/** "18.21 %"; as many figures as tell it from 0 % and 100 %. */
export function shareText(value: Value): string {
  const percent = Number((100 * numberOf(value)).toPrecision(15))
  const rest = 100 - percent
  if (percent <= 50 || percent >= 100) return `${plain(percent, 4)} %`
  const decimals = Math.min(10, Math.max(2, 1 - Math.floor(Math.log10(rest))))
  return `${Number(percent.toFixed(decimals))} %`
}

/** "40/s", "3,400 tok/s" */
export function rateText(perSecond: Value, what = ''): string {
  return `${plain(perSecond)}${what === '' ? '' : ` ${what}`}/s`
}

const scales: Readonly<Record<TimeUnit, number>> = Object.fromEntries(timeUnits) as Record<TimeUnit, number>

function time(ms: Value | null, unit: TimeUnit, why: string): Figure {
  if (ms === null) return none(unit, why)
  const real = numberOf(ms)
  // A decimal number of ms divided in doubles would be off in the last digit: 8280 ÷ 1000 is done on the fraction.
  const scaled = typeof ms === 'number' ? real / scales[unit] : toNumber(scale(ms, unit))
  return Number.isFinite(real) ? { value: scaled, unit, text: timeText(ms) } : none(unit, '∞')
}

function scale(ms: Rational, unit: TimeUnit): Rational {
  return unit === 'µs' ? rational(ms.num * 1000n, ms.den) : rational(ms.num, ms.den * BigInt(scales[unit]))
}

export function milliseconds(ms: Value | null, why = 'none'): Figure {
  return time(ms, 'ms', why)
}

export function seconds(ms: Value | null, why = 'none'): Figure {
  return time(ms, 's', why)
}

export function days(ms: Value | null, why = 'none'): Figure {
  return time(ms, 'days', why)
}

export function hours(ms: Value | null, why = 'none'): Figure {
  return time(ms, 'h', why)
}

export function minutes(ms: Value | null, why = 'none'): Figure {
  return time(ms, 'min', why)
}

export function shareFigure(value: Value | null, why = 'none'): Figure {
  return value === null
    ? none('share', why)
    : { value: numberOf(value), unit: 'share', text: shareText(value) }
}

export function rateFigure(perSecond: Value | null, what = '', why = 'none'): Figure {
  const unit = what === '' ? '/s' : `${what}/s`
  return perSecond === null
    ? none(unit, why)
    : { value: numberOf(perSecond), unit, text: rateText(perSecond, what) }
}

/** Times as much: "3.333x". */
export function timesFigure(value: Value | null, why = 'none'): Figure {
  if (value === null) return none('x', why)
  const real = numberOf(value)
  return Number.isFinite(real)
    ? { value: real, unit: 'x', text: `${plain(real, 4)}x` }
    : none('x', 'infinite')
}

/** A number of things, `unit` what they are. */
export function countFigure(value: Value | null, unit: string, why = 'none'): Figure {
  return value === null
    ? none(unit, why)
    : { value: numberOf(value), unit, text: `${plain(value)} ${unit}`.trimEnd() }
}

/** A number without a unit. */
export function numberFigure(value: Value | null, why = 'none'): Figure {
  return value === null ? none(null, why) : { value: numberOf(value), unit: null, text: plain(value) }
}

/** A word, or yes and no. */
export function wordFigure(value: string | boolean | null, text?: string): Figure {
  return {
    value,
    unit: null,
    text: text ?? (value === null ? 'none' : value === true ? 'yes' : value === false ? 'no' : value),
  }
}

/** A figure that does not exist, and why. */
export function none(unit: string | null, why: string): Figure {
  return { value: null, unit, text: why }
}
