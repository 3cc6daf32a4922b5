import type { ColumnChunk } from 'hyparquet'
import type { Writer } from 'hyparquet-writer'
import { appendPage, emptyPage } from './column-page.ts'
import type { RowColumn } from './row-columns.ts'

/** The numbers of one page at a time: the same memory for all pages of a file. */
export interface PageBuffer {
  bytes: DataView<ArrayBuffer>
}

/** Pages of 1 MB of numbers: a list that is longer has a page of its own. */
export function pageBuffer(): PageBuffer {
  return { bytes: new DataView(new ArrayBuffer(1 << 20)) }
}

/**
 * Writes a column of lists of numbers as `decodeListPages` reads it: data pages of version 2, plain values, no compression, levels in
 * runs. `listAt` gives the list of a row, or null; it is read at once and not kept. (The general writer makes three arrays of as many
 * elements as there are numbers, which takes ten times as long.)
 */
export function writeListChunk(
  writer: Writer,
  { name, kind, nullable }: RowColumn,
  rows: number,
  listAt: (row: number) => ArrayLike<number> | null,
  buffer: PageBuffer,
): ColumnChunk {
  const isDouble = kind === 'numbers'
  const width = isDouble ? 8 : 4
  const start = writer.offset
  let uncompressed = 0
  let levels = 0
  let page = emptyPage()
  /** The definition level of a number. */
  const full = nullable ? 2 : 1

  function flush(): void {
    if (page.rows === 0) return
    const bytes = new Uint8Array(buffer.bytes.buffer, 0, page.values * width)
    uncompressed += appendPage(writer, page, { encoding: 'PLAIN', bytes, unpackedLength: null })
    levels += page.levels
    page = emptyPage()
  }

  for (let row = 0; row < rows; row++) {
    const list = listAt(row)
    const count = list?.length ?? 0
    if ((page.values + count) * width > buffer.bytes.byteLength) {
      flush()
      if (count * width > buffer.bytes.byteLength) buffer.bytes = new DataView(new ArrayBuffer(count * width))
    }
    page.rows++
    page.repetition.add(0, 1)
    page.definition.add(list === null ? 0 : full - (count === 0 ? 1 : 0), Math.max(1, count))
    page.levels += Math.max(1, count)
    if (list === null || count === 0) continue
    page.repetition.add(1, count - 1)
    for (let index = 0, at = page.values * width; index < count; index++, at += width) {
      const value = list[index] as number
      if (isDouble) buffer.bytes.setFloat64(at, value, true)
      else buffer.bytes.setInt32(at, value, true)
    }
    page.values += count
  }
  flush()
  return {
    file_offset: BigInt(start),
    meta_data: {
      type: isDouble ? 'DOUBLE' : 'INT32',
      encodings: ['PLAIN'],
      path_in_schema: [name, 'list', 'element'],
      codec: 'UNCOMPRESSED',
      num_values: BigInt(levels),
      total_uncompressed_size: BigInt(uncompressed),
      total_compressed_size: BigInt(writer.offset - start),
      data_page_offset: BigInt(start),
    },
  }
}
