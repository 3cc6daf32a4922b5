import { readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { PlimsollError } from '../../base/errors.ts'
import { noun } from '../../base/noun.ts'
import { shellWord } from '../../base/shell-words.ts'
import { wholeWindow } from '../metrics/run-window.ts'
import { sumOfFile } from './file-sum.ts'
import { readJournal } from './read-journal.ts'
import { manifestFromJson, type RunManifest } from './manifest.ts'
import { readRequests, type ReadRequestsOptions } from './read-requests.ts'
import type { RequestRow } from './request-row.ts'
import type { Rows } from './rows.ts'
import { linesLost, rowsLost, type RowsLost } from './rows-lost.ts'
import { inOrderOfIntent, runFiles } from './run-folder.ts'
import { readServerSamples } from './server-journal.ts'
import type { ServerSample } from './server-samples.ts'

/** A run as it lies on the disk. */
export interface RunRecord {
  /** The run folder (or the folder of the lone file that was given). */
  readonly path: string
  readonly manifest: RunManifest
  /** In order of intended send. */
  readonly rows: Rows
  /** What the server's own metrics said meanwhile; empty where nobody looked. */
  readonly server: readonly ServerSample[]
  /** Whether the run ended by itself: its manifest and rows are final. */
  readonly complete: boolean
  /** Of a run that was killed: how many requests had been sent when that was last said. Null where nothing says it. */
  readonly sent: number | null
  /** How many requests the plan had, or null where it had no end; beside `rows.length` it says what is missing. */
  readonly planned: number | null
  /** The rows that should be here and are not; null where none is. */
  readonly rowsLost: RowsLost | null
  /** Whether `requests.parquet` is not what was written; false too where nothing tells (older runs). */
  readonly rowsAltered: boolean
  /** What is missing, in sentences; empty for a complete run. */
  readonly missing: readonly string[]
}

/**
 * Reads a run: a finished folder, one whose run was killed (its journal), or a path to `run.json`, `requests.parquet` or
 * `journal.ndjson`.
 * @throws PlimsollError PLIM_RUN_FOLDER when there is nothing of a run at `path`, or it is of a form unknown here.
 */
export async function readRun(path: string, options: ReadRequestsOptions = {}): Promise<RunRecord> {
  const record = await readRecord(path, options)
  return { ...record, server: await readServerSamples(record.path) }
}

type WithoutServer = Omit<RunRecord, 'server'>

async function readRecord(path: string, options: ReadRequestsOptions): Promise<WithoutServer> {
  if (await isFolder(path)) return readFolder(path, options)
  if (!(await isFile(path))) {
    throw new PlimsollError('PLIM_RUN_FOLDER', 'there is no run here', {
      expected: 'a run folder, or its run.json, requests.parquet or journal.ndjson',
      received: 'no such file or folder',
      where: { file: path },
    })
  }
  if (path.endsWith('.parquet')) return readLoneRequests(path, options)
  if (path.endsWith('.ndjson') || path.endsWith('.jsonl')) {
    // A run that ended says what its journal lacks; a manifest that is broken must not keep anyone from the rows.
    const beside = join(dirname(path), runFiles.manifest)
    const ended = basename(path) === runFiles.journal && (await isWholeManifest(beside))
    return readUnfinished(dirname(path), path, ended ? beside : null)
  }
  if (basename(path) === runFiles.manifest) return readFolder(dirname(path), options)
  throw new PlimsollError('PLIM_RUN_FOLDER', 'this file is not part of a run folder', {
    expected: 'a run folder, or its run.json, requests.parquet or journal.ndjson',
    where: { file: path },
    hint: 'results of other tools are read by plimsoll import',
  })
}

async function readFolder(path: string, options: ReadRequestsOptions): Promise<WithoutServer> {
  const manifestFile = join(path, runFiles.manifest)
  const journalFile = join(path, runFiles.journal)
  const requestsFile = join(path, runFiles.requests)
  const [hasManifest, hasJournal, hasRequests] = await Promise.all([
    isFile(manifestFile),
    isFile(journalFile),
    isFile(requestsFile),
  ])
  if (hasManifest && hasRequests) {
    const manifest = await readManifest(manifestFile)
    const { rows } = await readRequests(requestsFile, options)
    return finished(path, manifest, rows, await isAltered(requestsFile, manifest))
  }
  if (hasJournal) return readUnfinished(path, journalFile, hasManifest ? manifestFile : null)
  if (hasRequests) return readLoneRequests(requestsFile, options)
  if (hasManifest) {
    const manifest = await readManifest(manifestFile)
    return {
      path,
      manifest,
      rows: [],
      complete: false,
      sent: null,
      planned: manifest.planned,
      rowsLost: rowsLost(manifest, [], 'some'),
      rowsAltered: false,
      missing: [
        `the rows of its requests: neither ${runFiles.requests} nor ${runFiles.journal} is in the folder`,
      ],
    }
  }
  const sweep = await isFile(join(path, 'sweep.json'))
  throw new PlimsollError(
    'PLIM_RUN_FOLDER',
    sweep ? 'this is a sweep, not a run' : 'this folder holds no run',
    {
      expected: `a folder with ${runFiles.manifest} and ${runFiles.requests}, or ${runFiles.journal}`,
      where: { file: path },
      ...(sweep
        ? { hint: 'give one of the run folders in it, or the sweep to a verb that takes sweeps' }
        : {}),
    },
  )
}

/** Reads and checks a `run.json`. */
export async function readManifest(file: string): Promise<RunManifest> {
  const text = await readFile(file, 'utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw await notJson(file, text, cause)
  }
  return manifestFromJson(value, file)
}

async function isWholeManifest(file: string): Promise<boolean> {
  return readManifest(file).then(
    () => true,
    () => false,
  )
}

/** JSON that is not there, stops too early, or is something else; its rows may be readable without it. */
async function notJson(file: string, text: string, cause: unknown): Promise<PlimsollError> {
  const requests = join(dirname(file), runFiles.requests)
  const bytes = Buffer.byteLength(text)
  const isEmpty = text.trim() === ''
  // Ours ends with the brace that closes it, alone on its line.
  const last = text.includes('\n') ? '\n}' : '}'
  const isCut = !isEmpty && text.startsWith('{') && !text.trimEnd().endsWith(last)
  const message = isEmpty
    ? 'the manifest is empty'
    : isCut
      ? 'the manifest is cut'
      : 'the manifest is not JSON'
  const received = isEmpty
    ? `${bytes} ${noun(bytes, 'byte')}${bytes === 0 ? '' : ' of white space'}`
    : isCut
      ? `JSON that ends at byte ${bytes}, in the middle: …${text.slice(-40)}`
      : text.slice(0, 80)
  return new PlimsollError('PLIM_RUN_FOLDER', message, {
    expected: `${runFiles.manifest} of a run folder, whole`,
    received,
    where: { file },
    ...((await isFile(requests))
      ? { hint: `the rows have a copy of it with them: plimsoll show ${shellWord(requests)}` }
      : {}),
    cause,
  })
}

/** Whether a file of rows is not the one that was written, by what `run.json` says of it. */
async function isAltered(file: string, { requests_file: written }: RunManifest): Promise<boolean> {
  if (written === undefined) return false
  const { size } = await stat(file)
  return size !== written.bytes || (await sumOfFile(file)).crc32 !== written.crc32
}

function finished(path: string, manifest: RunManifest, rows: Rows, rowsAltered: boolean): WithoutServer {
  const missing: string[] = []
  if (manifest.planned !== null && rows.length !== manifest.planned) {
    missing.push(
      `${rows.length} ${noun(rows.length, 'row')} for ${manifest.planned} planned ${noun(manifest.planned, 'request')}`,
    )
  }
  return {
    path,
    manifest,
    rows,
    complete: missing.length === 0,
    sent: null,
    planned: manifest.planned,
    rowsLost: rowsLost(manifest, rows, 'some'),
    rowsAltered,
    missing,
  }
}

async function readLoneRequests(file: string, options: ReadRequestsOptions): Promise<WithoutServer> {
  const beside = join(dirname(file), runFiles.manifest)
  const { rows, manifestJson } = await readRequests(file, options)
  const own = basename(file) === runFiles.requests && (await isWholeManifest(beside))
  const altered = own && (await isAltered(file, await readManifest(beside)))
  if (manifestJson !== null) {
    return finished(dirname(file), manifestFromJson(JSON.parse(manifestJson), file), rows, altered)
  }
  if (await isFile(beside)) return finished(dirname(file), await readManifest(beside), rows, altered)
  throw new PlimsollError('PLIM_RUN_FOLDER', 'this Parquet file says nothing of its run', {
    expected: `the manifest in the file's own metadata, or ${runFiles.manifest} beside it`,
    where: { file },
    hint: 'a program that rewrote the file dropped the metadata: put it back into its run folder',
  })
}

/**
 * A run whose rows are still in its journal: it was killed, or its files could not be written. `finished` is its manifest where it
 * ended by itself.
 */
async function readUnfinished(path: string, file: string, finished: string | null): Promise<WithoutServer> {
  const rows: RequestRow[] = []
  const content = await readJournal(file, (row) => rows.push(row))
  const last = finished === null ? null : await readManifest(finished)
  const manifest = last ?? content.manifest
  if (manifest === null) {
    throw new PlimsollError('PLIM_RUN_FOLDER', 'the journal holds nothing of the run', {
      expected: 'its first line, which says what was run',
      received: content.torn ? 'half a line' : 'no line',
      where: { file },
      hint: 'the process was killed, or the disk was full, as it began: there is nothing to be read here',
    })
  }
  const lost = (manifest.planned ?? rows.length) - rows.length
  if (last !== null && lost === 0 && content.unreadable === 0) {
    return {
      path,
      manifest,
      rows: inOrderOfIntent(rows),
      complete: true,
      sent: null,
      planned: manifest.planned,
      rowsLost: null,
      rowsAltered: false,
      missing: [],
    }
  }
  const missing = [
    last === null
      ? `it was killed, or its files could not be written: this is made from its journal of ${rows.length} ${noun(rows.length, 'row')}`
      : `its rows could not be written: these are the ${rows.length} of its journal`,
  ]
  if (manifest.planned !== null) {
    missing.push(
      `${lost} of ${manifest.planned} planned ${noun(manifest.planned, 'request')} ${noun(lost, 'has', 'have')} no row`,
    )
  }
  if (content.torn) missing.push('the last line of the journal was cut while it was written')
  if (content.unreadable > 0) {
    missing.push(
      `${content.unreadable} lines of the journal cannot be read, the first is line ${content.firstUnreadableLine}`,
    )
  }
  const sent = last === null ? (content.seen?.sent ?? null) : null
  return {
    path,
    manifest: last ?? { ...manifest, window: windowSoFar(manifest.window, rows, content.seen?.atMs ?? 0) },
    rows: inOrderOfIntent(rows),
    complete: false,
    sent,
    planned: manifest.planned,
    rowsLost:
      last === null
        ? linesLost(rows, content.unreadable, sent)
        : rowsLost(last, rows, content.unreadable > 0 ? 'some' : 'start'),
    rowsAltered: false,
    missing,
  }
}

/** The window up to the last thing that was seen: nothing is known of the rest. Null before its beginning. */
function windowSoFar(window: RunManifest['window'], rows: Rows, seenAtMs: number): RunManifest['window'] {
  const seenMs = Math.max(wholeWindow(rows)?.endMs ?? 0, seenAtMs)
  if (window === null || seenMs <= window.start_ms) return null
  const endMs = Math.min(window.end_ms, seenMs)
  return { ...window, end_ms: endMs, measure_s: (endMs - window.start_ms) / 1000 }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  )
}
