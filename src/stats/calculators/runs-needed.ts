import {
  minimumDetectableEffect,
  pairedDeviation,
  pairsForPower,
  runsByNormal,
  runsByRuleOfTwo,
  runsByT,
  runsForPower,
  tHalfWidth,
  tTestPower,
} from '../power.ts'
import { calculator, impossible, type Calculator } from './calculator.ts'
import {
  countFigure,
  none,
  numberFigure,
  plain,
  shareFigure,
  shareText,
  timeText,
  type Figure,
} from './figures.ts'
import { assumed, needed, optional, several } from './inputs.ts'
import { count, measured, number, share } from './quantities.ts'

export const runsNeededCalculator: Calculator = calculator({
  name: 'runs-needed',
  group: 'Is it real?',
  brief: 'How many runs does a difference need before it can be seen?',
  formula: 'the least n with power(n, δ ÷ (σ√(2/n))) ≥ 80 % (noncentral t); an even chance: t × σ√(2/n) ≤ δ',
  inputs: {
    sd: needed(measured, 'standard deviation of one run', { bare: true, also: ['sigma', 's'] }),
    difference: needed(measured, 'the difference to see', {
      bare: true,
      also: ['diff', 'gap', 'delta', 'effect'],
    }),
    power: assumed(share, '80%', 'chance to see it when it is there'),
    runs: several(count(1, 1_000_000), 0, 'what so many runs an arm can see', { also: ['n'] }),
    confidence: assumed(share, '95%', 'two-sided', { also: ['conf'] }),
    correlation: optional(number, 'correlation of runs in pairs, 0 to 1', { also: ['r'] }),
  },
  examples: [
    ['0.8ms 0.7ms', 'the standard case'],
    ['0.8ms 0.7ms --power 90%', 'surer'],
    ['0.8ms 0.7ms --runs 3,5,10,20', 'what these can see'],
    ['0.8ms 0.7ms --correlation 0.9', 'paired with the same seeds'],
  ],
  work({ sd, difference, power, runs, confidence, correlation }) {
    if (sd.unit !== difference.unit)
      throw impossible('one has a unit and the other has none', 'both with a unit of time, or both without')
    if (!(power.value > 0 && power.value < 1))
      throw impossible(
        'no number of runs is always sure',
        'a power between 0 and 100 %',
        shareText(power.exact),
      )
    if (!(confidence.value > 0 && confidence.value < 1))
      throw impossible('a confidence lies between 0 and 1', '--confidence 95%', plain(confidence.exact))
    const alpha = 1 - confidence.value
    const [s, delta] = [sd.value, difference.value]
    const text = (value: number): string => (sd.unit === 'ms' ? timeText(value) : plain(value))
    const figure = (value: number | null, why: string): Figure =>
      value === null
        ? none(sd.unit || null, why)
        : { value, unit: sd.unit === '' ? null : sd.unit, text: text(value) }
    if (s === 0)
      throw impossible('without noise two runs decide everything', 'a standard deviation above 0', '0')
    const never = 'none: no number of runs shows a difference of 0'
    const design = { sd: s, alpha }
    const forPower = runsForPower(delta, power.value, design)
    const byTwo = runsByRuleOfTwo(s, delta)
    const byT = runsByT(s, delta, confidence.value)
    const normal = runsByNormal(delta, power.value, design)
    const results: Record<string, Figure> = {
      runs: countFigure(forPower, 'runs', delta === 0 ? never : 'more than a million'),
      runs_even_chance: countFigure(byT, 'runs', never),
      runs_rule_of_two: countFigure(byTwo?.runs ?? null, 'runs', never),
      rule_of_two: numberFigure(byTwo?.real ?? null, never),
      runs_normal: countFigure(normal, 'runs', never),
    }
    const working: string[] = []
    if (delta > 0 && byTwo !== null) {
      working.push(
        `rule of two: 2 × σ√(2/n) ≤ δ, n ≥ 8 (σ ÷ δ)² = 8 × (${text(s)} ÷ ${text(delta)})² = ${plain(byTwo.real)} → ${plain(byTwo.runs)}`,
        `with the t quantile instead of 2: ${byT === null ? 'more than a million' : `${plain(byT)} (band ± ${text(tHalfWidth(s, byT, confidence.value) ?? 0)}; with one fewer ± ${byT < 3 ? 'unknown' : text(tHalfWidth(s, byT - 1, confidence.value)!)})`}`,
        `at ${byT === null ? 'that' : plain(byT)} the band is as wide as the difference: ${byT === null || byT < 2 ? 'a coin' : shareText(tTestPower(byT, delta, design))} chance to see it`,
        `for ${shareText(power.exact)} power: ${forPower === null ? 'more than a million' : plain(forPower)} runs an arm (noncentral t; the normal formula says ${plain(normal!)})`,
      )
      if (byT !== null && byT >= 2) results['power_even_chance'] = shareFigure(tTestPower(byT, delta, design))
    }
    for (const n of runs) {
      const effect = minimumDetectableEffect(n, power.value, design)
      const chance = n < 2 || delta === 0 ? null : tTestPower(n, delta, design)
      results[`detectable_at_${n}`] = figure(effect, 'none: one run has no spread')
      results[`power_at_${n}`] = shareFigure(chance, n < 2 ? 'none: one run has no spread' : never)
      working.push(
        effect === null
          ? `${plain(n)} + ${plain(n)} runs see nothing: one run has no spread`
          : `${plain(n)} + ${plain(n)} runs see ${text(effect)} (${shareText(power.exact)} power)${chance === null ? '' : `, and ${text(delta)} in ${shareText(chance)} of the cases`}`,
      )
    }
    if (correlation !== null) {
      if (correlation.value >= 1)
        throw impossible('a correlation is below 1', '--correlation 0.9', plain(correlation.exact))
      const deviation = pairedDeviation(s, correlation.value)
      const pairs = pairsForPower(delta, power.value, { sd: deviation, alpha })
      results['pairs'] = countFigure(pairs, 'pairs', never)
      working.push(
        `in pairs with correlation ${plain(correlation.exact)}: σ√(2(1 − r)) = ${text(deviation)}, ${pairs === null ? 'none' : plain(pairs)} pairs`,
      )
    }
    return {
      answer:
        forPower === null
          ? delta === 0
            ? 'No number of runs shows a difference of 0.'
            : 'more than a million runs'
          : `${plain(forPower)} + ${plain(forPower)} runs see ${text(delta)} with ${shareText(power.exact)} power`,
      results,
      working,
      assumptions: [
        'the run is the unit',
        'the deviation is that of runs like these; measure it with a pilot',
      ],
      mistake:
        byT === null
          ? null
          : `${plain(byT)} + ${plain(byT)}, where the band equals the difference, see it only about every second time`,
      next: ['plimsoll compare --plan', 'plimsoll calc noise'],
    }
  },
})
