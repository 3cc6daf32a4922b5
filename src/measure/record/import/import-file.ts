import { StringDecoder } from 'node:string_decoder'
import { PlimsollError } from '../../../base/errors.ts'
import { escaped, hexadecimal, isBinary } from '../../../base/escaped.ts'
import type { Warning } from '../../../base/warnings.ts'
import type { RowStoreOptions } from '../row-store.ts'
import { breakNote, breakOf, isTorn, type BreakPlace } from './file-break.ts'
import type { ImportedRun } from './imported-run.ts'
import type { Importer, ImportSession, Sample } from './importer.ts'
import { importers } from './importers.ts'
import { JsonStream, type JsonFault } from './json-stream.ts'
import { asRecord, type JsonRecord, type JsonValue } from './json-value.ts'
import { emptyFile, readSource } from './read-source.ts'

/** A file of another tool, read. */
export interface ImportedFile {
  readonly file: string
  readonly bytes: number
  readonly runs: readonly ImportedRun[]
  readonly warnings: readonly Warning[]
}

/** How much of a file is read to see what it is. */
const sampleBytes = 4 << 20
const sampleRoots = 3

/**
 * Reads a result file: sees by its shape whose it is, then takes it value by value, so that memory is that of the requests and not
 * of the text. Where the requests are many and `rows` names a folder, their gaps go to a file there.
 * What breaks off or is torn in the middle gives what could be read, with the place.
 * @throws PlimsollError PLIM_FILE for a file that is empty, of no format known here, or in which nothing can be read.
 */
export async function importFile(
  file: string,
  rows: RowStoreOptions = { folder: null },
): Promise<ImportedFile> {
  const sample = await sampleOf(file)
  const importer = importers.find((one) => one.detects(sample))
  if (importer === undefined) {
    const nested = nestedImporters(sample)
    if (nested.length === 0) throw unknownFormat(file, sample)
    return readWith(file, nestedSession(file, nested, rows))
  }
  return readWith(file, importer.begin(file, rows))
}

async function sampleOf(file: string): Promise<Sample> {
  const roots: JsonValue[] = []
  let header: string | null = null
  let fault: JsonFault | null = null
  let seen = 0
  let binary: string | null = null
  let isParquet = false
  const stream = new JsonStream({
    onRoot: (value) => void (roots.length < sampleRoots ? roots.push(value) : null),
    onFault: (found) => void (fault ??= found),
  })
  await readSource(file, (chunk) => {
    if (seen === 0) {
      header = firstLine(chunk)
      isParquet = chunk.subarray(0, 4).toString('latin1') === 'PAR1'
      binary = binaryHead(chunk)
      if (binary !== null || isParquet) return false
    }
    seen += chunk.length
    stream.push(chunk)
    return roots.length < sampleRoots && seen < sampleBytes && !stream.isStopped
  })
  stream.finish()
  if (isParquet as boolean) throw ownExport(file, 'a parquet file')
  const head = binary as string | null
  if (head !== null) throw unknownFile(file, `bytes that are no text: ${head}`)
  if (seen === 0 || (roots.length === 0 && header === '')) throw emptyFile(file)
  const json = header !== null && /^\uFEFF?\s*[[{]/.test(header as string)
  if (json && roots.length === 0 && fault !== null) {
    const { line, column, expected, received } = fault as JsonFault
    throw new PlimsollError('PLIM_FILE', 'this is not JSON', {
      expected,
      received,
      where: { file, line, column },
    })
  }
  return { roots, header: json ? null : header }
}

/** The first bytes where they are neither text nor JSON, whatever stands in it; null for text. */
function binaryHead(chunk: Buffer): string | null {
  const head = chunk.subarray(0, 4096)
  return !/^\uFEFF?\s*[[{]/.test(head.toString('utf8')) && isBinary(head) ? hexadecimal(head) : null
}

function firstLine(chunk: Buffer): string {
  const text = chunk.subarray(0, 4096).toString('utf8')
  return text.trim() === '' ? '' : (text.trimStart().split(/\r?\n/)[0] ?? '')
}

async function readWith(file: string, session: ImportSession): Promise<ImportedFile> {
  let first = null as JsonFault | null
  let isStopped = false
  let faultCount = 0
  let bytes = 0
  const onFault = (fault: JsonFault): void => {
    faultCount++
    first ??= fault
  }
  if (session.line !== undefined) {
    const lines = lineReader(session.line, onFault)
    await readSource(file, (chunk) => {
      bytes += chunk.length
      lines.push(chunk)
      return true
    })
    lines.finish()
  } else {
    const stream = new JsonStream(
      {
        ...(session.item === undefined ? {} : { onItem: session.item }),
        onRoot: session.root ?? (() => {}),
        onFault,
      },
      session.plan,
    )
    await readSource(file, (chunk) => {
      bytes += chunk.length
      stream.push(chunk)
      return !stream.isStopped
    })
    stream.finish()
    ;({ isStopped } = stream)
  }
  const runs = session.end()
  if (first === null) return { file, bytes, runs, warnings: [] }
  if (runs.every((run) => run.rows.length === 0 && run.published.length === 0)) {
    const { line, column, expected, received } = first
    throw new PlimsollError('PLIM_FILE', 'nothing of a load test could be read before the text breaks', {
      expected,
      received,
      where: { file, line, column },
    })
  }
  const place: BreakPlace = { ...first, file, places: faultCount, isStopped }
  // A text that ends hits the run that was being read; a run whose value never came is nobody's.
  const last = runs.at(-1)
  const isHit = (run: ImportedRun): boolean =>
    isTorn(place) || (session.rootsAreRuns === true ? run.loss !== undefined : run === last)
  return {
    file,
    bytes,
    runs: runs.map((run) => (isHit(run) ? { ...run, broken: breakOf(place, [run]) } : run)),
    warnings: runs.some(isHit) ? [] : [breakNote(breakOf(place, runs))],
  }
}

/** Lines of a text that is no JSON, whatever pieces it comes in. */
function lineReader(
  take: (text: string, number: number) => string | null,
  onFault: (fault: JsonFault) => void,
): {
  push: (chunk: Buffer) => void
  finish: () => void
} {
  // A letter may begin in one piece and end in the next.
  const decoder = new StringDecoder('utf8')
  let held = ''
  let number = 0
  const line = (text: string, isLast: boolean): void => {
    const expected = take(text.replace(/\r$/, ''), ++number)
    if (expected === null) return
    const received = isLast ? 'the end of the file' : JSON.stringify(escaped(text.slice(0, 40)))
    onFault({ line: number, column: text.length + 1, expected, received, path: '', truncated: isLast })
  }
  return {
    push(chunk) {
      const lines = (held + decoder.write(chunk)).split('\n')
      held = lines.pop() ?? ''
      for (const one of lines) line(number === 0 ? one.replace(/^\uFEFF/, '') : one, false)
    },
    finish() {
      held += decoder.end()
      if (held !== '') line(held, true)
    },
  }
}

/** An object whose members are results, each of a tool of its own. */
function nestedImporters({ roots }: Sample): (readonly [key: string, importer: Importer])[] {
  return Object.entries(asRecord(roots[0]) ?? {}).flatMap(([key, value]) => {
    const found = importers.find((one) => one.detects({ roots: [value], header: null }))
    return found === undefined ? [] : [[key, found] as const]
  })
}

function nestedSession(
  file: string,
  nested: readonly (readonly [key: string, importer: Importer])[],
  rows: RowStoreOptions,
): ImportSession {
  let root: JsonRecord = {}
  return {
    plan: null,
    root: (value) => void (root = asRecord(value) ?? root),
    end: () =>
      nested.flatMap(([key, importer]) => {
        const session = importer.begin(file, rows)
        // Read again through its own plan, since records are handed over one by one.
        const stream = new JsonStream(
          {
            ...(session.item === undefined ? {} : { onItem: session.item }),
            onRoot: session.root ?? (() => {}),
            onFault: () => {},
          },
          session.plan,
        )
        stream.push(Buffer.from(withBareWords(JSON.stringify(root[key], plainNumber))))
        stream.finish()
        return session
          .end()
          .map((run) => ({ ...run, label: run.label === null ? key : `${key}-${run.label}` }))
      }),
  }
}

/** Numbers that are no JSON, marked so that `withBareWords` can write them as they were. */
function plainNumber(_key: string, value: unknown): unknown {
  const odd = typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value))
  return odd ? `\u0001${String(value)}` : value
}

function withBareWords(json: string): string {
  return json.replace(/"\\u0001(-?\w+)"/g, '$1')
}

/** What `plimsoll export` writes is a run that is here already. */
function ownExport(file: string, received: string): PlimsollError {
  return new PlimsollError('PLIM_FILE', 'this is no result file of another tool', {
    received,
    where: { file, line: 1, column: 1 },
    hint: 'rows that plimsoll exported belong to a run folder: plimsoll show RUN reads that',
  })
}

function unknownFormat(file: string, { roots, header }: Sample): PlimsollError {
  const root = roots[0]
  const first = asRecord(root) ?? {}
  if (['planned_ms', 'tpot_after_first_event_ms', 'tokens_source'].every((key) => key in first))
    return ownExport(file, 'the rows of a plimsoll run')
  const keys = Array.isArray(root)
    ? Object.keys(asRecord(root[0] as JsonValue) ?? {})
    : Object.keys(asRecord(root) ?? {})
  const shape =
    header === null
      ? `${Array.isArray(root) ? 'a list of objects' : 'an object'} with ${escaped(keys.slice(0, 8).join(', ')) || 'no keys'}`
      : `a first line of "${escaped(header)}"`
  return unknownFile(file, shape)
}

function unknownFile(file: string, received: string): PlimsollError {
  return new PlimsollError('PLIM_FILE', 'this is no result file known here', {
    expected: [...new Set(importers.map(({ tool }) => tool))].slice(0, -1).join(', '),
    received,
    where: { file, line: 1, column: 1 },
    hint: 'docs/import.md lists the formats with the flags that make each tool write them',
  })
}
