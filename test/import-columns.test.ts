import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FlowDeps } from '../src/flows/flow-deps.ts'
import { importFlow } from '../src/flows/import.ts'
import { readRun } from '../src/measure/record/read-run.ts'
import { wholeRow } from '../src/measure/record/row-table.ts'
import { rowToJson } from '../src/measure/record/row-text.ts'

// What an import says does not depend on where its rows lie: held as they are, or in columns with their gaps in a file.

const deps = {
  wallClock: () => 1_788_226_305_000,
  version: '0.1.0',
  machine: { hostname: 'h', platform: 'linux', node: 'v20', cores: 2 },
} as unknown as FlowDeps

let folder: string
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'plimsoll-columns-'))))
afterAll(() => rmSync(folder, { recursive: true }))

const gap = (i: number, at: number): number => 9 + ((i * 31 + at * 17) % 200) / 100

function aiperf(): string {
  // In the order of their ends, not of their starts; every tenth fails.
  const lines = Array.from({ length: 1500 }, (_, i) => {
    const start = 1_788_226_305_000_000_000n + BigInt(i ^ 3) * 10_000_000n
    const gaps = Array.from({ length: 30 + (i % 40) }, (_, at) => gap(i, at))
    const error =
      i % 10 === 7 ? '{"code":500,"type":"InternalServerError","message":"out of memory"}' : 'null'
    return `{"metadata":{"request_start_ns":${start},"credit_issued_ns":${start - 1_000_000n},"request_end_ns":${start + 1_100_000_000n},"x_request_id":"id-${i}","benchmark_phase":"${i < 50 ? 'warmup' : 'profiling'}","was_cancelled":${i % 100 === 99}},"metrics":{"time_to_first_token":{"value":${100 + (i % 50)},"unit":"ms"},"request_latency":{"value":${1100 + (i % 50)},"unit":"ms"},"inter_chunk_latency":{"value":[${gaps.join(',')}],"unit":"ms"},"output_sequence_length":{"value":${gaps.length + 1},"unit":"tokens"}},"error":${error}}\n`
  })
  return lines.join('')
}

function vllm(): string {
  const each = <T>(of: (i: number) => T): T[] => Array.from({ length: 1500 }, (_, i) => of(i))
  return JSON.stringify({
    endpoint_type: 'openai',
    completed: 1490,
    duration: 20,
    mean_ttft_ms: 124.4,
    p99_ttft_ms: 149,
    mean_tpot_ms: 10,
    p99_tpot_ms: 12.5,
    mean_itl_ms: 10,
    std_itl_ms: 0.5,
    median_itl_ms: 9.99,
    p99_itl_ms: 10.98,
    input_lens: each(() => 256),
    output_lens: each(() => 61),
    ttfts: each((i) => 0.1 + (i % 50) / 1000),
    itls: each((i) => (i % 150 === 0 ? [] : Array.from({ length: 60 }, (_, at) => gap(i, at) / 1000))),
    start_times: each((i) => 9000 + i / 100),
    errors: each((i) => (i % 150 === 0 ? 'Bad Gateway' : '')),
    backend: 'openai',
  })
}

describe('the same document and the same rows, wherever they lie', () => {
  it.each([
    ['AIPerf records', 'profile_export.jsonl', aiperf],
    ['vLLM, with figures of its own', 'vllm.json', vllm],
  ])('%s', async (_, name, text) => {
    const file = join(folder, name)
    writeFileSync(file, text())
    const read = async (held: number, out: string): Promise<{ document: string; rows: string[] }> => {
      const path = join(folder, `${name}-${out}`)
      const document = await importFlow(
        { files: [file], runsDir: folder, rows: { folder, held }, out: path, name: null, write: true },
        deps,
      )
      expect(document.runs[0]?.run.counts.planned).toBe(1500)
      const { rows } = await readRun(path, { held })
      return {
        document:
          JSON.stringify(document).replaceAll(path, 'PATH') + readFileSync(join(path, 'run.json'), 'utf8'),
        rows: rows.map((row) => rowToJson(wholeRow(row))),
      }
    }
    expect(await read(1000, 'columns')).toEqual(await read(10_000_000, 'held'))
  })
})
