/** Under this a break helps nobody. */
export const leastColumns = 30

/**
 * A report at the width of a terminal: lines of prose that are longer break at white space, what follows indented; tables and
 * command lines stay as they are, for a broken column says nothing and a broken command is two.
 */
export function wrapProse(text: string, columns: number): string {
  if (columns < leastColumns) return text
  return text
    .split('\n')
    .map((line) => (shownLength(line) <= columns || !isProse(line) ? line : wrapLine(line, columns)))
    .join('\n')
}

// oxlint-disable-next-line no-control-regex
const styling = /\u001B\[[0-9;]*[A-Za-z]/g

/** Characters as a terminal shows them: styles take no room. */
function shownLength(text: string): number {
  return Array.from(text.replaceAll(styling, '')).length
}

/** Columns are set apart by several blanks, bars are drawn; prose has one blank between two words. */
function isProse(line: string): boolean {
  const shown = line.replaceAll(styling, '').trim()
  return !/\S {2,}\S|[▏▎▍▌▋▊▉█]/.test(shown) && !/^(?:\$ )?plimsoll /.test(shown)
}

/** The style and the indent that a line begins with. */
// oxlint-disable-next-line no-control-regex
const begin = /^(?:\u001B\[[0-9;]*m)*( *)/

function wrapLine(line: string, columns: number): string {
  const [head, indent = ''] = begin.exec(line)!
  return fillLines(line.slice(head.length).trimEnd(), columns, head, `${indent}  `).join('\n')
}

/** A text in lines of at most so many columns, as far as its words are shorter; the first begins with `head`, the others with `hanging`. */
export function fillLines(text: string, columns: number, head = '', hanging = ''): string[] {
  const lines: string[] = []
  let current = ''
  for (const word of words(text)) {
    const begins = current === ''
    const longer = begins ? (lines.length === 0 ? head : hanging) + word : `${current} ${word}`
    if (!begins && shownLength(longer) > columns) {
      lines.push(current)
      current = hanging + word
    } else current = longer
  }
  return [...lines, current]
}

/** A blank, but not between a number and its unit. */
const gap = /(?<!\d) | (?!(?:ms|µs|s|min|req\/s|tok\/s)(?!\w)|%)/

/** What may not be broken: words, and the command lines of a row of them, `saved x · plimsoll show x · plimsoll why`. */
function words(text: string): string[] {
  const parts = text.split(' · ')
  return parts.flatMap((part, at) => {
    const last = at === parts.length - 1 ? '' : ' ·'
    const whole = /^plimsoll \S/.test(part.replaceAll(styling, '').trim()) ? [part] : part.split(gap)
    return [...whole.slice(0, -1), whole.at(-1)! + last]
  })
}
