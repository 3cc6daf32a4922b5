import { backlog, backlogDeviation, drainTime, fifoWait } from '../queueing.ts'
import { calculator, impossible, type Calculator } from './calculator.ts'
import { countFigure, plain, rateFigure, rateText, seconds, timeText, type Figure } from './figures.ts'
import { assumed, needed, optional } from './inputs.ts'
import { count, duration, number, rate } from './quantities.ts'

export const backlogCalculator: Calculator = calculator({
  name: 'backlog',
  group: 'Load and queues',
  brief: 'More comes than is done: how long is the queue, and the wait?',
  formula: 'B(t) = max(0, (λ − μ) × t); wait of the next = B ÷ μ; gone after B ÷ (μ − λ′)',
  inputs: {
    arrivals: needed(rate, 'arrivals λ', { bare: true, also: ['lambda', 'demand', 'in'] }),
    completions: needed(rate, 'what one replica completes, μ', {
      bare: true,
      also: ['mu', 'capacity', 'out'],
    }),
    time: optional(duration, 'how long it has gone on', { bare: true, also: ['t', 'for'] }),
    waiting: optional(number, 'requests that wait already, instead of a time', {
      also: ['queue', 'backlog'],
    }),
    after: optional(rate, 'arrivals afterwards, while the queue drains', { also: ['then', 'lambda-after'] }),
    replicas: assumed(count(1), '1', 'replicas that drain it'),
  },
  examples: [
    ['10/s 8/s 60s', 'a minute of 10/s on a server that does 8/s'],
    ['10/s 8/s 60s --after 5/s', 'and how long it takes to be gone'],
    ['10/s 8/s --waiting 120 --replicas 2', 'a second replica comes'],
    ['10/s 8/s --waiting 40', 'what num_requests_waiting of 40 means for a user'],
  ],
  work({ arrivals, completions, time, waiting, after, replicas }) {
    const inRate = arrivals.value
    const outRate = completions.value
    if (time === null && waiting === null) {
      throw impossible('how long, or how many?', '--time TIME or --waiting N')
    }
    const queue = waiting?.value ?? backlog(inRate, outRate, time!.value / 1000)
    const results: Record<string, Figure> = {
      backlog: countFigure(queue, 'requests'),
      growth: rateFigure(Math.max(0, inRate - outRate)),
    }
    const working: string[] = []
    working.push(
      inRate > outRate
        ? `growth = λ − μ = ${rateText(inRate)} − ${rateText(outRate)} = ${rateText(inRate - outRate)}`
        : `λ = ${rateText(inRate)} is not above μ = ${rateText(outRate)}: no queue grows on average`,
    )
    if (waiting === null) {
      const deviation = backlogDeviation(inRate, outRate, time!.value / 1000)
      results['deviation'] = countFigure(deviation, 'requests')
      working.push(
        `B = ${rateText(Math.max(0, inRate - outRate))} × ${timeText(time!.value)} = ${plain(queue)} waiting`,
        `Poisson in and out: ± √((λ + μ) × t) = ± ${plain(deviation, 3)}`,
      )
    }
    const wait = fifoWait(queue, outRate)
    results['wait'] = seconds(wait === null ? null : wait * 1000, 'for ever: nothing is completed')
    working.push(
      wait === null
        ? 'nothing is completed, so the next one waits for ever'
        : `the next one waits B ÷ μ = ${plain(queue)} ÷ ${rateText(outRate)} = ${timeText(wait * 1000)}`,
    )
    const later = after?.value ?? inRate
    const drain = drainTime(queue, outRate * replicas, later)
    if (after !== null || replicas > 1) {
      results['drain'] = seconds(drain === null ? null : drain * 1000, 'never: as much comes as is done')
      const served = replicas > 1 ? `${plain(replicas)} × ${rateText(outRate)}` : rateText(outRate)
      working.push(
        drain === null
          ? `it never drains: ${rateText(later)} come and ${rateText(outRate * replicas)} are done`
          : `gone after B ÷ (μ − λ′) = ${plain(queue)} ÷ (${served} − ${rateText(later)}) = ${timeText(drain * 1000)}`,
      )
    }
    return {
      answer:
        queue === 0
          ? 'no queue'
          : `${plain(queue)} waiting, and the next one waits ${wait === null ? 'for ever' : timeText(wait * 1000)}`,
      results,
      working,
      assumptions: [
        'first come, first served',
        'rates that do not change; a batching server completes more the fuller it is, up to its wall',
      ],
      mistake: `an open loop at ${rateText(inRate)} shows this; a closed loop never sends more than ${rateText(outRate)} and calls it fine`,
      next: ['plimsoll calc cold-start', 'plimsoll calc replicas'],
    }
  },
})
