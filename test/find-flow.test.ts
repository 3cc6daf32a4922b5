import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'
import { afterAll, describe, expect, it } from 'vitest'
import { findSchema } from '../src/flows/find-schema.ts'
import type { FindDocument } from '../src/report/find-document.ts'

const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const cwd = mkdtempSync(join(tmpdir(), 'plimsoll-find-'))
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function plimsoll(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { cwd }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
    })
  })
}

// Two requests at a time, each of about 50 ms: some 40 req/s, and above that a queue. Points are short, and a median needs few requests.
const small = ['--engine-max-num-seqs', '2', '--slo', 'p50 ttft <= 150ms', '--duration-per-point', '2s']

describe('find, against the embedded engine', () => {
  it('brackets the rate, keeps every point, says what it costs, and is shown again', async () => {
    const flags = [...small, '--rate-from', '10', '--resolution', '60%', '--points', '4', '--tag', 'gpu=none']
    const { stdout, stderr, code } = await plimsoll('find', '--json', '--no-progress', ...flags)
    const document = JSON.parse(stdout) as FindDocument
    const checked = v.safeParse(findSchema as v.GenericSchema, document)
    expect(checked.issues?.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`)).toBeUndefined()
    expect(document).toMatchObject({ complete: true, stopped: null, probe: null, tags: { gpu: 'none' } })
    expect(stderr).toMatch(/looks at a point after [\d, ]+ requests/)

    const { points, answer, find } = document
    for (const { run } of points) expect(existsSync(join(cwd, find, run!, 'requests.parquet'))).toBe(true)
    expect(JSON.parse(readFileSync(join(cwd, find, 'find.json'), 'utf8'))).toEqual(document)
    // A machine that is busy enough makes the client the limit of a point, which then decides nothing.
    const invalid = points.filter(({ decision }) => decision === 'invalid')
    if (invalid.length === 0) {
      // Points that such a machine leaves undecided bound nothing from above.
      const fails = answer.fails_at_per_s ?? Number.POSITIVE_INFINITY
      expect(fails).toBeGreaterThan(answer.holds_at_per_s ?? 0)
      expect(fails).toBeGreaterThan(10)
      expect(code).toBe(answer.holds_at_per_s === null ? 3 : 0)
    } else expect(code).toBe(invalid.length === points.length ? 5 : answer.holds_at_per_s === null ? 3 : 0)
    const shown = await plimsoll('show', find)
    expect(shown.stdout).toContain(`saved ${find}`)
    expect(shown.stdout).toContain('tags gpu none')
    expect((await plimsoll('show', '--json')).stdout).toBe(stdout)
  }, 120_000)

  it('an objective that nothing keeps: exit 3, from a probe on', async () => {
    const flags = ['--slo', 'p50 ttft <= 1us', '--points', '2', '--duration-per-point', '2s']
    const { stdout, code } = await plimsoll('find', '--json', '--quiet', ...flags)
    const document = JSON.parse(stdout) as FindDocument
    expect(document.plan.from).toBe('probe')
    expect(document.probe?.requests_per_s).toBeGreaterThan(0)
    expect(document.answer.holds_at_per_s).toBeNull()
    const invalid = document.points.every(({ decision }) => decision === 'invalid')
    expect(code).toBe(invalid ? 5 : 3)
    if (!invalid) expect(document.answer.fails_at_per_s).not.toBeNull()
  }, 120_000)

  it('ends in order when its time is over', async () => {
    const flags = ['--rate-from', '20', '--slo', 'p50 tpot <= 100ms', '--max-duration', '3s']
    const { stdout, code } = await plimsoll('find', '--json', '--quiet', ...flags)
    const document = JSON.parse(stdout) as FindDocument
    expect(document).toMatchObject({ complete: false, stopped: { kind: 'early' } })
    expect(document.stopped?.why).toContain('--max-duration 3s was over after 1 point')
    expect(document.points).toHaveLength(1)
    expect(document.points[0]?.stopped).toBe('cut short: --max-duration was over')
    expect(code).toBe(document.points[0]?.decision === 'invalid' ? 5 : 3)
  }, 60_000)
})
