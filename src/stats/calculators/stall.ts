import { mean } from '../describe.ts'
import {
  percentile,
  percentileKey,
  percentileShare,
  sortAscending,
  type PercentileType,
} from '../percentile.ts'
import {
  backfillOmitted,
  scheduledClient,
  stallPercentile,
  waitingClient,
  type StallExperiment,
} from '../stall.ts'
import { add, ceil, compare, divide, multiply, rational, toNumber } from '../rational.ts'
import { noun } from '../../base/noun.ts'
import type { Warning } from '../../base/warnings.ts'
import { calculator, impossible, type Calculator } from './calculator.ts'
import {
  countFigure,
  plain,
  rateText,
  seconds,
  shareFigure,
  shareText,
  timeText,
  timesFigure,
  type Figure,
} from './figures.ts'
import { assumed, needed, several } from './inputs.ts'
import { duration, level, rate, word, type Quantity } from './quantities.ts'

const types: readonly PercentileType[] = ['1', '2', '3', '4', '5', '6', '7', '8', '9']

export const stallCalculator: Calculator = calculator({
  name: 'stall',
  group: 'Load and queues',
  brief: 'A server freezes: what does a waiting client see, and what a scheduled one?',
  formula:
    'scheduled: latency from the intended send; waiting: one slow request, and the others are never sent',
  inputs: {
    rate: needed(rate, 'requests by the schedule', { bare: true, also: ['arrivals'] }),
    duration: needed(duration, 'how long the test runs', { bare: true, also: ['test', 'length'] }),
    stall: needed(duration, 'how long the server freezes', { bare: true, also: ['freeze', 'pause'] }),
    at: assumed(duration, '10s', 'when it freezes', { also: ['start'] }),
    service: assumed(duration, '0', 'time of a request without the stall', { also: ['s'] }),
    server: assumed(
      word('parallel', 'serial'),
      'parallel',
      'whether requests are served side by side or in turn',
    ),
    percentiles: several(level, 0, 'more percentiles than the 99th', { also: ['p', 'percentile'] }),
  },
  examples: [
    ['5/s 60s 3s', 'five a second for a minute, frozen for three seconds'],
    ['5/s 60s 3s --service 20ms', 'the factor between the two clients'],
    ['5/s 60s 3s --service 50ms --server serial', 'the backlog is worked off in turn'],
    ['5/s 60s 3s --at 9.9s --percentiles 95,96', 'another phase, other percentiles'],
  ],
  work({ rate: perSecond, duration: length, stall, at, service, server, percentiles }) {
    if (perSecond.exact.num === 0n) throw impossible('nothing is sent', 'a rate above 0', '0/s')
    const planned = Number(ceil(divide(multiply(perSecond.exact, length.exact), rational(1000n))))
    if (planned > 2_000_000) throw impossible('too many requests to follow', 'at most 2M', plain(planned))
    if (planned < 1) throw impossible('nothing is sent', 'a test that lasts', timeText(length.exact))
    refuseOutside({ length, at, stall, service })
    const intervalMs = toNumber(divide(rational(1000n), perSecond.exact))
    const experiment: StallExperiment = {
      intervalMs,
      requests: planned,
      stallStartMs: at.value,
      stallMs: stall.value,
      serviceMs: service.value,
      server,
    }
    const open = scheduledClient(experiment)
    const skip = waitingClient(experiment, 'skip')
    const catchUp = waitingClient(experiment, 'catch_up')
    const sorted = sortAscending(open.latenciesMs)
    const quantile = (values: ArrayLike<number>, p: string, type: PercentileType = '1'): number =>
      percentile(values, p, type)!
    const waiting = sortAscending(skip.latenciesMs)
    const p99 = quantile(sorted, '99')
    const blind = quantile(waiting, '99')
    const filled = sortAscending(backfillOmitted(skip.latenciesMs, intervalMs))
    const slowShare = open.slow / planned
    const byType = types.map((type) => quantile(sorted, '99', type))
    const floor = quantile(sorted, '99', 'floor')
    const results: Record<string, Figure> = {
      p99: seconds(p99),
      waiting_p99: seconds(blind),
      factor: timesFigure(blind === 0 ? null : p99 / blind, 'infinite: the waiting client saw nothing'),
      planned: countFigure(planned, 'requests'),
      slow: countFigure(open.slow, 'requests'),
      slow_share: shareFigure(slowShare),
      mean: seconds(mean(sorted)),
      max: seconds(sorted.at(-1)!),
      waiting_samples: countFigure(skip.latenciesMs.length, 'requests'),
      waiting_slow: countFigure(skip.slow, 'requests'),
      waiting_mean: seconds(mean(waiting)),
      waiting_max: seconds(waiting.at(-1)!),
      waiting_p99_type7: seconds(quantile(waiting, '99', '7')),
      catch_up_samples: countFigure(catchUp.latenciesMs.length, 'requests'),
      catch_up_slow: countFigure(catchUp.slow, 'requests'),
      catch_up_p99: seconds(quantile(sortAscending(catchUp.latenciesMs), '99')),
      backfilled_samples: countFigure(filled.length, 'requests'),
      backfilled_p99: seconds(quantile(filled, '99')),
      backfilled_slow: countFigure(filled.filter((value) => value > service.value).length, 'requests'),
      dense_p99: seconds(stallPercentile(stall.value, slowShare, 0.99)),
      p99_floor_index: seconds(floor),
    }
    types.forEach((type, index) => (results[`p99_type${type}`] = seconds(byType[index]!)))
    const low = Math.min(...byType, floor)
    const high = Math.max(...byType, floor)
    const working = [
      `scheduled: ${rateText(perSecond.exact)} × ${timeText(length.exact)} = ${plain(planned)} sent; ${plain(open.slow)} meet the stall (${shareText(slowShare)})`,
      `P99 = value no. ${plain(Number(ceil(multiply(percentileShare('99'), rational(planned)))))} of ${plain(planned)} from below = ${timeText(p99)}; by other definitions ${timeText(low)} to ${timeText(high)}`,
      `dense schedule: stall × (1 − 1 % ÷ ${shareText(slowShare)}) = ${timeText(stallPercentile(stall.value, slowShare, 0.99))}`,
      `waiting, missed slots skipped: ${plain(skip.latenciesMs.length)} sent, ${plain(skip.slow)} slow, P99 ${timeText(blind)}`,
      `waiting, then catching up back to back: ${plain(catchUp.latenciesMs.length)} sent, ${plain(catchUp.slow)} slow, P99 ${results['catch_up_p99']!.text}`,
      `with the missing ones filled in (value − k × ${timeText(intervalMs)}): ${plain(filled.length)} ${noun(filled.length, 'value')}, P99 ${results['backfilled_p99']!.text}`,
    ]
    for (const p of percentiles) {
      results[percentileKey(p)] = seconds(quantile(sorted, p))
      working.push(`P${p} = ${timeText(quantile(sorted, p))}`)
    }
    return {
      answer: `P99 ${timeText(p99)} from the schedule; a waiting client reports ${timeText(blind)}${blind === 0 || p99 === blind ? '' : `, ${plain(p99 / blind, 3)}x less`}`,
      results,
      working,
      assumptions: [
        `requests are served ${server === 'parallel' ? 'side by side' : 'one at a time'}, and nothing moves during the stall`,
      ],
      mistake:
        'waiting for an answer before sending the next: the worse the server, the fewer requests see it (coordinated omission)',
      warnings: [omission(open.slow, skip.slow, planned)],
      next: ['plimsoll lab omission', 'plimsoll run --request-rate 5'],
    }
  },
})

/** A stall that does not lie within its test meets nobody, or has no end there; and a service longer than the test is none. */
export function refuseOutside(
  typed: Readonly<Record<'length' | 'at' | 'stall' | 'service', Quantity>>,
): void {
  const { length, at, stall, service } = typed
  if (compare(service.exact, length.exact) > 0)
    throw impossible(
      'a request takes longer than the test',
      `a service of at most ${timeText(length.exact)}`,
      timeText(service.exact),
    )
  if (compare(add(at.exact, stall.exact), length.exact) > 0)
    throw impossible(
      'the stall does not lie within the test',
      `--at and --stall together at most the ${timeText(length.exact)} of --duration`,
      `${timeText(at.exact)} + ${timeText(stall.exact)} in a test of ${timeText(length.exact)}`,
    )
}

function omission(slow: number, seen: number, planned: number): Warning | null {
  if (slow <= seen) return null
  return {
    kind: 'coordinated_omission',
    message: `${plain(slow)} of ${plain(planned)} ${noun(planned, 'user')} would have waited; the waiting client saw ${plain(seen)}`,
    cause: 'it was waiting itself and did not send',
    next: 'time from the intended send: --request-rate instead of --concurrency',
    evidence: { slow, seen, planned },
  }
}
