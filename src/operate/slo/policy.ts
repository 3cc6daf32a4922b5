import { PlimsollError } from '../../base/errors.ts'
import { divide, multiply, toRational, type Rational, type RationalInput } from '../../stats/rational.ts'
import { burnThreshold } from './burn.ts'
import { promSeconds, readPromSeconds } from './prometheus-duration.ts'

export type Comparator = '>' | '>='
export type Severity = 'page' | 'ticket'

/** One pair of windows: both must burn at the factor. */
export interface AlertTier {
  readonly severity: Severity
  /** As Prometheus writes them: `1h`, `5m`. */
  readonly long: string
  readonly short: string
  /** How many times faster than allowed. */
  readonly factor: Rational
}

/** When somebody is called. */
export interface AlertPolicy {
  readonly name: string
  readonly comparator: Comparator
  /** Fastest first. */
  readonly tiers: readonly AlertTier[]
}

interface TierText {
  readonly severity: Severity
  readonly long: string
  readonly short?: string
  readonly factor?: RationalInput
  /** Share of the period's budget that one long window may use. */
  readonly budget?: RationalInput
}

export interface PolicyText {
  readonly name: string
  readonly comparator: Comparator
  readonly alerts: readonly TierText[]
}

/**
 * `sre-workbook`: Google's SRE workbook, chapter 5: 2 %, 5 %, 10 % and 10 % of the budget in 1 h, 6 h, 1 d and 3 d, strictly more than
 * the factor; the short window is a twelfth. The factors follow the period: 14.4, 6, 3, 1 for 30 days. `lesson`: one page, at 6x or
 * more on 1 h and 5 m.
 */
export const presetPolicies: Readonly<Record<string, PolicyText>> = {
  'sre-workbook': {
    name: 'sre-workbook',
    comparator: '>',
    alerts: [
      { severity: 'page', long: '1h', short: '5m', budget: '2%' },
      { severity: 'page', long: '6h', short: '30m', budget: '5%' },
      { severity: 'ticket', long: '1d', short: '2h', budget: '10%' },
      { severity: 'ticket', long: '3d', short: '6h', budget: '10%' },
    ],
  },
  lesson: {
    name: 'lesson',
    comparator: '>=',
    alerts: [{ severity: 'page', long: '1h', short: '5m', factor: 6 }],
  },
}

/** factor = share of the budget · period ÷ long window. `below`: under 1 it fires inside the budget. */
export interface BurnFactor {
  readonly factor: Rational
  readonly belowOne: boolean
}

export function burnFactor(budgetShare: RationalInput, long: string, period: string): BurnFactor {
  const factor = burnThreshold(
    budgetShare,
    readPromSeconds(long, 'the long window'),
    readPromSeconds(period, 'the period'),
  )
  return { factor, belowOne: factor.num < factor.den }
}

/** The policy for a period: presets by name, own ones as written. Throws PLIM_CONFIG for what cannot be a policy. */
export function policyFor(policy: string | PolicyText, period: string): AlertPolicy {
  const text = typeof policy === 'string' ? presetNamed(policy) : policy
  if (text.alerts.length === 0) throw bad(text.name, 'it has no alerts')
  const tiers = text.alerts.map((tier): AlertTier => {
    const longSeconds = readPromSeconds(tier.long, `the long window of policy ${text.name}`)
    const short = tier.short ?? defaultShort(longSeconds)
    if (readPromSeconds(short, `the short window of policy ${text.name}`) >= longSeconds) {
      throw bad(text.name, `its short window ${short} is not shorter than ${tier.long}`)
    }
    if (readPromSeconds(period, 'the period') < longSeconds) {
      throw bad(text.name, `its window ${tier.long} is longer than the period ${period}`)
    }
    return { severity: tier.severity, long: tier.long, short, factor: factorOf(text.name, tier, period) }
  })
  return { name: text.name, comparator: text.comparator, tiers }
}

function presetNamed(name: string): PolicyText {
  const found = Object.hasOwn(presetPolicies, name) ? presetPolicies[name] : undefined
  if (found !== undefined) return found
  throw new PlimsollError('PLIM_CONFIG', `there is no alert policy ${name}`, {
    expected: `${Object.keys(presetPolicies).join(' or ')}, or one of your own with alerts`,
  })
}

function factorOf(name: string, { factor, budget, long }: TierText, period: string): Rational {
  if ((factor === undefined) === (budget === undefined)) {
    throw bad(name, `its alert on ${long} needs either a factor or a share of the budget`)
  }
  const value = factor === undefined ? burnFactor(budget ?? 0, long, period).factor : toRational(factor)
  if (value.num <= 0n) throw bad(name, `its alert on ${long} would fire at no burn at all`)
  return value
}

/** A twelfth, as the SRE workbook has it, in whole minutes and at least one. */
function defaultShort(longSeconds: number): string {
  return `${Math.max(1, Math.round(longSeconds / 720))}m`
}

function bad(name: string, what: string): PlimsollError {
  return new PlimsollError('PLIM_CONFIG', `the alert policy ${name} cannot be used: ${what}`)
}

/** Share of the period's budget that a factor uses in one window: factor·window ÷ period. */
export function budgetShareOf(factor: RationalInput, long: string, period: string): Rational {
  const window = toRational(promSeconds(long) ?? 0)
  return divide(multiply(toRational(factor), window), toRational(promSeconds(period) ?? 1))
}
