import type { PlimsollError, TextPosition } from '../base/errors.ts'
import { placed } from '../base/placed.ts'
import { promSeconds, readPromSeconds } from '../operate/slo/prometheus-duration.ts'
import type { Comparator, PolicyText, Severity } from '../operate/slo/policy.ts'
import { shortWindowAnnotation } from '../report/slo-openslo.ts'
import { at, refuse, word, type Json, type Place } from './slo-open-objects.ts'

/** Named objects of every OpenSLO file that is read, by kind. */
export interface OpenObjects {
  readonly conditions: ReadonlyMap<unknown, Json>
  readonly policies: ReadonlyMap<unknown, Json>
  readonly place: Place
}

/** What calls somebody at once, by the words that people use for it. */
const pages = /page|crit|urgent|high|emergency|sev-?[01]\b|p[01]\b/i

const operators: Readonly<Record<string, Comparator>> = { gt: '>', gte: '>=' }

/**
 * The alert policies of an OpenSLO v1 SLO as one policy here; null where it has none that alerts while it is breached. A condition knows
 * one window: the short one is that of our annotation, else `alertAfter` (how long it has to hold), else a twelfth. Without `op` a
 * threshold that is met alerts.
 * @throws PlimsollError PLIM_CONFIG for a reference to nothing, another kind than burnrate, or an operator that is none here.
 */
export function openSloPolicy(slo: Json, name: string, objects: OpenObjects): PolicyText | null {
  const alerts: PolicyText['alerts'][number][] = []
  const comparators = new Set<Comparator>()
  for (const policy of policiesOf(slo, name, objects)) {
    if (at(policy, 'spec', 'alertWhenBreaching') === false) continue
    for (const entry of (at(policy, 'spec', 'conditions') ?? []) as readonly Json[]) {
      const condition = resolved(entry, 'conditionRef', objects.conditions, () =>
        refuseReference(entry['conditionRef'], name, objects.place(entry, 'conditionRef')),
      )
      const { alert, comparator } = alertOf(condition, name, objects.place)
      alerts.push(alert)
      comparators.add(comparator)
    }
  }
  if (alerts.length === 0) return null
  if (comparators.size > 1) {
    throw refuse(
      objects.place(slo, 'spec', 'alertPolicies'),
      `the alerts of ${name} compare in two ways`,
      'one op for all: gt or gte',
    )
  }
  const [comparator = '>='] = comparators
  const longest = (alert: { readonly long: string }): number => promSeconds(alert.long) ?? 0
  return {
    name: `the alert policies of ${name}`,
    comparator,
    alerts: alerts.sort((a, b) => longest(a) - longest(b)),
  }
}

function policiesOf(slo: Json, name: string, { policies, place }: OpenObjects): readonly Json[] {
  const entries = (at(slo, 'spec', 'alertPolicies') ?? []) as readonly (Json | string)[]
  return entries.map((entry, index) => {
    const said = typeof entry === 'string' ? { alertPolicyRef: entry } : entry
    return resolved(said, 'alertPolicyRef', policies, () =>
      refuseReference(said['alertPolicyRef'], name, place(entries, index)),
    )
  })
}

/** What an entry holds, or what it names. */
function resolved(
  entry: Json,
  reference: string,
  named: ReadonlyMap<unknown, Json>,
  refusal: () => PlimsollError,
): Json {
  const to = entry[reference]
  if (to === undefined) return entry
  const found = named.get(to)
  if (found === undefined) throw refusal()
  return found
}

function refuseReference(to: unknown, name: string, where: TextPosition): PlimsollError {
  return refuse(
    where,
    `${name} names ${word(to) ?? 'something'}, which is not there`,
    'an object of that name in one of the files',
  )
}

function alertOf(
  condition: Json,
  name: string,
  place: Place,
): { readonly alert: PolicyText['alerts'][number]; readonly comparator: Comparator } {
  const spec = at(condition, 'spec', 'condition') as Json | undefined
  const kind = word(spec?.['kind']) ?? 'burnrate'
  if (spec === undefined || kind !== 'burnrate') {
    throw refuse(
      place(condition, 'spec', 'condition'),
      `an alert condition of ${name} is no burn rate`,
      'condition: { kind: burnrate, … }',
      kind,
    )
  }
  const op = word(spec['op']) ?? 'gte'
  const comparator = operators[op]
  if (comparator === undefined) {
    throw refuse(place(spec, 'op'), `an alert of ${name} that fires below its threshold`, 'op: gt or gte', op)
  }
  const long = word(spec['lookbackWindow']) ?? ''
  placed(
    () => place(spec, 'lookbackWindow'),
    () => readPromSeconds(long, `lookbackWindow of ${name}`),
  )
  const factor = word(spec['threshold'])
  if (factor === undefined)
    throw refuse(place(spec), `an alert condition of ${name} has no threshold`, 'threshold: 14.4')
  const short = shortOf(condition, word(spec['alertAfter']) ?? '0m', name)
  const severity: Severity = pages.test(word(at(condition, 'spec', 'severity')) ?? '') ? 'page' : 'ticket'
  return { alert: { severity, long, factor, ...(short === null ? {} : { short }) }, comparator }
}

function shortOf(condition: Json, alertAfter: string, name: string): string | null {
  const noted = word(at(condition, 'metadata', 'annotations', shortWindowAnnotation))
  if (noted !== undefined) return noted
  if (/^0+[a-z]*$/.test(alertAfter)) return null
  readPromSeconds(alertAfter, `alertAfter of ${name}`)
  return alertAfter
}
