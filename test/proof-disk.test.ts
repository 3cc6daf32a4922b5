import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { RunDocument } from '../src/report/documents.ts'
import type { MeasurementDocument } from '../src/report/measurement-document.ts'
import { scratch, start, startEngine, until } from './fixtures/product.ts'

describe('a disk that fills up', () => {
  /** No file may grow beyond so many KiB: what a full disk does to whoever writes, on any machine. */
  const room = (kibibytes: number): readonly string[] => [
    'bash',
    '-c',
    `ulimit -f ${kibibytes}; exec "$@"`,
    '--',
  ]
  const load = ['--prompt', '16', '--output', '64', '--no-progress', '--out', 'full']

  test('a run is printed from memory, and then what could not be written', { timeout: 120_000 }, async () => {
    const cwd = scratch()
    const args = ['run', '-r', '100', '-n', '300', ...load, '--json']
    const { code, stdout, stderr } = await start(args, { cwd, before: room(64) }).ended
    expect(code).toBe(2)
    const { counts } = JSON.parse(stdout) as RunDocument
    expect(counts).toMatchObject({ planned: 300, ok: 300 })
    expect(stderr).toMatch(/PLIM_RUN_FOLDER .*cannot be written: what is printed above is not stored/)
    expect(stderr).toMatch(/at full/)
    const shown = await start(['show', 'full', '--json'], { cwd }).ended
    const again = JSON.parse(shown.stdout) as RunDocument
    expect(again.complete).toBe(false)
    expect(again.counts.planned).toBe(300)
    expect(again.counts.lost).toBe(300 - again.counts.ok)
    expect(again.counts.ok).toBeGreaterThan(0)
    expect(again.verdict.status).toBe('INVALID')
    expect(again.verdict.reasons).toContainEqual(
      expect.objectContaining({ rule: 'rows_lost', value: again.counts.lost! / 300 }),
    )
    // Showing succeeded, whatever the verdict.
    expect(shown.code).toBe(0)
  })

  test(
    'a sweep is printed from memory, and does not say that it is saved',
    { timeout: 120_000 },
    async () => {
      const cwd = scratch()
      const args = ['sweep', '-c', '1,8', '-d', '2s', '--no-confirm', ...load]
      const { code, stdout, stderr } = await start(args, { cwd, before: room(24) }).ended
      expect(code).toBe(2)
      expect(stdout).toMatch(/^ +.? *8 /m)
      expect(stdout).toContain('NOT stored, or not whole: full')
      expect(stdout).not.toContain('saved')
      expect(stderr).toContain('PLIM_RUN_FOLDER')
    },
  )

  // Steps of 5 ms that nothing else costs much: a measurement of seconds.
  const measuring = [
    'model',
    'measure',
    '--prompt',
    '200',
    '--output',
    '50',
    '--points',
    '7',
    '--within',
    '1%',
    '--engine',
    'step-time=c0=5ms,c1=10us',
    '--engine',
    'max-num-seqs=16',
    '--engine',
    'jitter=0',
  ]

  test('a measurement for a model goes on, and is printed', { timeout: 240_000 }, async () => {
    const cwd = scratch()
    const args = [...measuring, '--runs-dir', 'full', '--no-progress', '--json']
    const { code, stdout, stderr } = await start(args, { cwd, before: room(8) }).ended
    const document = JSON.parse(stdout) as MeasurementDocument
    expect([code, document.points.length, document.ended]).toEqual([2, 7, 'points'])
    expect(stderr.match(/^PLIM_/gm)).toHaveLength(1)
    expect(stderr).toMatch(/^PLIM_RUN_FOLDER .*: what is printed above is not stored, or not whole/m)
  })

  test(
    'of one whose folder is gone, what was measured until then is fitted',
    { timeout: 240_000 },
    async () => {
      const cwd = scratch()
      const running = start([...measuring, '--runs-dir', 'runs', '--no-progress', '--out', 'model.json'], {
        cwd,
      })
      const folder = (): string | undefined =>
        existsSync(join(cwd, 'runs')) ? readdirSync(join(cwd, 'runs'))[0] : undefined
      const third = (): boolean =>
        folder() !== undefined &&
        readdirSync(join(cwd, 'runs', folder()!)).some((name) => name.startsWith('03-'))
      await until(third, running)
      const runs = join(cwd, 'runs', folder()!)
      rmSync(runs, { recursive: true })
      writeFileSync(runs, 'a file where the folder was')
      const { code, stdout, stderr } = await running.ended
      expect(code).toBe(2)
      expect(stdout).toContain('points in')
      expect(stdout).toContain('nothing more could be written')
      expect(stdout).toContain('saved model.json')
      expect(stdout).toContain(`NOT stored, or not whole: ${join('runs', folder()!)}`)
      expect(stderr.match(/^PLIM_/gm)).toEqual(['PLIM_'])
      expect(JSON.parse(readFileSync(join(cwd, 'model.json'), 'utf8'))).toMatchObject({
        schema: 'plimsoll.model/1',
      })
    },
  )

  test('a model that cannot be written where it was asked for is printed', { timeout: 240_000 }, async () => {
    const cwd = scratch()
    const args = [...measuring, '--runs-dir', 'runs', '--no-progress', '--out', 'none/model.json']
    const { code, stdout, stderr } = await start(args, { cwd }).ended
    expect(code).toBe(2)
    expect(stdout).toContain('7 points in')
    expect(stderr).toMatch(/^PLIM_FILE {2}none\/model\.json cannot be written/m)
  })

  test('a watch goes on without what it cannot record', { timeout: 120_000 }, async () => {
    const cwd = scratch()
    const engine = await startEngine([], cwd)
    const args = ['watch', '--url', engine.url, '--interval', '100ms', '-n', '40', '--out', 'full', '--json']
    const { code, stdout, stderr } = await start(args, { cwd, before: room(8) }).ended
    await engine.stop()
    expect(code).toBe(2)
    expect(stdout.trimEnd().split('\n')).toHaveLength(40)
    expect(stderr.match(/^PLIM_/gm)).toHaveLength(1)
    expect(stderr).toMatch(/^PLIM_RUN_FOLDER {2}what the metrics said cannot be written/m)
    expect(stderr).toContain('NOT stored, or not whole: full')
    // Whole lines, as many as there was room for, and what is known of them.
    const kept = readFileSync(join(cwd, 'full', 'server.ndjson'), 'utf8').split('\n')
    expect(kept.pop()).toBe('')
    expect(kept.length).toBeGreaterThan(5)
    expect(kept.length).toBeLessThan(40)
    for (const line of kept) expect(JSON.parse(line)).toMatchObject({ up: true })
    const [warning] = (
      JSON.parse(readFileSync(join(cwd, 'full', 'run.json'), 'utf8')) as { warnings: { message: string }[] }
    ).warnings
    expect(warning?.message).toBe(
      `40 looks at the server's metrics, ${40 - kept.length} of which could not be written; no request was sent`,
    )
    expect((await start(['show', 'full'], { cwd }).ended).code).toBe(0)
  })
})
