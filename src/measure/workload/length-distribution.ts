import { PlimsollError } from '../../base/errors.ts'
import { standardNormal, uniformInteger, type Random } from '../../base/random.ts'

/** Lengths in tokens, as they are asked for. Draws are whole numbers of 1 or more. */
export type LengthDistribution =
  | { readonly kind: 'fixed'; readonly tokens: number }
  /** Whole numbers of [low, high], both ends included. */
  | { readonly kind: 'uniform'; readonly low: number; readonly high: number }
  | { readonly kind: 'normal'; readonly mean: number; readonly sd: number }
  /** By two figures that one can read off a histogram: half are under `median`, 1 % over `p99`. */
  | { readonly kind: 'lognormal'; readonly median: number; readonly p99: number }

/** Φ⁻¹(0.99), the standard normal's 99th percentile. */
const z99 = 2.3263478740408408

/** One length. Draws below 1 become 1; rounding is to the nearest whole token. */
export function drawLength(distribution: LengthDistribution, random: Random): number {
  switch (distribution.kind) {
    case 'fixed':
      return Math.max(1, Math.round(distribution.tokens))
    case 'uniform':
      return Math.max(1, uniformInteger(random, Math.ceil(distribution.low), Math.floor(distribution.high)))
    case 'normal':
      return Math.max(1, Math.round(distribution.mean + distribution.sd * standardNormal(random)))
    default:
      return Math.max(
        1,
        Math.round(distribution.median * Math.exp(sigma(distribution) * standardNormal(random))),
      )
  }
}

/** Mean of the distribution before rounding and the floor of 1: of a lognormal median·exp(σ² ÷ 2). */
export function meanLength(distribution: LengthDistribution): number {
  switch (distribution.kind) {
    case 'fixed':
      return distribution.tokens
    case 'uniform':
      return (distribution.low + distribution.high) / 2
    case 'normal':
      return distribution.mean
    default:
      return distribution.median * Math.exp(sigma(distribution) ** 2 / 2)
  }
}

/** σ of the logarithm: ln(p99 ÷ median) ÷ z₉₉. */
function sigma({ median, p99 }: Extract<LengthDistribution, { kind: 'lognormal' }>): number {
  return Math.log(p99 / median) / z99
}

/**
 * The range of vLLM's `--random-range-ratio r`: whole numbers of [⌊n·(1 − r)⌋, ⌈n·(1 + r)⌉], at least 1.
 * @throws PlimsollError PLIM_USAGE for a ratio outside [0, 1).
 */
export function rangeAround(tokens: number, ratio: number): LengthDistribution {
  if (!(ratio >= 0 && ratio < 1)) throw unusable('range ratio', 'a ratio from 0 to below 1', String(ratio))
  if (ratio === 0) return { kind: 'fixed', tokens }
  return {
    kind: 'uniform',
    low: Math.max(1, Math.floor(tokens * (1 - ratio))),
    high: Math.ceil(tokens * (1 + ratio)),
  }
}

/**
 * The distribution itself, if lengths can be drawn from it.
 * @throws PlimsollError PLIM_USAGE; `what` names it in the message ("prompt length").
 */
export function checkLengths<D extends LengthDistribution>(distribution: D, what: string): D {
  const given: LengthDistribution = distribution
  const numbers = Object.values(given).filter((value) => typeof value === 'number')
  if (!numbers.every((value) => Number.isFinite(value))) {
    throw unusable(what, 'finite numbers of tokens', JSON.stringify(given))
  }
  switch (given.kind) {
    case 'fixed':
      if (given.tokens < 1) throw unusable(what, '1 token or more', String(given.tokens))
      break
    case 'uniform':
      if (given.low < 1 || Math.ceil(given.low) > Math.floor(given.high)) {
        throw unusable(
          what,
          'a low end of 1 or more and a high end not below it',
          `${given.low}..${given.high}`,
        )
      }
      break
    case 'normal':
      if (given.mean < 1 || given.sd < 0) {
        throw unusable(
          what,
          'a mean of 1 or more and an sd of 0 or more',
          `mean ${given.mean}, sd ${given.sd}`,
        )
      }
      break
    default:
      if (given.median < 1 || given.p99 < given.median) {
        throw unusable(
          what,
          'a median of 1 or more and a p99 not below it',
          `median ${given.median}, p99 ${given.p99}`,
        )
      }
  }
  return distribution
}

function unusable(what: string, expected: string, received: string): PlimsollError {
  return new PlimsollError('PLIM_USAGE', `the ${what} cannot be drawn`, { expected, received })
}
