import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFreshFolder } from './fresh-folder.ts'
import { openJournal, type Journal, type JournalOptions } from './journal.ts'
import { makeFolders } from './make-folders.ts'
import { startManifest, type ManifestStart, type RunManifest } from './manifest.ts'
import { redact, rowWithoutSecrets } from './redact.ts'
import type { RequestRow } from './request-row.ts'
import { sortRows } from './sort-rows.ts'
import type { Rows } from './rows.ts'
import { rowList } from './row-list.ts'
import { writeRequests } from './write-requests.ts'
import { writingInto } from './writing-into.ts'

/** The files of a run folder. */
export const runFiles = {
  manifest: 'run.json',
  journal: 'journal.ndjson',
  requests: 'requests.parquet',
} as const

/** A run folder that is being filled. */
export interface RunFolder {
  readonly path: string
  readonly journal: Journal
}

export interface CreateRunOptions extends JournalOptions {
  /** The folder of runs, made if need be. */
  readonly parent: string
  /** The local wall-clock time of the start, for the folder's name. */
  readonly startedAt: Date
  /** The folder's path instead of `parent/<time>-<name>`. */
  readonly path?: string
}

/**
 * Makes `runs/<MMDD-HHMM>-<name>/` with its journal open; a name that is taken gets `-2`, `-3`, …
 * @throws PlimsollError PLIM_RUN_FOLDER when it cannot be made.
 */
export async function createRunFolder(start: ManifestStart, options: CreateRunOptions): Promise<RunFolder> {
  const manifest = redact(startManifest(start), options.secrets)
  const wanted = options.path ?? join(options.parent, runFolderName(options.startedAt, start.name))
  const path = await makeFreshFolder(wanted, 'the run folder')
  try {
    const journal = await writingInto(path, [], () =>
      openJournal(join(path, runFiles.journal), manifest, options),
    )
    return { path, journal }
  } catch (error) {
    // Nothing was measured: a folder of nothing would only be read as a run.
    await rm(path, { recursive: true, force: true }).catch(() => undefined)
    throw error
  }
}

/** `1129-1436-run`: month, day, hour, minute, and the name in letters, digits, dots, dashes and underscores. */
export function runFolderName(startedAt: Date, name: string): string {
  const two = (value: number): string => String(value).padStart(2, '0')
  const date = `${two(startedAt.getMonth() + 1)}${two(startedAt.getDate())}`
  const time = `${two(startedAt.getHours())}${two(startedAt.getMinutes())}`
  const safe = name
    .normalize('NFKD')
    .replace(/\p{Mark}+/gu, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 80)
  return `${date}-${time}-${safe === '' ? 'run' : safe}`
}

/**
 * Ends a run: `requests.parquet` (in order of intended send), then `run.json`, each written beside its place and renamed, then
 * the journal is removed. A process killed in between leaves a folder that reads as well as before; where there is no room for the
 * rows, `run.json` is written beside the journal if it can be. A journal that was cut does no harm where the rest can be written.
 * @throws PlimsollError PLIM_RUN_FOLDER for what could not be written.
 */
export async function finishRunFolder(
  folder: RunFolder,
  manifest: RunManifest,
  rows: Rows,
  secrets: readonly string[] = [],
): Promise<RunManifest> {
  const unwritten = await folder.journal.close().then(
    () => null,
    (error: unknown) => error,
  )
  try {
    const safe = await writeRun(folder.path, manifest, rows, secrets)
    await rm(join(folder.path, runFiles.journal), { force: true })
    return safe
  } catch (error) {
    // The rows do not fit, but what is known of them may: it says more than the journal's own header.
    const file = join(folder.path, runFiles.manifest)
    await writeManifest(file, redact(manifest, secrets))
      .catch(() => rm(`${file}.tmp`, { force: true }))
      .catch(() => undefined)
    throw unwritten ?? error
  }
}

async function writeManifest(file: string, manifest: RunManifest): Promise<void> {
  await writeFile(`${file}.tmp`, `${JSON.stringify(manifest, null, 2)}\n`)
  await rename(`${file}.tmp`, file)
}

/** Writes a finished run folder in one go: what importers and the simulator use, whose rows exist at once. */
export async function writeRun(
  path: string,
  manifest: RunManifest,
  rows: Rows,
  secrets: readonly string[] = [],
): Promise<RunManifest> {
  const safe = redact(manifest, secrets)
  const requests = join(path, runFiles.requests)
  const file = join(path, runFiles.manifest)
  await writingInto(path, [`${requests}.tmp`, `${file}.tmp`], async () => {
    await makeFolders(path)
    const sum = writeRequests(
      `${requests}.tmp`,
      withoutSecrets(inOrderOfIntent(rows), secrets),
      JSON.stringify(safe),
    )
    await rename(`${requests}.tmp`, requests)
    // The file carries the manifest itself, so only the one beside it can say what it sums to.
    await writeManifest(file, { ...safe, requests_file: sum })
  })
  return safe
}

function withoutSecrets(rows: Rows, secrets: readonly string[]): Rows {
  if (secrets.length === 0) return rows
  const rowAt = (place: number): RequestRow => rowWithoutSecrets(rows.at(place) as RequestRow, secrets)
  return rowList({ rowAt }, rows.length)
}

/** Rows by intended send, those without one last; equal times keep their order. */
export function inOrderOfIntent(rows: Rows): Rows {
  return sortRows(rows, (row) => row.planned_ms ?? row.sent_ms ?? Number.POSITIVE_INFINITY)
}
