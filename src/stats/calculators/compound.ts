import { anySlow, anySlowBounds, anySlowCorrelated, neededPerCall } from '../tail-at-scale.ts'
import { percentileShare } from '../percentile.ts'
import { rational, subtract, toNumber } from '../rational.ts'
import { calculator, impossible, type Calculator } from './calculator.ts'
import { plain, shareFigure, shareText, type Figure } from './figures.ts'
import { assumed, needed, optional, type Reading } from './inputs.ts'
import { count, level, share, type Quantity } from './quantities.ts'

/** `1%`, or `P99`: all beyond it is slow. */
const slowShare: Reading<Quantity> = {
  placeholder: 'SHARE|P99',
  read(text, what) {
    if (!/^\s*p[\d.]+%?\s*$/i.test(text)) return share.read(text, what)
    const exact = subtract(rational(1n), percentileShare(level.read(text, what)))
    return { exact, value: toNumber(exact) }
  },
}

export const compoundCalculator: Calculator = calculator({
  name: 'compound',
  group: 'Percentiles',
  brief: 'How many tasks of k calls meet at least one slow call?',
  formula: 'share of tasks = 1 − (1 − q)^k; needed per call = 1 − (1 − Q)^(1/k)',
  inputs: {
    slow: needed(
      slowShare,
      'share q of the calls that are slow, or the percentile that is still fine: P99 is 1 %',
      {
        bare: true,
        also: ['q', 'bad'],
      },
    ),
    calls: needed(count(1, 1_000_000), 'calls k of one task', { bare: true, also: ['k', 'n', 'fan-out'] }),
    task: assumed(share, '1%', 'share of tasks that may be slow, to work backwards', {
      also: ['target', 'task-q'],
    }),
    icc: optional(share, 'how much calls of one task go wrong together, 0 to 1', { also: ['correlation'] }),
  },
  examples: [
    ['1% 20', 'an agent of 20 calls, each with its P99'],
    ['1% 100', 'a fan-out to 100'],
    ['1% 20 --icc 0.1', 'calls that go wrong together'],
    ['P99.95 20', 'at P99.95 of a call'],
  ],
  work({ slow, calls, task, icc }) {
    const q = slow.value
    const found = anySlow(q, calls)
    const bounds = anySlowBounds(q, calls)
    if (task.value >= 1)
      throw impossible(
        'every task may be slow, so nothing is needed',
        'a share of tasks under 100 %',
        shareText(task.value),
      )
    const perCall = neededPerCall(task.value, calls)
    const results: Record<string, Figure> = {
      tasks: shareFigure(found),
      low: shareFigure(bounds.low),
      high: shareFigure(bounds.high),
      needed_per_call: shareFigure(perCall),
      needed_percentile: {
        value: 100 * (1 - perCall),
        unit: 'percentile',
        text: `P${plain(100 * (1 - perCall), 6)}`,
      },
    }
    const working = [
      `1 − (1 − q)^k = 1 − (1 − ${plain(q)})^${plain(calls)} = 1 − ${plain(1 - found)} = ${shareText(found)} of the tasks`,
      `whatever the calls have to do with each other: between ${shareText(bounds.low)} (all in the same tasks) and ${shareText(bounds.high)} (k × q, never two in one)`,
      `for at most ${shareText(task.value)} of the tasks a call needs 1 − (1 − ${plain(task.value)})^(1/${plain(calls)}) = ${shareText(perCall)}: P${plain(100 * (1 - perCall), 6)}`,
    ]
    if (icc !== null) {
      const together = anySlowCorrelated(q, calls, icc.value)
      results['correlated'] = shareFigure(together)
      working.push(
        `with a correlation of ${plain(icc.value)} inside a task (beta-binomial): ${shareText(together)}`,
      )
    }
    return {
      answer: `${shareText(found)} of the tasks meet a slow call`,
      results,
      working,
      assumptions: [
        'calls are slow independently of each other, unless --icc says otherwise',
        'in a parallel fan-out the slowest decides: the same formula',
      ],
      mistake: `a P${plain(100 * (1 - q), 6)} that looks fine is what ${shareText(found)} of the tasks feel, not ${shareText(q)}`,
      next: ['plimsoll lab tail', 'plimsoll calc samples'],
    }
  },
})
