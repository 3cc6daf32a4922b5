import { minimumDetectableEffect, runsByRuleOfTwo, runsByT } from '../stats/power.ts'
import { requestsPerRun, runEffect } from '../stats/replication.ts'
import { sampleOf } from '../stats/two-means.ts'
import { runsToSee } from './compare-runs-needed.ts'

/** One metric of a pilot: a value a run, arm by arm. */
export interface PilotValues {
  readonly arms: readonly (readonly number[])[]
  /** Both arms hold pairs, in the same order. */
  readonly paired: boolean
}

/** What a pilot says of the runs that an effect needs. Null: the pilot cannot say. */
export interface PilotPlan {
  readonly n: number
  readonly mean: number
  /** Standard deviation of a run, within its arm. */
  readonly run_sd: number
  /** Runs an arm for the effect: by two standard errors, by Student's t, with the power asked for, and with 90 %. */
  readonly needed: {
    readonly rule_of_two: number | null
    readonly t: number | null
    readonly power: number | null
    readonly power_90: number | null
  }
  /** Pairs for the same, where the pilot has two arms of pairs; null otherwise. */
  readonly pairs_needed: number | null
  /** What n runs an arm can see, relative. */
  readonly detectable: readonly { readonly n: number; readonly change: number }[]
}

/** Sizes of design whose detectable effect is printed. */
const designs = [3, 5, 10, 20, 30] as const

/**
 * Plans a comparison from a pilot: the standard deviation of a run pooled within the arms, and from it the runs for an effect
 * (relative to the pilot's mean). Null below two runs in one arm.
 */
export function planFromPilot(
  { arms, paired }: PilotValues,
  effect: number,
  { alpha, power }: { readonly alpha: number; readonly power: number },
): PilotPlan | null {
  const samples = arms.map(sampleOf).filter((sample) => sample !== null)
  const degrees = samples.reduce((sum, { n }) => sum + n - 1, 0)
  if (degrees === 0) return null
  const squares = samples.reduce((sum, { n, sd }) => sum + (n - 1) * sd * sd, 0)
  const n = samples.reduce((sum, sample) => sum + sample.n, 0)
  const mean = samples.reduce((sum, sample) => sum + sample.n * sample.mean, 0) / n
  const sd = Math.sqrt(squares / degrees)
  const delta = Math.abs(mean) * effect
  const design = { sd, alpha }
  const noise = { noiseSd: sd, paired: false, alpha }
  const [a, b] = arms
  const differences =
    paired && a !== undefined && b !== undefined
      ? sampleOf(b.map((value, i) => value - (a[i] ?? value)))
      : null
  return {
    n,
    mean,
    run_sd: sd,
    needed: {
      rule_of_two: runsByRuleOfTwo(sd, delta)?.runs ?? null,
      t: runsByT(sd, delta, 1 - alpha),
      power: runsToSee(delta, power, noise),
      power_90: runsToSee(delta, 0.9, noise),
    },
    pairs_needed:
      differences === null ? null : runsToSee(delta, power, { noiseSd: differences.sd, paired: true, alpha }),
    detectable:
      mean === 0
        ? []
        : designs.map((runs) => ({
            n: runs,
            change: (minimumDetectableEffect(runs, power, design) ?? 0) / Math.abs(mean),
          })),
  }
}

/** Times of a run, s: what it costs however few requests it has, and each request. */
export interface RunCost {
  readonly runSeconds: number
  readonly requestSeconds: number
}

/** ICC of the requests of the pilot's runs, and the length of a run that buys the smallest error for the time. */
export function planRunLength(
  runs: readonly (readonly number[])[],
  cost: RunCost | null,
): { readonly icc: number | null; readonly requests_per_run: number | null } {
  const effect = runEffect(runs)
  if (effect === null) return { icc: null, requests_per_run: null }
  const within = effect.withinMeanSquare
  const between = effect.icc >= 1 ? effect.betweenMeanSquare : (effect.icc * within) / (1 - effect.icc)
  return {
    icc: effect.icc,
    requests_per_run:
      cost === null ? null : requestsPerRun(cost.runSeconds, cost.requestSeconds, within, between),
  }
}
