import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { exportCsv } from './export-csv.ts'
import { exportJsonl } from './export-jsonl.ts'
import { exportVllm } from './export-vllm.ts'
import { streamedRow, unsentRow } from './made-rows.ts'
import { startManifest } from './manifest.ts'
import type { RequestRow } from './request-row.ts'
import { rowColumns } from './row-columns.ts'
import { rowFromJson } from './row-text.ts'

/** A reader of RFC 4180, written against the RFC alone. Unquoted empty is null, quoted empty is ''. */
function readCsv(text: string): (string | null)[][] {
  const records: (string | null)[][] = []
  let record: (string | null)[] = []
  let at = 0
  while (at < text.length) {
    if (text[at] === '"') {
      let value = ''
      at++
      while (text[at] !== '"' || text[at + 1] === '"') {
        if (text[at] === '"') at++
        value += text[at++]
      }
      at++
      record.push(value)
    } else {
      const end = /[,\r]/.exec(text.slice(at))?.index ?? 0
      record.push(end === 0 ? null : text.slice(at, at + end))
      at += end
    }
    if (text[at] === ',') {
      at++
      continue
    }
    expect(text.slice(at, at + 2)).toBe('\r\n')
    at += 2
    records.push(record)
    record = []
  }
  return records
}

const words = fc.string({ unit: fc.constantFrom('a', '"', ',', '\r', '\n', ' ', 'é', '🚢') })

test('csv: whatever is in the texts, another reader finds every field again', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(words, fc.option(words), fc.array(words)), { minLength: 1, maxLength: 5 }),
      (given) => {
        const rows = given.map(([id, message, flags], index) => ({
          ...streamedRow({ id, plannedMs: index, ttftMs: 5.25, gapsMs: [1, 0.1] }),
          error_message: message,
          flags: flags as RequestRow['flags'],
        }))
        const [header, ...records] = readCsv([...exportCsv(rows)].join(''))
        const names = rowColumns.filter(({ optional }) => !optional).map(({ name }) => name)
        expect(header).toEqual(names)
        records.forEach((record, index) => {
          const field = (name: string): string | null | undefined => record[names.indexOf(name as never)]
          expect(field('id')).toBe(rows[index]?.id)
          expect(field('error_message')).toBe(rows[index]?.error_message)
          expect(JSON.parse(field('flags') ?? '')).toEqual(rows[index]?.flags)
          expect(field('gaps_ms')).toBe('[1,0.1]')
          expect(field('turn')).toBeNull()
        })
      },
    ),
  )
})

test('jsonl: a line a row, which reads back as the row', () => {
  const rows = [
    streamedRow({ id: 'a', plannedMs: 0, ttftMs: 5, gapsMs: [1] }),
    { ...unsentRow, id: 'b', text: 'kept' },
  ]
  const lines = [...exportJsonl(rows)]
  expect(lines.map((line) => rowFromJson(JSON.parse(line), { file: 'x' }))).toEqual(rows)
})

describe('vllm', () => {
  const manifest = startManifest({
    name: 'x',
    versions: { plimsoll: '0', node: '20' },
    config: {},
    seed: '1',
    salt: null,
    pacer: { kind: 'gamma', ratePerSecond: 6, cv: 2 },
    workload: null,
    target: { url: 'http://h', api: 'chat', model: 'm/7b' },
    clock: { origin_monotonic_ns: 1, started_at: '2026-08-01T10:15:00.250Z' },
  })
  const rows: RequestRow[] = [
    streamedRow(
      { id: 'b', plannedMs: 500, sentMs: 600, ttftMs: 214, gapsMs: [11, 10], promptTokens: 1024 },
      { text: 'hello' },
    ),
    streamedRow({ id: 'a', plannedMs: 0, ttftMs: 106, gapsMs: [10, 10], promptTokens: 1024 }),
    {
      ...unsentRow,
      id: 'c',
      planned_ms: 700,
      sent_ms: 700,
      lag_ms: 0,
      done_ms: 1300,
      outcome: 'failed',
      error_kind: 'http_502',
      error_message: 'Bad Gateway',
    },
    { ...unsentRow, id: 'd' },
  ]

  test('has the arrays in seconds from the actual send, zeros and a text for a failure', () => {
    expect(exportVllm(manifest, rows, { run: 'runs/x', goodput: { good: 1 } })).toMatchObject({
      date: '20260801-101500',
      backend: 'openai-chat',
      model_id: 'm/7b',
      num_prompts: 3,
      request_rate: 6,
      burstiness: 0.25,
      max_concurrency: null,
      duration: 2,
      completed: 2,
      failed: 1,
      total_input_tokens: 2048,
      total_output_tokens: 6,
      request_throughput: 1,
      request_goodput: 0.5,
      output_throughput: 3,
      total_token_throughput: 1027,
      max_output_tokens_per_s: 6,
      max_concurrent_requests: 2,
      input_lens: [1024, 1024, 0],
      output_lens: [3, 3, 0],
      ttfts: [0.106, 0.114, 0],
      itls: [[0.01, 0.01], [0.011, 0.01], []],
      start_times: [0, 0.6, 0.7],
      generated_texts: ['', 'hello', ''],
      errors: ['', '', 'Bad Gateway'],
      plimsoll_unsent: 1,
    })
  })

  test('has linear percentiles and the deviation of a population', () => {
    const result = exportVllm(manifest, rows, { run: 'x', goodput: null })
    expect(result['mean_ttft_ms']).toBeCloseTo(110, 9)
    expect(result['median_ttft_ms']).toBeCloseTo(110, 9)
    expect(result['std_ttft_ms']).toBeCloseTo(4, 9)
    expect(result['p99_ttft_ms']).toBeCloseTo(113.92, 9)
    expect(result['p99.9_itl_ms']).toBeCloseTo(10.997, 9)
    expect(result['request_goodput']).toBeNull()
  })

  test('of nothing is null where vLLM would write 0', () => {
    const result = exportVllm(manifest, [], { run: 'x', goodput: null })
    expect(result).toMatchObject({
      completed: 0,
      duration: 0,
      request_throughput: null,
      mean_ttft_ms: null,
      ttfts: [],
    })
    expect(JSON.stringify(result)).not.toMatch(/NaN|Infinity/)
  })
})
