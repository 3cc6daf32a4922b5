import { calculator, impossible, type Calculator } from '../../stats/calculators/calculator.ts'
import {
  countFigure,
  plain,
  rateFigure,
  rateText,
  shareFigure,
  shareText,
  timeText,
  type Figure,
} from '../../stats/calculators/figures.ts'
import { needed, optional } from '../../stats/calculators/inputs.ts'
import { duration, ramp, rate } from '../../stats/calculators/quantities.ts'
import { divide, multiply, rational } from '../../stats/rational.ts'
import { triggerRate, warmPool } from '../scale/cold-start.ts'

export const triggerCalculator: Calculator = calculator({
  name: 'trigger',
  group: 'Scaling',
  brief: 'At which load must the next replica be ordered, so that it is there in time?',
  formula: 'order at λ = C − ramp × T_cold; keep warm ⌈ramp × T_cold ÷ usable of one⌉',
  inputs: {
    capacity: needed(rate, 'what is carried now', { bare: true, also: ['c'] }),
    ramp: needed(ramp, 'how fast demand grows: 0.1/s/s', { bare: true, also: ['growth'] }),
    'cold-start': needed(duration, 'from order to first request', {
      bare: true,
      also: ['cold', 't', 'lead'],
    }),
    usable: optional(rate, 'what one replica may carry, for a warm pool; the capacity unless said', {
      also: ['usable-per-replica', 'each'],
    }),
  },
  examples: [
    ['8/s 0.1/s/s 40s', 'a replica of 8/s, demand grows by 0.1/s every second'],
    ['8/s 0.1/s/s 40s --usable 6.4/s', 'and the warm pool'],
    ['8/s 6/s/min 40s', 'the ramp per minute'],
    ['8/s 1/s/s 40s', 'too steep for this cold start'],
  ],
  work({ capacity, ramp: grows, 'cold-start': cold, usable }) {
    if (capacity.exact.num === 0n) throw impossible('nothing is carried', 'a capacity above 0', '0/s')
    const each = usable ?? capacity
    if (each.exact.num === 0n)
      throw impossible('a replica carries more than nothing', '--usable RATE above 0', '0/s')
    const seconds = divide(cold.exact, rational(1000n))
    const level = triggerRate(capacity.exact, grows.exact, seconds)
    const pool = warmPool(grows.exact, seconds, each.exact)
    const during = multiply(grows.exact, seconds)
    const tooLate = level.num <= 0n
    const results: Record<string, Figure> = {
      trigger: tooLate
        ? rateFigure(null, '', 'none: even an empty replica would be too late')
        : rateFigure(level),
      trigger_share: tooLate
        ? shareFigure(null, 'none: even an empty replica would be too late')
        : shareFigure(divide(level, capacity.exact)),
      growth: rateFigure(during),
      warm_pool: countFigure(pool, 'replicas'),
    }
    return {
      answer: tooLate
        ? `No trigger is early enough: demand grows by ${rateText(during)} in one cold start. Keep ${plain(pool)} warm.`
        : `order at ${rateText(level)}, ${shareText(divide(level, capacity.exact))} of what is carried`,
      results,
      working: [
        `in one cold start demand grows by ${plain(grows.exact)}/s² × ${timeText(cold.exact)} = ${rateText(during)}`,
        `C − ramp × T = ${rateText(capacity.exact)} − ${rateText(during)} = ${rateText(level)}`,
        `or keep ⌈${rateText(during)} ÷ ${rateText(each.exact)}⌉ = ${plain(pool)} warm`,
      ],
      assumptions: [
        'demand grows in a straight line at its steepest',
        'the scaler sees the load at once; add its own period to the cold start',
      ],
      mistake:
        'scaling at 80 % of CPU or GPU use: a batching engine looks busy long before it is full and does not show the queue',
      next: ['plimsoll scale policy', 'plimsoll calc hpa'],
    }
  },
})
