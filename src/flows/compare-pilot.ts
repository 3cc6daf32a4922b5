import { PlimsollError } from '../base/errors.ts'
import { noun } from '../base/noun.ts'
import { shellLine } from '../base/shell-words.ts'
import { pairRuns } from '../judge/compare-pairs.ts'
import { planFromPilot, planRunLength, type RunCost } from '../judge/compare-pilot.ts'
import type { ComparePlanDocument, PlannedMetric } from '../report/compare-document.ts'
import { againOfRuns, pilotAgain } from './compare-again.ts'
import { readArm, type ArmRun } from './compare-arms.ts'
import { comparedFigures } from './compare-figures.ts'
import type { CompareSettings } from './compare.ts'

/**
 * How many runs an effect needs, from a pilot of one arm or of two.
 * @throws PlimsollError PLIM_USAGE where no arm has two runs.
 */
export async function planComparison(
  paths: readonly (readonly string[])[],
  effect: number,
  settings: CompareSettings,
  version: string,
): Promise<ComparePlanDocument> {
  const arms: (readonly ArmRun[])[] = []
  for (const arm of paths) if (arm.length > 0) arms.push(await readArm(arm))
  const [a, b] = arms
  const pairing =
    a !== undefined && b !== undefined
      ? pairRuns(
          a.map(({ block, manifest }) => ({ block, seed: manifest.seed })),
          b.map(({ block, manifest }) => ({ block, seed: manifest.seed })),
        )
      : null
  const ordered =
    pairing?.kind === 'paired'
      ? [pairing.indices.map(([i]) => a![i]!), pairing.indices.map(([, j]) => b![j]!)]
      : arms
  const runs = ordered.flat()
  const { icc, requests_per_run } = planRunLength(
    runs.map(({ perRequest }) => perRequest),
    costOf(runs),
  )
  const metrics = settings.metrics.flatMap((name): readonly PlannedMetric[] => {
    const figure = comparedFigures.find(({ metric }) => metric === name)
    if (figure === undefined || figure.unit === 'share') return []
    const values = ordered.map((arm) =>
      arm.map(({ document }) => figure.of(document)).filter((value) => value !== null),
    )
    if (values.some((arm, i) => arm.length !== ordered[i]?.length)) return []
    const plan = planFromPilot({ arms: values, paired: pairing?.kind === 'paired' }, effect, settings)
    if (plan === null) return []
    // Requests were pooled by their pace: what is said of run lengths holds for that metric.
    const isPace = figure.metric === 'tpot_mean'
    return [
      {
        metric: figure.metric,
        label: figure.label,
        unit: figure.unit,
        ...plan,
        icc: isPace ? icc : null,
        requests_per_run: isPace ? requests_per_run : null,
      },
    ]
  })
  if (metrics.length === 0) {
    throw new PlimsollError('PLIM_USAGE', 'a pilot needs at least two runs of one arm', {
      received: `${runs.length} ${noun(runs.length, 'run')}`,
      hint: `a pilot of three pairs: ${shellLine(['plimsoll', 'compare', ...pilotAgain(runs, settings)])}`,
    })
  }
  const again = againOfRuns(a ?? [], b ?? [], settings)
  return {
    schema: 'plimsoll.compare-plan/1',
    plimsoll: version,
    runs: runs.map(({ path }) => path),
    ...(again === null ? {} : { again }),
    effect,
    power: settings.power,
    alpha: settings.alpha,
    metrics,
  }
}

/** What these runs took besides their window, and in it for each request. */
function costOf(runs: readonly ArmRun[]): RunCost | null {
  const known = runs.filter(({ document }) => document.window_counts.sent > 0)
  if (known.length === 0) return null
  const sum = (of: (run: ArmRun) => number): number => known.reduce((total, run) => total + of(run), 0)
  const requests = sum(({ document }) => document.window_counts.sent)
  const overhead = sum(({ document }) => {
    const longest = document.metrics.e2e_ms?.max ?? 0
    return document.window.warmup_s + longest / 1000
  })
  const measured = sum(({ document }) => document.window.measure_s)
  return overhead > 0 && measured > 0
    ? { runSeconds: overhead / known.length, requestSeconds: measured / requests }
    : null
}
