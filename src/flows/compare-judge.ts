import { randomStream } from '../base/random.ts'
import {
  compareMetric,
  undecidedVerdict,
  type CompareRules,
  type CompareVerdict,
  type MetricChange,
  type MetricValues,
} from '../judge/compare-metric.ts'
import type { ComparedMetric, VerdictWord } from '../report/compare-document.ts'
import { holm } from '../stats/multiplicity.ts'
import { permutationTest, signFlip } from '../stats/resampling.ts'

/** One metric of a comparison before it is judged together with the others. */
export interface Candidate
  extends Pick<ComparedMetric, 'metric' | 'label' | 'unit' | 'within_run' | 'pairs'>, MetricValues {}

/**
 * Compares all metrics and gives the verdicts together: the primary by its own p, the others by Holm's. A difference that only an
 * unadjusted p shows falls back to what else was shown.
 */
export function judgeTogether(
  candidates: readonly Candidate[],
  primary: string,
  rules: CompareRules,
): readonly ComparedMetric[] {
  const changes = candidates.map((candidate) => compareMetric(candidate, rules))
  const others = changes.flatMap(({ p }, i) =>
    candidates[i]?.metric !== primary && p !== null ? [{ place: i, p }] : [],
  )
  const adjusted = new Map(holm(others.map(({ p }) => p)).map((p, i) => [others[i]?.place, p]))
  return candidates.map((candidate, place): ComparedMetric => {
    const change = changes[place]!
    const { metric, label, unit, better, within_run, pairs } = candidate
    const pAdjusted = adjusted.get(place) ?? change.p
    const verdict = heldVerdict(change, pAdjusted, rules)
    return {
      metric,
      label,
      unit,
      better,
      primary: metric === primary,
      ...change,
      p_adjusted: pAdjusted,
      verdict: verdictWord(verdict, unit),
      regression: verdict === 'worse' && !change.within_margin,
      within_run,
      exact: change.verdict === null ? null : exactTest(candidate),
      pairs,
    }
  })
}

function heldVerdict(
  change: MetricChange,
  pAdjusted: number | null,
  { alpha, margin }: CompareRules,
): CompareVerdict | null {
  const { verdict } = change
  const shown = verdict === 'better' || verdict === 'worse'
  if (!shown || pAdjusted === null || pAdjusted < alpha) return verdict
  return undecidedVerdict(change.change, change.within_margin, change.no_regression, margin)
}

function verdictWord(verdict: CompareVerdict | null, unit: string): VerdictWord | null {
  const isSpeed = unit === 'ms' || unit.endsWith('/s')
  if (verdict === 'better') return isSpeed ? 'faster' : 'better'
  if (verdict === 'worse') return isSpeed ? 'slower' : 'worse'
  return verdict
}

/** An exact test beside the t test, where all arrangements of so few runs can be looked at. */
function exactTest({ a, b, paired, scale }: Candidate): ComparedMetric['exact'] {
  if (a.length > 10 || b.length > 10) return null
  const on = (value: number): number => (scale === 'log' ? Math.log(value) : value)
  // All arrangements are looked at: no random number is drawn.
  const random = randomStream('0', 'exact')
  const found = paired
    ? signFlip(
        b.map((value, i) => on(value) - on(a[i] ?? value)),
        random,
      )
    : permutationTest(b.map(on), a.map(on), random)
  if (found === null || !found.exact) return null
  return { test: paired ? 'sign_flip' : 'permutation', p: found.p, smallest_p: found.smallestP }
}
