import { PlimsollError } from '../../base/errors.ts'
import { jsonFault } from './json-fault.ts'
import type { TraceEntry, TraceRows } from './trace-rows.ts'

/** Mooncake's hash ids stand for blocks of 512 tokens ("Mooncake", FAST '25, the trace's README). */
const mooncakeBlock = 512

/**
 * A request a line. `timestamp` or `arrival_ms` (ms), `input_length`, `input_toks` or `prompt_tokens`, `output_length`,
 * `output_toks` or `output_tokens`; and where prompts share their beginnings `hash_ids` (blocks of 512 tokens) or
 * `prompt_blocks` (of 16), or either with `block_size`; `segment` and `session` too.
 */
export function readTraceJsonl(text: string, path: string): TraceRows {
  const entries: TraceEntry[] = []
  let blockTokens: number | null = null
  text.split(/\r\n|\n|\r/).forEach((line, index) => {
    if (line.trim() === '') return
    const fail = (message: string, expected: string, received: string, column: number): PlimsollError =>
      new PlimsollError('PLIM_WORKLOAD', message, {
        expected,
        received,
        where: { file: path, line: index + 1, column },
      })
    const row = parse(line, fail)
    const columnOf = (key: string): number => line.indexOf(`"${key}"`) + 1 || 1
    const number = (what: string, least: number, ...keys: string[]): number => {
      const key = keys.find((candidate) => row[candidate] !== undefined)
      if (key === undefined)
        throw fail(`a line without its ${what}`, keys.join(' or '), Object.keys(row).join(', '), 1)
      const value = row[key]
      if (typeof value === 'number' && Number.isFinite(value) && value >= least) return value
      throw fail(
        `${key} is not a ${what}`,
        `a number of ${least} or more`,
        JSON.stringify(value),
        columnOf(key),
      )
    }
    const key = row['hash_ids'] !== undefined ? 'hash_ids' : 'prompt_blocks'
    const blocks = row[key] ?? null
    if (blocks !== null && !(Array.isArray(blocks) && blocks.every((id) => Number.isSafeInteger(id)))) {
      throw fail(
        `${key} are not blocks`,
        'a list of whole numbers',
        JSON.stringify(blocks).slice(0, 60),
        columnOf(key),
      )
    }
    if (blocks !== null) {
      const own = row['block_size'] === undefined ? null : number('block size', 1, 'block_size')
      const size = own ?? (key === 'hash_ids' ? mooncakeBlock : 16)
      if (blockTokens !== null && blockTokens !== size) {
        throw fail(
          'blocks of different sizes in one trace',
          `${blockTokens} tokens as above`,
          `${size} tokens`,
          columnOf(key),
        )
      }
      blockTokens = size
    }
    entries.push({
      atMs: number('time', 0, 'timestamp', 'arrival_ms'),
      promptTokens: number('prompt length', 1, 'input_length', 'input_toks', 'prompt_tokens'),
      outputTokens: number('output length', 1, 'output_length', 'output_toks', 'output_tokens'),
      blocks: blocks as readonly number[] | null,
      segment: typeof row['segment'] === 'string' ? row['segment'] : null,
      session: typeof row['session'] === 'string' ? row['session'] : null,
    })
  })
  return { entries, blockTokens: blockTokens ?? 1, skipped: {} }
}

function parse(
  line: string,
  fail: (message: string, expected: string, received: string, column: number) => PlimsollError,
): Readonly<Record<string, unknown>> {
  try {
    const row: unknown = JSON.parse(line)
    if (typeof row === 'object' && row !== null) return row as Readonly<Record<string, unknown>>
  } catch {
    const fault = jsonFault(line) ?? { offset: 0, expected: 'JSON' }
    throw fail(
      'a line that is not JSON',
      fault.expected,
      line.slice(fault.offset, fault.offset + 40) || 'the end of the line',
      fault.offset + 1,
    )
  }
  throw fail('a line that is not a request', 'an object', line.slice(0, 40), 1)
}
