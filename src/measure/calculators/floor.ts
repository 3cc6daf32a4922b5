import { calculator, impossible, type Calculator } from '../../stats/calculators/calculator.ts'
import {
  milliseconds,
  plain,
  rateFigure,
  rateText,
  timeText,
  wordFigure,
  type Figure,
} from '../../stats/calculators/figures.ts'
import { optional } from '../../stats/calculators/inputs.ts'
import { duration, number, rate } from '../../stats/calculators/quantities.ts'
import { keepsTokenFloor, tpotLimitForFloorMs } from '../metrics/goodput-bounds.ts'

export const floorCalculator: Calculator = calculator({
  name: 'floor',
  group: 'Objectives and alerts',
  brief: 'At least so many tokens a second for each user: which TPOT is that?',
  formula:
    'TPOT ≤ 1 ÷ floor; N users sharing X tokens/s spend N ÷ X on a token, waits for first tokens included',
  inputs: {
    floor: optional(rate, 'tokens per second for each user', {
      bare: true,
      also: ['speed', 'tokens-per-second'],
    }),
    tpot: optional(duration, 'a TPOT to hold against it, or to turn into a speed', { bare: true }),
    users: optional(number, 'requests in flight, with --throughput', {
      also: ['in-flight', 'concurrency', 'n'],
    }),
    throughput: optional(rate, 'tokens per second of the whole server', { also: ['x'] }),
  },
  examples: [
    ['100/s', 'a floor of 100 tokens/s'],
    ['100/s 10ms', 'is it kept?'],
    ['--tpot 30ms', 'the speed of a TPOT'],
    ['--users 32 --throughput 3400/s', 'what 32 users share'],
  ],
  work({ floor, tpot, users, throughput }) {
    const results: Record<string, Figure> = {}
    const working: string[] = []
    let answer = ''
    if (floor !== null) {
      const limit = tpotLimitForFloorMs(floor.value)
      results['tpot_limit'] = milliseconds(limit, 'none: a floor of 0 limits nothing')
      answer = limit === null ? 'A floor of 0 limits nothing.' : `TPOT ≤ ${timeText(limit)}`
      if (limit !== null)
        working.push(`TPOT ≤ 1 ÷ floor = 1 ÷ ${rateText(floor.value, 'tokens')} = ${timeText(limit)}`)
    }
    if (tpot !== null) {
      const speed = tpot.value > 0 ? 1000 / tpot.value : null
      results['speed'] = rateFigure(speed, 'tokens', 'none: a TPOT of 0')
      if (speed !== null) working.push(`1 ÷ ${timeText(tpot.value)} = ${rateText(speed, 'tokens')}`)
      if (floor === null) answer = speed === null ? 'no speed: a TPOT of 0' : rateText(speed, 'tokens')
      else {
        const kept = keepsTokenFloor(tpot.value / 1000, floor.value)
        results['kept'] = wordFigure(kept)
        answer = `${kept ? 'kept' : 'not kept'}: ${answer}, and it is ${timeText(tpot.value)}`
        working.push(
          `TPOT × floor = ${timeText(tpot.value)} × ${rateText(floor.value)} = ${plain((tpot.value * floor.value) / 1000, 9)} ${kept ? '≤' : '>'} 1: the floor is ${kept ? 'kept' : 'missed'}; "at least" includes the tie, "TPOT <" does not`,
        )
      }
    }
    if (users !== null || throughput !== null) {
      if (users === null || throughput === null)
        throw impossible('users and throughput belong together', '--users N --throughput RATE')
      if (throughput.value === 0)
        throw impossible('nothing comes out, so nobody has a pace', '--throughput above 0', '0/s')
      const implied = (1000 * users.value) / throughput.value
      results['implied_tpot'] = milliseconds(implied)
      working.push(
        `N ÷ X = ${plain(users.value)} ÷ ${rateText(throughput.value, 'tokens')} = ${timeText(implied)} of a user's time for a token (Little's law), waits for first tokens included; what these leave is the mean TPOT`,
      )
      if (answer === '')
        answer = `${timeText(implied)} a token, waits for first tokens included: ${rateText(throughput.value / Math.max(users.value, Number.MIN_VALUE), 'tokens')} each`
    }
    const limitMs = floor === null ? (tpot?.value ?? null) : tpotLimitForFloorMs(floor.value)
    if (answer === '')
      throw impossible('a floor is missing', '--floor 100/s, --tpot TIME, or --users N --throughput RATE')
    return {
      answer,
      results,
      working,
      assumptions: [
        'the pace after the first token; waiting for it is TTFT',
        'the share of N users is their TPOT only where all of them decode all the time',
      ],
      mistake:
        'the 99th percentile of TPOT is not one over the 1st of speed: of 1…100 ms they are 99 ms and 10/s = 100 ms; state the limit on one side',
      next: [`plimsoll sweep --slo 'p99 tpot <= ${limitMs === null ? 10 : plain(limitMs)}ms'`],
    }
  },
})
