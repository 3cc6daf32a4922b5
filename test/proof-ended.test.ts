import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  exportRows,
  readTruth,
  type Running,
  scratch,
  shown,
  start,
  startEngine,
  until,
} from './fixtures/product.ts'

const journalLines = (folder: string): readonly string[] => {
  const path = join(folder, 'journal.ndjson')
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []
}

/** Waits until the journal holds rows: the run is under way. */
async function underWay(running: Running, folder: string, rows = 40): Promise<void> {
  await until(() => journalLines(folder).length > rows, running)
}

const load = [
  '--pacer',
  'constant 40/s',
  '--duration',
  '60s',
  '--prompt',
  '16',
  '--output',
  '4',
  '--no-progress',
]

describe('a run that is killed', () => {
  test('leaves a folder that reads, with all but its last second', { timeout: 120_000 }, async () => {
    const cwd = scratch()
    const folder = join(cwd, 'run')
    const engine = await startEngine(['--truth', 't.ndjson'], cwd)
    const running = start(['run', '--url', engine.url, '--out', folder, ...load], { cwd })
    await underWay(running, folder)
    // Four seconds of load more: what is lost cannot hide behind a flush that has just been.
    const truths = (): number => readTruth(join(cwd, 't.ndjson')).size
    const answeredBefore = truths()
    await until(() => truths() > answeredBefore + 160, running)
    running.child.kill('SIGKILL')
    const killedNs = Number(process.hrtime.bigint())
    expect(await running.ended).toMatchObject({ signal: 'SIGKILL' })
    await engine.stop()

    expect(readdirSync(folder).sort()).toEqual(['journal.ndjson', 'server.ndjson'])
    const rows = await exportRows(folder)
    expect(rows.length).toBeGreaterThanOrEqual(30)
    // Whatever the engine had answered a second before the kill is there; a second more is for a machine that is busy.
    const kept = new Set(rows.map(({ id }) => id))
    const salt = rows[0]!.id.split('-')[0]!
    const answered = [...readTruth(join(cwd, 't.ndjson')).values()].filter(
      ({ id, outcome, writes_ns }) =>
        id.startsWith(salt) && outcome === 'ok' && writes_ns.at(-1)! < killedNs - 2e9,
    )
    expect(answered.length).toBeGreaterThan(0)
    expect(answered.filter(({ id }) => !kept.has(id))).toEqual([])

    const document = await shown(folder)
    expect(document.complete).toBe(false)
    // What the client knew of itself went with it: no figures without their error.
    expect(document.verdict.status).not.toBe('VALID')
    expect(document.verdict.reasons.map(({ rule }) => rule)).toContain('client_unknown')
    expect(document.stopped).toMatchObject({ kind: 'killed' })
    expect(document.stopped!.why).toContain(`${2400 - rows.length} of 2400 planned requests have no row`)
    const printed = await start(['show', folder], { cwd }).ended
    expect(printed).toMatchObject({ code: 0, stderr: '' })
    expect(printed.stdout).toContain('incomplete: it was killed, or its files could not be written')
    // Every planned request is accounted for, and so is what the server said of itself up to then.
    expect(document.counts).toMatchObject({ planned: 2400, lost: 2400 - rows.length })
    // What was under way, and what was never sent, are no rows that were lost.
    expect(document.verdict.reasons.map(({ rule }) => rule)).not.toContain('rows_lost')
    expect(printed.stdout).toContain('2,400 planned = ')
    expect(printed.stdout).toContain(' without a record')
    expect(printed.stdout).not.toContain('DOES NOT ADD UP')
    const seconds = document.window.measure_s
    expect(document.server!.looks).toBeGreaterThanOrEqual(Math.floor(seconds) - 2)
    expect(printed.stdout).toMatch(/server: running .* looks/)
    // The window ends with what was seen, not with the plan: rates are not thinned by seconds that never came.
    expect(seconds).toBeLessThan(59)
    expect(document.throughput.requests_per_s).toBeGreaterThan(30)
  })

  test('ends its embedded engine with itself', { timeout: 120_000 }, async () => {
    const cwd = scratch()
    const folder = join(cwd, 'run')
    const running = start(['run', '--out', folder, ...load], { cwd })
    await underWay(running, folder)
    const url = (JSON.parse(journalLines(folder)[0]!) as { manifest: { target: { url: string } } }).manifest
      .target.url
    const answers = (): Promise<boolean> =>
      fetch(new URL('/health', url)).then(
        ({ ok }) => ok,
        () => false,
      )
    expect(await answers()).toBe(true)
    running.child.kill('SIGKILL')
    await running.ended
    await expect.poll(answers, { timeout: 10_000 }).toBe(false)
  })
})

describe('a client that is stopped for a while and goes on (Ctrl-Z, a paused machine)', () => {
  test(
    'says that the figures are its own: INVALID, also in a closed loop',
    { timeout: 120_000 },
    async () => {
      const cwd = scratch()
      const folder = join(cwd, 'run')
      const engine = await startEngine([], cwd)
      const users = ['--concurrency', '2', '--duration', '6s', '--prompt', '16', '--output', '4']
      const running = start(['run', '--url', engine.url, '--out', folder, '--json', ...users], { cwd })
      await underWay(running, folder)
      running.child.kill('SIGSTOP')
      await new Promise((resolve) => setTimeout(resolve, 2000))
      running.child.kill('SIGCONT')
      const { code, stdout } = await running.ended
      await engine.stop()
      const { verdict } = JSON.parse(stdout) as Awaited<ReturnType<typeof shown>>
      expect(verdict.status).toBe('INVALID')
      expect(verdict.reasons.map(({ rule }) => rule)).toContain('stood_still')
      expect(code).toBe(5)
    },
  )
})

describe('Ctrl-C', () => {
  test.each([
    ['a server', true],
    ['the embedded engine, which hears it too', false],
  ])(
    'drains and keeps what %s answered, says what is missing, and exits with 130',
    { timeout: 120_000 },
    async (_, served) => {
      const cwd = scratch()
      const folder = join(cwd, 'run')
      const engine = served ? await startEngine([], cwd) : null
      const target = engine === null ? [] : ['--url', engine.url]
      const running = start(['run', ...target, '--out', folder, '--json', ...load], { cwd, group: true })
      await underWay(running, folder)
      // As a terminal sends them: to the whole group. A terminal that closes is none of its concern: it has none, as under nohup.
      process.kill(-running.child.pid!, 'SIGHUP')
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect(running.child.exitCode ?? running.child.signalCode).toBeNull()
      process.kill(-running.child.pid!, 'SIGINT')
      const { code, stdout, stderr } = await running.ended
      await engine?.stop()
      expect({ code, stderr }).toMatchObject({ code: 130 })
      expect(stderr).toContain('stopping: no more is sent')
      const document = JSON.parse(stdout) as Awaited<ReturnType<typeof shown>>
      const { counts } = document
      expect(document.stopped).toMatchObject({ kind: 'interrupted' })
      // What was under way was drained: each request that was sent has its answer.
      expect(counts).toMatchObject({ planned: 2400, ok: counts.sent, failed: 0, shed: 0, censored: 0 })
      expect(counts.ok + counts.unsent).toBe(2400)
      expect(await exportRows(folder)).toHaveLength(2400)
      expect(readdirSync(folder).sort()).toEqual(['requests.parquet', 'run.json', 'server.parquet'])
      const printed = await start(['show', folder], { cwd }).ended
      expect(printed.stdout).toContain('interrupted')
      expect(printed.stdout).toContain(`${counts.unsent.toLocaleString('en-US')} never sent`)
    },
  )

  test('twice ends at once, and the folder still reads', { timeout: 120_000 }, async () => {
    const cwd = scratch()
    const folder = join(cwd, 'run')
    // No answer ends by itself: the first Ctrl-C would wait for the drain.
    const engine = await startEngine(['--fault', 'stall 500s at 20s'], cwd)
    const running = start(['run', '--url', engine.url, '--out', folder, ...load], { cwd })
    await underWay(running, folder)
    // Nothing is answered any more once it stands still: 40 more requests wait with every second.
    const inFlight = async (): Promise<number> => {
      const page = await (await fetch(new URL('/metrics', engine.url))).text()
      const counts = page.matchAll(/^vllm:num_requests_(?:running|waiting)(?:\{[^}]*\})? (\d+)/gm)
      return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
    }
    await expect.poll(inFlight, { timeout: 60_000 }).toBeGreaterThan(100)
    running.child.kill('SIGINT')
    await until(() => running.said().stderr.includes('stopping:'), running)
    running.child.kill('SIGINT')
    expect(await running.ended).toMatchObject({
      code: 130,
      stdout: '',
      stderr: expect.stringContaining(`kept → plimsoll show ${folder}\n`) as string,
    })
    await engine.stop()
    expect((await shown(folder)).stopped).toMatchObject({ kind: 'killed' })
  })

  test('twice before anything was answered tells how many were sent', { timeout: 120_000 }, async () => {
    const cwd = scratch()
    const folder = join(cwd, 'run')
    const engine = await startEngine([], cwd)
    const users = [
      '--concurrency',
      '3',
      '--duration',
      '60s',
      '--prompt',
      '16',
      '--output',
      '3000',
      '--no-progress',
    ]
    const running = start(['run', '--url', engine.url, '--out', folder, ...users], { cwd })
    const journal = (): string => journalLines(folder).join('\n')
    await until(() => journal().includes('{"seen":{"sent":3,'), running)
    running.child.kill('SIGINT')
    await until(() => running.said().stderr.includes('stopping:'), running)
    running.child.kill('SIGINT')
    expect((await running.ended).code).toBe(130)
    await engine.stop()
    const document = await shown(folder)
    expect(document.counts).toMatchObject({
      planned: 3,
      sent: 3,
      ok: 0,
      unsent: 0,
      lost: 3,
      lost_under_way: 3,
    })
    expect(document.verdict.reasons.map(({ message }) => message)).toContain(
      'none of 3 sent requests succeeded',
    )
    const printed = await start(['show', folder], { cwd }).ended
    expect(printed.stdout).toContain('3 without a record (3 under way when it was last seen)')
    expect(printed.stdout).not.toContain('no request was sent')
  })

  test(
    'while the server is still asked what it is ends with 130 and leaves no folder',
    { timeout: 60_000 },
    async () => {
      const cwd = scratch()
      let asked = 0
      // It takes every connection, and says nothing.
      const server = createServer((socket) => {
        asked++
        socket.on('error', () => undefined).resume()
        onTestFinished(() => void socket.destroy())
      }).listen(0, '127.0.0.1')
      onTestFinished(() => void server.close())
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const running = start(['run', '--url', `http://127.0.0.1:${port}`, '--no-progress'], { cwd })
      await until(() => asked > 0, running)
      running.child.kill('SIGINT')
      expect(await running.ended).toMatchObject({ code: 130, stdout: '' })
      expect(readdirSync(cwd)).toEqual([])
    },
  )
})
