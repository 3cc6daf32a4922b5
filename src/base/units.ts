import { PlimsollError } from './errors.ts'
import { formatCount, formatSpan } from './format.ts'

/**
 * Quantities as people write them, read exactly and printed with their unit. Each reader has two faces: `parse…` gives a
 * number for measuring, `exact…` the decimal text in the base unit for arithmetic on exact rationals (law 7).
 */

interface Decimal {
  readonly digits: bigint
  /** Digits behind the point. */
  readonly scale: number
}

const number = String.raw`\d+(?:,\d{3})*(?:\.\d+)?|\.\d+`
const wholeNumber = new RegExp(`^(${number})(?:e([+-]?\\d{1,3}))?$`, 'i')

/**
 * The most that a typed quantity may be, far over anything that is served or measured: beyond it stand slips of the keyboard, and
 * arithmetic on them would be long or end in infinities. So does what lies below `least` and is not 0.
 */
const most = {
  /** A hundred years, in ms. */
  durationMs: 36_525 * 86_400_000,
  perSecond: 1e12,
  bytes: 1e18,
  number: 1e15,
} as const
const least = 1e-12

/** `text` is what was read; `what` names it in errors ("--duration"); `examples` say how it should look. */
function refuse(what: string, expected: string, received: string, hint?: string): PlimsollError {
  return new PlimsollError('PLIM_NUMBER', `${what} cannot be read`, {
    expected,
    received: received.trim() === '' ? 'nothing' : `"${shorten(received)}"`,
    ...(hint === undefined ? {} : { hint }),
  })
}

/** A text that is a quantity of the kind that is wanted, of a size that cannot be meant. Its code is PLIM_NUMBER. */
export class OutOfReach extends PlimsollError {
  constructor(message: string, options: { readonly expected: string; readonly received: string }) {
    super('PLIM_NUMBER', message, options)
  }
}

/** Throws `OutOfReach`, with the limit, for what is over it, or so close to 0 that it is meant to be 0. */
function inReach(value: number, limit: number, limitText: string, what: string, received: string): void {
  const isSmall = value > 0 && value < least
  if (!(value > limit) && !isSmall) return
  throw new OutOfReach(`${what} is too ${isSmall ? 'small' : 'large'}`, {
    expected: isSmall ? `0, or at least ${least}` : `at most ${limitText}`,
    received: `"${shorten(received)}"`,
  })
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 60 ? `${line.slice(0, 57)}...` : line
}

function readDecimal(text: string): Decimal | null {
  const match = wholeNumber.exec(text.trim())
  if (match === null) return null
  const [whole = '', fraction = ''] = match[1]!.replaceAll(',', '').split('.')
  const exponent = match[2] === undefined ? 0 : Number(match[2])
  return shift({ digits: BigInt(whole + fraction), scale: fraction.length }, exponent)
}

/** value × 10^places */
function shift(value: Decimal, places: number): Decimal {
  const scale = value.scale - places
  return scale >= 0
    ? { digits: value.digits, scale }
    : { digits: value.digits * 10n ** BigInt(-scale), scale: 0 }
}

function multiply(a: Decimal, b: Decimal): Decimal {
  return { digits: a.digits * b.digits, scale: a.scale + b.scale }
}

function add(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale)
  const lift = (d: Decimal): bigint => d.digits * 10n ** BigInt(scale - d.scale)
  return { digits: lift(a) + lift(b), scale }
}

function decimalText(value: Decimal): string {
  const text = value.digits.toString().padStart(value.scale + 1, '0')
  if (value.scale === 0) return text
  const fraction = text.slice(text.length - value.scale).replace(/0+$/, '')
  const whole = text.slice(0, text.length - value.scale)
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/**
 * A number that is not negative in all its digits and without an exponent, as every reader here takes it: read again it is the same.
 * `String` writes `1e-7`, which is no rate and no time.
 */
export function exactText(value: number): string {
  const decimal = readDecimal(String(value))
  if (decimal === null) throw new RangeError(`${value} has no decimal text`)
  return decimalText(decimal)
}

// Milliseconds in each unit of time.
const durationUnits: Readonly<Record<string, string>> = {
  ns: '0.000001',
  us: '0.001',
  µs: '0.001',
  μs: '0.001',
  ms: '1',
  s: '1000',
  sec: '1000',
  m: '60000',
  min: '60000',
  h: '3600000',
  d: '86400000',
  w: '604800000',
}
const durationExamples = 'a duration with its unit, such as 400ms, 8.3s, 10m, 1h30m or 30d'
const durationPart = new RegExp(`(${number})\\s*([a-zµμ]+)\\s*`, 'gy')

/** Milliseconds as exact decimal text. `8.3s` is "8300"; `1h30m` is "5400000"; 0 needs no unit. */
export function exactDurationMs(text: string, what = 'the duration'): string {
  const trimmed = text.trim().toLowerCase()
  if (/^0+(\.0+)?$/.test(trimmed)) return '0'
  if (readDecimal(trimmed) !== null) {
    throw refuse(
      what,
      durationExamples,
      text,
      `without a unit it could be seconds or milliseconds: say ${trimmed}s or ${trimmed}ms`,
    )
  }
  let total: Decimal = { digits: 0n, scale: 0 }
  let end = 0
  for (const match of trimmed.matchAll(durationPart)) {
    const unit = durationUnits[match[2]!]
    const value = readDecimal(match[1]!)
    if (unit === undefined || value === null) throw refuse(what, durationExamples, text)
    total = add(total, multiply(value, readDecimal(unit)!))
    end = match.index + match[0].length
  }
  if (end === 0 || end !== trimmed.length) throw refuse(what, durationExamples, text)
  const ms = decimalText(total)
  inReach(Number(ms), most.durationMs, '36,525d (100 years)', what, text)
  return ms
}

/** Milliseconds. */
export function parseDurationMs(
  text: string,
  what = 'the duration',
  maximum: number = most.durationMs,
): number {
  const ms = Number(exactDurationMs(text, what))
  inReach(ms, maximum, formatSpan(maximum), what, text)
  return ms
}

const rateExamples = 'a rate such as 6/s, 0.5/s or 120/min (a bare number is per second)'
const ratePer: Readonly<Record<string, bigint>> = {
  s: 1n,
  sec: 1n,
  second: 1n,
  m: 60n,
  min: 60n,
  minute: 60n,
  h: 3600n,
  hour: 3600n,
  d: 86400n,
  day: 86400n,
}
const rateText = new RegExp(`^(${number})\\s*(?:(?:req|requests)?\\s*/\\s*([a-z]+)|(?:rps|qps))?$`)

/**
 * Requests per second as the exact fraction [numerator, denominator], both in decimal text: a rate per minute has no finite
 * decimal. `40/s` is ["40", "1"], `100/min` is ["100", "60"].
 */
export function exactRatePerSecond(text: string, what = 'the rate'): readonly [string, string] {
  const match = rateText.exec(text.trim().toLowerCase())
  const value = match === null ? null : readDecimal(match[1]!)
  const per = match?.[2] === undefined ? 1n : ratePer[match[2]]
  if (value === null || per === undefined) throw refuse(what, rateExamples, text)
  const amount = decimalText(value)
  inReach(Number(amount) / Number(per), most.perSecond, '1,000,000,000,000/s', what, text)
  return [amount, per.toString()]
}

/** Per second. Negative, NaN and infinite rates are refused; who allows `inf` asks for it before. */
export function parseRatePerSecond(text: string, what = 'the rate'): number {
  const [numerator, denominator] = exactRatePerSecond(text, what)
  return Number(numerator) / Number(denominator)
}

/** A share as exact decimal text: `99.5%` and `0.995` are both "0.995". Above 1 without a percent sign is refused. */
export function exactShare(text: string, what = 'the share'): string {
  const trimmed = text.trim()
  const percent = trimmed.endsWith('%')
  const value = readDecimal(percent ? trimmed.slice(0, -1) : trimmed)
  const expected = 'a share such as 99.5% or 0.995'
  if (value === null) throw refuse(what, expected, text)
  const share = decimalText(percent ? shift(value, -2) : value)
  if (Number(share) > 1) {
    throw refuse(what, `${expected}, at most 100%`, text, percent ? undefined : `did you mean ${trimmed}%?`)
  }
  inReach(Number(share), 1, '100%', what, text)
  return share
}

/** The share as a fraction, 0..1. */
export function parsePercent(text: string, what = 'the share'): number {
  return Number(exactShare(text, what))
}

// Decimal and binary multiples are told apart, as IEC 80000-13 has them; a bare K is 1,000.
const byteUnits: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 1e3,
  kb: 1e3,
  m: 1e6,
  mb: 1e6,
  g: 1e9,
  gb: 1e9,
  t: 1e12,
  tb: 1e12,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
  tib: 1024 ** 4,
}

/** Bytes: `16KB` is 16,000 and `16KiB` 16,384; 0 needs no unit. */
export function parseBytes(text: string, what = 'the size'): number {
  const match = new RegExp(`^(${number})\\s*([a-z]*)$`).exec(text.trim().toLowerCase())
  if (match !== null && match[2] === '' && Number(match[1]) !== 0) {
    throw refuse(
      what,
      'a size with its unit such as 512B, 16KB, 4MiB or 16GB',
      text,
      `without a unit it could be bytes or gigabytes: say ${match[1]}B or ${match[1]}GB`,
    )
  }
  const unit = match === null ? undefined : byteUnits[match[2]!]
  const value = match === null ? null : readDecimal(match[1]!)
  const bytes =
    unit === undefined || value === null
      ? Number.NaN
      : Number(decimalText(multiply(value, readDecimal(String(unit))!)))
  if (!Number.isInteger(bytes)) throw refuse(what, 'a whole number of bytes such as 512B, 16KB or 4MiB', text)
  inReach(bytes, most.bytes, '1,000,000TB', what, text)
  return bytes
}

/** A whole number: `450000`, `450,000`, `450k`, `1.2M`; of at least `minimum` and at most `maximum`. */
export function parseCount(
  text: string,
  what = 'the count',
  minimum = 0,
  maximum: number = most.number,
): number {
  const match = new RegExp(`^(${number})\\s*([kKM]?)$`).exec(text.trim())
  const value = match === null ? null : readDecimal(match[1]!)
  const places = match?.[2] === '' || match === null ? 0 : match[2] === 'M' ? 6 : 3
  const count = value === null ? Number.NaN : Number(decimalText(shift(value, places)))
  const least = minimum === 0 ? 'a whole number' : `a whole number of at least ${minimum}`
  inReach(count, maximum, formatCount(maximum), what, text)
  if (!Number.isSafeInteger(count)) throw refuse(what, least, text)
  if (count < minimum) {
    throw new OutOfReach(`${what} is too small`, { expected: least, received: `"${shorten(text)}"` })
  }
  return count
}

/** Any number that is not negative, without a unit. */
export function parseNumber(text: string, what = 'the number', maximum: number = most.number): number {
  const value = readDecimal(text)
  if (value === null) throw refuse(what, 'a number such as 2 or 0.5', text)
  const plain = Number(decimalText(value))
  inReach(plain, maximum, formatCount(maximum), what, text)
  return plain
}

export * from './format.ts'
