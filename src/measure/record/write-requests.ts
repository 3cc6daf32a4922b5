import type { SchemaElement } from 'hyparquet'
import { fileWriter, ParquetWriter } from 'hyparquet-writer'
import { finiteRow } from './finite-row.ts'
import type { RequestRow } from './request-row.ts'
import { columnsOf, type RowColumn } from './row-columns.ts'

/** The key of the file's own metadata under which the run's manifest is kept, so that the file can stand alone. */
export const manifestKey = 'plimsoll.manifest'

/** Rows a row group: small enough that a reader needs little memory, large enough that its footer stays small. */
const rowGroupSize = 5000

/**
 * Writes `requests.parquet`: one row a request, lists as list columns, the manifest's JSON in the file metadata. Long lists of
 * numbers are stored plain and uncompressed (fractions of milliseconds hardly compress, and reading them is what `show` waits
 * for); everything else with Snappy. The file is written in place: give a temporary name and rename.
 */
export function writeRequests(path: string, rows: readonly RequestRow[], manifestJson: string | null): void {
  const columns = columnsOf(rows)
  const writer = new ParquetWriter({
    writer: fileWriter(path),
    schema: schemaOf(columns),
    statistics: false,
    createdBy: 'plimsoll',
    ...(manifestJson === null ? {} : { kvMetadata: [{ key: manifestKey, value: manifestJson }] }),
  })
  for (let start = 0; start < rows.length; start += rowGroupSize) {
    const group = rows.slice(start, start + rowGroupSize).map(finiteRow)
    const written = writer.write({
      rowGroupSize,
      columnData: columns.map((column) => ({
        name: column.name,
        data: group.map((row) => row[column.name] ?? null),
        ...(column.kind === 'numbers' || column.kind === 'integers'
          ? { codec: 'UNCOMPRESSED' as const, encoding: 'PLAIN' as const }
          : {}),
      })),
    })
    if (written !== undefined) throw new Error('the file writer is synchronous')
  }
  const finished = writer.finish()
  if (finished !== undefined) throw new Error('the file writer is synchronous')
}

function schemaOf(columns: readonly RowColumn[]): SchemaElement[] {
  const elements: SchemaElement[] = [{ name: 'request', num_children: columns.length }]
  for (const column of columns) elements.push(...elementsOf(column))
  return elements
}

/** Lists have the three levels of the format's LIST annotation; their elements are never null. */
function elementsOf(column: RowColumn): SchemaElement[] {
  const { name, kind } = column
  const repetition_type = column.nullable ? 'OPTIONAL' : 'REQUIRED'
  if (kind === 'numbers' || kind === 'integers' || kind === 'texts') {
    const element = { name: 'element', repetition_type: 'REQUIRED' } as const
    return [
      { name, repetition_type, converted_type: 'LIST', num_children: 1 },
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      kind === 'texts'
        ? { ...element, type: 'BYTE_ARRAY', converted_type: 'UTF8' }
        : { ...element, type: kind === 'numbers' ? 'DOUBLE' : 'INT32' },
    ]
  }
  if (kind === 'text') return [{ name, repetition_type, type: 'BYTE_ARRAY', converted_type: 'UTF8' }]
  if (kind === 'boolean') return [{ name, repetition_type, type: 'BOOLEAN' }]
  return [{ name, repetition_type, type: kind === 'number' ? 'DOUBLE' : 'INT32' }]
}
