import { calculator, impossible, type Calculator } from '../../stats/calculators/calculator.ts'
import { countFigure, plain, wordFigure, type Figure } from '../../stats/calculators/figures.ts'
import { assumed, optional } from '../../stats/calculators/inputs.ts'
import { count, duration, number } from '../../stats/calculators/quantities.ts'
import { dynamoDefaults, logBuckets, logBucketsAt } from '../catalogue/dynamo-buckets.ts'

const { ttft } = dynamoDefaults

/** As an environment variable has it. */
function setting({
  min,
  max,
  count: bounds,
}: {
  readonly min: number
  readonly max: number
  readonly count: number
}): string {
  return `MIN=${min} MAX=${max} COUNT=${bounds}`
}

export const bucketsCalculator: Calculator = calculator({
  name: 'buckets',
  group: 'Objectives and alerts',
  brief: "Where do Dynamo's histogram bounds lie, and which settings put one at a limit?",
  formula: '0, then min × (max ÷ min)^(i ÷ (count − 1)), each rounded to two significant figures',
  inputs: {
    min: assumed(number, String(ttft.min), 'DYN_METRICS_…_MIN'),
    max: assumed(number, String(ttft.max), 'DYN_METRICS_…_MAX'),
    count: assumed(count(1), String(ttft.count), 'DYN_METRICS_…_COUNT'),
    limit: optional(duration, 'a limit of an objective, to have a bound at', {
      bare: true,
      also: ['threshold', 'at'],
    }),
  },
  examples: [
    ['500ms', 'settings with a bound at the limit'],
    ['--count 18', 'the bounds of TTFT as they come'],
    ['--min 1 --max 512 --count 10', 'of the whole request'],
    ['125ms', 'three figures: Dynamo rounds it away'],
  ],
  work({ min, max, count: wanted, limit }) {
    if (min.exact.num === 0n || max.value <= min.value)
      throw impossible(
        'bounds rise from above 0',
        '--min above 0 and --max above it',
        `${plain(min.value)} to ${plain(max.value)}`,
      )
    if (wanted > 1000) throw impossible('so many bounds are not shown', '--count up to 1000', String(wanted))
    const given = { min: min.value, max: max.value, count: wanted }
    const bounds = logBuckets(given)
    const seconds = limit === null ? null : limit.value / 1000
    const isThere = seconds !== null && bounds.includes(seconds)
    const solved = seconds === null || isThere ? null : logBucketsAt(seconds)
    const listed = bounds.map((bound) => String(bound)).join(' ')
    const results: Record<string, Figure> = {
      bounds: wordFigure(listed),
      distinct: countFigure(bounds.length, 'bounds'),
      ...(seconds === null
        ? {}
        : {
            at_limit: wordFigure(isThere),
            settings: wordFigure(
              isThere ? setting(given) : solved === null ? null : setting(solved),
              isThere
                ? setting(given)
                : solved === null
                  ? 'none: the limit has more than two significant figures'
                  : setting(solved),
            ),
          }),
    }
    const below = seconds === null ? null : (bounds.findLast((bound) => bound < seconds) ?? null)
    const above = seconds === null ? null : (bounds.find((bound) => bound > seconds) ?? null)
    return {
      answer:
        seconds === null
          ? `${bounds.length} bounds`
          : isThere
            ? `${plain(seconds)} s is a bound already`
            : solved === null
              ? 'no settings put a bound there'
              : setting(solved),
      results,
      working: [
        `${setting(given)}: ${listed}`,
        ...(seconds === null || isThere
          ? []
          : [`${plain(seconds)} s lies between ${below ?? 'nothing'} and ${above ?? 'nothing'}`]),
        ...(solved === null ? [] : [`${setting(solved)}: ${logBuckets(solved).join(' ')}`]),
      ],
      assumptions: ['seconds, as Dynamo counts; TTFT unless the settings are given'],
      mistake: 'an objective between two bounds: its share is then only known between two ends',
      next: ['plimsoll slo rules'],
    }
  },
})
