import { noun } from '../../base/noun.ts'
import { closedThroughput, closedUsers, little } from '../queueing.ts'
import { elasticity, flatElasticity } from '../saturation.ts'
import { calculator, impossible, type Calculator, type Worked } from './calculator.ts'
import {
  numberFigure,
  plain,
  rateFigure,
  rateText,
  seconds,
  timeText,
  wordFigure,
  type Figure,
} from './figures.ts'
import { assumed, optional, type Reading } from './inputs.ts'
import { duration, number, pair, rate, type Quantity } from './quantities.ts'

const loadPoint: Reading<readonly [Quantity, Quantity]> = pair(number, rate, 'N:RATE')

export const littleCalculator: Calculator = calculator({
  name: 'little',
  group: 'Load and queues',
  brief: 'In flight, rate and time: the third from two',
  formula: 'L = λ × W; closed loop with thinking: X = N ÷ (W + Z)',
  inputs: {
    users: optional(number, 'requests in flight, or users of a closed loop', {
      bare: true,
      also: ['in-flight', 'concurrency', 'n', 'l'],
    }),
    rate: optional(rate, 'arrivals or completions', {
      bare: true,
      also: ['arrivals', 'throughput', 'lambda', 'x'],
    }),
    time: optional(duration, 'time of one request in the system', {
      bare: true,
      also: ['latency', 'e2e', 'w', 'r'],
    }),
    think: assumed(duration, '0', 'pause of a user between answer and next question', {
      also: ['think-time', 'z'],
    }),
    other: optional(loadPoint, 'another tested load, to see whether throughput is flat: 16:7.9/s'),
  },
  examples: [
    ['32 4s', '32 users, 4 s an answer: the rate'],
    ['10/s 4s', 'how many are in flight'],
    ['40 10/s', 'how long each takes'],
    ['32 4s --think 1s', 'users who think for a second'],
    ['32 4s --other 16:7.9/s', 'is that rate a capacity?'],
  ],
  work({ users, rate: perSecond, time, think, other }) {
    const thinks = think.value > 0
    const cycle = (time?.value ?? 0) + think.value
    const withThinking = thinks ? ` + ${timeText(think.value)}` : ''
    if (users !== null && time !== null && perSecond === null) {
      const found = closedThroughput(users.value, time.value / 1000, think.value / 1000)
      if (found === null)
        throw impossible('a cycle takes more than no time', 'a time above 0', timeText(cycle))
      return claimed(
        {
          answer: rateText(found),
          results: { rate: rateFigure(found) },
          working: [
            thinks
              ? `X = N ÷ (W + Z) = ${plain(users.value)} ÷ (${timeText(time.value)}${withThinking}) = ${rateText(found)}`
              : `X = N ÷ W = ${plain(users.value)} ÷ ${timeText(time.value)} = ${rateText(found)}`,
          ],
        },
        users.value,
        found,
        other,
      )
    }
    if (users === null && perSecond !== null && time !== null) {
      const found = thinks
        ? closedUsers(perSecond.value, time.value / 1000, think.value / 1000)
        : little(perSecond.value, time.value / 1000)
      return {
        answer: thinks ? `${plain(found)} ${noun(found, 'user')}` : `${plain(found)} in flight`,
        results: { users: numberFigure(found) },
        working: [
          thinks
            ? `N = X × (W + Z) = ${rateText(perSecond.value)} × (${timeText(time.value)}${withThinking}) = ${plain(found)}`
            : `L = λ × W = ${rateText(perSecond.value)} × ${timeText(time.value)} = ${plain(found)}`,
        ],
        assumptions,
        mistake: `${plain(found)} in flight is a mean: Poisson arrivals are over it about half of the time`,
        next: ['plimsoll calc backlog', 'plimsoll calc kv'],
      }
    }
    if (users !== null && perSecond !== null && time === null) {
      if (perSecond.value === 0)
        throw impossible('nothing arrives, so no time can be told', 'a rate above 0', '0/s')
      const found = (1000 * users.value) / perSecond.value - think.value
      if (found < 0) {
        throw impossible(
          'the users think longer than that rate allows',
          `a think time under ${timeText((1000 * users.value) / perSecond.value)}`,
          timeText(think.value),
        )
      }
      return {
        answer: timeText(found),
        results: { time: seconds(found) },
        working: [
          `W = N ÷ X${thinks ? ' − Z' : ''} = ${plain(users.value)} ÷ ${rateText(perSecond.value)}${thinks ? ` − ${timeText(think.value)}` : ''} = ${timeText(found)}`,
        ],
        assumptions,
        mistake: 'a mean time, not what a percentile of the users waits',
        next: ['plimsoll calc backlog'],
      }
    }
    if (users !== null && perSecond !== null && time !== null)
      return checked(users.value, perSecond.value, time.value)
    throw impossible('two of the three are needed', '--users N, --rate RATE, --time TIME: any two')
  },
})

const assumptions = [
  'a steady state: as many leave as come',
  'the three are means over the same requests and the same window',
]

/** All three were given: do they belong together? */
function checked(users: number, perSecond: number, ms: number): Worked {
  const found = little(perSecond, ms / 1000)
  const off = users === 0 ? null : Math.abs(users - found) / users
  return {
    answer:
      off !== null && off <= 0.1
        ? `they belong together to ${plain(100 * off, 2)} %`
        : `they do not belong together: λ × W is ${plain(found)}, not ${plain(users)}`,
    results: { users: numberFigure(found), discrepancy: numberFigure(off, 'none: nothing is in flight') },
    working: [`L = λ × W = ${rateText(perSecond)} × ${timeText(ms)} = ${plain(found)}; said ${plain(users)}`],
    assumptions,
    mistake: 'a discrepancy is a clock, a join, or a window that cuts requests, long before it is physics',
  }
}

/** N ÷ W is a capacity only where throughput no longer grows with N. */
function claimed(
  worked: Worked,
  users: number,
  throughput: number,
  other: readonly [Quantity, Quantity] | null,
): Worked {
  const results: Record<string, Figure> = { ...worked.results }
  const working = [...worked.working]
  let mistake = `${rateText(throughput)} is what ${plain(users)} ${noun(users, 'user gets', 'users get')}, a lower bound of what the server can: it is its capacity only where twice the users get no more`
  if (other !== null) {
    const [n, x] = other
    const [low, high] =
      n.value < users
        ? [
            [n.value, x.value],
            [users, throughput],
          ]
        : [
            [users, throughput],
            [n.value, x.value],
          ]
    const found = elasticity(low![0]!, low![1]!, high![0]!, high![1]!)
    const isCapacity = found === null ? null : found < flatElasticity
    results['elasticity'] = numberFigure(found, 'none: the two loads are the same or empty')
    results['is_capacity'] = wordFigure(isCapacity)
    if (found !== null) {
      working.push(
        `elasticity = ln(${plain(high![1]!)} ÷ ${plain(low![1]!)}) ÷ ln(${plain(high![0]!)} ÷ ${plain(low![0]!)}) = ${plain(found, 3)}: ${isCapacity === true ? 'flat, so it is the capacity' : 'still rising, so it is a lower bound'}`,
      )
      mistake =
        'one closed-loop point says nothing about capacity; two say whether throughput is flat (elasticity under 0.1)'
    }
  }
  return {
    ...worked,
    results,
    working,
    assumptions,
    mistake,
    next: ['plimsoll sweep', 'plimsoll calc backlog'],
  }
}
