import type { ColumnChunk, ParquetType } from 'hyparquet'
import { ByteWriter, type Writer } from 'hyparquet-writer'
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js'
import { snappyCompress } from 'hyparquet-writer/src/snappy.js'
import { appendPage, emptyPage, type ColumnPage } from './column-page.ts'
import type { RowColumn } from './row-columns.ts'
import { valueBytes, type ValueBytes } from './value-bytes.ts'

/** What is used again for every chunk: a file of a million rows leaves little behind for the garbage collector. */
export interface ScalarRoom {
  readonly values: ValueBytes
  /** The different values of a chunk, in their order. */
  readonly words: Map<unknown, number>
  readonly places: number[]
  readonly runs: ByteWriter
}

export function scalarRoom(): ScalarRoom {
  return { values: valueBytes(), words: new Map(), places: [], runs: new ByteWriter() }
}

/** At most so many different values have a dictionary, of some five thousand. */
const mostWords = 1024
/** A page is ended when it has this many bytes. */
const pageBytes = 1 << 20

/**
 * Writes a column of single values or of lists of texts, from cells that are read one by one. Few different values go into a
 * dictionary; else numbers with a fraction are plain (they hardly compress), everything else is packed with Snappy. (The general
 * writer makes several arrays and a table of all values for each chunk: 200 MB of garbage at a million rows.)
 */
export function writeScalarChunk(
  writer: Writer,
  column: RowColumn,
  rows: number,
  cellAt: (row: number) => unknown,
  room: ScalarRoom,
): ColumnChunk {
  const type = parquetType(column)
  const packed = type === 'INT32' || type === 'BYTE_ARRAY'
  const start = writer.offset
  const hasWords = type !== 'BOOLEAN' && findWords(rows, cellAt, room)
  let uncompressed = 0
  let levels = 0
  if (hasWords) uncompressed += writeWords(writer, type, room)
  const dataStart = writer.offset
  let page = emptyPage()

  function flush(): void {
    if (page.rows === 0) return
    const bytes = hasWords ? placeBytes(room) : room.values.bytes()
    const isPacked = packed && !hasWords && bytes.length > 0
    uncompressed += appendPage(writer, page, {
      encoding: hasWords ? 'RLE_DICTIONARY' : 'PLAIN',
      bytes: isPacked ? snappyCompress(bytes) : bytes,
      unpackedLength: isPacked ? bytes.length : null,
    })
    levels += page.levels
    page = emptyPage()
    room.values.clear()
  }

  room.values.clear()
  for (let row = 0; row < rows; row++) {
    const cell = cellAt(row) ?? null
    addLevels(page, column, cell)
    if (hasWords) continue
    if (Array.isArray(cell)) for (const one of cell) room.values.put(type, one)
    else if (cell !== null) room.values.put(type, cell)
    if (room.values.length >= pageBytes) flush()
  }
  flush()
  return {
    file_offset: BigInt(start),
    meta_data: {
      type,
      encodings: hasWords ? ['PLAIN', 'RLE_DICTIONARY'] : ['PLAIN'],
      path_in_schema: column.kind === 'texts' ? [column.name, 'list', 'element'] : [column.name],
      codec: packed && !hasWords ? 'SNAPPY' : 'UNCOMPRESSED',
      num_values: BigInt(levels),
      total_uncompressed_size: BigInt(uncompressed),
      total_compressed_size: BigInt(writer.offset - start),
      data_page_offset: BigInt(dataStart),
      ...(hasWords ? { dictionary_page_offset: BigInt(start) } : {}),
    },
  }
}

export function parquetType({ kind }: RowColumn): ParquetType {
  if (kind === 'number' || kind === 'numbers') return 'DOUBLE'
  if (kind === 'integer' || kind === 'integers') return 'INT32'
  return kind === 'boolean' ? 'BOOLEAN' : 'BYTE_ARRAY'
}

function addLevels(page: ColumnPage, { kind, nullable }: RowColumn, cell: unknown): void {
  const isList = kind === 'texts'
  const count = Array.isArray(cell) ? cell.length : 1
  const full = (nullable ? 1 : 0) + (isList ? 1 : 0)
  page.rows++
  page.levels += Math.max(1, count)
  if (isList) {
    page.repetition.add(0, 1)
    page.repetition.add(1, Math.max(0, count - 1))
  }
  const level = cell === null ? 0 : count === 0 ? full - 1 : full
  if (full > 0) page.definition.add(level, Math.max(1, count))
  if (level === full) page.values += count
}

/** Finds the places of all values in `words`; false where those are too many to be worth it. */
function findWords(rows: number, cellAt: (row: number) => unknown, { words, places }: ScalarRoom): boolean {
  words.clear()
  places.length = 0
  const add = (value: unknown): boolean => {
    let place = words.get(value)
    if (place === undefined) {
      if (words.size === mostWords) return false
      place = words.size
      words.set(value, place)
    }
    places.push(place)
    return true
  }
  for (let row = 0; row < rows; row++) {
    const cell = cellAt(row) ?? null
    if (cell === null) continue
    if (!Array.isArray(cell) ? !add(cell) : !cell.every(add)) return false
  }
  return places.length >= 2 * words.size && places.length > 0
}

function writeWords(writer: Writer, type: ParquetType, { words, values }: ScalarRoom): number {
  values.clear()
  for (const word of words.keys()) values.put(type, word)
  const bytes = values.bytes()
  const before = writer.offset
  writePageHeader(writer, {
    type: 'DICTIONARY_PAGE',
    uncompressed_page_size: bytes.length,
    compressed_page_size: bytes.length,
    dictionary_page_header: { num_values: words.size, encoding: 'PLAIN' },
  })
  writer.appendBytes(bytes)
  return writer.offset - before
}

/** The places, behind the number of bits that each takes. */
function placeBytes({ words, places, runs }: ScalarRoom): Uint8Array {
  runs.index = 0
  const bits = Math.ceil(Math.log2(words.size))
  runs.appendUint8(bits)
  writeRleBitPackedHybrid(runs, places, bits)
  return runs.getBytes()
}
