import { calculator, impossible, type Calculator } from '../../stats/calculators/calculator.ts'
import {
  none,
  numberFigure,
  plain,
  shareText,
  timeText,
  type Figure,
} from '../../stats/calculators/figures.ts'
import { assumed, several, type Reading } from '../../stats/calculators/inputs.ts'
import { level, measured, share, type Measured, type Quantity } from '../../stats/calculators/quantities.ts'
import { uniformDistribution } from '../../stats/latency-distributions.ts'
import { decomposeMix, mixtureQuantile, populationStability, type MixturePart } from '../../stats/mixture.ts'
import { percentileShare } from '../../stats/percentile.ts'
import { add, rational, toNumber, type Rational } from '../../stats/rational.ts'
import { mixShift } from '../traps.ts'

interface Segment {
  readonly share: Quantity
  readonly from: Measured
  readonly to: Measured
}

/** A share of the traffic with latencies spread evenly over a range: `99%:0.2s..0.8s`. */
const segment: Reading<Segment> = {
  placeholder: 'SHARE:FROM..TO',
  read(text, what) {
    const match = /^(.+?)[:@](.+?)\.\.(.+)$/.exec(text.trim())
    if (match === null) {
      throw impossible(
        `${what} cannot be read`,
        'a share and a range, such as 99%:0.2s..0.8s',
        text.trim() === '' ? 'nothing' : JSON.stringify(text),
      )
    }
    const [from, to] = [measured.read(match[2]!, what), measured.read(match[3]!, what)]
    if (from.unit !== to.unit)
      throw impossible(`${what} has a unit at one end only`, '0.2s..0.8s or 0.2..0.8', text)
    if (!(to.value > from.value))
      throw impossible(`${what} is an empty range`, 'the larger value second', text)
    return { share: share.read(match[1]!, what), from, to }
  },
}

export const mixCalculator: Calculator = calculator({
  name: 'mix',
  group: 'Percentiles',
  brief: 'Did the service change, or only the traffic?',
  formula:
    'total = P(after) − P(before); mix = P(after’s shares, before’s segments) − P(before); within = the rest',
  inputs: {
    before: several(segment, 1, 'segments before, in order', { bare: true }),
    after: several(segment, 0, 'the same segments after', { also: ['to'] }),
    percentile: assumed(level, '99', 'which percentile', { also: ['p'] }),
  },
  examples: [
    [
      '99%:0.2s..0.8s 1%:0.8s..1.6s --after 92%:0.2s..0.8s 8%:0.8s..1.6s',
      'more long prompts, the same service',
    ],
    ['99%:0.2s..0.8s 1%:0.8s..1.6s --after 92%:0.2s..0.9s 8%:0.8s..1.8s', 'and the service slower too'],
  ],
  work({ before, after, percentile: p }) {
    const { unit } = before[0]!.from
    if ([...before, ...after].some(({ from }) => from.unit !== unit)) {
      throw impossible(
        'some segments have a unit and some have none',
        'all with a unit of time, or all without',
      )
    }
    for (const [name, segments] of [
      ['before', before],
      ['after', after],
    ] as const) {
      const sum = segments.reduce<Rational>((total, one) => add(total, one.share.exact), rational(0n))
      if (segments.length > 0 && sum.num !== sum.den) {
        throw impossible(`the shares of ${name} do not add up`, '100 %', shareText(sum))
      }
    }
    if (after.length > 0 && after.length !== before.length) {
      throw impossible(
        'before and after have different segments',
        `${before.length} segments`,
        String(after.length),
      )
    }
    const level = toNumber(percentileShare(p))
    const text = (value: number): string => (unit === 'ms' ? timeText(value) : plain(value))
    const figure = (value: number): Figure => ({
      value: unit === 'ms' ? value / 1000 : value,
      unit: unit === '' ? null : 's',
      text: text(value),
    })
    const start = mixtureQuantile(parts(before), level)
    const results: Record<string, Figure> = { before: figure(start) }
    const working = [`before: P${p} of ${describe(before, text)} = ${text(start)}`]
    const rest = {
      assumptions: ['latencies spread evenly inside a segment'],
      mistake: 'one P99 over all traffic: it moves with the mix, and nobody changed anything',
      next: ['plimsoll why A B'],
    }
    if (after.length === 0) return { answer: `P${p} = ${text(start)}`, results, working, ...rest }
    const found = decomposeMix(parts(before), parts(after), level)
    const psi = populationStability(
      before.map((one) => one.share.value),
      after.map((one) => one.share.value),
    )
    Object.assign(results, {
      after: figure(start + found.total),
      total: figure(found.total),
      from_mix: figure(found.mix),
      from_within: figure(found.within),
      psi: numberFigure(psi),
      share_from_mix:
        found.total === 0
          ? none('share', 'none: nothing moved')
          : { value: found.mix / found.total, unit: 'share', text: shareText(found.mix / found.total) },
    })
    working.push(
      `after: P${p} of ${describe(after, text)} = ${text(start + found.total)}`,
      `after's shares over before's segments: ${text(start + found.mix)}, so the mix moved it by ${text(found.mix)} and the segments by ${text(found.within)}`,
      `population stability Σ (a − b) ln(a ÷ b) = ${plain(psi, 4)}: ${psi > 0.1 ? 'above 0.1, another mix' : 'up to 0.1, much the same mix'}`,
    )
    const changes = before.map((one, index) => {
      const then = mixtureQuantile(parts([one]), level)
      return (mixtureQuantile(parts([after[index]!]), level) - then) / then
    })
    const trap = mixShift(
      before.map((one) => one.share.value),
      after.map((one) => one.share.value),
      changes,
      found.total / start,
    )
    return {
      answer: `P${p} moved by ${text(found.total)}: ${text(found.mix)} is the mix, ${text(found.within)} the service`,
      results,
      working,
      warnings: [trap.warning],
      ...rest,
    }
  },
})

function parts(segments: readonly Segment[]): readonly MixturePart[] {
  return segments.map((one) => ({
    weight: one.share.value,
    distribution: uniformDistribution(one.from.value, one.to.value),
  }))
}

function describe(segments: readonly Segment[], text: (value: number) => string): string {
  return segments
    .map((one) => `${shareText(one.share.exact)} in ${text(one.from.value)}…${text(one.to.value)}`)
    .join(' + ')
}
