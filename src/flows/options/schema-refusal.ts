import type * as v from 'valibot'
import { nearest } from '../../base/edit-distance.ts'
import { PlimsollError } from '../../base/errors.ts'
import { expectedWords, quotedValue } from '../../base/expected-words.ts'
import type { PositionedYaml, YamlPath } from '../../base/positioned-yaml.ts'

type Issue = v.BaseIssue<unknown>

/** Of several issues the one that goes deepest: of a union it is that of the branch that was meant. */
function deepest(issues: readonly Issue[], above: YamlPath = []): { issue: Issue; path: YamlPath } {
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

/** What a value lacks of a schema, as an error at its place: what was expected and received, for a misspelt key the nearest right one. */
export function schemaRefusal(
  schema: unknown,
  issues: readonly Issue[],
  { value: whole, where }: Pick<PositionedYaml, 'value' | 'where'>,
): PlimsollError {
  const { issue, path } = deepest(issues)
  const dotted = path.join('.')
  const key = String(path.at(-1))
  const parent: unknown = issue.path?.at(-1)?.input
  if (issue.expected === 'never' && Array.isArray(parent)) {
    return new PlimsollError('PLIM_CONFIG', `${path.slice(0, -1).join('.')} cannot be this`, {
      expected: 'a map',
      received: quotedValue(parent),
      where: where(path.slice(0, -1), 'value'),
    })
  }
  if (issue.expected === 'never') {
    const known = keysAt(schema as SchemaNode, path.slice(0, -1), whole)
    const near = nearest(key, known)
    return new PlimsollError('PLIM_CONFIG', `unknown key ${dotted}`, {
      expected: known.join(', '),
      where: where(path, 'key'),
      ...(near === null ? {} : { hint: `did you mean ${near}?` }),
    })
  }
  if (issue.received === 'undefined') {
    return new PlimsollError('PLIM_CONFIG', `${dotted} is missing`, {
      ...(issue.expected === `"${key}"` ? {} : { expected: expectedWords(issue.expected, 'a map') }),
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
    expected: expectedWords(issue.expected, 'a map'),
    received: quotedValue(issue.input),
    where: where(path, 'value'),
    ...(near === null ? {} : { hint: `did you mean ${near}?` }),
  })
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
function keysAt(schema: SchemaNode, path: YamlPath, whole: unknown): string[] {
  let nodes: SchemaNode[] = [schema]
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
