/** A share that lies between two ends. */
export interface ShareBounds {
  readonly low: number
  readonly high: number
}

/**
 * What the shares that pass each objective alone say of the share that passes all of them (Fréchet 1935): from
 * max(0, Σp − (k − 1)) to min p. No objectives: all pass.
 */
export function jointShareBounds(shares: readonly number[]): ShareBounds {
  const sum = shares.reduce((total, share) => total + share, 0)
  return { low: Math.max(0, sum - (shares.length - 1)), high: Math.min(1, ...shares) }
}

/** Good requests a second from separate shares, those of `shares` among the successful requests. */
export function goodputBounds(rate: number, success: number, shares: readonly number[]): ShareBounds {
  const joint = jointShareBounds(shares)
  return { low: rate * success * joint.low, high: rate * success * joint.high }
}

/** The same if the objectives failed independently, which they do not: rate·success·Πp. */
export function independentGoodput(rate: number, success: number, shares: readonly number[]): number {
  return shares.reduce((product, share) => product * share, rate * success)
}

/** TPOT limit that "at least so many tokens a second" means: 1000 ÷ floor ms. Null for a floor of 0, which limits nothing. */
export function tpotLimitForFloorMs(tokensPerSecond: number): number | null {
  return tokensPerSecond > 0 ? 1000 / tokensPerSecond : null
}

/**
 * Whether a TPOT keeps a floor of tokens a second: TPOT·floor ≤ 1 s. As a product, since 1 ÷ (1/93 s) is a little under
 * 93 in floats and a division would fail the exact tie.
 */
export function keepsTokenFloor(tpotSeconds: number, tokensPerSecond: number): boolean {
  return tpotSeconds * tokensPerSecond <= 1
}
