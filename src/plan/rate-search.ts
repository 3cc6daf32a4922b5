/** A rate that was tried, and what its point said. An invalid point (its client set the numbers) says nothing. */
export interface TriedRate {
  readonly ratePerSecond: number
  readonly decision: 'holds' | 'fails' | 'undecided' | 'invalid'
}

export interface RateSearch {
  /** The first rate, requests per second. */
  readonly from: number
  /** Done when the failing rate is at most this share above the holding one: 0.05. */
  readonly resolution: number
  readonly mostPoints: number
}

/** Where the objective holds and where it fails. */
export interface RateAnswer {
  /** The highest rate that holds below every failing one; null: none was shown to. */
  readonly holdsAt: number | null
  /** The lowest rate that fails; null: none was shown to. */
  readonly failsAt: number | null
  /** Rates between the two at which nothing could be decided, rising. */
  readonly open: readonly number[]
  /** A rate that holds above one that fails: reported, not used. */
  readonly holdsAbove: readonly number[]
  /** The two are within the resolution of each other. */
  readonly resolved: boolean
}

/** What the points so far say together, whatever their order. */
export function rateAnswer({ resolution }: RateSearch, tried: readonly TriedRate[]): RateAnswer {
  const rates = (decision: TriedRate['decision']): number[] =>
    tried.filter((one) => one.decision === decision).map(({ ratePerSecond }) => ratePerSecond)
  const failing = rates('fails')
  const failsAt = failing.length === 0 ? null : Math.min(...failing)
  const below = rates('holds').filter((rate) => failsAt === null || rate < failsAt)
  const holdsAt = below.length === 0 ? null : Math.max(...below)
  const between = (rate: number): boolean =>
    (holdsAt === null || rate > holdsAt) && (failsAt === null || rate < failsAt)
  return {
    holdsAt,
    failsAt,
    open: [...rates('undecided'), ...rates('invalid')].filter(between).sort((a, b) => a - b),
    holdsAbove: rates('holds')
      .filter((rate) => failsAt !== null && rate > failsAt)
      .sort((a, b) => a - b),
    resolved: holdsAt !== null && failsAt !== null && failsAt <= holdsAt * (1 + resolution),
  }
}

/**
 * The next rate to try, or null when the search is done: halving until a rate holds, doubling until one fails, then the geometric middle.
 * An undecided rate is neither end: first the gap below it is closed, then the one above. Above a rate that the client could not send
 * nothing is tried, and two such in a row are the last: it is the client's machine, not the rate.
 */
export function nextRate(search: RateSearch, tried: readonly TriedRate[]): number | null {
  if (tried.length >= search.mostPoints) return null
  if (clientFails(tried)) return null
  const digits = Math.max(3, Math.ceil(1 - Math.log10(search.resolution / 5)))
  const rounded = (rate: number): number => Number(rate.toPrecision(digits))
  const lowest = tried.length === 0 ? null : Math.min(...tried.map(({ ratePerSecond }) => ratePerSecond))
  const highest = tried.reduce<TriedRate | null>(
    (most, one) => (most === null || one.ratePerSecond > most.ratePerSecond ? one : most),
    null,
  )
  if (lowest === null || highest === null) return rounded(search.from)
  const { holdsAt, failsAt, open, resolved } = rateAnswer(search, tried)
  if (resolved) return null
  if (holdsAt === null) return rounded(lowest / 2)
  if (failsAt === null && highest.decision !== 'invalid') return rounded(highest.ratePerSecond * 2)
  const gaps: (readonly [low: number, high: number])[] = [[holdsAt, open[0] ?? failsAt ?? holdsAt]]
  const top = open.at(-1)
  if (top !== undefined && failsAt !== null) gaps.push([top, failsAt])
  for (const [low, high] of gaps) {
    const middle = rounded(Math.sqrt(low * high))
    if (high > low * (1 + search.resolution) && middle > low && middle < high) return middle
  }
  return null
}

/** The last two rates were both beyond the client. */
export function clientFails(tried: readonly TriedRate[]): boolean {
  return tried.length >= 2 && tried.slice(-2).every(({ decision }) => decision === 'invalid')
}

/**
 * Points that a search plans with: four to find a holding and a failing rate a factor of two apart, log₂(ln 2 ÷ ln(1 + resolution)) halvings
 * of that, and two for rates that stay undecided.
 *
 * @example
 * plannedPoints(0.05) // 10
 */
export function plannedPoints(resolution: number): number {
  const halvings = Math.max(0, Math.ceil(Math.log2(Math.LN2 / Math.log1p(resolution))))
  return 4 + halvings + 2
}
