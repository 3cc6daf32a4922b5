import { noun } from '../base/noun.ts'
import {
  formatCount,
  formatDuration,
  formatPercent,
  formatPlain,
  formatRate,
  formatSpan,
} from '../base/units.ts'
import type { Paint } from './paint.ts'
import { printable } from './printable.ts'
import type { PlanCase, PlanShare, PlanSimulation } from './plan-simulation.ts'
import { hurtWords } from './simulate-text.ts'

/** What a simulated day said of a plan, for the terminal: the verdict, one replica fewer, what stood for what. */
export function simulationLines(simulation: PlanSimulation, paint: Paint): string[] {
  const { cases, engine, traffic, router, not_judged: unjudged } = simulation
  const [plan] = cases
  if (plan === undefined) return []
  const verdict = plan.survives ? paint('good', 'SURVIVES') : paint('bad', 'FAILS')
  return [
    '',
    `on a simulated day it ${verdict}: ${goodText(plan)}`,
    ...plan.objectives.map((share) => `  ${shareText(share, plan)}`),
    `  ${comfortText(plan)}`,
    ...(plan.survives || Object.keys(plan.hurt).length === 0 ? [] : [`  hurt: ${hurtText(plan)}`]),
    ...cases.slice(1).map((one) => `  ${otherText(one, plan)}`),
    paint(
      'quiet',
      `  ${printable(traffic.text)}, ${formatCount(plan.arrived)} ${noun(plan.arrived, 'request')}, ${printable(traffic.lengths)}; ${router} router; ${printable(engine.text)}: one carries ${formatRate(engine.capacity_per_s)} by the mean field`,
    ),
    ...(unjudged.length === 0 ? [] : [`  not judged by a simulation: ${unjudged.map(printable).join(', ')}`]),
  ]
}

function goodText({ goodput_per_s: goodput, replicas, killed }: PlanCase): string {
  const lost =
    killed === 0
      ? 'none lost'
      : `${formatCount(killed)} of ${formatCount(replicas)} killed when it is busiest`
  return `${formatRate(goodput)} of good answers, ${lost}`
}

/** The share over the day and through the busiest hour, beside what is wanted, and the budget. */
export function shareText(share: PlanShare, { killed }: Pick<PlanCase, 'killed'>): string {
  const hour = killed === 0 ? 'through the busiest hour' : 'through the hour of the loss'
  return share.day === null
    ? `${printable(share.text)}: ${percent(share.busiest)} ${hour}, its budget spent ${spent(share.budget_spent_busiest)}`
    : `${printable(share.text)}: ${percent(share.day)} over the day, ${percent(share.busiest)} ${hour}; budget spent ${spent(share.budget_spent)}, that hour's ${spent(share.budget_spent_busiest)}`
}

function percent(share: number | null): string {
  return share === null ? 'unknown' : formatPercent(share)
}

/** Above twice the budget a percentage is hard to read. */
function spent(share: number | null): string {
  return share !== null && share > 2 ? `${formatPlain(share)} times over` : percent(share)
}

/** Tails and the longest line. */
export function comfortText({ ttft_ms: ttft, tpot_ms: tpot, worst_queue: worst }: PlanCase): string {
  const time = (ms: number | null): string => (ms === null ? 'unknown' : formatDuration(ms))
  const line =
    worst.requests === 0
      ? 'nobody was seen waiting'
      : `longest line ${formatCount(worst.requests)} at ${formatSpan(worst.at_s * 1000)}`
  return `TTFT p99 ${time(ttft.p99)}, TPOT p99 ${time(tpot.p99)}; ${line}`
}

/** The likeliest causes, the most frequent first. */
export function hurtText({ hurt }: PlanCase): string {
  return Object.entries(hurt)
    .sort((a, b) => b[1] - a[1])
    .map(([cause, count]) => `${formatCount(count)} ${hurtWords[cause] ?? cause}`)
    .join(', ')
}

/** One replica fewer, or the slowest engine: in a sentence. */
export function otherText(one: PlanCase, plan: PlanCase): string {
  const worst = one.objectives.reduce<number | null>(
    (least, { busiest }) => (busiest === null ? least : Math.min(least ?? 1, busiest)),
    null,
  )
  const good = `${percent(worst)} good through that hour`
  if (one.kind === 'slowest_engine') {
    return one.survives
      ? `on the slowest engine that the fit does not rule out it survives too: ${good}`
      : `on the slowest engine that the fit does not rule out it fails: ${good}: measure more before you trust it`
  }
  const name = `one fewer (${formatCount(one.replicas)})`
  if (!one.survives)
    return plan.survives
      ? `${name} fails: ${good}: none of the plan is waste`
      : `${name} fails as well: ${good}`
  return plan.survives
    ? `${name} survives too: ${good}: what is above it is margin, against what a simulation does not know`
    : `${name} survives, and the plan does not: ${good}: chance decides at this load, another --seed tells`
}

/** A number of requests a second as a word of the traffic. */
export function peakText({ traffic }: PlanSimulation): string {
  return `${formatPlain(traffic.peak_per_s)} req/s in its busiest minute`
}
