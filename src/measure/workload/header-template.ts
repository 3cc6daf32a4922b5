import { PlimsollError } from '../../base/errors.ts'
import { isHeaderName, isHeaderValue } from '../wire/http1-request.ts'
import {
  factOf,
  headerNames,
  namesOf,
  type RequestFacts,
  splitPlaceholders,
  textOfFact,
  type TextPiece,
  unknownName,
} from './placeholder.ts'

/** A header whose value is made for each request. */
export interface HeaderTemplate {
  readonly name: string
  readonly pieces: readonly TextPiece[]
}

const environment = 'env.'
/** What one value may hold; servers take some 16 KB of headers in all. */
const mostCharacters = 8192

/**
 * Reads one header; null where it has no placeholder. `{{env.NAME}}` is of the environment, all others of the request.
 * @throws PlimsollError PLIM_USAGE for a placeholder that is not closed or stands for nothing; the value is not shown.
 */
export function parseHeader(name: string, value: string): HeaderTemplate | null {
  if (!value.includes('{{')) return null
  const pieces = splitPlaceholders(
    value,
    () =>
      new PlimsollError('PLIM_USAGE', `header ${name} has a placeholder that is not closed`, {
        expected: '{{name}}; {{{{ stands for {{ itself',
      }),
  )
  for (const found of namesOf(pieces)) {
    if (found.startsWith(environment) || found.startsWith('row.')) continue
    const fault = unknownName(found, headerNames, null)
    if (fault !== null)
      throw new PlimsollError('PLIM_USAGE', `header ${name} has a placeholder that stands for nothing`, {
        ...fault,
        expected: `one of ${[...headerNames, 'row.FIELD', 'env.NAME'].join(', ')}`,
      })
  }
  return { name, pieces }
}

/** The names that are asked of the environment. */
export function withEnvironment(
  { name, pieces }: HeaderTemplate,
  env: (variable: string) => string | undefined,
): { readonly template: HeaderTemplate; readonly secrets: readonly string[] } {
  const secrets: string[] = []
  const filled = pieces.map((piece) => {
    if (typeof piece === 'string' || !piece.name.startsWith(environment)) return piece
    const variable = piece.name.slice(environment.length)
    const value = env(variable)
    if (value === undefined || value === '')
      throw new PlimsollError('PLIM_USAGE', `header ${name} needs the environment variable ${variable}`, {
        expected: 'a value',
        received: value === undefined ? 'it is not set' : 'it is empty',
      })
    secrets.push(value)
    return value
  })
  return { template: { name, pieces: filled }, secrets }
}

/** @throws PlimsollError PLIM_USAGE for a field that no row has. */
export function checkHeaderFields(
  { name, pieces }: HeaderTemplate,
  fields: ReadonlySet<string> | null,
): void {
  for (const found of namesOf(pieces)) {
    const fault = unknownName(found, headerNames, fields)
    if (fault !== null)
      throw new PlimsollError('PLIM_USAGE', `header ${name} has a placeholder that stands for nothing`, fault)
  }
}

/**
 * The headers of one request. One that is a placeholder alone and has no value is left out.
 * @throws PlimsollError PLIM_WORKLOAD for a value that cannot stand in a header.
 */
export function fillHeaders(
  templates: readonly HeaderTemplate[],
  facts: RequestFacts,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    templates.flatMap(({ name, pieces }) => {
      const values = pieces.map((piece) => (typeof piece === 'string' ? piece : factOf(piece.name, facts)))
      if (values.length === 1 && (values[0] === undefined || values[0] === null)) return []
      const text = values.map(textOfFact).join('')
      if (isHeaderName(name) && isHeaderValue(text) && text.length <= mostCharacters) return [[name, text]]
      throw new PlimsollError('PLIM_WORKLOAD', `header ${name} of a request cannot be sent`, {
        expected: `at most ${mostCharacters} characters of Latin-1 without line breaks`,
        received: `${text.length} characters${facts.id === null ? '' : ` (prompt ${facts.id})`}`,
      })
    }),
  )
}
