import type { ColumnChunk } from 'hyparquet'
import type { Writer } from 'hyparquet-writer'
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'
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
  let page = emptyPage(nullable)

  function flush(): void {
    if (page.rows === 0) return
    const repetition = page.repetition.bytes()
    const definition = page.definition.bytes()
    const size = repetition.length + definition.length + page.values * width
    const before = writer.offset
    writePageHeader(writer, {
      type: 'DATA_PAGE_V2',
      uncompressed_page_size: size,
      compressed_page_size: size,
      data_page_header_v2: {
        num_values: page.levels,
        num_nulls: page.levels - page.values,
        num_rows: page.rows,
        encoding: 'PLAIN',
        definition_levels_byte_length: definition.length,
        repetition_levels_byte_length: repetition.length,
        is_compressed: false,
      },
    })
    uncompressed += writer.offset - before + size
    writer.appendBytes(repetition)
    writer.appendBytes(definition)
    writer.appendBytes(new Uint8Array(buffer.bytes.buffer, 0, page.values * width))
    levels += page.levels
    page = emptyPage(nullable)
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
    page.definition.add(list === null ? 0 : page.full - (count === 0 ? 1 : 0), Math.max(1, count))
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

interface Page {
  /** The definition level of a number. */
  readonly full: number
  readonly repetition: Runs
  readonly definition: Runs
  rows: number
  levels: number
  values: number
}

function emptyPage(nullable: boolean): Page {
  return {
    full: nullable ? 2 : 1,
    repetition: runs(),
    definition: runs(),
    rows: 0,
    levels: 0,
    values: 0,
  }
}

interface Runs {
  add(level: number, count: number): void
  bytes(): Uint8Array
}

/** Levels in the runs of the format's RLE / bit-packing hybrid: twice the count as a variable-length number, then the level. */
function runs(): Runs {
  const bytes: number[] = []
  let level = 0
  let count = 0
  const close = (): void => {
    if (count === 0) return
    for (let rest = count * 2; ; rest = Math.floor(rest / 128)) {
      if (rest < 128) {
        bytes.push(rest)
        break
      }
      bytes.push((rest % 128) + 128)
    }
    bytes.push(level)
    count = 0
  }
  return {
    add(next, more) {
      if (more === 0) return
      if (next !== level) close()
      level = next
      count += more
    },
    bytes() {
      close()
      return Uint8Array.from(bytes)
    },
  }
}
