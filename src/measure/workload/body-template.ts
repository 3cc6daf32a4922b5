import { PlimsollError } from '../../base/errors.ts'
import { jsonFault, positionAt } from './json-fault.ts'
import {
  bodyNames,
  factOf,
  namesOf,
  placesOf,
  type RequestFacts,
  splitPlaceholders,
  textOfFact,
  type TextPiece,
  unknownName,
} from './placeholder.ts'
import type { ChatMessage, Prompt } from './request-body.ts'

/**
 * The body of every request as a JSON object with placeholders in its texts. A text that is one placeholder becomes the value itself,
 * of whatever type; within a longer text a value is written out. Nothing is put into JSON text: the object is filled, then serialised.
 */
export interface BodyTemplate {
  readonly root: TemplateNode
  /** Each name and where it stands, lines and columns from 1. */
  readonly places: readonly { readonly name: string; readonly line: number; readonly column: number }[]
}

type TemplateNode =
  | { readonly kind: 'literal'; readonly value: unknown }
  | { readonly kind: 'value'; readonly name: string }
  | { readonly kind: 'text'; readonly pieces: readonly TextPiece[] }
  | { readonly kind: 'list'; readonly items: readonly TemplateNode[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [key: string, TemplateNode])[] }

/** What stands behind the names of a body. */
export interface BodyFacts extends RequestFacts {
  readonly prompt: Prompt
  readonly messages: readonly ChatMessage[]
  readonly stream: boolean
  /** The body that would be sent without a template. */
  readonly body: () => Readonly<Record<string, unknown>>
}

const mostBytes = 1024 * 1024
const mostDepth = 100
const mostPlaceholders = 1000

/**
 * Reads a template's file.
 * @throws PlimsollError PLIM_WORKLOAD at file:line:column for what is no JSON object, too large, or has a placeholder in a key or unclosed.
 */
export function parseBodyTemplate(text: string, path: string): BodyTemplate {
  const source = text.replace(/^\uFEFF/, '')
  const fail = (offset: number, message: string, expected: string, received: string): PlimsollError =>
    new PlimsollError('PLIM_WORKLOAD', message, {
      expected,
      received,
      where: { file: path, ...positionAt(source, Math.max(0, offset)) },
    })
  if (source.length > mostBytes)
    throw fail(0, 'the body template is too large', `at most ${mostBytes} characters`, `${source.length}`)
  let parsed: unknown
  try {
    parsed = JSON.parse(source)
  } catch {
    const fault = jsonFault(source) ?? { offset: 0, expected: 'JSON' }
    const received = source.slice(fault.offset, fault.offset + 40).split('\n', 1)[0] ?? ''
    throw fail(
      fault.offset,
      'the body template is not JSON',
      fault.expected,
      received || 'the end of the line',
    )
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    const expected = 'an object, as {"input": "{{prompt}}"}'
    throw fail(
      source.search(/\S/),
      'the body template is no JSON object',
      expected,
      source.trim().slice(0, 40),
    )
  }
  const split = (content: string): readonly TextPiece[] =>
    splitPlaceholders(content, (found) =>
      fail(
        source.indexOf(found),
        'a placeholder that is not closed',
        '{{name}}; {{{{ stands for {{ itself',
        found,
      ),
    )
  const read = (value: unknown, depth: number): TemplateNode => {
    if (depth > mostDepth)
      throw fail(0, 'the body template is too deep', `at most ${mostDepth} levels`, 'more')
    if (typeof value === 'string') return textNode(split(value))
    if (Array.isArray(value)) return listNode(value.map((item: unknown) => read(item, depth + 1)))
    if (typeof value !== 'object' || value === null) return { kind: 'literal', value }
    const members = Object.entries(value).map(([key, item]) => {
      const found = namesOf(split(key))
      if (found.length > 0) {
        const shown = JSON.stringify(key)
        throw fail(source.indexOf(shown), 'a placeholder in a key', 'placeholders in values only', shown)
      }
      return [key, read(item, depth + 1)] as const
    })
    return objectNode(members)
  }
  const root = read(parsed, 1)
  const places = placesOf(source).map(({ name, offset }) => ({ name, ...positionAt(source, offset) }))
  if (places.length > mostPlaceholders)
    throw fail(0, 'too many placeholders', `at most ${mostPlaceholders}`, String(places.length))
  return { root, places }
}

function textNode(pieces: readonly TextPiece[]): TemplateNode {
  const [only] = pieces
  if (pieces.length > 1 || only === undefined) return { kind: 'text', pieces }
  return typeof only === 'string' ? { kind: 'literal', value: only } : { kind: 'value', name: only.name }
}

/** Parts without a placeholder are kept as they are. */
function listNode(items: readonly TemplateNode[]): TemplateNode {
  return items.every((item) => item.kind === 'literal')
    ? { kind: 'literal', value: items.map(({ value }) => value) }
    : { kind: 'list', items }
}

function objectNode(members: readonly (readonly [string, TemplateNode])[]): TemplateNode {
  const fixed = members.flatMap(([key, node]) =>
    node.kind === 'literal' ? [[key, node.value] as const] : [],
  )
  return fixed.length === members.length
    ? { kind: 'literal', value: Object.fromEntries(fixed) }
    : { kind: 'object', members }
}

/** @throws PlimsollError PLIM_WORKLOAD at file:line:column of a name that stands for nothing, with the nearest that does. */
export function checkBodyNames(
  { places }: BodyTemplate,
  path: string,
  fields: ReadonlySet<string> | null,
): void {
  for (const { name, line, column } of places) {
    const fault = unknownName(name, bodyNames, fields)
    if (fault !== null)
      throw new PlimsollError('PLIM_WORKLOAD', 'a placeholder that stands for nothing', {
        ...fault,
        where: { file: path, line, column },
      })
  }
}

/** Whether the template asks for one of these names, or for a field of the row with `row`. */
export function asksFor({ places }: BodyTemplate, ...names: readonly string[]): boolean {
  return places.some(({ name }) => names.includes(name.split('.', 1)[0] as string))
}

/** The body of one request. A member or item whose placeholder has no value is left out. */
export function fillBody({ root }: BodyTemplate, facts: BodyFacts): Readonly<Record<string, unknown>> {
  return fill(root, facts) as Readonly<Record<string, unknown>>
}

function fill(node: TemplateNode, facts: BodyFacts): unknown {
  switch (node.kind) {
    case 'literal':
      return node.value
    case 'value':
      return bodyFact(node.name, facts)
    case 'text':
      return node.pieces
        .map((piece) => (typeof piece === 'string' ? piece : textOfFact(bodyFact(piece.name, facts))))
        .join('')
    case 'list':
      return node.items.map((item) => fill(item, facts)).filter((item) => item !== undefined)
    default:
      return Object.fromEntries(
        node.members.flatMap(([key, member]) => {
          const value = fill(member, facts)
          return value === undefined ? [] : [[key, value] as const]
        }),
      )
  }
}

function bodyFact(name: string, facts: BodyFacts): unknown {
  switch (name) {
    case 'prompt':
      return promptText(facts)
    case 'messages':
      return facts.messages
    case 'stream':
      return facts.stream
    case 'body':
      return facts.body()
    default:
      return factOf(name, facts)
  }
}

function promptText({ prompt, id }: BodyFacts): string {
  if (prompt.kind === 'text') return prompt.text
  throw new PlimsollError('PLIM_WORKLOAD', 'the body template takes one text, and the prompt is messages', {
    expected: '{{messages}} in the template, or prompt or text on the line',
    received: `messages${id === null ? '' : ` (${id})`}`,
  })
}
