import { nearest } from '../../base/edit-distance.ts'

/** What stands for one request behind the placeholders that bodies and headers have in common. */
export interface RequestFacts {
  /** The prompt's id, as on the row. */
  readonly id: string | null
  /** Number of the request in its run, from 0. */
  readonly index: number
  readonly model: string
  readonly outputTokens: number | null
  readonly segment: string | null
  readonly session: string | null
  readonly turn: number | null
  /** The line of the file that the request was made from; null where it is not from one. */
  readonly row: Readonly<Record<string, unknown>> | null
}

/** A text with placeholders: what stands between them, and their names. */
export type TextPiece = string | { readonly name: string }

/** Names that a header may hold: what is one short text. */
export const headerNames: readonly string[] = [
  'id',
  'index',
  'model',
  'max_tokens',
  'segment',
  'session',
  'turn',
]
/** A body may hold the prompt besides, and the whole body that would be sent without a template. */
export const bodyNames: readonly string[] = ['prompt', 'messages', ...headerNames, 'stream', 'body']

/** An escaped `{{`, a placeholder, or one that is not closed. Of three braces the last two open it. */
const mark = /\{\{\{\{|\{\{(?!\{)([^{}]*)\}\}|\{\{(?!\{)/g

/**
 * A text cut at its placeholders, `{{name}}` with or without blanks inside. `{{{{` is a `{{` of the text itself. `refuse` makes the error
 * of a `{{` that is not closed.
 * @example splitPlaceholders('a {{id}}', () => new Error()) // ['a ', { name: 'id' }]
 */
export function splitPlaceholders(text: string, refuse: (found: string) => Error): readonly TextPiece[] {
  const pieces: TextPiece[] = []
  let plain = ''
  let end = 0
  for (const { 0: found, 1: inner, index } of text.matchAll(mark)) {
    plain += text.slice(end, index)
    end = index + found.length
    if (found === '{{{{') plain += '{{'
    else if (inner === undefined) throw refuse(text.slice(index, index + 40))
    else {
      if (plain !== '') pieces.push(plain)
      plain = ''
      pieces.push({ name: inner.trim() })
    }
  }
  plain += text.slice(end)
  if (plain !== '' || pieces.length === 0) pieces.push(plain)
  return pieces
}

/** Every placeholder of a text and where it begins. */
export function placesOf(text: string): readonly { readonly name: string; readonly offset: number }[] {
  return [...text.matchAll(mark)].flatMap(({ 1: inner, index }) =>
    inner === undefined ? [] : [{ name: inner.trim(), offset: index }],
  )
}

export function namesOf(pieces: readonly TextPiece[]): readonly string[] {
  return pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [piece.name]))
}

/** Why a name stands for nothing, with the nearest that does; null where it is fine. `fields` are those of the rows, null without rows. */
export function unknownName(
  name: string,
  known: readonly string[],
  fields: ReadonlySet<string> | null,
): { readonly expected: string; readonly received: string; readonly hint?: string } | null {
  if (known.includes(name)) return null
  const [front, field = null] = name.split('.', 2)
  if (front === 'row') {
    if (fields !== null && (field === null || fields.has(field))) return null
    if (fields === null) {
      return {
        expected: 'rows, which only prompts from a JSON Lines file have',
        received: `{{${name}}}`,
        hint: '--workload jsonl --dataset-path FILE',
      }
    }
  }
  const names = [...known, ...[...(fields ?? [])].map((one) => `row.${one}`)]
  const near = nearest(name, names) ?? names.find((one) => one === `row.${name}`) ?? null
  return {
    expected: `one of ${names.slice(0, mostShown).join(', ')}${names.length > mostShown ? ', …' : ''}`,
    received: `{{${name}}}`,
    ...(near === null ? {} : { hint: `did you mean {{${near}}}?` }),
  }
}

const mostShown = 24

/** The value of a name of `headerNames` or of a field of the row; undefined where the request has none. */
export function factOf(name: string, facts: RequestFacts): unknown {
  switch (name) {
    case 'id':
    case 'model':
    case 'index':
    case 'segment':
    case 'session':
    case 'turn':
      return facts[name] ?? undefined
    case 'max_tokens':
      return facts.outputTokens ?? undefined
    default: {
      const [, ...path] = name.split('.')
      let value: unknown = facts.row ?? undefined
      for (const key of path) value = fieldOf(value, key)
      return value
    }
  }
}

/** An own field; what an object inherits is none of the row's. */
function fieldOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return (value as Readonly<Record<string, unknown>>)[key]
}

/** A value inside a text: texts as they are, nothing for none, lists and objects as JSON. */
export function textOfFact(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}
