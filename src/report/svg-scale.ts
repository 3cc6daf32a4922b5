import { formatNumber, formatPlain } from '../base/units.ts'

export interface Tick {
  readonly value: number
  /** Empty: a line without a word. */
  readonly label: string
}

/** From figures to pixels, with the marks of its axis. */
export interface Scale {
  readonly at: (value: number) => number
  readonly ticks: readonly Tick[]
  readonly low: number
  readonly high: number
}

export interface ScaleOptions {
  readonly low: number
  readonly high: number
  /** Pixels of `low` and `high`. */
  readonly from: number
  readonly to: number
  readonly format?: (value: number) => string
  /** About so many marks. */
  readonly marks?: number
  readonly widen?: boolean
}

/** Equal steps. With `widen`, `high` becomes the next mark. */
export function linearScale(options: ScaleOptions): Scale {
  const { low, from, to, format = formatPlain, marks = 5, widen = false } = options
  const span = options.high > low ? options.high - low : Math.max(1, Math.abs(low))
  const step = niceStep(span / marks)
  const high = widen ? Math.ceil((span * 1.0001) / step) * step + low : low + span
  const ticks: Tick[] = []
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-6; at++) {
    const value = Number((at * step).toPrecision(12))
    ticks.push({ value, label: format(value) })
  }
  return { at: (value) => from + ((value - low) / (high - low)) * (to - from), ticks, low, high }
}

/** 1, 2 or 5 times a power of ten, at least `rough`. */
export function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough))
  const times = [1, 2, 5, 10].find((one) => one * power >= rough * (1 - 1e-9)) ?? 10
  return times * power
}

/** Equal ratios; `low` must be above 0. Marks at 1, 2 and 5 of each power of ten, all with words only where they have room. */
export function logScale({ low, high: asked, from, to, format = formatPlain }: ScaleOptions): Scale {
  const high = asked > low ? asked : low * 10
  const place = (value: number): number => Math.log(value / low) / Math.log(high / low)
  const decades = Math.log10(high / low)
  const ticks: Tick[] = []
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const times of [1, 2, 5]) {
      const value = times * 10 ** power
      if (value < low * 0.999 || value > high * 1.001) continue
      ticks.push({ value, label: times === 1 || decades <= 2.6 ? format(value) : '' })
    }
  }
  return { at: (value) => from + place(Math.max(value, low)) * (to - from), ticks, low, high }
}

/** Bounds on marks of 1, 2 and 5 around all values above 0. */
export function logBounds(values: Iterable<number>): { readonly low: number; readonly high: number } {
  let least = Number.POSITIVE_INFINITY
  let most = 0
  for (const value of values) {
    if (!(value > 0) || !Number.isFinite(value)) continue
    least = Math.min(least, value)
    most = Math.max(most, value)
  }
  if (most === 0) return { low: 1, high: 10 }
  const low = niceStepDown(least)
  const high = niceStep(most)
  return high > low ? { low, high } : { low: low / 2, high: high * 2 }
}

function niceStepDown(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return ([5, 2, 1].find((one) => one * power <= value * (1 + 1e-9)) ?? 1) * power
}

/** A time at an axis: "20 ms", "2 s", "5 min". */
export function tickTime(ms: number): string {
  if (ms === 0) return '0'
  if (ms >= 120_000) return `${formatPlain(ms / 60_000)} min`
  if (ms >= 1000) return `${formatPlain(ms / 1000)} s`
  return ms >= 0.01 ? `${formatPlain(ms)} ms` : `${formatPlain(ms * 1000)} µs`
}

/** A count at an axis: "1,200". */
export function tickCount(value: number): string {
  return Number.isInteger(value) ? formatNumber(value) : formatPlain(value)
}
