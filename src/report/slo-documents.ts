import { burnNumber, daysLeft, type BurnRate } from '../operate/slo/burn.ts'
import { toldBadShares } from '../operate/slo/alert-check.ts'
import { allowedBadShare } from '../operate/slo/budget.ts'
import { evidenceOf, type PageDecision, type WindowBurn } from '../operate/slo/page.ts'
import { promSeconds } from '../operate/slo/prometheus-duration.ts'
import type { SloRules } from '../operate/slo/rules.ts'
import { divide, multiply, rational, toNumber, toRational, type Rational } from '../stats/rational.ts'
import type { BudgetScreen } from './slo-budget-text.ts'
import type { PageScreen } from './slo-page-text.ts'

const number = (value: Rational | null): number | null => (value === null ? null : toNumber(value))
/** JSON has no infinity: a burn that has no number is null beside `infinite: true`. */
const burnJson = (burn: BurnRate | null): number | null =>
  burn === null || burn.kind === 'infinite' ? null : burnNumber(burn)

/** `plimsoll.slo-page/1`, a JSON value. */
export function pageDocument(screens: readonly PageScreen[]): object {
  return {
    schema: 'plimsoll.slo-page/1',
    page: screens.some(({ decisions }) => decisions[0]?.verdict === 'page'),
    objectives: screens.map(({ title, objectiveText, period, periodRequests, decisions }) => ({
      name: title,
      objective: objectiveText,
      period,
      budget_requests:
        decisions[0] === undefined || periodRequests === null
          ? null
          : toNumber(multiply(allowedBadShare(decisions[0].objective), periodRequests)),
      policies: decisions.map((decision) => policyJson(decision, period)),
    })),
  }
}

function policyJson({ policy, objective, verdict, tiers, badData }: PageDecision, period: string): object {
  const days = divide(toRational(promSeconds(period) ?? 0), rational(86_400))
  return {
    policy: policy.name,
    comparator: policy.comparator,
    verdict,
    bad_data: badData,
    alerts: tiers.map(({ tier, verdict: state, long, short, heldBack }) => ({
      severity: tier.severity,
      factor: toNumber(tier.factor),
      verdict: state,
      held_back: heldBack,
      long: windowJson(long, objective),
      short: windowJson(short, objective),
      days_left: long.burn === null ? null : number(daysLeft(long.burn, days)),
    })),
  }
}

function windowJson(one: WindowBurn, objective: Rational): object {
  return {
    window: one.window,
    burn: burnJson(one.burn),
    infinite: one.burn?.kind === 'infinite',
    why: one.why,
    bad: one.bad,
    total: one.total,
    assumed: one.assumed,
    burn_interval: evidenceOf(one, objective)?.burnInterval ?? null,
  }
}

/** `plimsoll.slo-budget/1`, a JSON value. */
export function budgetDocument(screens: readonly BudgetScreen[]): object {
  return {
    schema: 'plimsoll.slo-budget/1',
    objectives: screens.map(({ title, objectiveText, period, report, basis, leftOut }) => ({
      name: title,
      objective: objectiveText,
      period,
      allowed_share: toNumber(report.allowed),
      budget_requests: number(report.budget),
      downtime_s: toNumber(report.downtimeSeconds),
      bad: report.input.bad,
      requests_seen: report.input.seen,
      bad_share: number(report.badShare),
      burn: burnJson(report.burn),
      burn_interval: report.burnInterval,
      spent: number(report.spent),
      left: number(report.left),
      lasts: report.lasts,
      lasts_s: number(report.lastsSeconds),
      basis,
      left_out: leftOut,
    })),
  }
}

/** `plimsoll.slo-rules/1`, a JSON value. */
export function rulesDocument(all: readonly SloRules[], files: readonly string[]): object {
  return {
    schema: 'plimsoll.slo-rules/1',
    files,
    objectives: all.map(({ spec, policy, checks, watched, joint }) => ({
      service: spec.service,
      name: spec.name,
      objective: spec.objectiveText,
      period: spec.period,
      policy: policy.name,
      comparator: policy.comparator,
      watched: watched.map(({ sli }) => ({ id: sli.id, what: sli.what, notes: sli.notes })),
      joint: joint === null ? 'counted' : 'bounds',
      alerts: checks.map((check) => ({
        severity: check.tier.severity,
        long: check.tier.long,
        short: check.tier.short,
        factor: toNumber(check.tier.factor),
        threshold: toNumber(check.threshold),
        reachable: check.reachable,
        minimum_requests: check.minimumRequests === null ? null : Number(check.minimumRequests),
        detect_s: Object.fromEntries(
          toldBadShares.map((share, index) => [share, number(check.detectSeconds[index] ?? null)]),
        ),
        spent_at_detection: toNumber(check.spentAtDetection),
        stops_after_s: number(check.resetSeconds),
      })),
    })),
  }
}
