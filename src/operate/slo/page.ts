import { noun } from '../../base/noun.ts'
import {
  rational,
  toDecimalText,
  toRational,
  type Rational,
  type RationalInput,
} from '../../stats/rational.ts'
import { burnEvidence, burnRate, exceeds, type BurnEvidence, type BurnRate } from './burn.ts'
import type { AlertPolicy, AlertTier } from './policy.ts'

/** What is known of one window: counted events, or a share that somebody read off. */
export type WindowReading =
  | { readonly kind: 'counts'; readonly bad: number | null; readonly total: number | null }
  | { readonly kind: 'share'; readonly share: RationalInput }

export type Readings = Readonly<Record<string, WindowReading>>

/** A window's burn, or why it has none. */
export interface WindowBurn {
  readonly window: string
  readonly burn: BurnRate | null
  /** `idle`: nothing came, which is no burn. `untold`: nobody said. `bad_data`: failures without requests. */
  readonly why: 'idle' | 'untold' | 'bad_data' | null
  readonly bad: number | null
  readonly total: number | null
  /** The share was taken over from another window, as if it were steady. */
  readonly assumed: boolean
}

export interface TierDecision {
  readonly tier: AlertTier
  readonly verdict: 'fires' | 'silent' | 'unknown'
  readonly long: WindowBurn
  readonly short: WindowBurn
  /** Too few events for an alert, although both windows burn. */
  readonly heldBack: string | null
}

export interface PageDecision {
  readonly policy: AlertPolicy
  readonly objective: Rational
  readonly verdict: 'page' | 'no' | 'unknown'
  readonly tiers: readonly TierDecision[]
  readonly badData: readonly string[]
}

export interface PageGuards {
  /** Bad events that the long window needs, where events were counted. */
  readonly minBad?: number
  readonly minRequests?: number
  /** Take a window that nobody told for as bad as this one, and say so. */
  readonly steadyFrom?: string
}

/** Burn of one window at an objective. */
export function windowBurn(window: string, readings: Readings, objective: RationalInput): WindowBurn {
  const reading = Object.hasOwn(readings, window) ? readings[window] : undefined
  const base = { window, burn: null, bad: null, total: null, assumed: false }
  if (reading === undefined) return { ...base, why: 'untold' }
  if (reading.kind === 'share') return { ...base, burn: burnRate(reading.share, objective), why: null }
  const { bad, total } = reading
  if (total === null) return { ...base, bad, why: 'untold' }
  if (total <= 0) return { ...base, bad, total, why: (bad ?? 0) > 0 ? 'bad_data' : 'idle' }
  const share = exactRatio(bad ?? 0, total)
  return { ...base, bad: bad ?? 0, total, burn: burnRate(share, objective), why: null }
}

/** Extrapolated counts are no whole numbers: they count as the decimals that they print as. */
function exactRatio(bad: number, total: number): Rational {
  const above = toRational(bad)
  const below = toRational(total)
  return rational(above.num * below.den, above.den * below.num)
}

/** Should somebody be called? Each alert needs both of its windows; what is not known is not taken for health. */
export function decidePage(
  policy: AlertPolicy,
  objective: RationalInput,
  readings: Readings,
  guards: PageGuards = {},
): PageDecision {
  const tiers = policy.tiers.map((tier) => decideTier(policy, tier, objective, readings, guards))
  const pages = tiers.filter(({ tier }) => tier.severity === 'page')
  const verdict = pages.some((one) => one.verdict === 'fires')
    ? 'page'
    : pages.some((one) => one.verdict === 'unknown')
      ? 'unknown'
      : 'no'
  const badData = Object.keys(readings).filter(
    (window) => windowBurn(window, readings, objective).why === 'bad_data',
  )
  return { policy, objective: toRational(objective), verdict, tiers, badData }
}

function decideTier(
  policy: AlertPolicy,
  tier: AlertTier,
  objective: RationalInput,
  readings: Readings,
  guards: PageGuards,
): TierDecision {
  const [long, short] = [tier.long, tier.short].map((window): WindowBurn => {
    const own = windowBurn(window, readings, objective)
    const from = guards.steadyFrom
    if (own.why !== 'untold' || from === undefined) return own
    return { ...windowBurn(from, readings, objective), window, assumed: true }
  }) as [WindowBurn, WindowBurn]
  const sides = [long, short].map(({ burn, why }) => {
    if (burn !== null) return exceeds(burn, tier.factor, policy.comparator) ? 'over' : 'under'
    return why === 'idle' ? 'under' : 'unknown'
  })
  const base = { tier, long, short }
  if (sides.includes('under')) return { ...base, verdict: 'silent', heldBack: null }
  if (sides.includes('unknown')) return { ...base, verdict: 'unknown', heldBack: null }
  const heldBack = tooFew(long, guards)
  return { ...base, verdict: heldBack === null ? 'fires' : 'silent', heldBack }
}

function tooFew(
  { bad, total, window }: WindowBurn,
  { minBad = 0, minRequests = 0 }: PageGuards,
): string | null {
  if (total === null || bad === null) return null
  if (total < minRequests)
    return `${plain(total)} ${noun(total, 'request')} in ${window}: an alert needs ${minRequests}`
  return bad < minBad ? `${plain(bad)} bad in ${window}: an alert needs ${minBad}` : null
}

function plain(value: number): string {
  return toDecimalText(toRational(value), 1)
}

/** What chance allows the counted burn of a window to be; null where nothing was counted. */
export function evidenceOf({ bad, total }: WindowBurn, objective: RationalInput): BurnEvidence | null {
  if (bad === null || total === null || total <= 0) return null
  return burnEvidence(Math.round(bad), Math.max(Math.round(bad), Math.round(total)), objective)
}
