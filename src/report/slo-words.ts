import { formatNumber, formatPercent, formatPlain, formatSpan } from '../base/format.ts'
import { multiply, rational, toDecimalText, toNumber, type Rational } from '../stats/rational.ts'
import type { BurnRate } from '../operate/slo/burn.ts'
import type { AlertPolicy, AlertTier } from '../operate/slo/policy.ts'

/** `6x`, `14.4x`; ∞ where nothing may be bad. */
export function burnText(burn: BurnRate): string {
  return burn.kind === 'infinite' ? '∞' : factorX(burn.rate)
}

/** Exact where the decimals end within four places, else cut to three figures. */
export function factorX(factor: Rational): string {
  const exact = toDecimalText(factor, 4)
  const value = toNumber(factor)
  const text = Number(exact) === value ? exact : formatPlain(value)
  return `${text.includes(',') ? text : grouped(text)}x`
}

function grouped(text: string): string {
  const [whole = '0', fraction] = text.split('.')
  const digits = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? digits : `${digits}.${fraction}`
}

/** A share in percent, exact where its decimals end within four places. */
export function shareText(share: Rational): string {
  const percent = multiply(share, rational(100))
  const exact = toDecimalText(percent, 4)
  return Number(exact) === toNumber(percent) ? `${grouped(exact)} %` : formatPercent(toNumber(share))
}

/** `1 h`, `5 m`, `1 h 30 m`. */
export function windowText(window: string): string {
  return window.replace(/(\d+)([a-z]+)/g, '$1 $2 ').trim()
}

/** Seconds as people say them. */
export function secondsText(seconds: Rational | number): string {
  const value = typeof seconds === 'number' ? seconds : toNumber(seconds)
  if (value >= 2 * 86_400) return `${formatPlain(value / 86_400)} days`
  return formatSpan(value * 1000)
}

/** Whole events grouped; others to one place. */
export function eventsText(value: Rational | number): string {
  const number = typeof value === 'number' ? value : toNumber(value)
  return formatNumber(number, Number.isInteger(number) ? 0 : 1)
}

/** `at least 6x on 1 h and 5 m` */
export function tierText(tier: AlertTier, policy: AlertPolicy, withShort = true): string {
  const compared = policy.comparator === '>' ? 'over' : 'at least'
  return `${compared} ${factorX(tier.factor)} on ${windowText(tier.long)}${withShort ? ` and ${windowText(tier.short)}` : ''}`
}

/** The alerts of a policy that wake somebody. */
export function pageText(policy: AlertPolicy): string {
  const pages = policy.tiers.filter(({ severity }) => severity === 'page')
  return pages.length === 1
    ? pages.map((tier) => tierText(tier, policy)).join('')
    : pages.map((tier) => tierText(tier, policy, false)).join(', or ')
}
