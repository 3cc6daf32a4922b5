import { PlimsollError } from '../base/errors.ts'
import { noun } from '../base/noun.ts'
import type { Warning } from '../base/warnings.ts'
import type { CompareDocument, ComparedArm } from '../report/compare-document.ts'
import { judgeTogether } from './compare-judge.ts'
import type { CompareSettings } from './compare.ts'

export interface CsvSettings extends Pick<CompareSettings, 'alpha' | 'margin' | 'power'> {
  /** Names of the two columns, A and B; null: the only two columns of numbers. */
  readonly columns: readonly [a: string, b: string] | null
  readonly better: 'lower' | 'higher'
  /** `log` compares by ratio: times. */
  readonly scale: 'log' | 'difference'
}

/**
 * Compares two columns of a CSV file row by row: scores of two models question by question, times of two builds. The first line
 * names the columns. A row without one of the two values is counted, not guessed.
 * @throws PlimsollError PLIM_FILE with line and column for what is no number, or where there are no two columns.
 */
export function compareCsv(
  text: string,
  file: string,
  settings: CsvSettings,
  version: string,
): CompareDocument {
  const [head, ...rows] = readRecords(text)
  if (head === undefined || rows.length === 0) {
    throw new PlimsollError('PLIM_FILE', 'there are no rows to compare', {
      expected: 'a line of column names, then a line for each pair of values',
      received: head === undefined ? 'an empty file' : 'a line of names only',
      where: { file },
    })
  }
  const names = head.cells.map(({ text: name }) => name.trim())
  refuseOtherSeparator(names, file)
  refuseLongRows(names, rows, file)
  const columns = columnsOf(names, rows, settings.columns, file)
  const pairs: { readonly a: number; readonly b: number }[] = []
  let incomplete = 0
  for (const row of rows) {
    const [a, b] = columns.map((column) => numberAt(row, column, names[column] ?? '', file))
    if (a === null || a === undefined || b === null || b === undefined) {
      incomplete++
      continue
    }
    if (settings.scale === 'log' && !(a > 0 && b > 0)) {
      throw new PlimsollError('PLIM_FILE', 'a ratio needs values above 0', {
        received: `${a} and ${b}`,
        where: { file, line: row.line },
        hint: '--scale difference compares scores that may be 0',
      })
    }
    pairs.push({ a, b })
  }
  const metrics = judgeTogether(
    [
      {
        metric: 'value',
        label: 'value',
        unit: '',
        better: settings.better,
        scale: settings.scale,
        paired: true,
        a: pairs.map(({ a }) => a),
        b: pairs.map(({ b }) => b),
        within_run: null,
        pairs: [],
      },
    ],
    'value',
    settings,
  )
  const arm = (column: number): ComparedArm => ({ name: names[column] ?? '', runs: [], left_out: [] })
  return {
    schema: 'plimsoll.compare/1',
    plimsoll: version,
    kind: 'csv',
    arms: { a: arm(columns[0]), b: arm(columns[1]) },
    design: {
      paired_by: 'row',
      why: `each row of ${file} holds a pair`,
      alpha: settings.alpha,
      margin: settings.margin,
      power: settings.power,
      primary: 'value',
    },
    metrics,
    not_compared: [],
    order: null,
    residue: [],
    regression: metrics.some(({ regression }) => regression),
    warnings: incomplete === 0 ? [] : [rowsMissing(incomplete, rows.length)],
  }
}

/** The separators of other tables; a comma inside of them is one of a number. */
const otherSeparators = [
  [';', 'semicolons'],
  ['\t', 'tabs'],
  ['|', 'bars'],
] as const

function refuseOtherSeparator(names: readonly string[], file: string): void {
  const [only = ''] = names
  const other = names.length > 1 ? undefined : otherSeparators.find(([separator]) => only.includes(separator))
  if (other === undefined) return
  throw new PlimsollError('PLIM_FILE', `the columns of this file stand apart by ${other[1]}`, {
    expected: 'commas between the columns, and a point in the numbers',
    received: only.slice(0, 60),
    where: { file, line: 1 },
  })
}

/** More values than names: which of them belongs to which name cannot be told. */
function refuseLongRows(names: readonly string[], rows: readonly CsvRecord[], file: string): void {
  for (const { line, cells } of rows) {
    const extra = cells.slice(names.length).find(({ text }) => text.trim() !== '')
    if (extra === undefined) continue
    throw new PlimsollError(
      'PLIM_FILE',
      `a row of ${cells.length} values stands under ${names.length} ${noun(names.length, 'column')}`,
      {
        expected: `${names.length} ${noun(names.length, 'value')}: ${names.join(', ')}`,
        received: cells
          .map(({ text }) => text)
          .join(',')
          .slice(0, 60),
        where: { file, line, column: extra.column },
        hint: 'a value with a comma in it stands in quotes',
      },
    )
  }
}

function rowsMissing(incomplete: number, rows: number): Warning {
  return {
    kind: 'unrecoverable',
    message: `${incomplete} of ${rows} rows lack one of the two values and are not compared`,
    cause: 'what is missing may be what went wrong: the rest is then better than the whole',
    next: 'write a failure as the score that it deserves',
    evidence: { incomplete, rows },
  }
}

function columnsOf(
  names: readonly string[],
  rows: readonly CsvRecord[],
  asked: readonly [string, string] | null,
  file: string,
): readonly [number, number] {
  if (asked !== null) {
    const found = asked.map((name) => names.indexOf(name))
    const missing = found.indexOf(-1)
    if (missing >= 0 || names.length === 0) {
      throw new PlimsollError('PLIM_FILE', `there is no column ${asked[missing] ?? ''}`, {
        expected: `one of ${names.join(', ')}`,
        where: { file, line: 1 },
      })
    }
    refuseSameColumn([found[0] ?? 0, found[1] ?? 0], names, file)
    return [found[0] ?? 0, found[1] ?? 0]
  }
  const isNumeric = (column: number): boolean => {
    const cells = rows.map((row) => row.cells[column]?.text.trim() ?? '').filter((cell) => !isMissing(cell))
    return cells.length > 0 && cells.every((cell) => numeric.test(cell))
  }
  const numbers = names.flatMap((_, column) => (isNumeric(column) ? [column] : []))
  // A first column of numbers beside two others names the rows.
  const [first, second] = numbers.length === 3 && numbers[0] === 0 ? numbers.slice(1) : numbers
  if (
    first === undefined ||
    second === undefined ||
    numbers.length > 3 ||
    (numbers.length === 3 && numbers[0] !== 0)
  ) {
    throw new PlimsollError('PLIM_FILE', 'which two columns are to be compared cannot be told', {
      expected: 'two columns of numbers',
      received: `${numbers.length}: ${numbers.map((column) => names[column]).join(', ') || 'none'}`,
      where: { file, line: 1 },
      hint: '--columns A,B names them',
    })
  }
  refuseSameColumn([first, second], names, file)
  return [first, second]
}

/** A column is not compared with itself, and of two with one name nobody knows which is A. */
function refuseSameColumn([a, b]: readonly [number, number], names: readonly string[], file: string): void {
  const twice = [a, b].find((column) => names.filter((name) => name === names[column]).length > 1)
  if (a !== b && twice === undefined) return
  throw new PlimsollError(
    'PLIM_FILE',
    a === b && twice === undefined
      ? `column ${names[a]} would be compared with itself`
      : `two columns are named ${names[twice ?? a]}`,
    { expected: 'two columns with names of their own', received: names.join(','), where: { file, line: 1 } },
  )
}

const numeric = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

function isMissing(cell: string): boolean {
  return cell === '' || /^(na|n\/a|nan|null|none)$/i.test(cell)
}

function numberAt(row: CsvRecord, column: number, name: string, file: string): number | null {
  const cell = row.cells[column]
  const text = cell?.text.trim() ?? ''
  if (isMissing(text)) return null
  const value = Number(text)
  if (numeric.test(text) && Number.isFinite(value)) return value
  throw new PlimsollError('PLIM_FILE', `column ${name} does not hold a number`, {
    received: text.slice(0, 60),
    where: { file, line: row.line, column: cell?.column ?? 1 },
  })
}

interface CsvRecord {
  readonly line: number
  readonly cells: readonly { readonly text: string; readonly column: number }[]
}

/** RFC 4180: commas, quotes doubled inside quotes, lines inside quotes; empty lines are skipped. */
function readRecords(text: string): readonly CsvRecord[] {
  const records: CsvRecord[] = []
  let cells: { text: string; column: number }[] = []
  let cell = ''
  let [line, column, cellColumn, recordLine] = [1, 1, 1, 1]
  let quoted = false
  const endCell = (): void => {
    cells.push({ text: cell, column: cellColumn })
    cell = ''
    cellColumn = column + 1
  }
  const endRecord = (): void => {
    endCell()
    if (cells.length > 1 || cells[0]?.text.trim() !== '') records.push({ line: recordLine, cells })
    cells = []
  }
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text
  for (let at = 0; at < body.length; at++, column++) {
    const char = body[at]!
    if (quoted) {
      if (char === '"' && body[at + 1] === '"') {
        cell += '"'
        at++
        column++
      } else if (char === '"') quoted = false
      else cell += char
    } else if (char === '"' && cell === '') quoted = true
    else if (char === ',') endCell()
    else if (char === '\n') endRecord()
    else if (char !== '\r' || body[at + 1] !== '\n') cell += char
    if (char === '\n') {
      line++
      column = 0
      cellColumn = 1
      if (!quoted) recordLine = line
    }
  }
  if (cell !== '' || cells.length > 0) endRecord()
  return records
}
