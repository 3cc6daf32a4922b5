import { closeSync, openSync, writeSync } from 'node:fs'
import { PlimsollError } from '../../../base/errors.ts'

/** What really happened to a request: stamps of CLOCK_MONOTONIC in nanoseconds, so that a client's own can be checked. */
export interface RequestTruth {
  /** The request's `x-request-id`, or the one it was given. */
  readonly id: string
  /** The request line and headers were read. */
  readonly receivedNs: bigint
  /** Just before each write to the socket that carried output tokens, and how many it carried. */
  readonly writesNs: bigint[]
  readonly writeTokens: number[]
  /**
   * `ok`: answered to its end. `refused`: an HTTP error instead of an answer. `aborted`: the client went away. `cut`, `reset`, `error`: a
   * fault, or the engine, ended it. `slow_client`: what it did not read grew too large. `closed`: the server stopped.
   */
  outcome: 'ok' | 'refused' | 'aborted' | 'cut' | 'reset' | 'error' | 'slow_client' | 'closed'
  httpStatus: number | null
}

export interface TruthLog {
  write(truth: RequestTruth): void
  /** Writes out what is still held back, and closes the file. */
  close(): void
}

/** Lines held back before they are written: a write is a system call on the engine's own loop. */
const heldLines = 64

/** An NDJSON file with a line per request, written when the request ends. Throws PLIM_FILE where it cannot be opened. */
export function openTruthLog(
  path: string,
  timers: Pick<typeof globalThis, 'setTimeout' | 'clearTimeout'>,
): TruthLog {
  let file: number
  try {
    file = openSync(path, 'w')
  } catch (cause) {
    throw new PlimsollError('PLIM_FILE', `cannot write the truth file ${path}`, {
      received: (cause as Error).message,
      cause,
    })
  }
  let lines: string[] = []
  let timer: NodeJS.Timeout | null = null
  function flush(): void {
    if (timer !== null) timers.clearTimeout(timer)
    timer = null
    if (lines.length > 0) writeSync(file, lines.join(''))
    lines = []
  }
  return {
    write(truth) {
      lines.push(truthLine(truth))
      if (lines.length >= heldLines) flush()
      else timer ??= timers.setTimeout(flush, 200)
    },
    close() {
      flush()
      closeSync(file)
    },
  }
}

/** The line of a request. Nanoseconds are written as whole numbers; JSON readers keep them exactly below 2⁵³ (104 days of uptime). */
export function truthLine(truth: RequestTruth): string {
  return `{"id":${JSON.stringify(truth.id)},"received_ns":${truth.receivedNs},"writes_ns":[${truth.writesNs.join(',')}],"write_tokens":[${truth.writeTokens.join(',')}],"outcome":"${truth.outcome}","http_status":${truth.httpStatus}}\n`
}
