import { formatPercent, formatPlain } from '../base/format.ts'
import { isSpent, type BudgetReport } from '../operate/slo/budget-report.ts'
import { toNumber } from '../stats/rational.ts'
import { painter, type RenderOptions } from './paint.ts'
import { burnText, eventsText, secondsText, shareText } from './slo-words.ts'

export interface BudgetScreen {
  readonly title: string | null
  readonly objectiveText: string
  readonly period: string
  readonly report: BudgetReport
  /** Where the counts come from: "run runs/1129", "Prometheus". */
  readonly basis: string | null
  /** Limits that spend no budget, for they are on the run and not on its requests: "p99 tpot <= 10ms". */
  readonly leftOut: readonly string[]
}

/** The budget, what was spent, what is left and how long it lasts; the working under it. */
export function renderBudget(screen: BudgetScreen, options: Pick<RenderOptions, 'color'>): string {
  const paint = painter(options.color)
  const { report, objectiveText, period } = screen
  const { budget, left, spent, badShare, burn, input, burnInterval } = report
  const title = screen.title === null ? '' : `${screen.title}: `
  const objective = objectiveText.replace(/%$/, ' %')
  const head =
    budget === null
      ? `budget ${shareText(report.allowed)} of the requests in ${period}`
      : `budget ${eventsText(budget)} requests of ${eventsText(input.periodRequests ?? 0)} in ${period}`
  const state = left === null ? '' : ` · ${paint(isSpent(report) ? 'bad' : 'good', `${leftText(left)} left`)}`
  const lines = [`${title}${head}${state}${lastsText(report)}`]
  lines.push(
    budget === null
      ? `  100 % − ${objective} = ${shareText(report.allowed)}; as time: ${secondsText(report.downtimeSeconds)} of ${period}`
      : `  (100 % − ${objective}) × ${eventsText(input.periodRequests ?? 0)} = ${eventsText(budget)}; as time: ${secondsText(report.downtimeSeconds)} of ${period}`,
  )
  if (badShare !== null && burn !== null) {
    const counted =
      input.bad === null || input.seen === null
        ? ''
        : `${eventsText(input.bad)} bad of ${eventsText(input.seen)} = `
    const interval =
      burnInterval === null
        ? ''
        : ` [${formatPlain(burnInterval[0])}, ${formatPlain(burnInterval[1])}] at 95 %`
    lines.push(
      `  burn ${counted}${shareText(badShare)} ÷ ${shareText(report.allowed)} = ${burnText(burn)}${interval}`,
    )
  }
  if (spent !== null) {
    const how =
      input.bad !== null && budget !== null
        ? `${eventsText(input.bad)} ÷ ${eventsText(budget)}`
        : `burn × ${secondsText(input.spanSeconds ?? input.periodSeconds)} ÷ ${period}`
    lines.push(`  spent ${how} = ${formatPercent(toNumber(spent), 2)} of the budget`)
  }
  if (burnInterval !== null && burnInterval[0] <= 1 && burnInterval[1] >= 1) {
    lines.push('  so few requests do not tell whether the budget is overspent: the interval holds 1x')
  }
  if (screen.basis !== null) lines.push(`  counted from ${screen.basis}`)
  if (screen.leftOut.length > 0) {
    lines.push(
      `  ${paint('doubtful', 'left out')}: ${screen.leftOut.join(' and ')}: a limit on the run, not on a request, spends no budget`,
    )
  }
  return `${lines.join('\n')}\n`
}

function leftText(left: BudgetReport['left']): string {
  return left === null ? 'unknown' : formatPercent(Math.max(0, toNumber(left)))
}

function lastsText({ lasts, lastsSeconds }: BudgetReport): string {
  if (lasts === 'never') return ' · nothing is spending it'
  if (lasts === 'gone') return ' · it is gone'
  return lastsSeconds === null ? '' : ` · at this rate for ${secondsText(lastsSeconds)}`
}
