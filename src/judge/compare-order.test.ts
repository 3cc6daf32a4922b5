import { describe, expect, it } from 'vitest'
import { orderFindings, type OrderedRun } from './compare-order.ts'

/** Runs in the order of the letters; `at` gives the value of the i-th. */
function runs(order: string, at: (place: number, arm: 'A' | 'B') => number): OrderedRun[] {
  const seen = { A: 0, B: 0 }
  return order.split('').map((letter, place) => {
    const arm = letter === 'A' ? 'A' : 'B'
    seen[arm]++
    return { arm, startedAtMs: place * 1000, value: at(place, arm), block: String(seen[arm]) }
  })
}

const wobble = (place: number): number => ((place * 7919) % 11) / 1000

describe('order and drift', () => {
  const table: [order: string, bias: number][] = [
    ['AAAAABBBBB', 5],
    ['ABABABABAB', 1],
    ['ABBAABBAABBA', 0],
    ['ABBABAAB', 0],
  ]
  it.each(table)('%s: a drift of 1 a run shifts the difference by %s', (order, bias) => {
    const found = orderFindings(runs(order, (place) => place))
    expect(found?.imbalance).toBeCloseTo(bias, 12)
    expect(found?.drift_bias).toBeCloseTo(bias, 9)
  })

  it('finds a drift within the arms, whatever the difference between them', () => {
    const found = orderFindings(
      runs('ABBAABBA', (place, arm) => 0.01 * place + (arm === 'B' ? 3 : 0) + wobble(place)),
    )
    expect(found?.drifts).toBe(true)
    expect(found?.drift_per_run).toBeCloseTo(0.01, 2)
    expect(found?.imbalance).toBe(0)
  })

  it('does not find one where there is none', () => {
    expect(orderFindings(runs('ABBAABBA', wobble))?.drifts).toBe(false)
  })

  it('sees that it matters which of a pair was first', () => {
    // The second run of each pair is slower by 0.5, whichever arm it is.
    const found = orderFindings(runs('ABBAABBA', (place) => (place % 2) * 0.5 + wobble(place)))
    expect(found?.order_effect).toBeCloseTo(1, 1)
    expect(found?.order_matters).toBe(true)
    expect(orderFindings(runs('ABBAABBA', wobble))?.order_matters).toBe(false)
  })

  it('says nothing where a start is unknown or an arm is empty', () => {
    const [first, ...rest] = runs('ABBA', wobble)
    expect(orderFindings([{ ...first!, startedAtMs: Number.NaN }, ...rest])).toBeNull()
    expect(orderFindings(runs('AAA', wobble))).toBeNull()
  })

  it('three runs leave nothing over to judge a drift by; five leave two degrees of freedom', () => {
    expect(orderFindings(runs('ABA', wobble))?.drift_interval).toBeNull()
    const found = orderFindings(runs('ABBAB', (place) => place + wobble(place)))
    const [low, high] = found?.drift_interval ?? [0, 0]
    // t₀.₉₇₅ with 2 degrees of freedom is 4.30: half the interval is that many standard errors.
    expect((high - low) / 2).toBeCloseTo(0.005577, 6)
  })

  it('two runs have an order and no drift', () => {
    expect(orderFindings(runs('AB', wobble))).toMatchObject({
      order: 'AB',
      drift_per_run: null,
      drifts: false,
      order_effect: null,
    })
  })
})
