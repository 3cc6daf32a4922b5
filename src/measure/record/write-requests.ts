import type { SchemaElement } from 'hyparquet'
import { ParquetWriter } from 'hyparquet-writer'
import { type FileSum, SummedFile } from './file-sum.ts'
import { finiteRow } from './finite-row.ts'
import type { RequestRow } from './request-row.ts'
import type { Rows } from './rows.ts'
import { columnsOf, isNumberList, type RowColumn } from './row-columns.ts'
import { passingList, type ListName } from './row-table.ts'
import { parquetType, scalarRoom, writeScalarChunk, type ScalarRoom } from './write-scalar-chunk.ts'
import { pageBuffer, writeListChunk, type PageBuffer } from './write-list-chunk.ts'

/** The key of the file's own metadata under which the run's manifest is kept, so that the file can stand alone. */
export const manifestKey = 'plimsoll.manifest'

/** Rows a row group: small enough that a reader needs little memory, large enough that its footer stays small. */
const rowGroupSize = 5000

/**
 * Writes `requests.parquet`: one row a request, lists as list columns, the manifest's JSON in the file metadata. Long lists of
 * numbers are stored plain and uncompressed (fractions of milliseconds hardly compress, and reading them is what `show` waits
 * for; `writeListChunk`); of everything else the few different values in a dictionary, or packed with Snappy (`writeScalarChunk`). The file is written in place: give a temporary name and rename.
 * Returns what the file's bytes sum to.
 */
export function writeRequests(path: string, rows: Rows, manifestJson: string | null): FileSum {
  const file = new SummedFile(path)
  try {
    const columns = columnsOf(rows)
    const writer = new ParquetWriter({
      writer: file,
      schema: schemaOf(columns),
      statistics: false,
      createdBy: 'plimsoll',
      ...(manifestJson === null ? {} : { kvMetadata: [{ key: manifestKey, value: manifestJson }] }),
    })
    const room: Room = { lists: pageBuffer(), scalars: scalarRoom() }
    for (let start = 0; start < rows.length; start += rowGroupSize) {
      writeGroup(writer, columns, rows.slice(start, start + rowGroupSize).map(finiteRow), room)
    }
    const finished = writer.finish()
    if (finished !== undefined) throw new Error('the file writer is synchronous')
    return file.sum
  } finally {
    file.close()
  }
}

/** Memory that every chunk of a file uses again. */
interface Room {
  readonly lists: PageBuffer
  readonly scalars: ScalarRoom
}

function writeGroup(file: ParquetWriter, columns: readonly RowColumn[], rows: Rows, room: Room): void {
  const { writer } = file
  const start = writer.offset
  const chunks = columns.map((column) =>
    isNumberList(column)
      ? writeListChunk(writer, column, rows.length, (row) => listOf(rows.at(row), column.name), room.lists)
      : writeScalarChunk(writer, column, rows.length, (row) => rows.at(row)?.[column.name], room.scalars),
  )
  file.num_rows += BigInt(rows.length)
  file.row_groups.push({
    columns: chunks,
    total_byte_size: chunks.reduce(
      (sum, { meta_data: one }) => sum + (one?.total_uncompressed_size ?? 0n),
      0n,
    ),
    num_rows: BigInt(rows.length),
    total_compressed_size: BigInt(writer.offset - start),
  })
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
  const type = parquetType(column)
  const typed = type === 'BYTE_ARRAY' ? ({ type, converted_type: 'UTF8' } as const) : { type }
  const repetition_type = column.nullable ? 'OPTIONAL' : 'REQUIRED'
  if (kind === 'numbers' || kind === 'integers' || kind === 'texts') {
    return [
      { name, repetition_type, converted_type: 'LIST', num_children: 1 },
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      { name: 'element', repetition_type: 'REQUIRED', ...typed },
    ]
  }
  return [{ name, repetition_type, ...typed }]
}
