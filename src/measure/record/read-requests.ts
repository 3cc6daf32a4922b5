import { open, type FileHandle } from 'node:fs/promises'
import { parquetMetadataAsync, parquetRead, type AsyncBuffer, type FileMetaData } from 'hyparquet'
import { PlimsollError } from '../../base/errors.ts'
import { brokenParquet } from './broken-parquet.ts'
import { decodeListPages, type ListRows } from './list-pages.ts'
import type { RequestRow } from './request-row.ts'
import type { Rows } from './rows.ts'
import { isNumberList, rowColumns, type RowColumn } from './row-columns.ts'
import { heldNumbers } from './row-store.ts'
import { rowTable } from './row-table.ts'
import { rowFrom } from './row-text.ts'
import { manifestKey } from './write-requests.ts'

export interface RequestsFile {
  readonly rows: Rows
  /** The JSON text of the manifest that the file carries, or null. */
  readonly manifestJson: string | null
}

export interface ReadRequestsOptions {
  /** Columns to leave out (they read as null or empty): per-token ITL need not be read for a summary. */
  readonly without?: readonly (keyof RequestRow)[]
  /** More numbers than these are read into columns (`rowTable`), not into rows of their own: ten times less garbage. */
  readonly held?: number
}

/**
 * Reads `requests.parquet`, also one that another program rewrote, as long as the columns have our names.
 * @throws PlimsollError PLIM_RUN_FOLDER when it is no Parquet file or lacks the columns that make a row.
 */
export async function readRequests(path: string, options: ReadRequestsOptions = {}): Promise<RequestsFile> {
  const handle = await open(path, 'r')
  try {
    const file = await asyncBuffer(handle)
    const metadata = await parquetMetadataAsync(file).catch(async (cause: unknown) => {
      throw await brokenParquet(path, file, cause)
    })
    const names = new Set(topLevelNames(metadata))
    for (const name of ['id', 'outcome']) {
      if (!names.has(name)) {
        throw new PlimsollError('PLIM_RUN_FOLDER', 'this Parquet file does not hold requests', {
          expected: `a column ${name}`,
          received: `columns ${[...names].slice(0, 12).join(', ')}`,
          where: { file: path },
        })
      }
    }
    const columns = rowColumns.filter(
      (column) => names.has(column.name) && !(options.without ?? []).includes(column.name),
    )
    const rows = await readRows(file, metadata, columns, options.held ?? heldNumbers).catch(
      async (cause: unknown) => {
        throw await brokenParquet(path, file, cause)
      },
    )
    const kept = metadata.key_value_metadata?.find((entry) => entry.key === manifestKey)?.value
    return { rows, manifestJson: kept ?? null }
  } finally {
    await handle.close()
  }
}

async function readRows(
  file: AsyncBuffer,
  metadata: FileMetaData,
  columns: readonly RowColumn[],
  held: number,
): Promise<Rows> {
  const rows: RequestRow[] = []
  const table = numbersIn(metadata) > held ? rowTable({ folder: null }) : null
  let rowStart = 0
  for (let group = 0; group < metadata.row_groups.length; group++) {
    const count = Number(metadata.row_groups[group]?.num_rows ?? 0n)
    const data: Partial<Record<string, ArrayLike<unknown>>> = {}
    const general: string[] = []
    for (const column of columns) {
      const lists = isNumberList(column)
        ? await readLists(file, metadata, group, column, count, table !== null)
        : null
      if (lists === null) general.push(column.name)
      else data[column.name] = lists
    }
    await readGeneral(file, metadata, general, rowStart, rowStart + count, data)
    if (table === null) {
      for (let index = 0; index < count; index++) rows.push(rowFrom((name) => data[name]?.[index]))
    } else table.pushColumns(count, (name) => data[name])
    rowStart += count
  }
  return table?.rows() ?? rows
}

/** Values in the columns of lists, and cells in the others. */
function numbersIn({ row_groups: groups }: FileMetaData): number {
  let numbers = 0
  for (const { columns } of groups)
    for (const { meta_data: chunk } of columns) numbers += Number(chunk?.num_values ?? 0n)
  return numbers
}

/** The cells of a column as rows have them; undefined where none has a value. */
function plainCells(cells: ArrayLike<unknown>): ArrayLike<unknown> | undefined {
  let isEmpty = true
  let isPlain = true
  for (let index = 0; index < cells.length; index++) {
    const cell = cells[index]
    if (cell === null || cell === undefined) continue
    isEmpty = false
    if (plain(cell) === cell) continue
    isPlain = false
    break
  }
  if (isEmpty) return undefined
  return isPlain ? cells : Array.from(cells, plain)
}

/** Other writers store counts as 64-bit integers, and what they do not know as NaN. */
function plain(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value === 'bigint') return Number(value)
  return Array.isArray(value) && typeof value[0] === 'bigint' ? value.map(Number) : value
}

async function readLists(
  file: AsyncBuffer,
  metadata: FileMetaData,
  group: number,
  column: RowColumn,
  count: number,
  passing: boolean,
): Promise<ListRows | null> {
  const chunk = metadata.row_groups[group]?.columns.find(
    ({ meta_data }) => meta_data?.path_in_schema.join('.') === `${column.name}.list.element`,
  )?.meta_data
  if (chunk === undefined || chunk.dictionary_page_offset !== undefined) return null
  if (!isOurList(metadata, column)) return null
  const start = Number(chunk.data_page_offset)
  const bytes = new Uint8Array(await file.slice(start, start + Number(chunk.total_compressed_size)))
  return decodeListPages(bytes, chunk, count, column.nullable, passing)
}

/** Whether the list has exactly the levels that `writeRequests` gives it; other writers make elements optional. */
function isOurList(metadata: FileMetaData, column: RowColumn): boolean {
  const at = metadata.schema.findIndex(
    (element) => element.name === column.name && element.num_children === 1,
  )
  return (
    metadata.schema[at]?.repetition_type === (column.nullable ? 'OPTIONAL' : 'REQUIRED') &&
    metadata.schema[at + 1]?.repetition_type === 'REPEATED' &&
    metadata.schema[at + 2]?.repetition_type === 'REQUIRED'
  )
}

/** A decoder that keeps a byte-order mark: it belongs to the text. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

async function readGeneral(
  file: AsyncBuffer,
  metadata: FileMetaData,
  columns: string[],
  rowStart: number,
  rowEnd: number,
  into: Partial<Record<string, ArrayLike<unknown>>>,
): Promise<void> {
  const parts = new Map<string, { start: number; data: ArrayLike<unknown> }[]>()
  await parquetRead({
    file,
    metadata,
    columns,
    rowStart,
    rowEnd,
    parsers: { stringFromBytes: (bytes) => bytes && utf8.decode(bytes) },
    onChunk: ({ columnName, columnData, rowStart }) => {
      const list = parts.get(columnName) ?? []
      list.push({ start: rowStart, data: columnData })
      parts.set(columnName, list)
    },
  })
  for (const [name, list] of parts) {
    list.sort((a, b) => a.start - b.start)
    const only = list.length === 1 ? list[0] : undefined
    into[name] = plainCells(only === undefined ? list.flatMap(({ data }) => Array.from(data)) : only.data)
  }
}

async function asyncBuffer(handle: FileHandle): Promise<AsyncBuffer> {
  const { size } = await handle.stat()
  return {
    byteLength: size,
    async slice(start, end = size) {
      const from = start < 0 ? Math.max(0, size + start) : start
      const length = Math.max(0, Math.min(end, size) - from)
      const bytes = new Uint8Array(length)
      let filled = 0
      while (filled < length) {
        const { bytesRead } = await handle.read(bytes, filled, length - filled, from + filled)
        if (bytesRead === 0) break
        filled += bytesRead
      }
      return bytes.buffer
    },
  }
}

function topLevelNames(metadata: FileMetaData): string[] {
  const names = new Set<string>()
  for (const group of metadata.row_groups.slice(0, 1)) {
    for (const { meta_data } of group.columns) names.add(meta_data?.path_in_schema[0] ?? '')
  }
  if (metadata.row_groups.length > 0) return [...names]
  return metadata.schema.slice(1).map(({ name }) => name)
}
