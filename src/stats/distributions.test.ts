import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  betaCdf,
  betaQuantile,
  betaTail,
  binomialCdf,
  binomialMass,
  binomialQuantile,
  binomialTail,
  clopperPearson,
  gammaCdf,
  gammaTail,
  logGamma,
  noncentralTCdf,
  normalCdf,
  normalQuantile,
  normalTail,
  poissonCdf,
  poissonQuantile,
  tCdf,
  tQuantile,
  tTail,
  wilson,
} from './distributions.ts'

/** Relative distance, for numbers of any size. */
function off(actual: number, expected: number): number {
  return Math.abs(actual - expected) / Math.abs(expected)
}
const probability = fc.double({ min: 1e-12, max: 1 - 1e-12, noNaN: true })
const shape = fc.double({ min: -1, max: 5, noNaN: true }).map((x) => 10 ** x)

describe('known values', () => {
  it.each([
    ['ln Γ(½) is ln √π', logGamma(0.5), Math.log(Math.sqrt(Math.PI))],
    ['ln Γ(11) is ln 10!', logGamma(11), Math.log(3628800)],
    ['ln Γ(0.01)', logGamma(0.01), 4.599479878042022],
    ['Φ(−1.96)', normalCdf(-1.96), 0.024997895148220435],
    ['Φ(−10) keeps its digits', normalCdf(-10), 7.61985302416053e-24],
    ['Φ(−37) keeps its digits', normalCdf(-37), 5.72557122252458e-300],
    ['t of 1 degree is Cauchy: the quarter is at −1', tCdf(-1, 1), 0.25],
    ['t of 2 degrees in closed form', tCdf(-3, 2), 0.5 - 3 / (2 * Math.sqrt(11))],
    ['infinite degrees are the normal', tQuantile(0.975, Number.POSITIVE_INFINITY), normalQuantile(0.975)],
    ['a binomial of one', binomialCdf(0, 1, 0.3), 0.7],
    ['all of many', binomialMass(100, 100, 0.99), 0.99 ** 100],
    ['no noncentrality is Student', noncentralTCdf(1.5, 7, 0), tCdf(1.5, 7)],
    ['noncentral t at 0 is the normal at −δ', noncentralTCdf(0, 3, 1.3), normalCdf(-1.3)],
  ])('%s', (_, actual, expected) => expect(off(actual, expected)).toBeLessThanOrEqual(1e-12))

  it('t of very many degrees is its expansion around the normal (Abramowitz and Stegun 26.7.5)', () => {
    for (const degrees of [1e4, 1e6, 1e8]) {
      for (const p of [0.6, 0.9, 0.975, 0.9999]) {
        const z = normalQuantile(p)
        const first = (z ** 3 + z) / 4 / degrees
        const second = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96 / degrees ** 2
        const third = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384 / degrees ** 3
        expect(off(tQuantile(p, degrees), z + first + second + third)).toBeLessThanOrEqual(1e-12)
      }
    }
  })

  it('the ends', () => {
    expect(normalQuantile(0)).toBe(Number.NEGATIVE_INFINITY)
    expect(tQuantile(1, 5)).toBe(Number.POSITIVE_INFINITY)
    expect(betaQuantile(0, 2, 3)).toBe(0)
    expect(betaQuantile(1, 2, 3)).toBe(1)
    expect(normalCdf(-40)).toBe(0)
    expect(binomialQuantile(1, 10, 0.5)).toBe(10)
    expect(poissonCdf(-1, 3)).toBe(0)
  })

  it('an impossible parameter is refused', () => {
    expect(() => tCdf(1, 0)).toThrow('degrees')
    expect(() => normalQuantile(1.1)).toThrow('probability')
    expect(() => betaCdf(0.5, 0, 1)).toThrow('beta')
    expect(() => binomialCdf(1, 1.5, 0.5)).toThrow('binomial')
    expect(() => wilson(3, 2)).toThrow('count')
  })
})

describe('quantile and distribution undo each other', () => {
  it('normal', () => {
    fc.assert(
      fc.property(probability, (p) => {
        expect(off(normalCdf(normalQuantile(p)), p)).toBeLessThanOrEqual(1e-12)
      }),
    )
  })
  it('t', () => {
    fc.assert(
      fc.property(probability, shape, (p, degrees) => {
        expect(off(tCdf(tQuantile(p, degrees), degrees), p)).toBeLessThanOrEqual(1e-11)
        expect(off(-tQuantile(1 - p, degrees), tQuantile(p, degrees))).toBeLessThanOrEqual(1e-3)
      }),
    )
  })
  it('beta', () => {
    fc.assert(
      fc.property(probability, shape, shape, (p, a, b) => {
        const x = betaQuantile(p, a, b)
        fc.pre(x > 1e-300 && x < 0.999)
        expect(off(betaCdf(x, a, b), p)).toBeLessThanOrEqual(1e-10)
      }),
    )
  })
  it('binomial and Poisson: the smallest count that reaches q', () => {
    fc.assert(
      fc.property(probability, fc.integer({ min: 1, max: 5000 }), (q, n) => {
        const p = 0.37
        const k = binomialQuantile(q, n, p)
        expect(binomialCdf(k, n, p)).toBeGreaterThanOrEqual(q - 1e-12)
        expect(binomialCdf(k - 1, n, p)).toBeLessThanOrEqual(q + 1e-12)
        const mean = n / 10
        const count = poissonQuantile(q, mean)
        expect(poissonCdf(count, mean)).toBeGreaterThanOrEqual(q - 1e-12)
        expect(poissonCdf(count - 1, mean)).toBeLessThanOrEqual(q + 1e-12)
      }),
    )
  })
})

describe('tails', () => {
  it('are one in all', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 0.999, noNaN: true }), shape, shape, (x, a, b) => {
        expect(off(betaCdf(x, a, b) + betaTail(x, a, b), 1)).toBeLessThanOrEqual(1e-12)
        expect(off(gammaCdf(a, x * 2 * a) + gammaTail(a, x * 2 * a), 1)).toBeLessThanOrEqual(1e-12)
        expect(off(normalCdf(x) + normalTail(x), 1)).toBeLessThanOrEqual(1e-14)
        expect(off(tCdf(x, a) + tTail(x, a), 1)).toBeLessThanOrEqual(1e-14)
      }),
    )
  })
  it('the sums of the binomial are its distribution', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 300 }),
        fc.double({ min: 0.01, max: 0.99, noNaN: true }),
        fc.nat(299),
        (n, p, k) => {
          fc.pre(k < n)
          let sum = 0
          for (let i = 0; i <= k; i++) sum += binomialMass(i, n, p)
          fc.pre(sum > 1e-290)
          expect(off(binomialCdf(k, n, p), sum)).toBeLessThanOrEqual(1e-10)
          expect(off(binomialCdf(k, n, p) + binomialTail(k, n, p), 1)).toBeLessThanOrEqual(1e-12)
        },
      ),
    )
  })
})

describe('intervals of a share', () => {
  it('hold the share, and the exact one covers more', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (total, part) => {
          const bad = Math.floor(part * total)
          const score = wilson(bad, total) ?? { low: 2, high: -1 }
          const exact = clopperPearson(bad, total) ?? { low: 2, high: -1 }
          for (const { low, high } of [score, exact]) {
            expect(low).toBeLessThanOrEqual(bad / total)
            expect(high).toBeGreaterThanOrEqual(bad / total)
            expect(low).toBeGreaterThanOrEqual(0)
            expect(high).toBeLessThanOrEqual(1)
          }
          expect(bad === 0 ? 0 : binomialTail(bad - 1, total, exact.low)).toBeLessThanOrEqual(0.025 + 1e-9)
        },
      ),
    )
  })
  it('of nothing are null', () => {
    expect(wilson(0, 0)).toBeNull()
    expect(clopperPearson(0, 0)).toBeNull()
  })
})
