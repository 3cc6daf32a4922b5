import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { RequestRow } from '../src/measure/record/request-row.ts'
import type { RunDocument } from '../src/report/documents.ts'
import { exportRows, scratch, start } from './fixtures/product.ts'

// Every API through the whole of the command, on the embedded engine.

const examples = fileURLToPath(new URL('../examples/apis/', import.meta.url))
const golden = new URL('../examples/apis/rows.txt', import.meta.url)

async function run(
  example: string,
  ...more: string[]
): Promise<{ document: RunDocument; rows: readonly RequestRow[] }> {
  const out = join(scratch(), 'run')
  const args = ['run', '--config', `${example}.yaml`, '--out', out, '--no-progress', '--json', ...more]
  const { stdout, stderr } = await start(args, { cwd: examples }).ended
  if (!stdout.startsWith('{')) throw new Error(stderr)
  return { document: JSON.parse(stdout) as RunDocument, rows: await exportRows(out) }
}

const streamed = ['responses', 'anthropic', 'tgi', 'llamacpp'] as const
const columns = [
  'prompt_id',
  'outcome',
  'finish_reason',
  'prompt_tokens',
  'cached_tokens',
  'asked_output_tokens',
  'completion_tokens',
  'tokens_source',
  'n_output_chunks',
] as const satisfies readonly (keyof RequestRow)[]

describe('each API on the embedded engine', () => {
  test('asks and answers the same, whatever it is called; the rows are as in examples/apis', async () => {
    const lines = [['api', ...columns].join(' ')]
    for (const api of [...streamed, 'embeddings']) {
      const { document, rows } = await run(api)
      expect(document.target).toMatchObject({ api, model: 'plimsoll-demo', embedded: true })
      expect(document.counts).toMatchObject({ planned: 4, ok: 4 })
      lines.push(...rows.map((row) => [api, ...columns.map((name) => row[name] ?? '-')].join(' ')))
    }
    const text = `${lines.join('\n')}\n`
    if (process.env['PLIMSOLL_GOLDENS'] === 'write') writeFileSync(golden, text)
    expect(text).toBe(readFileSync(golden, 'utf8'))
  }, 120_000)

  test.each(streamed)('%s: first token and tokens have their times', async (api) => {
    const { document, rows } = await run(api)
    for (const row of rows) {
      expect(row.gaps_ms).toHaveLength(row.n_output_chunks - 1)
      expect(row.ttft_ms).toBeGreaterThan(0)
      expect(row.e2e_ms).toBeGreaterThanOrEqual(row.ttft_ms ?? Infinity)
    }
    expect(document.metrics.tpot_ms?.n).toBe(4)
  })

  test.each(streamed)('%s in one piece: tokens and E2E, no first token', async (api) => {
    const { document } = await run(api, '--no-stream')
    expect(document.counts).toMatchObject({ planned: 4, ok: 4 })
    expect(document.metrics).toMatchObject({ e2e_ms: { n: 4 }, ttft_ms: { n: 0 } })
    expect(document.metrics.completion_tokens?.n).toBe(4)
  })

  test.each(streamed)('%s: an error in the middle is a failure, with the server’s words', async (api) => {
    const { rows } = await run(api, '--fault', 'error after token 3 1 in 2')
    const broken = rows.filter(({ outcome }) => outcome === 'failed')
    expect(broken.length).toBeGreaterThan(0)
    for (const row of broken) expect(row.error_message).toContain('failed in the middle of the answer')
  })
})
