import type { SchemaElement } from 'hyparquet'
import { fileWriter, ParquetWriter } from 'hyparquet-writer'
import { finiteRow } from './finite-row.ts'
import type { RequestRow } from './request-row.ts'
import { columnsOf, isNumberList, type RowColumn } from './row-columns.ts'
import { passingList, type ListName } from './row-table.ts'
import { pageBuffer, writeListChunk, type PageBuffer } from './write-list-chunk.ts'

/** The key of the file's own metadata under which the run's manifest is kept, so that the file can stand alone. */
export const manifestKey = 'plimsoll.manifest'

/** Rows a row group: small enough that a reader needs little memory, large enough that its footer stays small. */
const rowGroupSize = 5000

/**
 * Writes `requests.parquet`: one row a request, lists as list columns, the manifest's JSON in the file metadata. Long lists of
 * numbers are stored plain and uncompressed (fractions of milliseconds hardly compress, and reading them is what `show` waits
 * for; `writeListChunk`); everything else with Snappy. The file is written in place: give a temporary name and rename.
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
  const buffer = pageBuffer()
  for (let start = 0; start < rows.length; start += rowGroupSize) {
    writeGroup(writer, columns, rows.slice(start, start + rowGroupSize).map(finiteRow), buffer)
  }
  const finished = writer.finish()
  if (finished !== undefined) throw new Error('the file writer is synchronous')
}

function writeGroup(
  writer: ParquetWriter,
  columns: readonly RowColumn[],
  rows: readonly RequestRow[],
  buffer: PageBuffer,
): void {
  const written = writer.write({
    rowGroupSize,
    columnData: columns
      .filter((column) => !isNumberList(column))
      .map(({ name }) => ({ name, data: rows.map((row) => row[name] ?? null) })),
  })
  if (written !== undefined) throw new Error('the file writer is synchronous')
  const group = writer.row_groups.at(-1)
  if (group === undefined) throw new Error('a row group was written')
  for (const [at, column] of columns.entries()) {
    if (!isNumberList(column)) continue
    const listAt = (row: number): ArrayLike<number> | null => listOf(rows[row], column.name)
    const chunk = writeListChunk(writer.writer, column, rows.length, listAt, buffer)
    group.columns.splice(at, 0, chunk)
    group.total_byte_size += chunk.meta_data?.total_uncompressed_size ?? 0n
    if (group.total_compressed_size !== undefined)
      group.total_compressed_size += chunk.meta_data?.total_compressed_size ?? 0n
  }
}

function listOf(row: RequestRow | undefined, name: keyof RequestRow): ArrayLike<number> | null {
  return row === undefined ? null : passingList(row, name as ListName)
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
