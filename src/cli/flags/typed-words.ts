import { redact, redactText } from '../../measure/record/redact.ts'
import { armSeparator } from '../argv.ts'
import type { FlagSpecs, FlagValues, Invocation } from '../verb.ts'

/** Manners, and where the output goes: the command that follows has its own. */
const ofTheOutput: ReadonlySet<string> = new Set([
  'json',
  'quiet',
  'progress',
  'explain',
  'yes',
  'out',
  'force',
  'format',
])

/**
 * The words that ask for the same as a command line did, without its verb and without secrets: what the next command begins with. Of
 * its flags those that the next verb has (`of`), but for those that it says anew (`without`).
 */
export function typedWords(
  { given, args }: Pick<Invocation, 'given' | 'args'>,
  { of = null, without = [] }: { readonly of?: FlagSpecs | null; readonly without?: readonly string[] } = {},
): readonly string[] {
  const kept = Object.entries(given).filter(
    ([name]) => !ofTheOutput.has(name) && !without.includes(name) && (of === null || Object.hasOwn(of, name)),
  )
  return [
    ...args.map((arg) => withoutSecret(arg === armSeparator ? '--' : arg)),
    ...kept.flatMap(([name, value]) => wordsOf(name, value)),
  ]
}

/** Pairs whose names the user makes up: a class may be called `key`. In any other flag that is the name of a secret. */
const ofMadeNames: ReadonlySet<string> = new Set(['class'])

/** JSON is looked into: its keys tell what is secret. It stays as it was typed where nothing is: a parser rounds long numbers. */
function withoutSecret(word: string): string {
  if (!/^\s*[{[]/.test(word)) return redact(word)
  try {
    const value: unknown = JSON.parse(word)
    const read = JSON.stringify(value)
    const safe = JSON.stringify(redact(value))
    // Of a key that stands twice only the last was read.
    return safe === read && textsIn(read) === textsIn(word) ? word : safe
  } catch {
    return redact(word)
  }
}

/** How many texts in quotes a JSON text has, keys among them. */
function textsIn(json: string): number {
  return json.match(/"(?:[^"\\]|\\.)*"/g)?.length ?? 0
}

function wordsOf(name: string, value: FlagValues[string]): readonly string[] {
  if (value === undefined) return []
  if (typeof value === 'boolean') return [value ? `--${name}` : `--no-${name}`]
  const values = typeof value === 'string' ? [value] : value
  const safe = ofMadeNames.has(name) ? redactText : withoutSecret
  return values.flatMap((one) =>
    one.startsWith('-') ? [`--${name}=${safe(one)}`] : [`--${name}`, safe(one)],
  )
}
