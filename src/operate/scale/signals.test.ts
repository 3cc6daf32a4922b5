import { describe, expect, it } from 'vitest'
import { analyseSignals, firstLasting, refuseSignal, type SignalSeries } from './signals.ts'

const every = (name: string, values: readonly (number | null)[]): SignalSeries => ({
  name,
  unit: '',
  samples: values.map((value, second) => ({ atMs: second * 1000, value })),
})
const seconds = Array.from({ length: 60 }, (_, second) => second)
// The seed's story: the queue grows from 20 s on, TTFT is over 500 ms from 30 s on; CPU and GPU memory say nothing.
const ttft = every(
  'ttft',
  seconds.map((s) => (s < 22 ? 100 + (s % 3) : 100 + (s - 21) * 45)),
)
const waiting = every(
  'waiting',
  seconds.map((s) => (s < 20 ? 0 : s - 19)),
)
const running = every(
  'running',
  seconds.map((s) => Math.min(16, 2 + s)),
)
const kv = every(
  'kv',
  seconds.map((s) => (s < 25 ? 0.2 : 0.2 + (s - 24) * 0.02)),
)
const cpu = every(
  'cpu',
  seconds.map((s) => 0.07 + (s % 2) * 0.002),
)
const memory = every(
  'gpu memory',
  seconds.map(() => 0.9),
)
const late = every(
  'late',
  seconds.map((s) => (s < 40 ? 5 : 50)),
)
const silent = every('silent', [null, null, 3])
const limits = { limit: 500, holdMs: 3000 }

describe('signals', () => {
  const analysis = analyseSignals(ttft, [memory, cpu, kv, waiting, silent, late, running], limits)
  it('are ranked by lead time, and those that did not move are last', () => {
    expect(analysis.breachAtMs).toBe(30_000)
    expect(analysis.signals.map(({ name, kind }) => [name, kind])).toEqual([
      ['running', 'early'],
      ['waiting', 'early'],
      ['kv', 'early'],
      ['late', 'late'],
      ['cpu', 'flat'],
      ['gpu memory', 'flat'],
      ['silent', 'unknown'],
    ])
    const lead = (name: string): number | null | undefined =>
      analysis.signals.find((signal) => signal.name === name)?.leadMs
    expect([lead('waiting'), lead('kv'), lead('late'), lead('cpu')]).toEqual([10_000, 4000, -10_000, null])
  })
  it.each([
    ['cpu', null, 'did not move'],
    ['gpu memory', null, 'did not move'],
    ['late', null, 'already missed'],
    ['silent', null, 'too few'],
    ['nobody', null, 'was not recorded'],
    ['waiting', 40_000, 'a start takes 40 s'],
  ])('a policy on %s is refused', (name, coldStartMs, why) =>
    expect(refuseSignal(analysis, name, coldStartMs)).toContain(why),
  )
  it('a policy on what moved in time is not', () =>
    expect(refuseSignal(analysis, 'waiting', 5000)).toBeNull())
  it('without a breach nothing has a lead', () => {
    const calm = analyseSignals(
      every(
        'ttft',
        seconds.map(() => 100),
      ),
      [waiting],
      limits,
    )
    expect(calm.breachAtMs).toBeNull()
    expect(calm.signals[0]).toMatchObject({ kind: 'early', leadMs: null })
  })
  it('one slow second is no breach', () => {
    expect(firstLasting(every('ttft', [1, 900, 1, 1, 900, 900, 900, 900]), limits)).toBe(4000)
    expect(firstLasting(every('ttft', [1, null, 1]), limits)).toBeNull()
  })
})
