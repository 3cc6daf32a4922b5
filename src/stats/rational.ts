import { PlimsollError } from '../base/errors.ts'

/** An exact fraction in lowest terms with a positive denominator. Every rank, budget and capacity decision is made on these. */
export interface Rational {
  readonly num: bigint
  readonly den: bigint
}

/** What may stand where a fraction is wanted: a fraction, a decimal text, or a number read by its shortest decimal text. */
export type RationalInput = Rational | string | number | bigint

const decimal = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:e([+-]?\d+))?(%?)$/i
/** Beyond this a text is a mistake, and its digits would only fill memory. */
const largestExponent = 4096

/** `numerator` ÷ `denominator` in lowest terms. Throws PLIM_NUMBER when the denominator is 0. */
export function rational(numerator: bigint | number, denominator: bigint | number = 1n): Rational {
  let num = toInteger(numerator)
  let den = toInteger(denominator)
  if (den === 0n) throw new PlimsollError('PLIM_NUMBER', 'a fraction cannot have the denominator 0')
  if (den < 0n) {
    num = -num
    den = -den
  }
  const divisor = greatestCommonDivisor(num < 0n ? -num : num, den)
  return divisor === 1n ? { num, den } : { num: num / divisor, den: den / divisor }
}

/**
 * Reads `0.995`, `99.5%`, `1e-3` or `3/4` exactly: the decimal text is the number, no float stands between.
 * @throws PLIM_NUMBER for anything else, NaN and the infinities among it.
 * @example parseRational('99.5%') // { num: 199n, den: 200n }
 */
export function parseRational(text: string): Rational {
  const trimmed = text.trim()
  const slash = trimmed.indexOf('/')
  if (slash > 0)
    return divide(parseRational(trimmed.slice(0, slash)), parseRational(trimmed.slice(slash + 1)))
  const match = decimal.exec(trimmed)
  const exponent = match === null ? 0 : Number(match[3] ?? '0')
  if (match === null || Math.abs(exponent) > largestExponent) {
    throw new PlimsollError('PLIM_NUMBER', `${JSON.stringify(text)} is not a finite number`, {
      expected: 'a decimal such as 0.995, 99.5% or 1e-3',
      received: text,
    })
  }
  const [whole = '', fraction = ''] = (match[2] as string).split('.')
  const digits = BigInt(whole + fraction || '0')
  const scale = exponent - fraction.length - (match[4] === '%' ? 2 : 0)
  const signed = match[1] === '-' ? -digits : digits
  return scale >= 0 ? rational(signed * 10n ** BigInt(scale)) : rational(signed, 10n ** BigInt(-scale))
}

/** A `Rational` from any input; a float counts as the decimal that it prints as, so that 0.1 is one tenth. */
export function toRational(input: RationalInput): Rational {
  if (typeof input === 'object') return input
  if (typeof input === 'bigint') return { num: input, den: 1n }
  return parseRational(typeof input === 'number' ? String(input) : input)
}

export function add(left: Rational, right: Rational): Rational {
  return rational(left.num * right.den + right.num * left.den, left.den * right.den)
}

export function subtract(left: Rational, right: Rational): Rational {
  return rational(left.num * right.den - right.num * left.den, left.den * right.den)
}

export function multiply(left: Rational, right: Rational): Rational {
  return rational(left.num * right.num, left.den * right.den)
}

/** Throws PLIM_NUMBER when `right` is 0. */
export function divide(left: Rational, right: Rational): Rational {
  return rational(left.num * right.den, left.den * right.num)
}

/** Negative, zero or positive as `left` is less than, equal to or greater than `right`. */
export function compare(left: Rational, right: Rational): -1 | 0 | 1 {
  const difference = left.num * right.den - right.num * left.den
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

/** The greatest integer that is not above the value. */
export function floor(value: Rational): bigint {
  const quotient = value.num / value.den
  return value.num < 0n && quotient * value.den !== value.num ? quotient - 1n : quotient
}

/** The least integer that is not below the value. */
export function ceil(value: Rational): bigint {
  return -floor({ num: -value.num, den: value.den })
}

/** The nearest double (ties to even), however long numerator and denominator are. */
export function toNumber(value: Rational): number {
  const magnitude = value.num < 0n ? -value.num : value.num
  if (magnitude <= Number.MAX_SAFE_INTEGER && value.den <= Number.MAX_SAFE_INTEGER) {
    return Number(value.num) / Number(value.den)
  }
  // 66 or 67 significant bits and a sticky last one round once, in Number().
  const shift = 66 - (bitLength(magnitude) - bitLength(value.den))
  const scaled = shift >= 0 ? magnitude << BigInt(shift) : magnitude
  const divisor = shift >= 0 ? value.den : value.den << BigInt(-shift)
  let quotient = scaled / divisor
  if (quotient * divisor !== scaled) quotient |= 1n
  const half = Math.trunc(shift / 2)
  const number = Number(quotient) * 2 ** -half * 2 ** -(shift - half)
  return value.num < 0n ? -number : number
}

/** Decimal text: exact where it ends within `fractionDigits` places, else rounded there (half away from zero). */
export function toDecimalText(value: Rational, fractionDigits = 12): string {
  const sign = value.num < 0n ? '-' : ''
  const magnitude = value.num < 0n ? -value.num : value.num
  const scaled = (magnitude * 10n ** BigInt(fractionDigits) * 2n + value.den) / (value.den * 2n)
  const digits = scaled.toString().padStart(fractionDigits + 1, '0')
  const whole = digits.slice(0, digits.length - fractionDigits)
  const fraction = fractionDigits === 0 ? '' : digits.slice(-fractionDigits).replace(/0+$/, '')
  const text = fraction === '' ? whole : `${whole}.${fraction}`
  return text === '0' ? text : sign + text
}

function toInteger(value: bigint | number): bigint {
  if (typeof value === 'bigint') return value
  if (!Number.isInteger(value)) {
    throw new PlimsollError('PLIM_NUMBER', `${value} is not a whole number`, { expected: 'a whole number' })
  }
  return BigInt(value)
}

function greatestCommonDivisor(left: bigint, right: bigint): bigint {
  let a = left
  let b = right
  while (b !== 0n) [a, b] = [b, a % b]
  return a
}

function bitLength(value: bigint): number {
  const hex = value.toString(16)
  return (hex.length - 1) * 4 + (32 - Math.clz32(Number.parseInt(hex[0] as string, 16)))
}
