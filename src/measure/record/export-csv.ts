import type { RequestRow } from './request-row.ts'
import type { Rows } from './rows.ts'
import { columnsOf } from './row-columns.ts'

/**
 * `--format csv`: RFC 4180 (CR LF, quotes doubled), a header of column names, then a record a request. Null is an empty field
 * and an empty text is `""`, so that the two stay apart; lists are JSON texts.
 */
export function* exportCsv(rows: Rows): Generator<string> {
  const columns = columnsOf(rows)
  yield `${columns.map(({ name }) => name).join(',')}\r\n`
  for (const row of rows) yield `${columns.map(({ name }) => field(row[name])).join(',')}\r\n`
}

function field(value: RequestRow[keyof RequestRow]): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value === '' || /[",\r\n]/.test(value) ? quote(value) : value
  return typeof value === 'object' ? quote(JSON.stringify(value)) : String(value)
}

function quote(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}
