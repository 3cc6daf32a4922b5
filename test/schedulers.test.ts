import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readRun } from '../src/measure/record/read-run.ts'
import type { Rows } from '../src/measure/record/rows.ts'
import type { RunDocument } from '../src/report/documents.ts'
import { main } from './fixtures/product.ts'

// The command against the engine under each scheduler, over HTTP: what the client counts is what the engine gave.

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-schedulers-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function measured(
  name: string,
  args: readonly string[],
): Promise<{ readonly run: RunDocument; readonly rows: Rows }> {
  const run = await new Promise<RunDocument>((resolve, reject) => {
    const words = [main, 'run', ...args, '--json', '--out', name]
    execFile(process.execPath, words, { cwd: folder }, (_error, stdout, stderr) => {
      try {
        resolve(JSON.parse(stdout) as RunDocument)
      } catch {
        reject(new Error(stderr))
      }
    })
  })
  return { run, rows: (await readRun(join(folder, name))).rows }
}

const load = ['--concurrency', '6', '-n', '24', '--prompt', '100', '--output', '30']

describe('a run against each scheduler', () => {
  test.each<[string, readonly string[]]>([
    ['vllm', []],
    ['vllm-ahead', ['--engine-async-scheduling', '--engine-host-time', '1ms']],
    ['sglang', ['--engine-policy', 'sglang']],
    ['sglang-mixed', ['--engine-policy', 'sglang', '--engine-mixed-chunk']],
    ['static', ['--engine-policy', 'static', '--engine-max-num-seqs', '4']],
  ])(
    '%s: every answer is whole, an event a token',
    async (name, engine) => {
      const { run, rows } = await measured(name, [...load, ...engine])
      expect(run.counts).toMatchObject({ planned: 24, ok: 24 })
      expect(rows.map((row) => row.completion_tokens)).toEqual(rows.map(() => 30))
      expect(rows.every((row) => row.n_output_chunks === 30)).toBe(true)
    },
    60_000,
  )

  test('drafts that are all accepted: events of 1, 4, 4, … tokens, and each figure divides by what it says', async () => {
    const { run, rows } = await measured('drafts', [
      ...load,
      '--engine-speculative',
      '3',
      '--engine-accept',
      '1',
    ])
    expect(run.counts).toMatchObject({ planned: 24, ok: 24 })
    for (const row of rows) {
      // 30 = 1 + 7 · 4 + 1: the last draft is cut at the limit.
      expect(row.event_tokens).toEqual([1, 4, 4, 4, 4, 4, 4, 4, 1])
      expect(row.completion_tokens).toBe(30)
      // A gap belongs to the tokens of the event that ends it, each with its share.
      const itl = row.gaps_ms.flatMap((gap, i) => {
        const tokens = row.event_tokens?.[i + 1] ?? 0
        return Array.from({ length: tokens }, () => gap / tokens)
      })
      expect(row.itl_per_token_ms).toHaveLength(29)
      itl.forEach((ms, i) => expect(row.itl_per_token_ms?.[i]).toBeCloseTo(ms, 6))
      const decodeMs = (row.e2e_ms ?? 0) - (row.ttft_ms ?? 0)
      expect(row.tpot_ms).toBeCloseTo(decodeMs / 29, 6)
      expect(row.tpot_after_first_event_ms).toBeNull()
    }
    expect(run.metrics.itl_per_token_ms?.mean).toBeLessThan((run.metrics.gaps_ms?.mean ?? 0) / 2)
    const joined = run.warnings.find(({ kind }) => kind === 'messages_not_tokens')
    expect(joined?.evidence).toMatchObject({ tokens: 720, events: 216 })
  }, 60_000)
})

describe('a first event of several tokens', () => {
  let server: Server
  let url = ''
  /** Tokens of each event, 30 ms apart. */
  const events = [3, 2, 5]
  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.method !== 'POST') {
        response.end(JSON.stringify({ object: 'list', data: [{ id: 'm', object: 'model' }] }))
        return
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      let given = 0
      const next = (i: number): void => {
        const tokens = events[i]
        if (tokens === undefined) {
          response.end('data: [DONE]\n\n')
          return
        }
        given += tokens
        const usage = { prompt_tokens: 5, completion_tokens: given, total_tokens: 5 + given }
        const choice = {
          index: 0,
          delta: { content: ' a'.repeat(tokens) },
          finish_reason: given === 10 ? 'length' : null,
        }
        response.write(`data: ${JSON.stringify({ id: 'x', model: 'm', choices: [choice], usage })}\n\n`)
        setTimeout(() => next(i + 1), 30)
      }
      request.resume().once('end', () => next(0))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => server.close())

  test('TPOT after it is over the tokens that came after it', async () => {
    const asked = ['--concurrency', '1', '-n', '4', '--prompt', '5', '--output', '10']
    const { rows } = await measured('joined', ['--url', url, ...asked])
    expect(rows).toHaveLength(4)
    for (const row of rows) {
      expect(row.event_tokens).toEqual(events)
      const decodeMs = (row.e2e_ms ?? 0) - (row.ttft_ms ?? 0)
      expect(row.tpot_ms).toBeCloseTo(decodeMs / 9, 6)
      expect(row.tpot_after_first_event_ms).toBeCloseTo(decodeMs / 7, 6)
      expect(row.itl_per_token_ms).toHaveLength(7)
    }
  }, 60_000)
})
