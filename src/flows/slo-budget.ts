import { PlimsollError } from '../base/errors.ts'
import { noun } from '../base/noun.ts'
import { exactShare, parseCount } from '../base/units.ts'
import { evaluateRequest } from '../measure/metrics/evaluate-request.ts'
import { defaultGood, describeRunLimit } from '../measure/metrics/objective.ts'
import { parseObjective } from '../measure/metrics/parse-objective.ts'
import { isCancelled } from '../measure/metrics/run-window.ts'
import { readRun } from '../measure/record/read-run.ts'
import { budgetReport, type BudgetInput } from '../operate/slo/budget-report.ts'
import { promSeconds, readPromSeconds } from '../operate/slo/prometheus-duration.ts'
import { rulesOf } from '../operate/slo/rules.ts'
import type { SloSpec } from '../operate/slo/slo-spec.ts'
import type { BudgetScreen } from '../report/slo-budget-text.ts'
import { parseRational, rational, toRational } from '../stats/rational.ts'
import { percentOf } from './slo-shared.ts'
import type { PrometheusServer } from './slo-prometheus.ts'

export interface TypedBudget {
  readonly objective: string
  readonly window: string
  /** Requests of the whole window. */
  readonly requests?: string
  readonly bad?: string
  /** Requests counted so far. */
  readonly seen?: string
  readonly share?: string
  /** How long it took to count them. */
  readonly elapsed?: string
}

/** The budget from typed numbers. */
export function typedBudget(typed: TypedBudget): BudgetScreen {
  const objectiveText = percentOf(exactShare(typed.objective, '--objective'))
  readPromSeconds(typed.window, '--window')
  const count = (text: string | undefined, flag: string): number | null =>
    text === undefined ? null : parseCount(text, flag)
  const requests = count(typed.requests, '--requests')
  const bad = count(typed.bad, '--bad')
  const seen = count(typed.seen, '--seen') ?? (bad === null ? null : requests)
  if (bad !== null && seen !== null && bad > seen) {
    throw new PlimsollError('PLIM_USAGE', 'more are bad than there were', {
      expected: '--bad at most --seen, or --requests without it',
      received: `${bad} of ${seen}`,
    })
  }
  const elapsed = typed.elapsed === undefined ? null : readPromSeconds(typed.elapsed, '--elapsed')
  return screenOf(null, objectiveText, typed.window, null, {
    periodRequests: requests === null ? null : rational(requests),
    bad,
    seen,
    share: typed.share === undefined ? null : toRational(exactShare(typed.share, '--bad-share')),
    spanSeconds: elapsed,
  })
}

function screenOf(
  title: string | null,
  objectiveText: string,
  period: string,
  basis: string | null,
  input: Omit<BudgetInput, 'objective' | 'periodSeconds'>,
): BudgetScreen {
  const periodSeconds = readPromSeconds(period, 'the period')
  const report = budgetReport({ ...input, objective: parseRational(objectiveText), periodSeconds })
  return { title, objectiveText, period, report, basis, leftOut: [] }
}

/**
 * What a load test would do to the budget: its requests by each objective, those of the window that were sent and not hung up by the
 * client. Limits on the run as a whole spend none and are named.
 * @throws PlimsollError PLIM_USAGE where no objective has a limit on each request.
 */
export async function runBudget(
  path: string,
  objectives: readonly { readonly text: string; readonly good?: string; readonly shed?: 'bad' | 'ignore' }[],
  period: string,
): Promise<readonly BudgetScreen[]> {
  const parsed = objectives.map((one) => ({ ...one, objective: parseObjective(one.text, '--slo') }))
  const overRun = parsed.flatMap(({ objective }) => (objective.each.length > 0 ? [] : objective.run))
  const perRequest = parsed.filter(({ objective }) => objective.each.length > 0)
  if (perRequest.length === 0) {
    throw new PlimsollError(
      'PLIM_USAGE',
      'a budget is spent by requests, and this objective has no limit on each of them',
      {
        expected: 'such as "ttft < 500ms and tpot < 30ms, good 99%"',
        received: objectives.map(({ text }) => text).join('; '),
      },
    )
  }
  const { rows } = await readRun(path)
  return perRequest.map(({ text, good, shed, objective }, index) => {
    const said = good ?? objective.good ?? defaultGood
    const counted = rows.filter(
      (row) =>
        row.phase === 'measure' &&
        row.outcome !== 'unsent' &&
        !isCancelled(row) &&
        !(shed === 'ignore' && row.outcome === 'shed'),
    )
    const judged = counted.map((row) => evaluateRequest(row, objective).good)
    const bad = judged.filter((one) => one === 'bad').length
    const unknown = judged.filter((one) => one === 'unknown').length
    const first = counted.at(0)?.planned_ms ?? 0
    const spanMs = (counted.at(-1)?.planned_ms ?? first) - first
    const basis = `${counted.length} ${noun(counted.length, 'request')} of ${path}${unknown === 0 ? '' : `, of which ${unknown} may be good or bad and are left out`}`
    const screen = screenOf(text, percentOf(exactShare(said, 'good')), period, basis, {
      periodRequests: null,
      bad,
      seen: counted.length - unknown,
      share: null,
      spanSeconds: Math.max(1, Math.round(spanMs / 1000)),
    })
    const leftOut = [...objective.run, ...(index === 0 ? overRun : [])].map(describeRunLimit)
    return { ...screen, leftOut }
  })
}

/** The budget of each watched share as a Prometheus server has counted it over the period. */
export async function liveBudget(
  specs: readonly SloSpec[],
  server: PrometheusServer,
): Promise<readonly BudgetScreen[]> {
  const screens: BudgetScreen[] = []
  for (const spec of specs) {
    for (const { sli } of rulesOf(spec).watched) {
      const total = await server.value(sli.total(spec.period))
      const bad = total === null ? null : await server.value(sli.bad(spec.period))
      const seen = total === null ? null : Math.round(total)
      screens.push(
        screenOf(`${spec.service}/${spec.name}, ${sli.what}`, spec.objectiveText, spec.period, 'Prometheus', {
          // Of a rolling window the requests that it holds are all there are.
          periodRequests: seen === null ? null : rational(seen),
          bad: bad === null ? null : Math.round(bad),
          seen,
          share: null,
          spanSeconds: promSeconds(spec.period),
        }),
      )
    }
  }
  return screens
}
