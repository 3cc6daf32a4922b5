import { open } from 'node:fs/promises'
import { PlimsollError } from '../../base/errors.ts'
import { journalSchema } from './journal.ts'
import { manifestFromJson, type RunManifest } from './manifest.ts'
import type { RequestRow } from './request-row.ts'
import { rowFromJson } from './row-text.ts'

/** What a journal holds, and how much of it could not be read. */
export interface JournalContent {
  readonly manifest: RunManifest | null
  readonly rows: number
  /** Requests that had been sent when that was last said, ms after the run's zero; null where it was not. */
  readonly seen: { readonly sent: number; readonly atMs: number } | null
  /** Whether the file ends inside a line: the process was killed while it wrote. */
  readonly torn: boolean
  /** Lines before the last that are not JSON or no row, with the number of the first. */
  readonly unreadable: number
  readonly firstUnreadableLine: number | null
}

/**
 * Reads a journal from its beginning, a row at a time, in bounded memory (one read buffer and one line). A last line without
 * its line feed is left out unless it is whole JSON; lines that cannot be read are counted, never guessed at.
 * @throws PlimsollError PLIM_RUN_FOLDER when there is no header line of a known form.
 */
export async function readJournal(path: string, onRow: (row: RequestRow) => void): Promise<JournalContent> {
  let manifest: RunManifest | null = null
  let rows = 0
  let seen: JournalContent['seen'] = null
  let torn = false
  let unreadable = 0
  let firstUnreadableLine: number | null = null
  let number = 0

  function takeLine(line: string, terminated: boolean): void {
    number++
    if (line.trim() === '') return
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      if (!terminated) torn = true
      else skip()
      return
    }
    if (isHeader(value)) {
      manifest = headerManifest(value, path)
      return
    }
    if (manifest === null) throw noHeader(path, line)
    const said = seenOf(value)
    if (said !== null) {
      seen = said
      return
    }
    let row: RequestRow
    try {
      row = rowFromJson(value, { file: path, line: number })
    } catch {
      if (!terminated) torn = true
      else skip()
      return
    }
    rows++
    onRow(row)
  }

  function skip(): void {
    unreadable++
    firstUnreadableLine ??= number
  }

  for await (const { line, terminated } of lines(path)) takeLine(line, terminated)
  return { manifest, rows, seen, torn, unreadable, firstUnreadableLine }
}

/** The lines of a UTF-8 file; `terminated` is false for a last one without a line feed. */
async function* lines(path: string): AsyncGenerator<{ line: string; terminated: boolean }> {
  const handle = await open(path, 'r')
  try {
    const buffer = Buffer.allocUnsafe(1 << 20)
    let rest: Buffer[] = []
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null)
      if (bytesRead === 0) break
      const filled = buffer.subarray(0, bytesRead)
      let start = 0
      for (;;) {
        const end = filled.indexOf(10, start)
        if (end === -1) break
        const part = filled.subarray(start, end)
        const line =
          rest.length === 0 ? part.toString('utf8') : Buffer.concat([...rest, part]).toString('utf8')
        rest = []
        start = end + 1
        yield { line, terminated: true }
      }
      if (start < bytesRead) rest.push(Buffer.from(filled.subarray(start)))
    }
    if (rest.length > 0) yield { line: Buffer.concat(rest).toString('utf8'), terminated: false }
  } finally {
    await handle.close()
  }
}

function isHeader(value: unknown): value is { journal: unknown; manifest: unknown } {
  return typeof value === 'object' && value !== null && 'journal' in value
}

function seenOf(value: unknown): JournalContent['seen'] {
  const { seen } = (value ?? {}) as { readonly seen?: { readonly sent?: unknown; readonly at_ms?: unknown } }
  if (typeof seen?.sent !== 'number' || typeof seen.at_ms !== 'number') return null
  return { sent: seen.sent, atMs: seen.at_ms }
}

function headerManifest(header: { journal: unknown; manifest: unknown }, file: string): RunManifest {
  if (header.journal !== journalSchema) {
    throw new PlimsollError('PLIM_RUN_FOLDER', 'this journal is of a form that cannot be read here', {
      expected: journalSchema,
      received: String(header.journal),
      where: { file, line: 1 },
      hint: 'it was written by another version of plimsoll: read it with that version or a newer one',
    })
  }
  return manifestFromJson(header.manifest, file)
}

function noHeader(file: string, line: string): PlimsollError {
  return new PlimsollError('PLIM_RUN_FOLDER', 'the journal does not begin with a header line', {
    expected: `{"journal":"${journalSchema}","manifest":{…}}`,
    received: line.slice(0, 80),
    where: { file, line: 1 },
  })
}
