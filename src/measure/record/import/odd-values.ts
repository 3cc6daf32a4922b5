import { formatCount } from '../../../base/units.ts'
import { noun } from '../../../base/noun.ts'
import type { Warning } from '../../../base/warnings.ts'
import { note } from './import-notes.ts'
import { countOf, numberOf, type JsonValue } from './json-value.ts'

interface Odd {
  count: number
  readonly first: string
}

/** Values of a file that are there and cannot be what they stand for: counted by field, the first one with its place. */
export class OddValues {
  readonly #found = new Map<string, Odd>()

  /** A time or another amount: finite and not negative; null for what is not there, and for what cannot be. */
  amount(field: string, value: JsonValue | undefined, place: string): number | null {
    const number = numberOf(value)
    return this.#taken(field, value, number === null || number < 0 ? null : number, place)
  }

  /** A whole number of tokens. */
  count(field: string, value: JsonValue | undefined, place: string): number | null {
    return this.#taken(field, value, countOf(value), place)
  }

  #taken(field: string, value: JsonValue | undefined, taken: number | null, place: string): number | null {
    if (taken !== null || value === undefined || value === null) return taken
    const odd = this.#found.get(field)
    if (odd === undefined) this.#found.set(field, { count: 1, first: `${place} is ${shown(value)}` })
    else odd.count++
    return null
  }

  /** A finding for each field. */
  notes(): readonly Warning[] {
    return [...this.#found].map(([field, { count, first }]) =>
      note(
        'unrecoverable',
        `${formatCount(count)} ${noun(count, 'value')} of ${field} cannot be: the first, ${first}`,
        'taken as not measured',
        { field, values: count },
      ),
    )
  }
}

function shown(value: JsonValue): string {
  return typeof value === 'object' ? 'no number' : String(value).slice(0, 40)
}
