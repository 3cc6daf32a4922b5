import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  add,
  ceil,
  compare,
  divide,
  floor,
  multiply,
  parseRational,
  rational,
  subtract,
  toDecimalText,
  toNumber,
} from './rational.ts'

describe('parseRational', () => {
  const rows: readonly (readonly [says: string, text: string, num: bigint, den: bigint])[] = [
    ['a decimal is read digit by digit', '0.995', 199n, 200n],
    ['a percent is a hundredth', '99.5%', 199n, 200n],
    ['a leading point is a decimal', '.25', 1n, 4n],
    ['an exponent moves the point', '1e-3', 1n, 1000n],
    ['a fraction is itself', '3/4', 3n, 4n],
    ['a sign is kept', '-0.5', -1n, 2n],
    ['blanks around it do not count', ' 40 ', 40n, 1n],
  ]
  it.each(rows)('%s', (_, text, num, den) => expect(parseRational(text)).toEqual({ num, den }))

  it.each(['', 'NaN', 'Infinity', '1,5', '0x10', '1e999999', '1/0', 'twelve'])('refuses %j', (text) => {
    expect(() => parseRational(text)).toThrow(/PLIM|number|denominator/)
  })
})

describe('arithmetic', () => {
  const value = fc
    .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.bigInt({ min: 1n, max: 10n ** 20n }))
    .map(([n, d]) => rational(n, d))

  it('keeps the laws of fractions', () => {
    fc.assert(
      fc.property(value, value, value, (a, b, c) => {
        expect(subtract(add(a, b), b)).toEqual(a)
        expect(multiply(a, add(b, c))).toEqual(add(multiply(a, b), multiply(a, c)))
        expect(b.num === 0n ? a : multiply(divide(a, b), b)).toEqual(a)
      }),
    )
  })

  it('floor and ceil hold the value between them', () => {
    fc.assert(
      fc.property(value, (a) => {
        expect(compare(rational(floor(a)), a)).toBeLessThanOrEqual(0)
        expect(compare(rational(ceil(a)), a)).toBeGreaterThanOrEqual(0)
        expect(ceil(a) - floor(a)).toBe(a.den === 1n ? 0n : 1n)
      }),
    )
  })

  it('a double goes to its exact fraction and back', () => {
    fc.assert(
      fc.property(fc.double({ min: -1e15, max: 1e15, noNaN: true }), (x) => {
        expect(toNumber(parseRational(String(x)))).toBe(x === 0 ? 0 : x)
      }),
    )
  })

  it('the division of long numbers is rounded once', () => {
    expect(toNumber(rational(10n ** 40n, 3n * 10n ** 40n))).toBe(1 / 3)
    expect(toNumber(rational(10n ** 330n, 10n ** 30n))).toBe(1e300)
    expect(toNumber(rational(2n ** 53n * 2n + 1n, 2n))).toBe(2 ** 53)
    // Just above the middle of two doubles: the last bit of a hundred decides.
    expect(toNumber(rational((2n ** 53n + 1n) * 2n ** 100n + 1n, 2n ** 100n))).toBe(2 ** 53 + 2)
    expect(toNumber(rational((2n ** 53n + 1n) * 2n ** 100n, 2n ** 100n))).toBe(2 ** 53)
  })

  it.each([
    ['0.03 ÷ (1 − 0.995) is 6', '0.03', '0.005', '6'],
    ['40 ÷ 6.4 is 6.25', '40', '6.4', '6.25'],
    ['a third does not end', '1', '3', '0.333333333333'],
    ['two thirds round', '-2', '3', '-0.666666666667'],
  ])('%s', (_, a, b, text) => {
    expect(toDecimalText(divide(parseRational(a), parseRational(b)))).toBe(text)
  })
})
