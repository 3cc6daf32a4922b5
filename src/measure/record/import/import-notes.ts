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

/** A word on keys that stand twice; `taken` says which value was used. */
export function doubledNote(file: string, doubled: readonly DoubledKey[], taken: string): Warning | null {
  const first = doubled[0]
  if (first === undefined) return null
  const keys = [...new Set(doubled.map(({ key }) => key))]
  const more = doubled.length > 1 ? `, and ${doubled.length - 1} more` : ''
  return note(
    'number_disagrees',
    `${file}:${first.line}:${first.column} has the key ${keys.map((key) => `"${key}"`).join(', ')} twice in one object${more}`,
    taken,
    { keys: keys.join(','), doubled: doubled.length },
  )
}
