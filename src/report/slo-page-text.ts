import { formatPercent, formatPlain } from '../base/format.ts'
import { budgetUsed, daysLeft } from '../operate/slo/burn.ts'
import { evidenceOf, type PageDecision, type TierDecision, type WindowBurn } from '../operate/slo/page.ts'
import { promSeconds } from '../operate/slo/prometheus-duration.ts'
import { allowedBadShare } from '../operate/slo/budget.ts'
import { divide, multiply, rational, toNumber, toRational, type Rational } from '../stats/rational.ts'
import { painter, type RenderOptions } from './paint.ts'
import {
  burnText,
  eventsText,
  factorX,
  pageText,
  secondsText,
  shareText,
  tierText,
  windowText,
} from './slo-words.ts'

/** What `slo page` has to say of one watched share. */
export interface PageScreen {
  /** Which share; null for typed numbers. */
  readonly title: string | null
  readonly objectiveText: string
  readonly period: string
  /** Requests of a period, where known. */
  readonly periodRequests: Rational | null
  /** How old the counters are, where that was asked: a window that is longer holds no more. Null: not asked, or they are gone. */
  readonly countedSeconds: number | null
  /** First the policy that decides, then the others. */
  readonly decisions: readonly PageDecision[]
}

const headlines = { page: 'PAGE', no: 'no page', unknown: 'CANNOT TELL' } as const
const styles = { page: 'bad', no: 'good', unknown: 'doubtful' } as const

/** The answer, why, and what it costs. */
export function renderPage(screen: PageScreen, options: Pick<RenderOptions, 'color'>): string {
  const paint = painter(options.color)
  const [own, ...others] = screen.decisions
  if (own === undefined) return ''
  const title = screen.title === null ? '' : `${screen.title}: `
  const first = `${title}${paint(styles[own.verdict], headlines[own.verdict])} (policy "${own.policy.name}": ${pageText(own.policy)}).`
  const lines = [[first, ...others.map((other) => otherText(other, own))].join(' ')]
  const facts = factLine(own, screen)
  if (facts !== null) lines.push(`  ${facts}`)
  lines.push(
    ...own.tiers.filter(({ tier }) => tier.severity === 'page').map((one) => `  ${reason(one, own)}`),
  )
  for (const other of others) {
    if (other.verdict !== own.verdict && ![own.verdict, other.verdict].includes('unknown'))
      lines.push(`  they differ: ${difference(own, other)}`)
  }
  lines.push(...evidenceLines(own))
  const { countedSeconds } = screen
  if (countedSeconds !== null && countedSeconds < longestPageWindow(own) * 0.98) {
    lines.push(
      `  the counters are ${secondsText(Math.round(countedSeconds))} old: a longer window holds no more than that, and is no guard against a short outage`,
    )
  }
  for (const window of own.badData) {
    lines.push(`  ${windowText(window)}: failures without requests; the counters do not belong together`)
  }
  return `${lines.join('\n')}\n`
}

function longestPageWindow({ tiers }: PageDecision): number {
  const pages = tiers.filter(({ tier }) => tier.severity === 'page')
  return Math.min(6 * 3600, Math.max(0, ...pages.map(({ tier }) => promSeconds(tier.long) ?? 0)))
}

function otherText(other: PageDecision, own: PageDecision): string {
  const under = `Under "${other.policy.name}" (${pageText(other.policy)})`
  if (other.verdict === 'unknown') return `${under} it cannot be told.`
  if (other.verdict === own.verdict) return `${under} the same.`
  return `${under} ${other.verdict === 'page' ? 'somebody would be woken.' : 'nobody would be woken yet.'}`
}

/** Burn, how long the budget lasts, and what the window cost: from the longest window that burns. */
function factLine(
  { tiers, objective }: PageDecision,
  { objectiveText, period, periodRequests }: PageScreen,
): string | null {
  const told = tiers.map(({ long }) => long).find(({ burn, assumed }) => burn !== null && !assumed)
  if (told?.burn === undefined || told.burn === null) return null
  const { burn, window } = told
  if (burn.kind === 'infinite')
    return `${objectiveText} leaves no budget: one bad request is infinitely too many`
  const allowed = allowedBadShare(objective)
  const share = multiply(burn.rate, allowed)
  const days = divide(toRational(promSeconds(period) ?? 0), rational(86_400))
  const left = daysLeft(burn, days)
  const parts = [`burn ${shareText(share)} ÷ (100 % − ${spaced(objectiveText)}) = ${burnText(burn)}`]
  if (left === null) parts.push('nothing is spent')
  else {
    const daysText = formatPlain(toNumber(left))
    parts.push(
      `at this rate the ${formatPlain(toNumber(days))}-day budget lasts ${formatPlain(toNumber(days))} ÷ ${factorX(burn.rate).slice(0, -1)} = ${daysText} days`,
    )
    const cost = budgetUsed(
      burn.rate,
      toRational(promSeconds(window) ?? 0),
      toRational(promSeconds(period) ?? 1),
    )
    parts.push(
      `${window === '1h' ? 'this hour' : `the last ${windowText(window)}`} cost ${formatPercent(toNumber(cost), 2)} of it`,
    )
  }
  if (periodRequests !== null) {
    parts.push(
      `the budget is ${shareText(allowed)} of ${eventsText(periodRequests)} = ${eventsText(multiply(allowed, periodRequests))} requests`,
    )
  }
  return parts.join(' · ')
}

function spaced(percent: string): string {
  return percent.replace(/%$/, ' %')
}

function reason({ tier, long, short, verdict, heldBack }: TierDecision, { policy }: PageDecision): string {
  const asked = tierText(tier, policy)
  if (heldBack !== null) return `${asked}: both burn, but ${heldBack}`
  const told = [long, short].map(burnOf).join(', ')
  return `${asked}: ${told} → ${verdict === 'fires' ? 'fires' : verdict === 'silent' ? 'silent' : 'unknown, which is not health'}`
}

function burnOf({ window, burn, why, assumed, bad, total }: WindowBurn): string {
  const name = windowText(window)
  if (burn !== null) {
    const counts =
      bad === null || total === null || assumed ? '' : ` (${eventsText(bad)} of ${eventsText(total)})`
    return `${name} ${burnText(burn)}${counts}${assumed ? ' if it is steady' : ''}`
  }
  return `${name} ${why === 'idle' ? 'idle' : why === 'bad_data' ? 'failures without requests' : 'not told'}`
}

/** Why two policies answer differently. */
function difference(own: PageDecision, other: PageDecision): string {
  const [yes, no] = own.verdict === 'page' ? [own, other] : [other, own]
  const fired = yes.tiers.find(({ verdict, tier }) => verdict === 'fires' && tier.severity === 'page')
  if (fired === undefined) return `"${own.policy.name}" and "${other.policy.name}" look at different windows`
  const reasons = no.tiers.filter(({ tier }) => tier.severity === 'page').map((one) => silentReason(one, no))
  return `${burnOf(fired.long)} is ${tierText(fired.tier, yes.policy, false)} ("${yes.policy.name}"); "${no.policy.name}": ${reasons.join(', and ')}`
}

function silentReason({ tier, long, short, heldBack }: TierDecision, { policy }: PageDecision): string {
  if (heldBack !== null) return heldBack
  const compared = policy.comparator === '>' ? 'not over' : 'under'
  const quiet = [long, short].find(
    ({ burn }) =>
      burn === null || (burn.kind === 'finite' && !over(burn.rate, tier.factor, policy.comparator)),
  )
  return quiet === undefined
    ? `${windowText(tier.long)} fires`
    : `${burnOf(quiet)} is ${compared} ${factorX(tier.factor)}`
}

function over(rate: Rational, factor: Rational, comparator: '>' | '>='): boolean {
  const difference = rate.num * factor.den - factor.num * rate.den
  return comparator === '>' ? difference > 0n : difference >= 0n
}

/** At low traffic a burn may be chance. */
function evidenceLines(own: PageDecision): readonly string[] {
  return own.tiers
    .filter(({ tier, long }) => tier.severity === 'page' && long.burn !== null)
    .flatMap(({ long }) => {
      const evidence = evidenceOf(long, own.objective)
      if (evidence === null || evidence.burnInterval === null) return []
      const [low, high] = evidence.burnInterval
      const text = `${windowText(long.window)}: burn [${formatPlain(low)}, ${formatPlain(high)}]x at 95 %`
      return evidence.significant || long.bad === 0
        ? [`  ${text}`]
        : [`  ${text}: that few failures do not show that the objective is missed`]
    })
}
