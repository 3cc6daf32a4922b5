import type { OwnSource } from './slo-spec.ts'
import type { CountedSeries } from './counted-series.ts'
import { accepts, parseMatchers, type Matcher } from './label-matchers.ts'

/** Series that a good and a bad event would add to, made from the selectors; none where their regular expressions say too little. */
export function ownSeries(own: OwnSource): {
  readonly good: readonly CountedSeries[]
  readonly bad: readonly CountedSeries[]
} {
  const total = parse(own.total)
  const part = parse(own.bad ?? own.good ?? '')
  const inside = satisfying([...total.matchers, ...part.matchers])
  const outside = satisfying([
    ...total.matchers,
    ...part.matchers.filter(isNew(total.matchers)).map(opposite),
  ])
  if (inside === null || outside === null) return { good: [], bad: [] }
  const yes: CountedSeries[] = [{ name: total.name, labels: inside }]
  if (part.name !== total.name) yes.push({ name: part.name, labels: satisfying(part.matchers) ?? {} })
  const no: CountedSeries[] = [{ name: total.name, labels: part.name === total.name ? outside : inside }]
  return own.bad === undefined ? { good: yes, bad: no } : { good: no, bad: yes }
}

function parse(selector: string): { readonly name: string; readonly matchers: readonly Matcher[] } {
  const name = /^[\w:]+/.exec(selector)?.[0] ?? ''
  return { name, matchers: parseMatchers(selector) }
}

const isNew =
  (known: readonly Matcher[]) =>
  ({ label, value }: Matcher): boolean =>
    !known.some((one) => one.label === label && one.value === value)

function opposite({ label, operator, value }: Matcher): Matcher {
  const flipped = operator.startsWith('!')
    ? operator.replace('!', operator === '!=' ? '' : '=')
    : `!${operator.replace('=~', '~')}`
  return { label, operator: flipped === '!' ? '!=' : flipped, value }
}

/** A label set that all matchers accept, or null where none was found. */
function satisfying(matchers: readonly Matcher[]): Readonly<Record<string, string>> | null {
  const labels: Record<string, string> = {}
  for (const label of new Set(matchers.map((one) => one.label))) {
    const mine = matchers.filter((one) => one.label === label)
    const candidates = [
      ...mine.flatMap(({ value }) => [...value.split('|').map((one) => one.replaceAll('.', '0')), value]),
      '200',
      'ok',
      '',
    ]
    const found = candidates.find((candidate) => mine.every((matcher) => accepts(matcher, candidate)))
    if (found === undefined) return null
    labels[label] = found
  }
  return labels
}
