import { open, type FileHandle } from 'node:fs/promises'
import { systemError } from '../../base/system-errors.ts'
import type { Rows } from './rows.ts'
import type { RunManifest } from './manifest.ts'
import { withoutSecrets } from './redact.ts'
import { rowToJson } from './row-text.ts'

/** The form of `journal.ndjson`: a header line, then a line a row; further header lines replace the one before. Lines
 * of `seen` between them say how many requests had been sent. */
export const journalSchema = 'plimsoll.journal/1'

/** Where a journal's text goes. `node:fs/promises` file handles opened with `a` are one (`appendFile`). */
export interface JournalFile {
  append(text: string): Promise<void>
  close(): Promise<void>
}

export interface JournalTimers {
  setTimeout(callback: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
}

/**
 * The append-only record of a run while it is made. Lines reach the operating system within `flushEveryMs` of `append` (a
 * killed process loses at most what came since; nothing is lost when only the process dies, since no fsync is needed for that).
 */
export interface Journal {
  append(rows: Rows): void
  /** The manifest with what was learnt since (window, server facts): a further header line. */
  update(manifest: RunManifest): void
  /** How many requests have been sent so far, ms after the run's zero: of a run that is killed it tells those that were under way. */
  seen(sent: number, atMs: number): void
  /** How many of the rows that were appended have reached the operating system. It stands still once a write has failed. */
  rowsWritten(): number
  /** Writes what is pending and waits for it. */
  flush(): Promise<void>
  /** Flushes and closes. Throws the first error that any write met. */
  close(): Promise<void>
}

export interface JournalOptions {
  readonly timers: JournalTimers
  /** At most 1,000 by contract; 500 unless given. */
  readonly flushEveryMs?: number
  /** Pending text beyond this is written at once, in characters. */
  readonly flushAtLength?: number
  /** Texts that must never reach the disk (the API key): a server's error message may quote them. */
  readonly secrets?: readonly string[]
}

export function createJournal(file: JournalFile, manifest: RunManifest, options: JournalOptions): Journal {
  const flushEveryMs = options.flushEveryMs ?? 500
  const flushAtLength = options.flushAtLength ?? 1 << 20
  let pending = ''
  let rowsPending = 0
  let rowsWritten = 0
  let last = { sent: 0, atMs: 0 }
  let timer: unknown = null
  let tail: Promise<void> = Promise.resolve()
  let failure: unknown = null

  function write(): Promise<void> {
    if (timer !== null) options.timers.clearTimeout(timer)
    timer = null
    if (pending === '') return tail
    const text = pending
    const rows = rowsPending
    pending = ''
    rowsPending = 0
    tail = tail
      .then(async () => {
        // Behind a line that was cut nothing can be told apart: what comes after a failure stays with whoever holds it.
        if (failure !== null) return
        await file.append(text)
        rowsWritten += rows
      })
      .catch((error: unknown) => {
        failure ??= error
      })
    return tail
  }

  function add(line: string): void {
    pending += withoutSecrets(line, options.secrets)
    if (pending.length >= flushAtLength) void write()
    else timer ??= options.timers.setTimeout(() => void write(), flushEveryMs)
  }

  function header(manifest: RunManifest): void {
    add(`${JSON.stringify({ journal: journalSchema, manifest })}\n`)
    void write()
  }

  async function flush(): Promise<void> {
    await write()
    if (failure !== null) throw failure
  }

  header(manifest)
  return {
    append(rows) {
      for (const row of rows) {
        rowsPending++
        add(`${rowToJson(row)}\n`)
      }
    },
    seen(sent, atMs) {
      if (sent === last.sent && atMs - last.atMs < 1000) return
      last = { sent, atMs }
      add(`${JSON.stringify({ seen: { sent, at_ms: atMs } })}\n`)
    },
    rowsWritten: () => rowsWritten,
    update: header,
    flush,
    async close() {
      await write()
      await file.close()
      if (failure !== null) throw failure
    },
  }
}

/**
 * Opens `path` for appending and writes the header line.
 * @throws PlimsollError PLIM_RUN_FOLDER where not even that can be written: before anything is sent for it.
 */
export async function openJournal(
  path: string,
  manifest: RunManifest,
  options: JournalOptions,
): Promise<Journal> {
  const handle: FileHandle = await open(path, 'a')
  const journal = createJournal(
    {
      append: (text) =>
        handle.appendFile(text).catch((cause: unknown) => {
          throw systemError(cause, 'the journal of the run', 'PLIM_RUN_FOLDER', path) ?? cause
        }),
      close: () => handle.close(),
    },
    manifest,
    options,
  )
  try {
    await journal.flush()
  } catch (error) {
    await handle.close()
    throw error
  }
  return journal
}
