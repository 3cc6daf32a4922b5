import { PlimsollError, restated, type TextPosition } from './errors.ts'

/** What `make` reads of a file. What is wrong with it becomes a PLIM_CONFIG at the place where it stands, unless it has one already. */
export function placed<T>(where: () => TextPosition, make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof PlimsollError) || error.where !== undefined) throw error
    throw restated(error, { code: 'PLIM_CONFIG', where: where() })
  }
}
