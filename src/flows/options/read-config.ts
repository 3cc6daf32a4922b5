import * as v from 'valibot'
import { LineCounter, parseDocument, isMap, isPair, type Document, type Node } from 'yaml'
import { PlimsollError, type TextPosition } from '../../base/errors.ts'
import type { ConfigFile } from './config-file-type.ts'
import { configOptions } from './config-options.ts'
import { configSchema } from './config-schema.ts'
import { nearest } from '../../base/edit-distance.ts'
import type { SweepOptions } from './run-options.ts'

/** A path into the file: keys and indices. */
export type ConfigPath = readonly (string | number)[]

/** A plimsoll.yaml as it is written, and where each part of it stands. */
export interface PositionedConfig {
  readonly config: ConfigFile
  readonly where: (path: ConfigPath) => TextPosition
}

/** What a plimsoll.yaml says, as options. Throws what `parseConfigFile` throws. */
export function readConfig(text: string, file: string): SweepOptions {
  const { config, where } = parseConfigFile(text, file)
  return configOptions(config, where)
}

/**
 * What a plimsoll.yaml says. Whatever is wrong with it is a PLIM_CONFIG with file, line and column, what was expected there and
 * what stands there, and for a misspelt key the nearest right one.
 */
export function parseConfigFile(text: string, file: string): PositionedConfig {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  const [broken] = document.errors
  if (broken !== undefined) {
    throw new PlimsollError('PLIM_CONFIG', 'this is not YAML', {
      received: broken.message,
      where: position(file, lines, broken.pos[0]),
    })
  }
  const where = (path: ConfigPath, of: 'key' | 'value'): TextPosition => {
    const offset = offsetOf(document, path, of)
    return offset === null ? { file } : position(file, lines, offset)
  }
  const value: unknown = document.toJS() ?? {}
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new PlimsollError('PLIM_CONFIG', 'the file is not a map of settings', {
      expected: 'target: …, workload: …, arrivals: … (plimsoll init writes one)',
      received: shown(value),
      where: where([], 'value'),
    })
  }
  const result = v.safeParse(configSchema, value, { abortEarly: false })
  if (!result.success) throw explain(deepest(result.issues), value, where)
  return { config: result.output, where: (path) => where(path, 'value') }
}

function position(file: string, lines: LineCounter, offset: number): TextPosition {
  const { line, col } = lines.linePos(offset)
  return { file, line, column: col }
}

/** Where the value of a path begins, or its key; the nearest enclosing node where there is none. */
function offsetOf(document: Document, path: ConfigPath, of: 'key' | 'value'): number | null {
  for (let length = path.length; length >= 0; length--) {
    const parent = length === 0 ? document.contents : document.getIn(path.slice(0, length - 1), true)
    if (length > 0 && of === 'key' && isMap(parent)) {
      const pair = parent.items.find((item) => isPair(item) && String(item.key) === String(path[length - 1]))
      const start = (pair?.key as Node | undefined)?.range?.[0]
      if (start !== undefined) return start
    }
    const node =
      length === 0 ? document.contents : (document.getIn(path.slice(0, length), true) as Node | undefined)
    const start = node?.range?.[0]
    if (start !== undefined) return start
  }
  return null
}

type Issue = v.BaseIssue<unknown>

/** Of several issues the one that goes deepest: of a union it is that of the branch that was meant. */
function deepest(issues: readonly Issue[], above: ConfigPath = []): { issue: Issue; path: ConfigPath } {
  const found = issues.map((issue) => {
    const path = [...above, ...(issue.path ?? []).map((item) => item.key as string | number)]
    const inner = issue.issues === undefined ? null : deepest(issue.issues, path)
    return inner !== null && inner.path.length > path.length ? inner : { issue, path }
  })
  return found.reduce((best, one) => {
    if (one.path.length !== best.path.length) return one.path.length > best.path.length ? one : best
    // A misspelt key is also a missing one: the misspelling says more.
    return one.issue.expected === 'never' && best.issue.expected !== 'never' ? one : best
  })
}

function explain(
  { issue, path }: { issue: Issue; path: ConfigPath },
  whole: unknown,
  where: (path: ConfigPath, of: 'key' | 'value') => TextPosition,
): PlimsollError {
  const dotted = path.join('.')
  const key = String(path.at(-1))
  const parent: unknown = issue.path?.at(-1)?.input
  if (issue.expected === 'never' && Array.isArray(parent)) {
    return new PlimsollError('PLIM_CONFIG', `${path.slice(0, -1).join('.')} cannot be this`, {
      expected: 'a map',
      received: shown(parent),
      where: where(path.slice(0, -1), 'value'),
    })
  }
  if (issue.expected === 'never') {
    const known = keysAt(path.slice(0, -1), whole)
    const near = nearest(key, known)
    return new PlimsollError('PLIM_CONFIG', `unknown key ${dotted}`, {
      expected: known.join(', '),
      where: where(path, 'key'),
      ...(near === null ? {} : { hint: `did you mean ${near}?` }),
    })
  }
  if (issue.received === 'undefined') {
    return new PlimsollError('PLIM_CONFIG', `${dotted} is missing`, {
      ...(issue.expected === `"${key}"` ? {} : { expected: words(issue.expected) }),
      where: where(path.slice(0, -1), 'key'),
    })
  }
  const near =
    typeof issue.input === 'string' && issue.expected !== null
      ? nearest(
          issue.input,
          [...issue.expected.matchAll(/"([^"]+)"/g)].map((match) => match[1]!),
        )
      : null
  return new PlimsollError('PLIM_CONFIG', `${dotted === '' ? 'the file' : dotted} cannot be this`, {
    expected: words(issue.expected),
    received: shown(issue.input),
    where: where(path, 'value'),
    ...(near === null ? {} : { hint: `did you mean ${near}?` }),
  })
}

const typeWords: Readonly<Record<string, string>> = {
  Object: 'a map',
  Array: 'a list',
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
}

function words(expected: string | null): string {
  if (expected === null) return 'something else'
  const parts = expected.replace(/^\((.*)\)$/, '$1').split(' | ')
  return [...new Set(parts.map((part) => typeWords[part] ?? part))].join(' or ')
}

function shown(input: unknown): string {
  const json = JSON.stringify(input) ?? String(input)
  return json.length > 60 ? `${json.slice(0, 57)}...` : json
}

interface SchemaNode {
  readonly entries?: Readonly<Record<string, SchemaNode>>
  readonly wrapped?: SchemaNode
  readonly value?: SchemaNode
  readonly item?: SchemaNode
  readonly options?: readonly SchemaNode[]
  readonly literal?: unknown
  readonly pipe?: readonly SchemaNode[]
}

/** The keys that the schema knows at a path; of several kinds of map that one which the file chose by `kind`. */
function keysAt(path: ConfigPath, whole: unknown): string[] {
  let nodes: SchemaNode[] = [configSchema as SchemaNode]
  let value = whole
  for (const key of path) {
    nodes = nodes
      .flatMap((node) => maps(node, value))
      .flatMap((node) => node.entries?.[key] ?? node.value ?? node.item ?? [])
    value = (value as Record<string | number, unknown> | undefined)?.[key]
  }
  return [
    ...new Set(nodes.flatMap((node) => maps(node, value)).flatMap((node) => Object.keys(node.entries ?? {}))),
  ]
}

function maps(node: SchemaNode, value: unknown): SchemaNode[] {
  const inner = node.wrapped ?? node.pipe?.[0]
  if (inner !== undefined && inner !== node) return maps(inner, value)
  if (node.options === undefined) return [node]
  const options = node.options.flatMap((option) => (typeof option === 'object' ? maps(option, value) : []))
  const kind = (value as { readonly kind?: unknown } | undefined)?.kind
  const chosen = options.filter(
    (option) => option.entries?.['kind'] !== undefined && option.entries['kind'].literal === kind,
  )
  return chosen.length > 0 ? chosen : options
}
