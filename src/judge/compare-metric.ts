import { noun } from '../base/noun.ts'
import { tTestPower, pairedPower } from '../stats/power.ts'
import { testEquivalence } from '../stats/equivalence.ts'
import { pairedT, sampleOf, tInterval, welch, type Sample, type TTest } from '../stats/two-means.ts'
import { isSpreadless, tooFewAlike } from './compare-spread.ts'
import { detectable, runsToTell, type RunsNeeded } from './compare-runs-needed.ts'

/** What a comparison is judged by. */
export interface CompareRules {
  /** Two-sided level: 0.05. */
  readonly alpha: number
  /** A relative change that nobody would act on: 0.02. */
  readonly margin: number
  /** The chance with which an effect should be seen: 0.8. */
  readonly power: number
}

export const defaultRules: CompareRules = { alpha: 0.05, margin: 0.02, power: 0.8 }

/** Values of one metric, one a run; paired: the i-th of both belong together. */
export interface MetricValues {
  readonly a: readonly number[]
  readonly b: readonly number[]
  readonly paired: boolean
  readonly better: 'lower' | 'higher'
  readonly scale: ChangeScale
}

/**
 * `log`: the change is a ratio, which is how latencies and rates differ. `difference`: scores, which may be 0, relative to the mean of
 * A. `points`: shares of 0..1, whose change is the plain difference: 1 % of failures instead of none is a point, not infinitely more.
 */
export type ChangeScale = 'log' | 'difference' | 'points'

/** One arm of one metric. `sd` is null for a single run, `geometric_mean` where a value is not above 0. */
export interface ArmFigure {
  readonly n: number
  readonly mean: number
  readonly geometric_mean: number | null
  readonly sd: number | null
  readonly values: readonly number[]
}

/** B shown better or worse than A, shown to be within the margin, shown not to be worse by more than it, or none of these. */
export type CompareVerdict = 'better' | 'worse' | 'equivalent' | 'no_regression' | 'inconclusive'

/** B against A. Changes are relative: 0.035 is +3.5 %; on the scale of points, 3.5 points. */
export interface MetricChange {
  readonly a: ArmFigure
  readonly b: ArmFigure
  readonly scale: ChangeScale
  /** exp of the mean log ratio − 1, or the difference of means ÷ |mean of A|; null where A is 0. */
  readonly change: number | null
  /** 1 − α interval of the change. Null with `change`, or where a single run an arm tells nothing of runs. */
  readonly interval: readonly [low: number, high: number] | null
  /** 1 − 2α interval, which equivalence is judged by. */
  readonly narrow_interval: readonly [low: number, high: number] | null
  /** B − A in the metric's unit: with Student's t, and by the rule of two standard errors. */
  readonly difference: {
    readonly value: number
    readonly half_width: number | null
    readonly degrees: number | null
    readonly half_width_rule_of_two: number | null
  }
  readonly t: number | null
  readonly degrees: number | null
  readonly p: number | null
  /** Null: cannot tell; `why` says so. */
  readonly verdict: CompareVerdict | null
  readonly why: string | null
  /** The end of the 1 − 2α interval on the worse side lies inside the margin, whatever the verdict. */
  readonly no_regression: boolean
  /** The whole 1 − 2α interval lies inside the margin, whether or not a difference was shown. */
  readonly within_margin: boolean
  /** The smallest true change that this many runs see with the power asked for, relative to A. */
  readonly minimum_detectable: number | null
  /** The chance that this many runs see a change as large as the margin. */
  readonly power_at_margin: number | null
  readonly runs_needed: RunsNeeded | null
}

/**
 * Compares one metric of two arms. The run is the replicate: n is the number of runs (statistics reference §3). Without `planning`
 * what other numbers of runs could show is left out (null), which is most of the work.
 */
export function compareMetric(
  values: MetricValues,
  rules: CompareRules = defaultRules,
  planning = true,
): MetricChange {
  const a = armFigure(values.a)
  const b = armFigure(values.b)
  const raw = testOf(values.a, values.b, values.paired)
  const scaled =
    values.scale === 'log' ? testOf(values.a.map(Math.log), values.b.map(Math.log), values.paired) : raw
  const noiseSd = values.paired
    ? (sampleOf(values.b.map((value, i) => value - (values.a[i] ?? 0)))?.sd ?? null)
    : pooledSd(sampleOf(values.a), sampleOf(values.b))
  return judgeChange({ ...values, a, b, raw, scaled, noiseSd }, rules, planning)
}

/** The same from n, mean and standard deviation alone; logs by the delta method, sd ÷ mean. */
export function compareSummaries(
  a: Sample,
  b: Sample,
  better: 'lower' | 'higher' = 'lower',
  rules: CompareRules = defaultRules,
): MetricChange {
  const log = (arm: Sample): Sample => ({ n: arm.n, mean: Math.log(arm.mean), sd: arm.sd / arm.mean })
  const positive = a.mean > 0 && b.mean > 0
  return judgeChange(
    {
      a: { n: a.n, mean: a.mean, geometric_mean: null, sd: a.sd, values: [] },
      b: { n: b.n, mean: b.mean, geometric_mean: null, sd: b.sd, values: [] },
      raw: welch(b, a),
      scaled: positive ? welch(log(b), log(a)) : welch(b, a),
      scale: positive ? 'log' : 'difference',
      noiseSd: pooledSd(a, b),
      paired: false,
      better,
    },
    rules,
    true,
  )
}

interface Judged {
  readonly a: ArmFigure
  readonly b: ArmFigure
  /** B − A in the unit, and on the scale; null below two runs an arm. */
  readonly raw: TTest | null
  readonly scaled: TTest | null
  readonly scale: ChangeScale
  /** Standard deviation of a run, or of the difference of a pair, in the unit. */
  readonly noiseSd: number | null
  readonly paired: boolean
  readonly better: 'lower' | 'higher'
}

function judgeChange(judged: Judged, rules: CompareRules, planning: boolean): MetricChange {
  const { a, b, raw, scaled, scale, noiseSd, paired, better } = judged
  const base = scale === 'points' ? 1 : Math.abs(a.mean)
  const relative = (value: number): number | null =>
    scale === 'log' ? Math.expm1(value) : base === 0 ? null : value / base
  const value = b.mean - a.mean
  const seen = scaled?.difference ?? (scale === 'log' ? Math.log(centre(b)) - Math.log(centre(a)) : value)
  const none = {
    a,
    b,
    scale,
    change: relative(seen),
    interval: null,
    narrow_interval: null,
    t: null,
    degrees: null,
    p: null,
    verdict: null,
    no_regression: false,
    within_margin: false,
    minimum_detectable: null,
    power_at_margin: null,
    runs_needed: null,
  }
  if (raw === null || scaled === null || noiseSd === null) {
    return {
      ...none,
      difference: { value, half_width: null, degrees: null, half_width_rule_of_two: null },
      why: `${a.n} ${noun(a.n, 'run')} of A and ${b.n} of B: nothing is known of how runs differ among themselves; two of each are the least, five a beginning`,
    }
  }
  const magnitude =
    scale === 'log'
      ? Math.max(1, Math.abs(Math.log(centre(a))), Math.abs(Math.log(centre(b))))
      : Math.max(Math.abs(a.mean), Math.abs(b.mean))
  const spreadless = isSpreadless({ test: scaled, magnitude })
  const tooFew = spreadless
    ? tooFewAlike({ test: scaled, magnitude, n: [a.n, b.n], paired, alpha: rules.alpha })
    : null
  if (tooFew !== null) {
    return {
      ...none,
      difference: { value, half_width: null, degrees: null, half_width_rule_of_two: null },
      why: tooFew,
    }
  }
  const margin = scale === 'log' ? Math.log1p(rules.margin) : rules.margin * base
  const test = testEquivalence(scaled, margin, {
    alpha: rules.alpha,
    worse: better === 'lower' ? 'higher' : 'lower',
  })
  const ends = (interval: readonly [number, number]): readonly [number, number] | null => {
    const low = relative(interval[0])
    const high = relative(interval[1])
    return low === null || high === null ? null : [low, high]
  }
  const rose = scaled.difference > 0
  const change = relative(seen)
  const shown = rose === (better === 'higher') ? 'better' : 'worse'
  const verdict: CompareVerdict = test.significant
    ? shown
    : undecidedVerdict(change, test.equivalent, test.noRegression, rules.margin)
  const design = { noiseSd, paired, n: paired ? a.n : 2 / (1 / a.n + 1 / b.n) }
  const half = (tInterval(raw, 1 - rules.alpha)[1] - tInterval(raw, 1 - rules.alpha)[0]) / 2
  return {
    ...none,
    interval: ends(tInterval(scaled, 1 - rules.alpha)),
    narrow_interval: ends(test.interval),
    difference: { value, half_width: half, degrees: raw.degrees, half_width_rule_of_two: 2 * raw.se },
    t: scaled.t,
    degrees: scaled.degrees,
    p: scaled.p,
    verdict,
    why: spreadless
      ? paired
        ? 'the pairs differ alike to the last digit'
        : 'the runs of each arm are alike to the last digit'
      : null,
    no_regression: test.noRegression,
    within_margin: test.equivalent,
    minimum_detectable: base === 0 || spreadless || !planning ? null : detectable(design, rules) / base,
    power_at_margin: !planning ? null : powerAt(rules.margin * base, design, rules),
    runs_needed:
      planning && verdict === 'inconclusive' ? runsToTell(value, rules.margin * base, design, rules) : null,
  }
}

/** What a change on the scale of logs is between. */
export function centre({ geometric_mean: geometric, mean }: ArmFigure): number {
  return geometric ?? mean
}

/**
 * What is left to say where no difference was shown. "No regression" answers the question whether B may replace A, and only where the
 * change that was seen is itself within the margin: where it is larger, the open question is whether it is real.
 */
export function undecidedVerdict(
  change: number | null,
  equivalent: boolean,
  noRegression: boolean,
  margin: number,
): CompareVerdict {
  if (equivalent) return 'equivalent'
  return noRegression && change !== null && Math.abs(change) <= margin ? 'no_regression' : 'inconclusive'
}

function powerAt(
  delta: number,
  design: { readonly noiseSd: number; readonly paired: boolean; readonly n: number },
  rules: CompareRules,
): number | null {
  if (delta === 0 || design.noiseSd === 0) return null
  const known = { sd: design.noiseSd, alpha: rules.alpha }
  return design.paired ? pairedPower(design.n, delta, known) : tTestPower(design.n, delta, known)
}

/** B − A; null below two runs an arm. */
function testOf(a: readonly number[], b: readonly number[], paired: boolean): TTest | null {
  if (paired) return pairedT(b, a)
  const first = sampleOf(a)
  const second = sampleOf(b)
  return first === null || second === null ? null : welch(second, first)
}

function pooledSd(a: Sample | null, b: Sample | null): number | null {
  if (a === null || b === null) return null
  const degrees = a.n + b.n - 2
  return Math.sqrt(((a.n - 1) * a.sd ** 2 + (b.n - 1) * b.sd ** 2) / degrees)
}

function armFigure(values: readonly number[]): ArmFigure {
  const n = values.length
  const sample = sampleOf(values)
  const positive = values.every((value) => value > 0)
  const logs = positive ? values.reduce((sum, value) => sum + Math.log(value), 0) / n : null
  return {
    n,
    mean: sample?.mean ?? values[0] ?? 0,
    geometric_mean: logs === null ? null : Math.exp(logs),
    sd: sample?.sd ?? null,
    values,
  }
}
