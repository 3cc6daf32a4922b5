/** A label matcher as it is written. */
export interface LabelMatcher {
  readonly label: string
  readonly operator: '=' | '!=' | '=~' | '!~'
  readonly value: string
}

/** One use of a series in a query, and what is done with it. */
export interface Selector {
  readonly name: string
  readonly matchers: readonly LabelMatcher[]
  /** `5m` of `[5m]`; null for an instant. */
  readonly range: string | null
  /** Functions and aggregations around it, the innermost first. */
  readonly inside: readonly string[]
  /** Labels of `by (…)` of the aggregations around it. */
  readonly by: readonly string[]
  /** 0-based offset in the query. */
  readonly at: number
}

interface Token {
  readonly kind: 'word' | 'string' | 'range' | 'mark'
  readonly text: string
  readonly at: number
}

const token =
  /\s+|#[^\n]*|(?<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)|(?<range>\[[^\]]*\])|(?<word>[a-zA-Z_:$][\w:$.]*)|(?<number>\d[\w.]*)|(?<mark>=~|!~|!=|==|>=|<=|[-+*/%^(){},=<>@])|./gsu

/** Words that are no series: operators, modifiers, and literals. */
const keywords = new Set(['and', 'or', 'unless', 'bool', 'offset', 'atan2', 'inf', 'nan', 'start', 'end'])
const labelLists = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right'])

function tokens(query: string): Token[] {
  const found: Token[] = []
  for (const match of query.matchAll(token)) {
    const groups = match.groups ?? {}
    const kind =
      groups['string'] !== undefined
        ? 'string'
        : groups['range'] !== undefined
          ? 'range'
          : groups['word'] !== undefined
            ? 'word'
            : groups['mark'] !== undefined
              ? 'mark'
              : null
    if (kind !== null) found.push({ kind, text: match[0], at: match.index })
  }
  return found
}

interface Draft extends Selector {
  readonly by: string[]
}

interface Frame {
  readonly name: string | null
  readonly by: string[]
}

/**
 * Every series that a PromQL query uses, with its matchers and the functions around it. It reads, it does not judge the grammar: of a
 * broken query what can be seen is kept.
 */
export function selectorsOf(query: string): readonly Selector[] {
  const list = tokens(query)
  const found: Draft[] = []
  const frames: Frame[] = []
  let index = 0
  let pendingBy: string[] = []
  /** Reads `( a, b )` after by, on and their like. */
  function labelList(): string[] {
    const labels: string[] = []
    if (list[index]?.text !== '(') return labels
    index++
    while (index < list.length && list[index]?.text !== ')') {
      if (list[index]?.kind === 'word') labels.push(list[index]?.text ?? '')
      index++
    }
    index++
    return labels
  }
  while (index < list.length) {
    const here = list[index]!
    index++
    if (here.kind === 'mark') {
      if (here.text === '(') frames.push({ name: null, by: [] })
      else if (here.text === ')') {
        const closed = frames.pop()
        // `sum(…) by (le)`: the list stands behind what it belongs to.
        if (
          closed?.name !== null &&
          closed !== undefined &&
          ['by', 'without'].includes(list[index]?.text ?? '')
        ) {
          const keyword = list[index]?.text
          index++
          const labels = labelList()
          if (keyword === 'by')
            for (const one of found) if (one.inside.includes(closed.name)) one.by.push(...labels)
        }
      } else if (here.text === '{') {
        index--
        found.push(selectorAt(list, index, null, frames))
        index = afterSelector(list, index)
      }
      continue
    }
    if (here.kind !== 'word') continue
    if (labelLists.has(here.text)) {
      const labels = labelList()
      if (here.text === 'by') pendingBy = labels
      continue
    }
    if (keywords.has(here.text.toLowerCase())) continue
    const next = list[index]?.text ?? ''
    if (next === '(' || ['by', 'without'].includes(next)) {
      if (next !== '(') {
        const keyword = next
        index++
        const labels = labelList()
        if (keyword === 'by') pendingBy = labels
      }
      if (list[index]?.text === '(') index++
      frames.push({ name: here.text, by: pendingBy })
      pendingBy = []
      continue
    }
    found.push(selectorAt(list, index, here, frames))
    index = afterSelector(list, index)
  }
  return found.filter(({ name }) => name !== '')
}

function selectorAt(
  list: readonly Token[],
  index: number,
  word: Token | null,
  frames: readonly Frame[],
): Draft {
  const matchers: LabelMatcher[] = []
  let at = index
  if (list[at]?.text === '{') {
    at++
    while (at < list.length && list[at]?.text !== '}') {
      const [label, operator, value] = [list[at], list[at + 1], list[at + 2]]
      if (label?.kind === 'word' && value?.kind === 'string' && isMatch(operator?.text)) {
        matchers.push({ label: label.text, operator: operator.text, value: unquote(value.text) })
        at += 3
      } else at++
    }
    at++
  }
  const range = list[at]?.kind === 'range' ? (list[at]?.text.slice(1, -1) ?? null) : null
  const named = matchers.find(({ label, operator }) => label === '__name__' && operator === '=')
  return {
    name: word?.text ?? named?.value ?? '',
    matchers: matchers.filter(({ label }) => label !== '__name__'),
    range,
    inside: frames
      .map(({ name }) => name)
      .filter((name) => name !== null)
      .toReversed(),
    by: frames.flatMap(({ by }) => by),
    at: word?.at ?? list[index]?.at ?? 0,
  }
}

function isMatch(text: string | undefined): text is LabelMatcher['operator'] {
  return text === '=' || text === '!=' || text === '=~' || text === '!~'
}

function afterSelector(list: readonly Token[], index: number): number {
  let at = index
  if (list[at]?.text === '{') {
    while (at < list.length && list[at]?.text !== '}') at++
    at++
  }
  return list[at]?.kind === 'range' ? at + 1 : at
}

function unquote(text: string): string {
  const inner = text.slice(1, -1)
  return text.startsWith('`') ? inner : inner.replaceAll(/\\(.)/g, '$1')
}

const aggregations = new Set([
  'sum',
  'avg',
  'min',
  'max',
  'count',
  'quantile',
  'topk',
  'bottomk',
  'group',
  'stddev',
  'stdvar',
  'count_values',
  'scalar',
])

/** Whether a query gives one value at most: everything in it is aggregated without labels, or picked. */
export function isOneValue(query: string): boolean {
  const all = selectorsOf(query)
  return (
    all.length > 0 &&
    all.every(
      ({ inside, by }) =>
        inside.some(
          (name) => aggregations.has(name) && !['topk', 'bottomk', 'count_values'].includes(name),
        ) && by.every((label) => label === 'le'),
    )
  )
}

/** The selector as an instant query. */
export function selectorText({ name, matchers }: Selector): string {
  const pairs = matchers.map(({ label, operator, value }) => `${label}${operator}${JSON.stringify(value)}`)
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`
}
