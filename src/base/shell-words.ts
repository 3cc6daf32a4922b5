/**
 * The word as a POSIX shell reads it back: as it is where nothing in it is special to bash, zsh or fish, else in single quotes.
 * @example
 * shellWord('ttft < 500ms') // "'ttft < 500ms'"
 */
export function shellWord(word: string): string {
  return /^[\w./:@%+,-][\w./:=@%+,-]*$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** The words as one command line. */
export function shellLine(words: readonly string[]): string {
  return words.map(shellWord).join(' ')
}
