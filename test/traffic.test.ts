import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RequestRow } from '../src/measure/record/request-row.ts'
import type { RunDocument } from '../src/report/documents.ts'

// The examples of traffic, run as they stand on the embedded engine.

const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const examples = fileURLToPath(new URL('../examples/traffic/', import.meta.url))
let runs = ''
beforeAll(() => {
  runs = mkdtempSync(join(tmpdir(), 'plimsoll-traffic-'))
})
afterAll(() => rmSync(runs, { recursive: true, force: true }))

function plimsoll(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [main, ...args],
      { cwd: examples, maxBuffer: 1e9 },
      (error, stdout, stderr) => {
        // A busy machine makes a run INVALID (5) or late; what was asked and answered is the same.
        if (error !== null && error.code !== 5) reject(new Error(stderr))
        else resolve(stdout)
      },
    )
  })
}

async function run(
  example: string,
  ...more: string[]
): Promise<{ document: RunDocument; rows: readonly RequestRow[] }> {
  const out = join(runs, example + more.join('').replaceAll(/\W/g, ''))
  const args = ['run', '--config', example, '--out', out, '--no-progress', '--json', ...more]
  const document = JSON.parse(await plimsoll(args)) as RunDocument
  const exported = await plimsoll(['export', out, '--format', 'jsonl'])
  const rows = exported
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as RequestRow)
  expect(rows).toHaveLength(document.counts.planned)
  return { document, rows }
}

describe('examples of traffic', () => {
  test('a trace is replayed at its times and lengths, twice as fast', async () => {
    const { document, rows } = await run('trace.yaml')
    const recorded = readFileSync(join(examples, 'trace.jsonl'), 'utf8').trimEnd().split('\n')
    const wanted = recorded.map((line) => JSON.parse(line) as Record<string, number | string>)
    expect(document.load.open_loop).toBe(true)
    expect(rows.map(({ planned_ms }) => planned_ms)).toEqual(
      wanted.map((one) => Number(one['arrival_ms']) / 2),
    )
    expect(rows.map(({ segment }) => segment)).toEqual(wanted.map((one) => one['segment']))
    expect(rows.map(({ prompt_tokens }) => prompt_tokens)).toEqual(wanted.map((one) => one['prompt_tokens']))
    expect(rows.map(({ completion_tokens }) => completion_tokens)).toEqual(
      wanted.map((one) => one['output_tokens']),
    )
  }, 60_000)

  test.each([
    ['azure.yaml', [0, 100, 162.5, 375], [374, 396, 879, 91], [14, 9, 5, 16], [null, null, null, null]],
    ['burstgpt.yaml', [0, 200, 700], [472, 187, 120], [18, 23, 6], ['ChatGPT', 'GPT-4', 'ChatGPT']],
    ['mooncake.yaml', [0, 450, 850, 1300], [1100, 1300, 700, 1200], [12, 5, 9, 7], [null, null, null, null]],
  ])(
    '%s: a public format, at its times, lengths and segments',
    async (example, times, prompts, outputs, segments) => {
      const { rows } = await run(example)
      expect(rows.map(({ planned_ms }) => Number((planned_ms ?? -1).toFixed(3)))).toEqual(times)
      expect(rows.map(({ prompt_tokens }) => prompt_tokens)).toEqual(prompts)
      expect(rows.map(({ completion_tokens }) => completion_tokens)).toEqual(outputs)
      expect(rows.map(({ segment }) => segment)).toEqual(segments)
    },
    60_000,
  )

  test('the blocks that a trace shares are found in the cache', async () => {
    const { rows } = await run('mooncake.yaml', '--name', 'blocks')
    const cached = rows.map(({ cached_tokens }) => cached_tokens ?? 0)
    expect(cached[0]).toBe(0)
    expect(cached[2]).toBe(0)
    // Two of its blocks, then all three of them but for the end, in whole blocks of the engine.
    expect(cached[1]).toBeGreaterThan(1024 - 64)
    expect(cached[1]).toBeLessThanOrEqual(1024 + 16)
    expect(cached[3]).toBeGreaterThan(1100 - 64)
  }, 60_000)

  test('one scenario for both lengths', async () => {
    const { rows } = await run('scenario.yaml')
    expect(new Set(rows.map((row) => `${row.prompt_tokens} ${row.completion_tokens}`))).toEqual(
      new Set(['300 12']),
    )
  }, 60_000)

  test('the requests of a batch file, in turn', async () => {
    const { rows } = await run('batch.yaml')
    expect(rows.map(({ prompt_id }) => prompt_id)).toEqual(
      Array.from({ length: 4 }, () => ['tide-1', 'tide-2']).flat(),
    )
    expect(rows.map(({ asked_output_tokens }) => asked_output_tokens)).toEqual([12, 4, 12, 4, 12, 4, 12, 4])
    expect(rows.every(({ ok }) => ok)).toBe(true)
  }, 60_000)

  test('a mix names its classes on the rows', async () => {
    const { document, rows } = await run('mix.yaml')
    expect(document.workload).toContain(
      '75 % chat (random words, 400 ± 80 tokens in, 30 ± 5 out, 50 % of each prompt shared)',
    )
    expect(new Set(rows.map(({ segment }) => segment))).toEqual(new Set(['chat', 'code']))
    const code = rows.filter(({ segment }) => segment === 'code')
    expect(code.map(({ asked_output_tokens }) => asked_output_tokens)).toEqual(code.map(() => 8))
  }, 60_000)

  test('a prefix hit rate of 60 % asked is 60 ± 2 % measured', async () => {
    const { document } = await run('prefix.yaml')
    expect(Math.abs((document.cache?.hit_rate ?? 0) - 0.6)).toBeLessThanOrEqual(0.02)
    expect(document.verdict.reasons.map(({ rule }) => rule)).not.toContain('warm_cache')
  }, 60_000)

  test('requests that the client gives up are counted apart, and the row says who ended it', async () => {
    const { document, rows } = await run('cancel.yaml')
    const given = rows.filter(({ flags }) => flags.includes('cancelled_by_client'))
    expect(given.length).toBeGreaterThan(10)
    expect(given.length).toBeLessThan(40)
    expect(document.counts.cancelled_by_client).toBe(given.length)
    expect(given.map(({ outcome }) => outcome)).toEqual(given.map(() => 'censored'))
    expect(given.every(({ done_ms, error_kind }) => (done_ms ?? 0) >= 149 && error_kind === null)).toBe(true)
    expect(document.counts.ok).toBe(60 - given.length)
    expect(document.errors).toEqual({})
    // Whoever was answered was answered well.
    expect(document.objectives[0]?.estimate).toBe(1)
  }, 60_000)

  test.each([
    ['sessions.yaml', 200],
    ['session-users.yaml', 50],
  ])(
    '%s: turns follow each other, and the context grows',
    async (example, thinkMs) => {
      const { rows } = await run(example)
      expect(rows).toHaveLength(24)
      expect(rows.every(({ ok }) => ok)).toBe(true)
      const sessions = new Map<string | null, RequestRow[]>()
      for (const row of rows) sessions.set(row.session, [...(sessions.get(row.session) ?? []), row])
      expect(sessions.size).toBe(6)
      for (const turns of sessions.values()) {
        expect(turns.map(({ turn }) => turn)).toEqual([1, 2, 3, 4])
        turns.slice(1).forEach((row, i) => {
          const before = turns[i]!
          const pauseMs = row.planned_ms! - before.planned_ms! - before.done_ms!
          expect(Math.abs(pauseMs - thinkMs)).toBeLessThan(0.001)
          // What was asked and answered before, and what is new, and what the template puts between them.
          const grown = row.prompt_tokens! - before.prompt_tokens!
          expect(grown).toBeGreaterThanOrEqual(92)
          expect(grown).toBeLessThan(120)
          // All of the turn before but its answer is in the cache, in whole blocks.
          expect(row.cached_tokens!).toBeGreaterThan(before.prompt_tokens! - 32)
        })
      }
    },
    60_000,
  )

  test.each(['sessions.yaml', 'session-users.yaml'])(
    '%s: each turn of a session that was begun has its row, also where the window ended before it',
    async (example) => {
      const { document, rows } = await run(example, '--duration', '700ms', '--name', 'short')
      expect(rows.length % 4).toBe(0)
      expect(document.counts.planned).toBe(document.counts.ok + document.counts.unsent)
      expect(document.counts.unsent).toBeGreaterThan(0)
      const unsent = rows.filter(({ outcome }) => outcome === 'unsent')
      expect(unsent.map(({ error_code }) => error_code)).toEqual(unsent.map(() => 'window_ended'))
      expect(document.verdict.reasons.map(({ rule }) => rule)).not.toContain('load_not_sent')
    },
    60_000,
  )
})
