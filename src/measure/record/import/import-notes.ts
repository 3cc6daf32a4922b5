import type { Warning, WarningKind } from '../../../base/warnings.ts'
import type { DoubledKey } from './json-value.ts'

/** A finding of an import. */
export function note(
  kind: WarningKind,
  message: string,
  cause: string | null = null,
  evidence: Warning['evidence'] = {},
): Warning {
  return { kind, message, cause, next: null, evidence }
}

/** Keys that stand twice, counted: the records that they stand in are not kept. */
export interface DoubledCount {
  count: number
  first: Pick<DoubledKey, 'line' | 'column'> | null
  readonly keys: Set<string>
}

export function doubledCount(doubled: Parameters<typeof countDoubled>[1] = []): DoubledCount {
  const found: DoubledCount = { count: 0, first: null, keys: new Set() }
  countDoubled(found, doubled)
  return found
}

export function countDoubled(
  into: DoubledCount,
  doubled: readonly Pick<DoubledKey, 'key' | 'line' | 'column'>[],
): void {
  for (const { key, line, column } of doubled) {
    into.count++
    into.first ??= { line, column }
    into.keys.add(key)
  }
}

/** A word on keys that stand twice; `taken` says which value was used. */
export function doubledNote(
  file: string,
  { first, keys, count }: Readonly<DoubledCount>,
  taken: string,
): Warning | null {
  if (first === null) return null
  const named = [...keys].map((key) => `"${key}"`).join(', ')
  const more = count > 1 ? `, and ${count - 1} more` : ''
  return note(
    'number_disagrees',
    `${file}:${first.line}:${first.column} has the key ${named} twice in one object${more}`,
    taken,
    { keys: [...keys].join(','), doubled: count },
  )
}
