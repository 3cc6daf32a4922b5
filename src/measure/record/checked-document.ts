import * as v from 'valibot'
import { PlimsollError } from '../../base/errors.ts'
import { expectedWords, quotedValue } from '../../base/expected-words.ts'

export interface CheckedFile {
  readonly file: string
  readonly what: string
  /** Fields that older versions of the form did not write, and that its readers do without. */
  readonly cameLater?: ReadonlySet<string>
}

/**
 * A document that was read from a file, checked by its schema before anything is made of it. Fields that the schema does not know
 * are let through: a newer version may have written them.
 * @param what "the manifest", "sweep.json"
 * @throws PlimsollError PLIM_RUN_FOLDER with the first field that is missing or of another kind.
 */
export function checkedDocument<T>(
  schema: v.GenericSchema<unknown, T>,
  value: unknown,
  { file, what, cameLater = new Set() }: CheckedFile,
): T {
  const result = v.safeParse(schema, value)
  // As it was written, its keys in their order.
  if (result.success) return value as T
  const issue = result.issues
    .map(deepest)
    .find(
      ({ expected, received, path }) =>
        expected !== 'never' && !(received === 'undefined' && cameLater.has(path.at(-1) ?? '')),
    )
  if (issue === undefined) return value as T
  const field = issue.path.join('.')
  const isMissing = issue.received === 'undefined'
  throw new PlimsollError(
    'PLIM_RUN_FOLDER',
    isMissing ? `${what} has no ${field}` : `${field} of ${what} is not what it should be`,
    {
      // Of what is missing a schema expects its name.
      ...(isMissing
        ? {}
        : { expected: expectedWords(issue.expected, 'an object'), received: quotedValue(issue.input) }),
      where: { file },
      hint: 'the file was changed by hand, or written by another version of plimsoll: its rows are still those that were measured',
    },
  )
}

interface Found {
  readonly path: readonly string[]
  readonly expected: string | null
  readonly received: string
  readonly input: unknown
}

/** Of a choice between several forms the issue of the one that came furthest. */
function deepest(issue: v.BaseIssue<unknown>): Found {
  const path = (issue.path ?? []).map(({ key }) => String(key))
  const own: Found = { path, expected: issue.expected, received: issue.received, input: issue.input }
  return (issue.issues ?? [])
    .map(deepest)
    .map((inner) => ({ ...inner, path: [...path, ...inner.path] }))
    .reduce((best, one) => (one.path.length > best.path.length ? one : best), own)
}
