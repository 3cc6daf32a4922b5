import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import type { SweepDocument } from '../src/report/documents.ts'

const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const run = promisify(execFile)

async function sweep(cwd: string, ...flags: string[]): Promise<SweepDocument> {
  // On a machine that is busy enough every point is INVALID, and the exit code says so.
  const { stdout } = await run(process.execPath, [main, 'sweep', '--json', '--no-progress', ...flags], {
    cwd,
  }).catch((error: unknown) => error as { readonly stdout: string })
  return JSON.parse(stdout) as SweepDocument
}

it('sweeps given loads, confirms the operating point, keeps everything, and goes on where it was ended', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'plimsoll-sweep-'))
  // An objective that every load keeps, whatever else the machine does.
  const common = ['--slo', 'p50 tpot <= 100ms', '--duration-per-point', '2s']
  const first = await sweep(cwd, ...common, '--concurrency', '1,4', '--no-confirm')
  expect(first.schema).toBe('plimsoll.sweep/1')
  expect(first.complete).toBe(true)
  expect(first.points.map(({ load }) => load.value)).toEqual([1, 4])
  expect(first.walls.memory?.kv_tokens).toBe(900 * 16)
  expect(first.walls.memory?.load).toBe(50)
  // A busy machine may make a point's client the limit; its numbers are then left out.
  expect([1, 4]).toContain(first.capacity.load)
  expect(first.capacity).toMatchObject({ censored: true, binding: null })
  expect(first.operating_point?.confirmed).toBeNull()

  const folder = join(cwd, first.sweep)
  // A point whose client was the limit is measured `-again`.
  const kept = readdirSync(folder).filter((name) => !name.endsWith('-again'))
  expect(kept.sort()).toEqual(['01-users-1', '02-users-4', 'sweep.json'])
  expect(readdirSync(join(folder, '02-users-4')).sort()).toEqual([
    'requests.parquet',
    'run.json',
    'server.parquet',
  ])
  expect(JSON.parse(readFileSync(join(folder, 'sweep.json'), 'utf8'))).toEqual(first)

  const second = await sweep(
    cwd,
    ...common,
    '--concurrency',
    '1,4,8',
    '--warmup',
    '1500ms',
    '--confirm-duration',
    '4s',
    '--resume',
    first.sweep,
  )
  expect(second.sweep).toBe(first.sweep)
  const runs = second.points.map(({ run: each }) => each?.replace('-again', ''))
  expect(runs).toEqual(['01-users-1', '02-users-4', '03-users-8'])
  expect(second.operating_point?.confirmation?.run).toMatch(/^confirm/)
  const warmup = (name: string): number =>
    (
      JSON.parse(readFileSync(join(folder, name, 'run.json'), 'utf8')) as {
        readonly window: { readonly warmup_s: number }
      }
    ).window.warmup_s
  expect(warmup(second.points[2]?.run ?? '')).toBe(1.5)
  expect(warmup(second.operating_point?.confirmation?.run ?? '')).toBe(1.5)
  const { stdout } = await run(process.execPath, [main, 'show', second.sweep], { cwd })
  expect(stdout).toContain('Capacity: at least ')
}, 120_000)

it('ends when its time is over, says what is missing, and goes on from there', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'plimsoll-sweep-'))
  const common = ['--slo', 'p50 tpot <= 100ms', '--duration-per-point', '3s', '--no-confirm']
  const first = await sweep(cwd, ...common, '--concurrency', '1,2,4', '--max-duration', '6s')
  expect(first).toMatchObject({ complete: false, stopped: { kind: 'early' } })
  const [cut] = first.points.filter(({ stopped }) => stopped?.startsWith('cut short') === true)
  const left = [1, 2, 4].filter((users) => !first.points.some(({ load }) => load.value === users))
  const missing = [...(cut === undefined ? [] : [cut.load.value]), ...left]
  expect(missing.length).toBeGreaterThan(0)
  expect(first.stopped?.why).toContain(`missing: ${missing.map((users) => `${users} users`).join(', ')};`)

  const second = await sweep(cwd, ...common, '--concurrency', '1,2,4', '--resume', first.sweep)
  expect(second).toMatchObject({ complete: true, stopped: null, sweep: first.sweep })
  expect(second.points.map(({ load }) => load.value)).toEqual([1, 2, 4])
  expect(second.points.some(({ stopped }) => stopped?.startsWith('cut short') === true)).toBe(false)
  for (const { run: each } of second.points) {
    expect(readdirSync(join(cwd, second.sweep, each!))).toContain('requests.parquet')
  }
}, 120_000)
