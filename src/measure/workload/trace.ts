import { PlimsollError } from '../../base/errors.ts'
import type { OpenLoopPacer } from '../load/pacer.ts'
import { readTraceCsv } from './read-trace-csv.ts'
import { readTraceJsonl } from './read-trace-jsonl.ts'
import type { TraceEntry } from './trace-rows.ts'

export interface Trace {
  readonly kind: 'trace'
  /** What it was read from. */
  readonly name: string
  /** By time. */
  readonly entries: readonly TraceEntry[]
  /** Tokens of a block. */
  readonly blockTokens: number
  /** Rows that are not requests, by reason. */
  readonly skipped: Readonly<Record<string, number>>
}

/**
 * Reads recorded traffic, its form known by its first line: Azure's and BurstGPT's CSV, Mooncake's JSONL, or JSONL of one's own
 * (`read-trace-csv.ts`, `read-trace-jsonl.ts` have the columns). Rows out of order are sorted.
 * @throws PlimsollError PLIM_WORKLOAD at file:line:column.
 */
export function readTrace(text: string, path: string): Trace {
  const body = text.replace(/^\uFEFF/, '')
  const read = body.trimStart().startsWith('{') ? readTraceJsonl(body, path) : readTraceCsv(body, path)
  if (read.entries.length === 0) {
    throw new PlimsollError('PLIM_WORKLOAD', 'the trace has no requests', {
      expected: 'at least one row',
      received: Object.entries(read.skipped)
        .map(([reason, count]) => `${count} with ${reason}`)
        .join(', '),
      where: { file: path },
    })
  }
  const entries = read.entries.toSorted((a, b) => a.atMs - b.atMs)
  const startMs = entries[0]?.atMs ?? 0
  return {
    kind: 'trace',
    name: path,
    entries: entries.map((entry) => ({ ...entry, atMs: entry.atMs - startMs })),
    blockTokens: read.blockTokens,
    skipped: read.skipped,
  }
}

/** The trace's own times, `speed` times as fast (2: half the gaps, twice the rate). */
export function tracePacer(trace: Trace, speed = 1): OpenLoopPacer {
  if (!(Number.isFinite(speed) && speed > 0)) {
    throw new PlimsollError('PLIM_USAGE', 'a trace cannot be played at this speed', {
      expected: 'a factor above 0',
      received: String(speed),
    })
  }
  const name = speed === 1 ? trace.name : `${trace.name} at ${speed} times its speed`
  return { kind: 'schedule', timesMs: trace.entries.map(({ atMs }) => atMs / speed), name }
}
