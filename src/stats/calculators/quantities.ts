import { PlimsollError } from '../../base/errors.ts'
import {
  exactDurationMs,
  exactRatePerSecond,
  exactShare,
  parseBytes,
  parseCount,
  parseNumber,
} from '../../base/units.ts'
import { add, divide, parseRational, rational, toNumber, type Rational } from '../rational.ts'
import { percentileShare } from '../percentile.ts'
import type { Reading } from './inputs.ts'

/** A value read exactly from its decimal text, and the double nearest to it. The unit is that of its reader. */
export interface Quantity {
  readonly exact: Rational
  readonly value: number
}

function quantity(exact: Rational): Quantity {
  return { exact, value: toNumber(exact) }
}

function notNegative<T>(read: (text: string, what: string) => T): (text: string, what: string) => T {
  return (text, what) => {
    if (!/^\s*[-−]/.test(text)) return read(text, what)
    throw new PlimsollError('PLIM_NUMBER', `${what} cannot be negative`, { received: text.trim() })
  }
}

/** Milliseconds. */
export const duration: Reading<Quantity> = {
  placeholder: 'TIME',
  read: notNegative((text, what) => quantity(parseRational(exactDurationMs(text, what)))),
}

/** Per second, of requests or tokens: `40/s`, `120/min`, `3400 tok/s`; a bare number is per second. */
export const rate: Reading<Quantity> = {
  placeholder: 'RATE',
  read: notNegative((text, what) => {
    const plain = text.replace(/\s*(?:tok|tokens?|req|requests?)\s*(?=\/)/i, '')
    const [numerator, denominator] = exactRatePerSecond(plain, what)
    return quantity(divide(parseRational(numerator), parseRational(denominator)))
  }),
}

/** Growth of a rate, per second and second: `0.1/s/s`, `0.1/s2`, `6/min/s`, `6/s/min`; a bare number is per s². */
export const ramp: Reading<Quantity> = {
  placeholder: 'RAMP',
  read: notNegative((text, what) => {
    const trimmed = text
      .trim()
      .toLowerCase()
      .replace(/\/\s*s(?:ec)?(?:2|²|\^2)$/, '/s/s')
      .replace(/^([\d.,]+)\s*\/\s*s$/, '$1/s/s')
    const match = /^(.*?)(?:\/\s*([a-z]+)\s*\/\s*([a-z]+))?$/.exec(trimmed)
    const amount = match?.[1] ?? ''
    try {
      const first = exactRatePerSecond(`${amount}/${match?.[2] ?? 's'}`, what)
      const second = exactRatePerSecond(`1/${match?.[3] ?? 's'}`, what)
      return quantity(divide(parseRational(first[0]), rational(BigInt(first[1]) * BigInt(second[1]))))
    } catch (cause) {
      throw new PlimsollError('PLIM_NUMBER', `${what} cannot be read`, {
        expected: 'a rate that grows, such as 0.1/s/s or 6/s/min',
        received: JSON.stringify(text),
        cause,
      })
    }
  }),
}

/** Bytes. */
export const bytes: Reading<Quantity> = {
  placeholder: 'BYTES',
  read: notNegative((text, what) => quantity(rational(parseBytes(text, what)))),
}

const bandwidthText = /^([\d.,]+)\s*([kmgt]i?)?(b|bit|bits|byte|bytes)?(?:\s*\/\s*s(?:ec)?|ps)$/i

/** Bytes a second. A small b is a bit, a capital B a byte, as networks and disks are sold: 2 Gb/s is 0.25 GB/s. */
export const bandwidth: Reading<Quantity> = {
  placeholder: 'BYTES/s',
  read: notNegative((text, what) => {
    const match = bandwidthText.exec(text.trim())
    const unit = match?.[3]
    if (match === null || unit === undefined) {
      throw new PlimsollError('PLIM_NUMBER', `${what} cannot be read`, {
        expected: 'a bandwidth such as 2GB/s (bytes) or 2Gb/s (bits)',
        received: text.trim() === '' ? 'nothing' : JSON.stringify(text),
      })
    }
    const amount = parseBytes(`${match[1]}${match[2] ?? ''}B`, what)
    const isBits = unit === 'b' || /^bits?$/i.test(unit)
    return quantity(rational(BigInt(amount), isBits ? 8n : 1n))
  }),
}

/** A share of 0 to 1, `99.5%` or `0.995`. */
export const share: Reading<Quantity> = {
  placeholder: 'SHARE',
  read: notNegative((text, what) => quantity(parseRational(exactShare(text, what)))),
}

/** A ratio that may be over 1: `70%`, `0.7`, `1.2`. */
export const ratio: Reading<Quantity> = {
  placeholder: 'RATIO',
  read: notNegative((text, what) => {
    const trimmed = text.trim()
    parseNumber(trimmed.replace(/\s*(?:%|x|×)$/i, ''), what)
    return quantity(
      parseRational(
        trimmed
          .replaceAll(',', '')
          .replace(/\s*(?:x|×)$/i, '')
          .replace(/\s+%$/, '%'),
      ),
    )
  }),
}

/** A factor by which something grows: `1.3`, `1.3x`; with a percent sign it is the increase, `30%` = `+30%` = 1.3. */
export const growth: Reading<Quantity> = {
  placeholder: 'FACTOR',
  read(text, what) {
    const trimmed = text.trim()
    const read = ratio.read(trimmed.replace(/^\+/, ''), what)
    const isIncrease = trimmed.startsWith('+') || trimmed.endsWith('%')
    return isIncrease ? quantity(add(read.exact, rational(1n))) : read
  },
}

/** A number without a unit. */
export const number: Reading<Quantity> = {
  placeholder: 'N',
  read: notNegative((text, what) => {
    parseNumber(text, what)
    return quantity(parseRational(text.replaceAll(',', '')))
  }),
}

/** A whole number of at least `minimum`: `2M`, `450,000`, `8`. Where so many things are gone through, `maximum` bounds the work. */
export function count(minimum = 0, maximum?: number): Reading<number> {
  return { placeholder: 'N', read: notNegative((text, what) => parseCount(text, what, minimum, maximum)) }
}

/** A percentile's level in percent, as text: `99`, `p99.9`. */
export const level: Reading<string> = {
  placeholder: 'P',
  read(text, what) {
    const plain = text.trim().replace(/^p/i, '').replace(/%$/, '')
    parseNumber(plain, what)
    const { num, den } = percentileShare(plain)
    if (num === 0n || num === den) {
      throw new PlimsollError('PLIM_NUMBER', `${what} is the smallest or largest value, not a percentile`, {
        expected: 'a level above 0 and below 100, such as 99 or 99.9',
        received: text,
      })
    }
    const percent = 100 * toNumber({ num, den })
    if (percent < 1e-6 || percent > 100 - 1e-6) {
      throw new PlimsollError('PLIM_NUMBER', `${what} lies where no sample could tell it from an end`, {
        expected: 'a level from 0.000001 to 99.999999, such as 99 or 99.9',
        received: text,
      })
    }
    return plain
  },
}

/** One of a few words. */
export function word<W extends string>(...words: readonly W[]): Reading<W> {
  return {
    placeholder: words.join('|'),
    read(text, what) {
      const found = words.find((one) => one === text.trim().toLowerCase())
      if (found !== undefined) return found
      throw new PlimsollError('PLIM_USAGE', `${what} cannot be ${JSON.stringify(text)}`, {
        expected: words.join(', '),
      })
    },
  }
}

/** A value with or without a unit of time: what is measured need not be milliseconds. */
export interface Measured extends Quantity {
  /** `ms` for a duration, then `value` is in ms; empty for a bare number. */
  readonly unit: 'ms' | ''
}

/** `19.3ms`, `3s`, or a bare number in whatever unit the others have. */
export const measured: Reading<Measured> = {
  placeholder: 'VALUE',
  read: notNegative((text, what) =>
    /^[\d.,]+(?:e[+-]?\d+)?$/i.test(text.trim())
      ? { ...number.read(text, what), unit: '' }
      : { ...duration.read(text, what), unit: 'ms' },
  ),
}

/** Two readings in one text with `:` or `/` or `@` between them. */
export function pair<A, B>(
  first: Reading<A>,
  second: Reading<B>,
  placeholder: string,
): Reading<readonly [A, B]> {
  return {
    placeholder,
    read(text, what) {
      const parts = text.split(/[:@]/)
      if (parts.length !== 2) {
        throw new PlimsollError('PLIM_NUMBER', `${what} cannot be read`, {
          expected: placeholder,
          received: text.trim() === '' ? 'nothing' : JSON.stringify(text),
        })
      }
      return [first.read(parts[0]!, what), second.read(parts[1]!, what)]
    },
  }
}
