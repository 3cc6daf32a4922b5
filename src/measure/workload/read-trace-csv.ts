import { PlimsollError } from '../../base/errors.ts'
import type { TraceEntry, TraceRows } from './trace-rows.ts'

/**
 * The columns of public traces, by name in any order and case.
 * - Azure LLM inference traces: `TIMESTAMP` (date and time), `ContextTokens`, `GeneratedTokens`.
 * - BurstGPT: `Timestamp` (seconds), `Request tokens`, `Response tokens`, `Model` (its segment), `Session ID`. A response of no
 *   tokens is a request that failed when it was recorded: left out and counted.
 */
export function readTraceCsv(text: string, path: string): TraceRows {
  const lines = text.split(/\r\n|\n|\r/)
  const header = cells(lines[0] ?? '').map((name) => name.trim().toLowerCase())
  const column = (...names: string[]): number => header.findIndex((name) => names.includes(name))
  const at = column('timestamp', 'arrived_at')
  const prompt = column('contexttokens', 'request tokens', 'num_prefill_tokens')
  const output = column('generatedtokens', 'response tokens', 'num_decode_tokens')
  const [model, session] = [column('model'), column('session id')]
  if (at < 0 || prompt < 0 || output < 0) {
    throw new PlimsollError('PLIM_WORKLOAD', 'the first line is not the header of a trace', {
      expected:
        'TIMESTAMP, ContextTokens, GeneratedTokens (Azure), or Timestamp, Request tokens, Response tokens (BurstGPT)',
      received: (lines[0] ?? '').slice(0, 80),
      where: { file: path, line: 1, column: 1 },
    })
  }
  const entries: TraceEntry[] = []
  const skipped: Record<string, number> = {}
  const skip = (reason: string): void => void (skipped[reason] = (skipped[reason] ?? 0) + 1)
  lines.forEach((line, index) => {
    if (index === 0 || line.trim() === '') return
    const row = cells(line)
    const number = (which: number, what: string, read: (cell: string) => number): number => {
      const cell = (row[which] ?? '').trim()
      const value = read(cell)
      if (cell !== '' && Number.isFinite(value) && value >= 0) return value
      const column = row.slice(0, which).join(',').length + (which === 0 ? 1 : 2)
      throw new PlimsollError('PLIM_WORKLOAD', `a row without its ${what}`, {
        expected: what === 'time' ? 'seconds, or a date and time' : 'a number of tokens',
        received: row[which] === undefined ? 'no such cell' : `"${cell}"`,
        where: { file: path, line: index + 1, column },
      })
    }
    const entry = {
      atMs: number(at, 'time', timeMs),
      promptTokens: number(prompt, 'prompt length', Number),
      outputTokens: number(output, 'output length', Number),
      blocks: null,
      segment: row[model]?.trim() || null,
      session: row[session]?.trim() || null,
    }
    if (entry.promptTokens === 0) skip('no prompt tokens')
    else if (entry.outputTokens === 0) skip('no output tokens')
    else entries.push(entry)
  })
  return { entries, blockTokens: 1, skipped }
}

/** Seconds, or `2023-11-16 18:17:03.9799600` (UTC unless it says otherwise), in ms. `Date` keeps ms only: digits are read here. */
function timeMs(cell: string): number {
  if (/^\d+(\.\d+)?(e[+-]?\d+)?$/i.test(cell)) return Number(cell) * 1000
  const found = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:?\d\d)?$/.exec(cell)
  if (found === null) return Number.NaN
  const [, day, time, fraction, zone] = found
  return Date.parse(`${day}T${time}${zone ?? 'Z'}`) + Number(fraction ?? 0) * 1000
}

function cells(line: string): readonly string[] {
  return line.split(',')
}
