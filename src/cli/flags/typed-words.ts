import { redact } from '../../measure/record/redact.ts'
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
    ...args.map((arg) => (arg === armSeparator ? '--' : arg)),
    ...kept.flatMap(([name, value]) => wordsOf(name, value)),
  ].map(withoutSecret)
}

/** A body of JSON is looked into: its keys tell what is secret. */
function withoutSecret(word: string): string {
  if (!word.startsWith('{')) return redact(word)
  try {
    return JSON.stringify(redact(JSON.parse(word)))
  } catch {
    return redact(word)
  }
}

function wordsOf(name: string, value: FlagValues[string]): readonly string[] {
  if (value === undefined) return []
  if (typeof value === 'boolean') return [value ? `--${name}` : `--no-${name}`]
  const values = typeof value === 'string' ? [value] : value
  return values.flatMap((one) => (one.startsWith('-') ? [`--${name}=${one}`] : [`--${name}`, one]))
}
