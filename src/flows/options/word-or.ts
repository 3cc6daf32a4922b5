import { PlimsollError, restated } from '../../base/errors.ts'

/** What the `word` means, or what `read` makes of another value; who is refused hears of the word too. */
export function wordOr<W, T>(word: string, meaning: W, value: string, read: (value: string) => T): W | T {
  if (value.trim().toLowerCase() === word) return meaning
  try {
    return read(value)
  } catch (error) {
    if (!(error instanceof PlimsollError) || error.expected === undefined) throw error
    throw restated(error, { expected: `${error.expected}, or ${word}` })
  }
}
