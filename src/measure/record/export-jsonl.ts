import type { RequestRow } from './request-row.ts'
import { rowToJson } from './row-text.ts'

/** `--format jsonl`: a line a request, with exactly the columns of the row, in their order. */
export function* exportJsonl(rows: Iterable<RequestRow>): Generator<string> {
  for (const row of rows) yield `${rowToJson(row)}\n`
}
