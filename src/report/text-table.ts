import type { Footnotes } from './footnotes.ts'
import type { Paint, Style } from './paint.ts'
import { fillLines, leastColumns } from './wrap-prose.ts'

/** A cell; `mark` (a footnote's number) stands behind the text without moving the column. */
export interface Cell {
  readonly text: string
  readonly style?: Style
  readonly mark?: string
  /**
   * A footnote on the cell. It gets its number when the table is laid out, so that of a column that is left out there is none; a number
   * in a column of figures moves none of them, in one of texts it is a part of its own.
   */
  readonly note?: string | null
}

export interface Column {
  readonly align: 'left' | 'right'
  /** Spaces before the column. */
  readonly gap: number
  /** Its head (the first row) is shown only where another row has a text in it. */
  readonly headIfAny?: true
  /** Where the table is wider than its place, those of the highest number are left out first, together; never one without a number. */
  readonly leaves?: number
  /** Of the last column: its texts break at blanks where there is no room for them. */
  readonly wraps?: true
}

/** `leaves` of a column that only draws what stands beside it: it also makes room for texts that wrap. */
export const ornament: number = Number.POSITIVE_INFINITY

/** Where a table is printed. */
export interface TablePlace {
  /** Columns of the terminal; null: it may be as wide as it is. */
  readonly columns: number | null
  /** Takes the cells' footnotes. */
  readonly notes: Footnotes
}

type Rows = readonly (readonly Cell[])[]

/**
 * Lines of a table whose columns are as wide as their widest text. Nothing is drawn around it. What there was no place for is named
 * below it, by its heads.
 */
export function textTable(
  columns: readonly Column[],
  rows: Rows,
  paint: Paint,
  place?: TablePlace,
): string[] {
  const shown = withoutBareHeads(columns, rows)
  const kept = keptColumns(columns, shown, place)
  const cells = (row: readonly Cell[]): readonly Cell[] => kept.map((j) => row[j] ?? { text: '' })
  const layout = laidOut(
    kept.map((j) => columns[j]!),
    shown.map(cells),
    place?.notes,
  )
  const lines = layout.rows.flatMap((row) => rowLines(row, layout, paint, place?.columns ?? null))
  const left = (shown[0] ?? []).filter(({ text }, j) => text !== '' && !kept.includes(j))
  return left.length === 0
    ? lines
    : [...lines, `  a wider terminal also shows ${left.map(({ text }) => text).join(' · ')}`]
}

function withoutBareHeads(columns: readonly Column[], rows: Rows): Rows {
  const [head = [], ...body] = rows
  const bare = columns.map(
    ({ headIfAny }, j) => headIfAny === true && body.every((row) => (row[j]?.text ?? '') === ''),
  )
  return bare.includes(true) ? [head.map((cell, j) => (bare[j] ? { text: '' } : cell)), ...body] : rows
}

/** Under so many columns a text that wraps gets lines of its own, below its row and set in from it. */
const leastRoom = 20
const setIn = 8

/** The columns that there is place for. */
function keptColumns(
  columns: readonly Column[],
  rows: Rows,
  place: TablePlace | undefined,
): readonly number[] {
  let kept = columns.map((_, j) => j)
  const width = place?.columns ?? null
  if (place === undefined || width === null || width < leastColumns) return kept
  const widthOf = (some: readonly number[]): { readonly fixed: number; readonly all: number } => {
    const layout = laidOut(
      some.map((j) => columns[j]!),
      rows.map((row) => some.map((j) => row[j] ?? { text: '' })),
      place.notes.copy(),
    )
    const last = layout.columns.at(-1)
    const fixed = last?.wraps === true ? layout.start : layout.start + (layout.widths.at(-1) ?? 0)
    return { fixed, all: fixed + (last?.wraps === true ? Math.min(layout.widths.at(-1) ?? 0, leastRoom) : 0) }
  }
  for (;;) {
    const leaving = Math.max(0, ...kept.map((j) => columns[j]!.leaves ?? 0))
    if (leaving === 0) return kept
    const { fixed, all } = widthOf(kept)
    if ((leaving === ornament ? all : fixed) <= width) return kept
    kept = kept.filter((j) => columns[j]!.leaves !== leaving)
  }
}

interface LaidOutCell {
  readonly text: string
  readonly style: Style | undefined
  /** Behind the text, a part of the column. */
  readonly tail: string
  /** Behind the column. */
  readonly mark: string
}

interface Layout {
  readonly columns: readonly Column[]
  readonly rows: readonly (readonly LaidOutCell[])[]
  readonly widths: readonly number[]
  readonly marks: readonly number[]
  /** Where the last column begins. */
  readonly start: number
}

/** Widths of the columns, with the numbers of the cells' footnotes, from the top and from left to right. */
function laidOut(columns: readonly Column[], rows: Rows, notes: Footnotes | undefined): Layout {
  const cells = rows.map((row) =>
    row.map(({ text, style, mark = '', note }, j): LaidOutCell => {
      const number = (note ?? '') === '' ? '' : (notes?.mark(note!) ?? '')
      const isPart = columns[j]!.align === 'left'
      const set = number === '' || text === '' ? number : ` ${number}`
      return { text, style, tail: isPart ? set : '', mark: isPart ? mark : mark + set }
    }),
  )
  const widest = (of: (cell: LaidOutCell) => number): number[] =>
    columns.map((_, j) => Math.max(0, ...cells.map((row) => of(row[j]!))))
  const widths = widest(({ text, tail }) => length(text) + length(tail))
  const marks = widest(({ mark }) => length(mark))
  const start = columns.reduce(
    (sum, { gap }, j) => sum + gap + (j === columns.length - 1 ? 0 : widths[j]! + marks[j]!),
    0,
  )
  return { columns, rows: cells, widths, marks, start }
}

/** A row, and below it what there was no room for in its last column. */
function rowLines(
  row: readonly LaidOutCell[],
  { columns, widths, marks, start }: Layout,
  paint: Paint,
  width: number | null,
): string[] {
  const last = row.at(-1)
  const isTooLong =
    columns.at(-1)?.wraps === true &&
    width !== null &&
    width >= leastColumns &&
    start + length(last!.text) > width
  const room = isTooLong ? width - start : 0
  const under = room < leastRoom ? setIn : start
  const texts = isTooLong ? fillLines(last!.text, room < leastRoom ? width - under : room) : []
  const [first = '', ...rest] = room < leastRoom ? ['', ...texts] : texts
  const line = columns
    .map(({ align, gap }, j) => {
      const { style, tail, mark, ...cell } = row[j]!
      const text = isTooLong && j === columns.length - 1 ? first : cell.text
      const pad = ' '.repeat(Math.max(0, widths[j]! - length(text) - length(tail)))
      const painted = (style === undefined ? text : paint(style, text)) + tail
      const behind = mark + ' '.repeat(marks[j]! - length(mark))
      return ' '.repeat(gap) + (align === 'left' ? painted + behind + pad : pad + painted + behind)
    })
    .join('')
    .trimEnd()
  return [line, ...rest.map((text) => ' '.repeat(under) + text)]
}

/** Characters as a terminal counts them (none of ours is wide). */
function length(text: string): number {
  return Array.from(text).length
}
