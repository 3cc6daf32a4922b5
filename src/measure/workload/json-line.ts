import { PlimsollError } from '../../base/errors.ts'
import { jsonFault } from './json-fault.ts'

export interface LinePlace {
  readonly path: string
  readonly line: number
}

/** Makes the error of a line, its column that of the key. */
export type LineFault = (key: string, message: string, expected: string, received: string) => PlimsollError

/**
 * The JSON object of a line, with a maker of errors that name the key's column.
 * @throws PlimsollError PLIM_WORKLOAD at file:line:column for what is not JSON or not an object; `form` shows what was expected.
 */
export function readJsonObject(
  line: string,
  { path, line: number }: LinePlace,
  form: string,
): { readonly object: Readonly<Record<string, unknown>>; readonly fail: LineFault } {
  const at = (column: number, message: string, expected: string, received: string): PlimsollError =>
    new PlimsollError('PLIM_WORKLOAD', message, {
      expected,
      received,
      where: { file: path, line: number, column },
    })
  let parsed: unknown
  try {
    parsed = JSON.parse(line)
  } catch {
    const fault = jsonFault(line) ?? { offset: 0, expected: 'JSON' }
    throw at(
      fault.offset + 1,
      'a line that is not JSON',
      fault.expected,
      line.slice(fault.offset, fault.offset + 60) || 'the end of the line',
    )
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw at(1, 'a line that is not a request', `an object, as ${form}`, line.slice(0, 60))
  }
  return {
    object: parsed as Readonly<Record<string, unknown>>,
    fail: (key, message, expected, received) =>
      at(line.search(new RegExp(`"${key}"\\s*:`)) + 1 || 1, message, expected, received),
  }
}
