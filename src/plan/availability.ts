import { PlimsollError } from '../base/errors.ts'
import { chanceEnoughUp, poissonPeakToMean, upliftCovers } from './replicas.ts'
import { toNumber, toRational, type RationalInput } from '../stats/rational.ts'

/** Chance that enough replicas are up, for a number of replicas. */
export interface UpChance {
  readonly replicas: number
  readonly chance: number
}

/** From just enough to two more than planned: what one more replica buys. Failures are taken as independent. */
export function upChances(serving: number, replicas: number, availability: number): readonly UpChance[] {
  if (serving === 0) return []
  return Array.from({ length: Math.max(replicas, serving) - serving + 2 }, (_, extra) => ({
    replicas: serving + extra,
    chance: chanceEnoughUp(serving, serving + extra, availability),
  }))
}

/** No fleet is sized beyond this by chance alone. */
const mostSpares = 1000

/** Fewest replicas of which `serving` are up with at least the wanted chance. Throws PLIM_NUMBER where that takes too many. */
export function replicasForAvailability(serving: number, availability: number, wanted: number): number {
  if (serving === 0) return 0
  for (let spare = 0; spare <= mostSpares; spare++) {
    if (chanceEnoughUp(serving, serving + spare, availability) >= wanted) return serving + spare
  }
  throw new PlimsollError('PLIM_NUMBER', `over ${mostSpares} spare replicas would be needed`, {
    expected: 'an availability of a replica that is nearer to 1',
    received: String(availability),
  })
}

/** Peaks of Poisson arrivals inside the busiest minute, for one length of window. */
export interface BurstFact {
  readonly windowSeconds: number
  /** P99 of the count ÷ its mean. */
  readonly peakToMean: number
  /** Share of such windows that the uplift covers. */
  readonly covered: number
}

/** What the mean of a minute hides, for windows of 1, 10 and 60 s. `uplift`: usable capacity ÷ demand, at least 1. */
export function burstFacts(peak: RationalInput, uplift: RationalInput): readonly BurstFact[] {
  const rate = toNumber(toRational(peak))
  if (rate <= 0) return []
  return [1, 10, 60].map((windowSeconds) => ({
    windowSeconds,
    peakToMean: poissonPeakToMean(rate, windowSeconds, 0.99),
    covered: upliftCovers(peak, windowSeconds, uplift),
  }))
}
