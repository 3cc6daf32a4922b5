import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sfc32, standardNormal } from '../base/random.ts'
import { bestChangePoint, changePointP } from './change-point.ts'
import { testEquivalence } from './equivalence.ts'
import { benjaminiHochberg, holm } from './multiplicity.ts'
import {
  minimumDetectableEffect,
  minimumDetectablePairedEffect,
  pairsForPower,
  runsByT,
  runsForPower,
  tTestPower,
} from './power.ts'
import { hodgesLehmann, mannWhitney, uDistribution } from './ranks.ts'
import { ratioOfMeans, ratioOfSums } from './ratio.ts'
import { orderBias, requestsPerRun, runEffect } from './replication.ts'
import { permutationTest, signFlip } from './resampling.ts'
import { pairedT, sampleOf, tInterval, welch, type Sample } from './two-means.ts'

const value = fc.integer({ min: -50, max: 50 })
const sample = fc.array(value, { minLength: 2, maxLength: 7 })
const random = sfc32(3, 5, 7)

describe('two means', () => {
  it('Welch does not care about order or unit', () => {
    fc.assert(
      fc.property(sample, sample, (a, b) => {
        const test = welch(sampleOf(a) as Sample, sampleOf(b) as Sample)
        const turned = welch(sampleOf(b.map((x) => 8 * x)) as Sample, sampleOf(a.map((x) => 8 * x)) as Sample)
        expect(turned.difference).toBeCloseTo(-8 * test.difference, 9)
        expect(turned.p === null ? null : turned.p.toFixed(9)).toBe(
          test.p === null ? null : test.p.toFixed(9),
        )
      }),
    )
  })
  it('the interval excludes 0 exactly when p is under α', () => {
    fc.assert(
      fc.property(sample, sample, (a, b) => {
        const test = welch(sampleOf(a) as Sample, sampleOf(b) as Sample)
        fc.pre(test.p !== null && Math.abs(test.p - 0.05) > 1e-9)
        const [low, high] = tInterval(test)
        expect(low > 0 || high < 0).toBe((test.p as number) < 0.05)
      }),
    )
  })
  it('no spread gives no t, and no NaN', () => {
    expect(welch({ n: 3, mean: 1, sd: 0 }, { n: 3, mean: 2, sd: 0 })).toEqual({
      difference: -1,
      se: 0,
      t: null,
      degrees: 4,
      p: null,
    })
    expect(pairedT([1], [2])).toBeNull()
    expect(pairedT([1, 2], [2])).toBeNull()
    expect(sampleOf([4])).toBeNull()
  })
})

describe('power', () => {
  it('the runs that are asked for are the fewest with the power', () => {
    for (const delta of [0.3, 0.7, 2]) {
      const n = runsForPower(delta, 0.8, { sd: 0.8 }) as number
      expect(tTestPower(n, delta, { sd: 0.8 })).toBeGreaterThanOrEqual(0.8)
      expect(n === 2 || tTestPower(n - 1, delta, { sd: 0.8 }) < 0.8).toBe(true)
    }
  })
  it('the detectable effect has just that power', () => {
    for (const n of [2, 3, 10, 50]) {
      expect(tTestPower(n, minimumDetectableEffect(n, 0.8, { sd: 2 }) as number, { sd: 2 })).toBeCloseTo(
        0.8,
        8,
      )
    }
    expect(minimumDetectableEffect(5, 0.8, { sd: 0 })).toBe(0)
    expect(minimumDetectableEffect(1, 0.8, { sd: 1 })).toBeNull()
  })
  it('no difference has the power α, and no number of runs shows it', () => {
    expect(tTestPower(6, 0, { sd: 1 })).toBeCloseTo(0.05, 8)
    expect(runsForPower(0, 0.8, { sd: 1 })).toBeNull()
    expect(runsByT(1, 0)).toBeNull()
  })
  it('a simulation of 4,000 pairs of arms agrees', () => {
    let shown = 0
    const arm = (shift: number): Sample =>
      sampleOf(Array.from({ length: 5 }, () => shift + standardNormal(random))) as Sample
    for (let i = 0; i < 4000; i++) {
      // Equal variances: Student's pooled test is what the power speaks of, and equals Welch's t at equal n.
      const test = welch(arm(1.5), arm(0))
      const [low, high] = tInterval({ ...test, degrees: 8 })
      if (low > 0 || high < 0) shown++
    }
    expect(shown / 4000).toBeCloseTo(tTestPower(5, 1.5, { sd: 1 }), 1)
  })
  it('pairs: the same, by differences', () => {
    const delta = minimumDetectablePairedEffect(6, 0.9, { sd: 0.36 }) as number
    expect(pairsForPower(delta * 1.0001, 0.9, { sd: 0.36 })).toBe(6)
  })
})

describe('ranks', () => {
  it('agree with every split looked at, ties included', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 5 }),
        fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 5 }),
        (a, b) => {
          const u = (x: readonly number[], y: readonly number[]): number =>
            x.reduce((sum, p) => sum + y.reduce((s, q) => s + (p > q ? 1 : p === q ? 0.5 : 0), 0), 0)
          const pool = [...a, ...b]
          const distance = Math.abs(u(a, b) - (a.length * b.length) / 2)
          let extreme = 0
          let total = 0
          for (let mask = 0; mask < 2 ** pool.length; mask++) {
            const first = pool.filter((_, i) => ((mask >> i) & 1) === 1)
            if (first.length !== a.length) continue
            total++
            const second = pool.filter((_, i) => ((mask >> i) & 1) === 0)
            if (Math.abs(u(first, second) - (a.length * b.length) / 2) >= distance - 1e-9) extreme++
          }
          expect(mannWhitney(a, b)?.u).toBe(u(a, b))
          expect(mannWhitney(a, b)?.p).toBeCloseTo(extreme / total, 10)
        },
      ),
    )
  })
  it('the distribution of U is one, symmetric, and even at 2 against 2', () => {
    expect([...uDistribution(2, 2)].map((p) => Math.round(p * 6))).toEqual([1, 1, 2, 1, 1])
    const p = uDistribution(12, 9)
    expect(p.reduce((sum, x) => sum + x, 0)).toBeCloseTo(1, 12)
    expect(p[3]).toBeCloseTo(p[105] as number, 15)
  })
  it('large samples go over to the normal without a jump', () => {
    const a = Array.from({ length: 50 }, (_, i) => i * 2)
    const b = Array.from({ length: 50 }, (_, i) => i * 2 + 17.5)
    const exact = mannWhitney(a, b)
    const normal = mannWhitney([...a, 200], b)
    expect(exact?.method).toBe('exact')
    expect(normal?.method).toBe('normal')
    expect(Math.abs((exact?.p as number) - (normal?.p as number))).toBeLessThan(0.02)
    expect(hodgesLehmann([...a, 200], b)?.coverage).toBeCloseTo(0.95, 2)
  })
  it('ties narrow the normal form as they do the exact one', () => {
    const grades = (n: number, more: number): number[] =>
      Array.from({ length: n }, (_, i) => Math.floor(i / 20) + more * (i % 2))
    const exact = mannWhitney(grades(50, 0), grades(50, 1))?.p as number
    const normal = mannWhitney([...grades(50, 0), 1], [...grades(50, 1), 1])?.p as number
    expect(Math.abs(normal / exact - 1)).toBeLessThan(0.05)
  })
  it('the shift moves with the sample and its interval holds it', () => {
    fc.assert(
      fc.property(sample, sample, value, (a, b, shift) => {
        const found = hodgesLehmann(a, b)
        const moved = hodgesLehmann(
          a.map((x) => x + shift),
          b,
        )
        expect(moved?.estimate).toBeCloseTo((found?.estimate as number) + shift, 9)
        expect(found?.low === null || (found?.low as number) <= (found?.estimate as number)).toBe(true)
      }),
    )
    expect(hodgesLehmann([1, 2], [3, 4])?.low).toBeNull()
    expect(mannWhitney([], [1])).toBeNull()
  })
})

describe('resampling', () => {
  it('exact tests are symmetric and never below their smallest p', () => {
    fc.assert(
      fc.property(sample, sample, (a, b) => {
        const one = permutationTest(a, b, random)
        expect(one?.p).toBeCloseTo(permutationTest(b, a, random)?.p as number, 12)
        expect(one?.p).toBeGreaterThanOrEqual((one?.smallestP as number) - 1e-12)
        const flipped = signFlip(a, random)
        expect(flipped?.p).toBe(
          signFlip(
            a.map((x) => -x),
            random,
          )?.p,
        )
        expect(flipped?.p).toBeGreaterThanOrEqual(flipped?.smallestP as number)
      }),
      { numRuns: 50 },
    )
  })
  it('drawn arrangements come near the exact ones and are never 0', () => {
    const differences = Array.from({ length: 20 }, (_, i) => Math.sin(i) + 0.4)
    const drawn = signFlip(differences, random, 20_000)
    expect(drawn?.exact).toBe(false)
    const half = signFlip(differences.slice(0, 18), random)
    expect(half?.exact).toBe(true)
    expect(drawn?.p).toBeGreaterThan(0)
    const many = Array.from({ length: 12 }, (_, i) => i)
    expect(
      permutationTest(
        many,
        many.map((x) => x + 1),
        random,
        2000,
      )?.exact,
    ).toBe(false)
  })
})

describe('families and margins', () => {
  const ps = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 12 })
  it('adjusted p values are never smaller, keep their order, and Holm is the stricter', () => {
    fc.assert(
      fc.property(ps, (list) => {
        const strict = holm(list)
        const loose = benjaminiHochberg(list)
        list.forEach((p, i) => {
          expect(strict[i]).toBeGreaterThanOrEqual(p)
          expect(strict[i] as number).toBeGreaterThanOrEqual((loose[i] as number) - 1e-12)
          list.forEach((q, j) => expect(p > q || (strict[i] as number) <= (strict[j] as number)).toBe(true))
        })
      }),
    )
  })
  it.each([
    ['far off and certain is different', 3, 0.1, 'different'],
    ['near and certain is equivalent', 0.05, 0.1, 'equivalent'],
    ['better than the margin on the bad side only', -0.35, 0.2, 'no_regression'],
    ['near and uncertain is neither', 0.05, 1, 'inconclusive'],
    ['no noise and no difference is equivalent', 0, 0, 'equivalent'],
  ])('%s', (_, difference, se, verdict) => {
    expect(testEquivalence({ difference, se, degrees: 18 }, 0.4, { worse: 'higher' }).verdict).toBe(verdict)
  })
  it('what is worse turns the side', () => {
    expect(testEquivalence({ difference: 0.35, se: 0.2, degrees: 18 }, 0.4, { worse: 'lower' }).verdict).toBe(
      'no_regression',
    )
  })
})

describe('runs and ratios', () => {
  it('runs of unequal length, and no effect', () => {
    expect(
      runEffect([
        [1, 2, 3],
        [1, 2],
      ])?.icc,
    ).toBe(0)
    expect(runEffect([[1, 2]])).toBeNull()
    expect(
      runEffect([
        [5, 5],
        [5, 5],
      ]),
    ).toEqual({ betweenMeanSquare: 0, withinMeanSquare: 0, icc: 0, designEffect: 1 })
    expect(requestsPerRun(60, 0.1, 1, 0)).toBeNull()
    expect(orderBias('AAA', 1)).toBeNull()
  })
  it('a ratio of sums lies among its parts', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 1, max: 99 })), {
          minLength: 1,
        }),
        (rows) => {
          const found = ratioOfSums(
            rows.map(([y]) => y),
            rows.map(([, x]) => x),
          )
          const each = rows.map(([y, x]) => y / x)
          expect(found?.ratio).toBeGreaterThanOrEqual(Math.min(...each) - 1e-9)
          expect(found?.ratio).toBeLessThanOrEqual(Math.max(...each) + 1e-9)
          expect(found?.nEff).toBeLessThanOrEqual(rows.length + 1e-9)
        },
      ),
    )
    expect(ratioOfSums([], [])).toBeNull()
    expect(ratioOfMeans({ mean: 0, se: 1 }, { mean: 1, se: 1 })).toBeNull()
  })
})

describe('change points', () => {
  it('a step is found where it is, and shuffling says that it is real', () => {
    const series = [
      ...Array.from({ length: 10 }, () => 10 + standardNormal(random) / 4),
      ...Array.from({ length: 8 }, () => 14 + standardNormal(random) / 4),
    ]
    expect(bestChangePoint(series)?.tau).toBe(10)
    expect(changePointP(series, random, { shuffles: 99 })).toBe(0.01)
    expect(bestChangePoint([1, 2, 3])).toBeNull()
    expect(changePointP([1], random)).toBeNull()
  })
})
