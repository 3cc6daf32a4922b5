import { PlimsollError } from '../base/errors.ts'
import { exactShare, parseCount } from '../base/units.ts'
import { selectorsOf, selectorText } from '../operate/doctor/promql.ts'
import { decidePage, type PageGuards, type Readings, type WindowReading } from '../operate/slo/page.ts'
import { policyFor, presetPolicies } from '../operate/slo/policy.ts'
import { readPromSeconds } from '../operate/slo/prometheus-duration.ts'
import { rulesOf } from '../operate/slo/rules.ts'
import type { SloSpec } from '../operate/slo/slo-spec.ts'
import { parseRational, rational, toRational } from '../stats/rational.ts'
import type { PageScreen } from '../report/slo-page-text.ts'
import type { PrometheusServer } from './slo-prometheus.ts'
import { percentOf } from './slo-shared.ts'

/** What was typed for `slo page`. */
export interface TypedPage {
  readonly objective: string
  readonly window: string
  readonly long?: string
  readonly short?: string
  /** `6h=2%` or `1h=36/1200`. */
  readonly at: readonly string[]
  readonly policy: string
  readonly requests?: string
  readonly minBad: number
}

/** The policy asked for and, beside it, those presets whose windows fit into the period. */
function policiesFor(first: SloSpec['policy'], period: string): ReturnType<typeof policyFor>[] {
  const own = policyFor(first, period)
  const others = Object.values(presetPolicies).filter(
    ({ name, alerts }) =>
      name !== own.name &&
      alerts.every(({ long }) => readPromSeconds(long, 'a window') <= readPromSeconds(period, '--window')),
  )
  return [own, ...others.map((text) => policyFor(text, period))]
}

/** Should somebody be paged, by typed shares or counts? */
export function typedPage(typed: TypedPage): PageScreen {
  const objectiveText = percentOf(exactShare(typed.objective, '--objective'))
  const objective = parseRational(objectiveText)
  readPromSeconds(typed.window, '--window')
  const readings: Record<string, WindowReading> = {}
  if (typed.long !== undefined) readings['1h'] = readingOf(typed.long, '--long')
  if (typed.short !== undefined) readings['5m'] = readingOf(typed.short, '--short')
  for (const text of typed.at) {
    const [window = '', value = ''] = text.split('=')
    readPromSeconds(window, `the window of --at ${text}`)
    if (readings[window] !== undefined)
      throw new PlimsollError('PLIM_USAGE', `the window of ${window} is given twice`, {
        expected: 'one share for each window; --long is that of 1h, --short that of 5m',
        received: `--at ${text}`,
      })
    readings[window] = readingOf(value, `--at ${text}`)
  }
  if (Object.keys(readings).length === 0) {
    throw new PlimsollError('PLIM_USAGE', 'nothing says how bad it is', {
      expected: '--long 3% --short 4.1%, or --at 1h=36/1200 --at 5m=3/100',
      hint: 'or a file and --prometheus URL',
    })
  }
  const guards: PageGuards = {
    minBad: typed.minBad,
    ...(typed.long === undefined ? {} : { steadyFrom: '1h' }),
  }
  return {
    title: null,
    objectiveText,
    period: typed.window,
    countedSeconds: null,
    periodRequests: typed.requests === undefined ? null : rational(parseCount(typed.requests, '--requests')),
    decisions: policiesFor(typed.policy, typed.window).map((policy) =>
      decidePage(policy, objective, readings, guards),
    ),
  }
}

function readingOf(text: string, what: string): WindowReading {
  const counts = /^([\d.,]+[kKM]?)\/([\d.,]+[kKM]?)$/.exec(text.trim())
  if (counts !== null) {
    const bad = parseCount(counts[1] ?? '', `the bad ones of ${what}`)
    const total = parseCount(counts[2] ?? '', `the requests of ${what}`)
    return { kind: 'counts', bad, total }
  }
  return { kind: 'share', share: toRational(exactShare(text, what)) }
}

/** Since when a counter has been there, within the last six hours: a longer window holds no more than that. */
async function countedSeconds(total: string, server: PrometheusServer): Promise<number | null> {
  const [first] = selectorsOf(total)
  if (first === undefined) return null
  return await server.value(`time() - min(min_over_time(timestamp(${selectorText(first)})[6h:15s]))`)
}

/** Should somebody be paged, by what a Prometheus server has counted? One answer for each watched share. */
export async function livePage(
  specs: readonly SloSpec[],
  server: PrometheusServer,
): Promise<readonly PageScreen[]> {
  const screens: PageScreen[] = []
  for (const spec of specs) {
    const { watched } = rulesOf(spec)
    const policies = policiesFor(spec.policy, spec.period)
    const windows = new Set(
      policies.flatMap(({ tiers }) => tiers.flatMap(({ long, short }) => [long, short])),
    )
    for (const { sli } of watched) {
      const readings: Record<string, WindowReading> = {}
      for (const window of windows) {
        const total = await server.value(sli.total(window))
        readings[window] = {
          kind: 'counts',
          total,
          bad: total === null ? null : await server.value(sli.bad(window)),
        }
      }
      screens.push({
        title: `${spec.service}/${spec.name}, ${sli.what}`,
        objectiveText: spec.objectiveText,
        period: spec.period,
        periodRequests: null,
        countedSeconds: await countedSeconds(sli.total('5m'), server),
        decisions: policies.map((policy) => decidePage(policy, spec.objective, readings as Readings, spec)),
      })
    }
  }
  return screens
}
