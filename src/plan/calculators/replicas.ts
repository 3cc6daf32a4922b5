import { noun } from '../../base/noun.ts'
import type { Warning } from '../../base/warnings.ts'
import { calculator, impossible, type Calculator } from '../../stats/calculators/calculator.ts'
import {
  countFigure,
  none,
  numberFigure,
  plain,
  rateFigure,
  shareFigure,
  shareText,
  timesFigure,
  timeText,
  wordFigure,
  type Figure,
} from '../../stats/calculators/figures.ts'
import { assumed, needed, optional } from '../../stats/calculators/inputs.ts'
import { count, duration, rate, ratio, share, type Quantity } from '../../stats/calculators/quantities.ts'
import { add, ceil, compare, divide, multiply, rational, subtract, toNumber } from '../../stats/rational.ts'
import {
  chanceEnoughUp,
  gpusFor,
  poissonPeakToMean,
  replicasFor,
  replicasOverZones,
  upliftCovers,
  type ReplicaCount,
} from '../replicas.ts'
import { insideTestedRange } from '../walls.ts'
import { margin as marginReading } from './margin.ts'

const one = rational(1n)

export const replicasCalculator: Calculator = calculator({
  name: 'replicas',
  group: 'Capacity',
  brief: 'How many replicas for a peak, with a margin and something broken?',
  formula: 'need = peak × imbalance ÷ (each × (1 − margin)); serving = ⌈need⌉; replicas = serving + failures',
  inputs: {
    peak: needed(rate, 'peak demand', { bare: true, also: ['demand', 'load'] }),
    each: needed(rate, 'what one replica was measured to carry', {
      bare: true,
      also: ['per-replica', 'per-gpu', 'capacity'],
    }),
    margin: assumed(marginReading, '0%', 'what is kept free', { bare: true, also: ['headroom'] }),
    survive: assumed(count(0), '0', 'replicas that may be lost', { bare: true, also: ['failures', 'spare'] }),
    imbalance: assumed(ratio, '1', "the busiest replica's load over the mean", { also: ['skew'] }),
    zones: optional(count(1), 'equal zones to spread over'),
    'survive-zones': assumed(count(0), '1', 'zones that may be lost, with --zones'),
    'gpus-per-replica': assumed(count(1), '1', 'GPUs that one replica spans', { also: ['tp', 'gpus'] }),
    availability: optional(share, 'share of the time that a replica is up', { also: ['up'] }),
    window: optional(duration, 'how busy may so short a time be, by chance alone', { also: ['over'] }),
    asked: optional(count(1), 'concurrency that someone wants to set', { also: ['max-num-seqs'] }),
    tested: optional(count(1), 'highest concurrency that was tested'),
  },
  examples: [
    ['--peak 40/s --each 8/s --margin 20% --survive 1', 'a margin has two readings'],
    ['40/s 8/s derate:20% 1', 'each is run at 80 %'],
    ['40/s 8/s derate:20% 1 --zones 3', 'and a zone may be lost'],
    ['40/s 8/s derate:20% 1 --imbalance 1.15 --gpus-per-replica 4', 'an uneven router, four GPUs each'],
    ['40/s 8/s derate:20% 1 --availability 99% --window 1s', 'what chance does to it'],
  ],
  work(i) {
    const { peak, each, survive, margin, imbalance } = i
    const derated = (kind: 'derate' | 'uplift'): ReplicaCount =>
      replicasFor({
        peak: peak.exact,
        perReplica: each.exact,
        margin: margin.share.exact,
        marginKind: kind,
        imbalance: imbalance.exact,
        failures: survive,
      })
    if (compare(imbalance.exact, one) < 0) {
      throw impossible(
        'the busiest replica carries at least the mean',
        'an imbalance of at least 1',
        plain(imbalance.exact),
      )
    }
    if (each.exact.num === 0n)
      throw impossible('a replica carries more than nothing', '--each RATE above 0', '0/s')
    // A margin of 100 % has no derated reading, but may have been meant as an uplift; unsaid, it is refused as the former.
    const readings = margin.share.exact.num === 0n || margin.kind !== null ? 1 : 2
    const kind = margin.kind ?? 'derate'
    const chosen = derated(kind)
    const other = readings === 2 ? derated('uplift') : null
    const ambiguous = other !== null && other.total !== chosen.total
    const results: Record<string, Figure> = {
      replicas: ambiguous
        ? none('replicas', `${plain(chosen.total)} or ${plain(other.total)}: say which margin is meant`)
        : countFigure(chosen.total, 'replicas'),
      serving: ambiguous
        ? none('replicas', 'depends on the margin')
        : countFigure(chosen.serving, 'replicas'),
      need: ambiguous ? none('replicas', 'depends on the margin') : countFigure(chosen.need, 'replicas'),
      usable: ambiguous ? none('/s', 'depends on the margin') : rateFigure(chosen.usable),
    }
    if (other !== null) {
      results['derate'] = countFigure(chosen.total, 'replicas')
      results['uplift'] = countFigure(other.total, 'replicas')
    }
    const describe = (kind: 'derate' | 'uplift', found: ReplicaCount): string => line(kind, found, i)
    const working =
      other === null
        ? [describe(kind, chosen)]
        : [
            `--margin derate:${shareText(margin.share.exact).replace(' ', '')}   ${plain(chosen.total)} ${noun(chosen.total, 'replica')}   ${describe('derate', chosen)}`,
            `--margin uplift:${shareText(margin.share.exact).replace(' ', '')}   ${plain(other.total)} ${noun(other.total, 'replica')}   ${describe('uplift', other)}`,
          ]
    const warnings: (Warning | null)[] = []
    extras(i, chosen, results, working, warnings)
    const manager = Number(ceil(divide(peak.exact, each.exact)))
    return {
      answer: ambiguous
        ? `"${shareText(margin.share.exact)} margin" is read in two ways, and they differ here: say which.`
        : peak.exact.num === 0n
          ? 'No replica: without demand there is nothing to survive.'
          : `${plain(chosen.total)} ${noun(chosen.total, 'replica')}${other === null ? '' : ', whichever way the margin is read'}${results['over_zones'] === undefined ? '' : `; ${results['over_zones'].text} over ${plain(i.zones ?? 0)} zones`}`,
      results,
      working,
      assumptions: [
        'capacity is a tested operating point of the same kind of requests',
        'a replica that is lost takes its share of the load to the others at once',
        ...(i.zones === null ? [] : ['zones of equal size']),
      ],
      mistake:
        peak.exact.num === 0n
          ? null
          : `${plain(peak.exact)} ÷ ${plain(each.exact)} = ${plain(divide(peak.exact, each.exact))}${Number.isInteger(toNumber(divide(peak.exact, each.exact))) ? '' : `, so ${plain(manager)},`} has no margin and survives nothing`,
      warnings,
      next: [planLine(i, ambiguous ? null : kind), 'plimsoll calc trigger'],
    }
  },
})

/** The same question of a replica that was measured; null: the margin is not read in one way. */
function planLine({ peak, margin, survive }: Said, kind: 'derate' | 'uplift' | null): string {
  const share = shareText(margin.share.exact).replace(' ', '')
  const kept = margin.share.exact.num === 0n ? '' : ` --margin ${kind ?? 'derate'}:${share}`
  return `plimsoll plan SWEEP --peak ${plain(peak.exact)}/s${kept} --survive ${survive}`
}

interface Said {
  readonly peak: Quantity
  readonly each: Quantity
  readonly margin: { readonly share: Quantity }
  readonly imbalance: Quantity
  readonly survive: number
}

function line(kind: 'derate' | 'uplift', found: ReplicaCount, i: Said): string {
  const { share } = i.margin
  const parts: string[] = []
  const uneven = i.imbalance.exact.num !== i.imbalance.exact.den
  if (share.exact.num > 0n && kind === 'derate') {
    const left = subtract(one, share.exact)
    parts.push(
      `each is run at ${shareText(left)}: ${plain(i.each.exact)} × ${plain(left)} = ${plain(found.usable)}`,
    )
  }
  let load = i.peak.exact
  if (share.exact.num > 0n && kind === 'uplift') {
    const raised = multiply(load, add(one, share.exact))
    parts.push(
      `the peak is ${shareText(share.exact)} higher: ${plain(load)} × ${plain(add(one, share.exact))} = ${plain(raised)}`,
    )
    load = raised
  }
  if (uneven) {
    const skewed = multiply(load, i.imbalance.exact)
    parts.push(
      `the busiest gets ${plain(i.imbalance.exact)} of the mean: ${plain(load)} × ${plain(i.imbalance.exact)} = ${plain(skewed)}`,
    )
    load = skewed
  }
  const exact = found.need.den === 1n
  parts.push(
    `${plain(load)} ÷ ${plain(found.usable)} = ${plain(found.need)}${exact ? '' : ` → ${plain(found.serving)}`}`,
  )
  if (found.serving > 0 && i.survive > 0) {
    const many = i.survive === 1 ? 'one may die' : `${plain(i.survive)} may die`
    parts.push(`${many}: N − ${plain(i.survive)} ≥ ${plain(found.serving)} → ${plain(found.total)}`)
  }
  return parts.join(';  ')
}

type Extra = Said & {
  readonly zones: number | null
  readonly 'survive-zones': number
  readonly 'gpus-per-replica': number
  readonly availability: Quantity | null
  readonly window: Quantity | null
  readonly asked: number | null
  readonly tested: number | null
}

function extras(
  i: Extra,
  found: ReplicaCount,
  results: Record<string, Figure>,
  working: string[],
  warnings: (Warning | null)[],
): void {
  const gpus = i['gpus-per-replica']
  let total = found.total
  if (i.zones !== null) {
    const lost = i['survive-zones']
    total = replicasOverZones(found.serving, i.zones, lost)
    results['over_zones'] = countFigure(total, 'replicas')
    working.push(
      `over ${plain(i.zones)} zones of which ${plain(lost)} may be lost: ⌈${plain(found.serving)} ÷ (${plain(i.zones)} − ${plain(lost)})⌉ × ${plain(i.zones)} = ${plain(total)}`,
    )
  }
  if (gpus > 1) {
    results['gpus'] = countFigure(gpusFor(total, gpus), 'GPUs')
    working.push(
      `${plain(total)} ${noun(total, 'replica')} × ${plain(gpus)} ${noun(gpus, 'GPU')} = ${plain(gpusFor(total, gpus))} GPUs`,
    )
  }
  if (i.availability !== null && found.serving > 0) {
    for (const deployed of [found.serving, found.serving + 1, found.serving + 2]) {
      const chance = chanceEnoughUp(found.serving, deployed, i.availability.value)
      results[`enough_up_of_${deployed}`] = shareFigure(chance)
      working.push(
        `at least ${plain(found.serving)} of ${plain(deployed)} up: ${shareText(chance)} of the time`,
      )
    }
  }
  if (i.window !== null && i.window.value <= 0) {
    throw impossible('no request arrives in no time', '--window TIME above 0', '0s')
  }
  if (i.window !== null && i.peak.value > 0) {
    const seconds = i.window.value / 1000
    const peak = poissonPeakToMean(i.peak.value, seconds, 0.99)
    results['poisson_peak_to_mean'] = timesFigure(peak)
    const room = divide(multiply(i.each.exact, rational(found.serving)), i.peak.exact)
    const marginFactor = divide(i.each.exact, found.usable)
    const covers = upliftCovers(i.peak.exact, divide(i.window.exact, rational(1000n)), marginFactor)
    results['margin_covers'] = shareFigure(covers)
    working.push(
      `Poisson alone: one ${timeText(i.window.exact)} in a hundred has ${plain(peak, 4)}x the mean; the margin's ${plain(marginFactor, 4)}x covers ${shareText(covers)} of them (${plain(found.serving)} whole replicas have room for ${plain(toNumber(room), 3)}x)`,
    )
  }
  if (i.asked !== null && i.tested !== null) {
    const allowed = insideTestedRange(i.asked, [{ load: i.tested }])
    results['inside_tested_range'] = wordFigure(allowed)
    results['tested'] = numberFigure(i.tested)
    working.push(
      allowed
        ? `${plain(i.asked)} lies inside what was tested (up to ${plain(i.tested)})`
        : `${plain(i.asked)} was never tested (up to ${plain(i.tested)}): no recommendation`,
    )
    if (!allowed) {
      warnings.push({
        kind: 'wall_not_reached',
        message: `${plain(i.asked)} in flight were asked for, and nothing above ${plain(i.tested)} was tested`,
        cause: 'what lies beyond the last tested load is not known',
        next: `plimsoll sweep up to ${plain(i.asked)}`,
        evidence: { asked: i.asked, tested: i.tested },
      })
    }
  }
}
