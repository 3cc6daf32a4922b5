import { describe, expect, it } from 'vitest'
import { around } from '../../test/fixtures/compare.ts'
import { defaultRules } from '../judge/compare-metric.ts'
import { judgeTogether, type Candidate } from './compare-judge.ts'

const metric = (name: string, b: readonly number[], over: Partial<Candidate> = {}): Candidate => ({
  metric: name,
  label: name,
  unit: 'ms',
  better: 'lower',
  scale: 'log',
  paired: false,
  a: around(20),
  b,
  within_run: null,
  pairs: [],
  ...over,
})

/** p near 0.02 against 20 ± 0.8. */
const suggestive = around(21.5)
const same = [metric('x', around(20)), metric('y', around(20.1)), metric('z', around(19.9))]

describe('metrics judged together', () => {
  it('the primary answers to its own p', () => {
    const [primary] = judgeTogether([metric('t', suggestive), ...same], 't', defaultRules)
    expect(primary?.p).toBeLessThan(0.05)
    expect(primary).toMatchObject({ primary: true, verdict: 'slower', regression: true })
    expect(primary?.p_adjusted).toBe(primary?.p)
  })

  it('among others the same p is what one in several shows by chance: Holm', () => {
    const [found] = judgeTogether([metric('t', suggestive), ...same], 'x', defaultRules)
    expect(found?.p).toBeLessThan(0.05)
    expect(found?.p_adjusted).toBeCloseTo(3 * (found?.p ?? 0), 12)
    expect(found).toMatchObject({ primary: false, verdict: 'inconclusive', regression: false })
  })

  it('a clear difference stands all the same', () => {
    const [found] = judgeTogether([metric('t', around(30)), ...same], 'x', defaultRules)
    expect(found).toMatchObject({ verdict: 'slower', regression: true })
  })

  it('what is shown and within the margin is no regression', () => {
    const [found] = judgeTogether(
      [metric('t', around(20.2, 0.05), { a: around(20, 0.05) })],
      't',
      defaultRules,
    )
    expect(found).toMatchObject({ verdict: 'slower', within_margin: true, regression: false })
  })

  it('a rate is faster, a score better', () => {
    const words = judgeTogether(
      [
        metric('r', around(30), { unit: 'tok/s', better: 'higher' }),
        metric('s', around(30), { unit: '', better: 'higher' }),
        metric('f', [0.5, 0.5, 0.51], { unit: 'share', scale: 'points', a: [0, 0, 0.01] }),
      ],
      'r',
      defaultRules,
    ).map(({ verdict }) => verdict)
    expect(words).toEqual(['faster', 'better', 'worse'])
  })

  it('five pairs can never go below 0.0625 by sign flips, and it is said', () => {
    const [found] = judgeTogether([metric('t', around(19), { paired: true })], 't', defaultRules)
    expect(found?.exact).toEqual({ test: 'sign_flip', p: 0.0625, smallest_p: 0.0625 })
  })
})
