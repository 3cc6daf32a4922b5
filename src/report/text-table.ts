import type { Paint, Style } from './paint.ts'

/** A cell; `mark` (a footnote's number) stands behind the text without moving the column. */
export interface Cell {
  readonly text: string
  readonly style?: Style
  readonly mark?: string
}

export interface Column {
  readonly align: 'left' | 'right'
  /** Spaces before the column. */
  readonly gap: number
  /** Its head (the first row) is shown only where another row has a text in it. */
  readonly headIfAny?: true
}

/** Lines of a table whose columns are as wide as their widest text. Nothing is drawn around it. */
export function textTable(
  columns: readonly Column[],
  given: readonly (readonly Cell[])[],
  paint: Paint,
): string[] {
  const rows = withoutBareHeads(columns, given)
  const marks = columns.map((_, j) => Math.max(0, ...rows.map((row) => length(row[j]?.mark ?? ''))))
  const widths = columns.map((_, j) => Math.max(0, ...rows.map((row) => length(row[j]?.text ?? ''))))
  return rows.map((row) =>
    columns
      .map(({ align, gap }, j) => {
        const { text = '', style, mark = '' } = row[j] ?? {}
        const pad = ' '.repeat(widths[j]! - length(text))
        const painted = style === undefined ? text : paint(style, text)
        const tail = mark + ' '.repeat(marks[j]! - length(mark))
        return ' '.repeat(gap) + (align === 'left' ? painted + tail + pad : pad + painted + tail)
      })
      .join('')
      .trimEnd(),
  )
}

function withoutBareHeads(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
): readonly (readonly Cell[])[] {
  const [head = [], ...body] = rows
  const bare = columns.map(
    ({ headIfAny }, j) => headIfAny === true && body.every((row) => (row[j]?.text ?? '') === ''),
  )
  return bare.includes(true) ? [head.map((cell, j) => (bare[j] ? { text: '' } : cell)), ...body] : rows
}

/** Characters as a terminal counts them (none of ours is wide). */
function length(text: string): number {
  return Array.from(text).length
}
