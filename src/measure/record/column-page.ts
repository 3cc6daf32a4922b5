import type { Encoding } from 'hyparquet'
import type { Writer } from 'hyparquet-writer'
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'

/** A data page while it is filled: how its rows nest, and how many values they have. */
export interface ColumnPage {
  readonly repetition: LevelRuns
  readonly definition: LevelRuns
  rows: number
  levels: number
  values: number
}

export function emptyPage(): ColumnPage {
  return { repetition: levelRuns(), definition: levelRuns(), rows: 0, levels: 0, values: 0 }
}

/** The bytes of a page's values. */
export interface PageBody {
  readonly encoding: Encoding
  /** How they are stored. */
  readonly bytes: Uint8Array
  /** How many they are unpacked; null where they are not packed. */
  readonly unpackedLength: number | null
}

/** Appends a data page of version 2. Gives its size with its header, unpacked. */
export function appendPage(writer: Writer, page: ColumnPage, body: PageBody): number {
  const { encoding, bytes, unpackedLength } = body
  const repetition = page.repetition.bytes()
  const definition = page.definition.bytes()
  const levels = repetition.length + definition.length
  const unpacked = levels + (unpackedLength ?? bytes.length)
  const before = writer.offset
  writePageHeader(writer, {
    type: 'DATA_PAGE_V2',
    uncompressed_page_size: unpacked,
    compressed_page_size: levels + bytes.length,
    data_page_header_v2: {
      num_values: page.levels,
      num_nulls: page.levels - page.values,
      num_rows: page.rows,
      encoding,
      definition_levels_byte_length: definition.length,
      repetition_levels_byte_length: repetition.length,
      is_compressed: unpackedLength !== null,
    },
  })
  const header = writer.offset - before
  writer.appendBytes(repetition)
  writer.appendBytes(definition)
  writer.appendBytes(bytes)
  return header + unpacked
}

/** Levels in the runs of the format's RLE / bit-packing hybrid: twice the count as a variable-length number, then the level. */
export interface LevelRuns {
  add(level: number, count: number): void
  bytes(): Uint8Array
}

function levelRuns(): LevelRuns {
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
