import { noun } from '../../base/noun.ts'
import { randomStream } from '../../base/random.ts'
import { differenceSe, pairedDeviation, tHalfWidth } from '../power.ts'
import { permutationTest, signFlip } from '../resampling.ts'
import { tQuantile } from '../student-t.ts'
import { pairedT, sampleOf, tInterval, welch, type Sample } from '../two-means.ts'
import { calculator, impossible, type Calculator } from './calculator.ts'
import {
  none,
  numberFigure,
  plain,
  shareFigure,
  shareText,
  timeText,
  wordFigure,
  type Figure,
} from './figures.ts'
import { assumed, optional, several } from './inputs.ts'
import { count, measured, number, share, word, type Measured } from './quantities.ts'

export const noiseCalculator: Calculator = calculator({
  name: 'noise',
  group: 'Is it real?',
  brief: 'Is a difference of two means more than noise?',
  formula: 'SE = √(s₁² ÷ n₁ + s₂² ÷ n₂); real when |difference| > t × SE, t from Welch’s degrees of freedom',
  inputs: {
    before: optional(measured, 'mean before', { bare: true, also: ['m1'] }),
    after: optional(measured, 'mean after', { bare: true, also: ['m2'] }),
    sd: optional(measured, 'standard deviation of one run', { bare: true, also: ['sigma', 's1'] }),
    runs: optional(count(1), 'runs in each arm', { bare: true, also: ['n', 'n1'] }),
    'sd-after': optional(measured, 'standard deviation after, if another', { also: ['s2'] }),
    'runs-after': optional(count(1), 'runs after, if other', { also: ['n2'] }),
    correlation: optional(number, 'correlation of paired runs, 0 to 1', { also: ['r'] }),
    first: several(measured, 0, 'the runs before, instead of mean and deviation', { also: ['a'] }),
    second: several(measured, 0, 'the runs after', { also: ['b'] }),
    design: assumed(
      word('apart', 'paired'),
      'apart',
      'whether run i of one arm belongs to run i of the other',
    ),
    confidence: assumed(share, '95%', 'two-sided', { also: ['conf'] }),
  },
  examples: [
    ['20.0ms 19.3ms 0.8ms 5', 'five runs each, 3.5 % apart'],
    ['20.0ms 19.3ms 0.8ms 5 --correlation 0.9', 'the same, in pairs'],
    [
      '--first 20.4,19.1,20.9,19.6,20.0 --second 19.5,18.6,20.1,18.7,19.6 --design paired',
      'the runs themselves, in pairs',
    ],
    ['20ms 19.3ms 0.3ms 4 --sd-after 1.1ms --runs-after 9', 'arms that differ'],
  ],
  work(i) {
    const given = i.first.length > 0 || i.second.length > 0
    if (
      i.design === 'paired' &&
      i.correlation === null &&
      (i.first.length !== i.second.length || i.first.length < 2)
    ) {
      throw impossible(
        'pairs need a partner each',
        '--first and --second of the same length, or --correlation',
        `${i.first.length} and ${i.second.length}`,
      )
    }
    const arms = given ? fromValues(i.first, i.second) : fromMeans(i)
    const { first, second, unit } = arms
    const confidence = i.confidence.value
    if (!(confidence > 0 && confidence < 1))
      throw impossible('a confidence lies between 0 and 1', '--confidence 95%', plain(confidence))
    const text = (value: number): string => (unit === 'ms' ? timeText(value) : plain(value))
    const figure = (value: number | null, why = 'none'): Figure =>
      value === null ? none(unit || null, why) : { value, unit: unit === '' ? null : unit, text: text(value) }
    const gap = first.mean - second.mean
    const relative = first.mean === 0 ? null : gap / first.mean
    const results: Record<string, Figure> = {}
    const working: string[] = []
    working.push(
      `difference ${text(first.mean)} − ${text(second.mean)} = ${text(gap)}${relative === null ? '' : ` (${shareText(relative)})`}`,
    )
    if (Math.min(first.n, second.n) < 2) {
      return {
        answer: 'cannot tell: one run has no spread',
        results: {
          verdict: wordFigure(null, 'inconclusive: one run has no spread'),
          difference: figure(gap),
          p: none(null, 'none: one run has no spread'),
        },
        working,
        assumptions: [],
        mistake: 'two runs, one each: any difference looks like an effect',
        next: ['plimsoll calc runs-needed'],
      }
    }
    const test = welch(first, second)
    const [low, high] = tInterval(test, confidence)
    const t = tQuantile(1 - (1 - confidence) / 2, test.degrees)
    const half = (high - low) / 2
    // Figures of a pairing come from the values or a correlation; they decide where it is said that there are pairs.
    const paired = pairing(i, first, gap, confidence, working, text)
    const isPaired = paired !== null && (i.correlation !== null || i.design === 'paired')
    const width = isPaired ? paired.half : half
    const isReal = Math.abs(gap) > width
    const verdict = !isReal ? 'inconclusive' : gap > 0 ? 'lower' : 'higher'
    Object.assign(results, {
      verdict: wordFigure(verdict),
      difference: figure(gap),
      relative: shareFigure(relative, 'none: the mean before is 0'),
      se_mean: figure(first.sd / Math.sqrt(first.n)),
      se_difference: figure(test.se),
      band_rule_of_two: figure(2 * test.se),
      t_quantile: numberFigure(t),
      band: figure(half),
      low: figure(low),
      high: figure(high),
      t: numberFigure(test.t, 'none: no noise was seen'),
      degrees: numberFigure(test.degrees),
      p: numberFigure(test.p, 'none: no noise was seen'),
      ...paired?.results(figure),
    })
    working.push(
      `SE of a mean ${text(first.sd)} ÷ √${plain(first.n)} = ${text(first.sd / Math.sqrt(first.n))}; of the difference ${text(test.se)}`,
      `${shareText(confidence)} band ± t × SE = ± ${plain(t, 4)} × ${text(test.se)} = ± ${text(half)} (t of ${plain(test.degrees, 3)} degrees of freedom; the rule of 2 says ± ${text(2 * test.se)})`,
      test.t === null
        ? 'no noise was seen, so no t'
        : `Welch: t = ${plain(test.t, 4)}, p = ${plain(test.p!, 3)}`,
    )
    if (paired === null && first.n === second.n && first.sd === second.sd) {
      // The pooled form, for the table of stats.
      results['band_pooled'] = figure(tHalfWidth(first.sd, first.n, confidence))
      results['se_difference'] = figure(differenceSe(first.sd, first.n))
    }
    return {
      answer: `${verdict === 'inconclusive' ? 'inconclusive' : `after is ${verdict}`}: the difference of ${text(gap)} is ${isReal ? 'outside' : 'inside'} ± ${text(width)}`,
      results,
      working,
      assumptions: [
        'the run is the unit: requests of one run are alike',
        'means of runs scatter about normally',
        ...(!isPaired ? ['runs of the two arms do not belong together in pairs'] : []),
      ],
      mistake: isReal
        ? 'more than noise is not more than a margin: whether it matters is another question'
        : 'inconclusive is not equal: it says that so few runs cannot tell',
      next: ['plimsoll calc runs-needed', 'plimsoll compare A -- B'],
    }
  },
})

interface Arms {
  readonly first: Sample
  readonly second: Sample
  readonly unit: 'ms' | ''
}

function sameUnit(values: readonly Measured[]): 'ms' | '' {
  const unit = values[0]?.unit ?? ''
  if (values.some((one) => one.unit !== unit)) {
    throw impossible('some values have a unit and some have none', 'all with a unit of time, or all without')
  }
  return unit
}

function fromValues(a: readonly Measured[], b: readonly Measured[]): Arms {
  const unit = sameUnit([...a, ...b])
  const sample = (values: readonly Measured[], name: string): Sample => {
    if (values.length === 0) throw impossible(`${name} is missing`, `${name} VALUE…: the runs of that arm`)
    const numbers = values.map(({ value }) => value)
    return sampleOf(numbers) ?? { n: 1, mean: numbers[0]!, sd: 0 }
  }
  return { first: sample(a, '--first'), second: sample(b, '--second'), unit }
}

function fromMeans(i: {
  readonly before: Measured | null
  readonly after: Measured | null
  readonly sd: Measured | null
  readonly runs: number | null
  readonly 'sd-after': Measured | null
  readonly 'runs-after': number | null
}): Arms {
  const { before, after, sd, runs } = i
  if (before === null || after === null || sd === null || runs === null) {
    throw impossible(
      'means, deviation and runs are needed',
      '--before VALUE --after VALUE --sd VALUE --runs N, or --first VALUE… --second VALUE…',
    )
  }
  const sdAfter = i['sd-after'] ?? sd
  return {
    unit: sameUnit([before, after, sd, sdAfter]),
    first: { n: runs, mean: before.value, sd: sd.value },
    second: { n: i['runs-after'] ?? runs, mean: after.value, sd: sdAfter.value },
  }
}

interface Pairing {
  readonly half: number
  readonly results: (figure: (value: number | null, why?: string) => Figure) => Record<string, Figure>
}

function pairing(
  i: {
    readonly first: readonly Measured[]
    readonly second: readonly Measured[]
    readonly correlation: { readonly value: number } | null
  },
  first: Sample,
  gap: number,
  confidence: number,
  working: string[],
  text: (value: number) => string,
): Pairing | null {
  if (i.first.length > 1 && i.first.length === i.second.length) {
    const [a, b] = [i.first.map(({ value }) => value), i.second.map(({ value }) => value)]
    const test = pairedT(a, b)!
    const [low, high] = tInterval(test, confidence)
    const split = permutationTest(a, b, randomStream(1, 'permutation'))!
    const flip = signFlip(
      a.map((value, index) => value - b[index]!),
      randomStream(1, 'sign-flip'),
    )!
    working.push(
      `in pairs: t = ${test.t === null ? 'none' : plain(test.t, 4)}, p = ${test.p === null ? 'none' : plain(test.p, 3)}, difference [${text(low)}, ${text(high)}]`,
      `without a shape: permutation p = ${plain(split.p, 3)} (${plain(split.arrangements)} splits), sign flip p = ${plain(flip.p, 3)} (the least that ${plain(a.length)} ${noun(a.length, 'pair')} can give is ${plain(flip.smallestP, 3)})`,
    )
    return {
      half: (high - low) / 2,
      results: (figure) => ({
        paired_t: numberFigure(test.t, 'none: no noise was seen'),
        paired_p: numberFigure(test.p, 'none: no noise was seen'),
        paired_low: figure(low),
        paired_high: figure(high),
        permutation_p: numberFigure(split.p),
        sign_flip_p: numberFigure(flip.p),
      }),
    }
  }
  if (i.correlation === null) return null
  const r = i.correlation.value
  if (r > 1) throw impossible('a correlation is at most 1', '--correlation 0.9', plain(r))
  const sd = pairedDeviation(first.sd, r)
  const half = (tQuantile(1 - (1 - confidence) / 2, first.n - 1) * sd) / Math.sqrt(first.n)
  working.push(
    `in pairs with correlation ${plain(r)}: deviation of a difference σ√(2(1 − r)) = ${text(sd)}, band ± ${text(half)}`,
  )
  return {
    half,
    results: (figure) => ({
      paired_deviation: figure(sd),
      paired_band: figure(half),
      paired_significant: wordFigure(Math.abs(gap) > half),
    }),
  }
}
