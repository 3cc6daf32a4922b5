import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { SweepDocument } from '../src/report/documents.ts'
import type { FindDocument } from '../src/report/find-document.ts'
import { exportRows, readTruth, run, scratch, start, startEngine } from './fixtures/product.ts'

/** A server whose answer to the n-th completion request is the test's, from 0. */
async function serve(
  complete: (response: ServerResponse, request: IncomingMessage, n: number) => void,
): Promise<string> {
  let n = 0
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      if (request.method === 'POST' && request.url === '/v1/chat/completions')
        complete(response, request, n++)
      else if (request.url === '/v1/models') response.end('{"object":"list","data":[{"id":"m"}]}')
      else response.writeHead(404).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function answer(response: ServerResponse, text = 'one two'): void {
  const events = [
    ...text.split(' ').map((word) => ({ choices: [{ index: 0, delta: { content: ` ${word}` } }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { choices: [], usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 } },
  ]
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`)
  response.end('data: [DONE]\n\n')
}

/** The preflight asks a few times; none of that fails here. */
const afterPreflight = 30

describe('a server that answers nothing any more', () => {
  test(
    'ends the run early, with share and count, and every request accounted for',
    { timeout: 120_000 },
    async () => {
      const cwd = scratch()
      const url = await serve((response, _, n) => {
        if (n < afterPreflight) answer(response)
        else response.writeHead(500).end('{"error":{"message":"out of memory","type":"internal"}}')
      })
      const { code, document, folder } = await run(['--url', url, '-r', '50', '-n', '2000'], { cwd })
      expect(code).toBe(5)
      expect(document.stopped).toMatchObject({ kind: 'early' })
      expect(document.stopped!.why).toMatch(/\d+ of the last 60 requests \([\d.]+ %\) failed/)
      const { counts } = document
      expect(counts.ok + counts.failed + counts.shed + counts.censored + counts.unsent).toBe(2000)
      expect(counts.unsent).toBeGreaterThan(1000)
      expect(await exportRows(folder)).toHaveLength(2000)
    },
  )
})

describe('a sweep and a search of a server that fails', () => {
  const failing: [string, string, (response: ServerResponse) => void][] = [
    ['refuses all', 'http_429', (response) => response.writeHead(429, { 'retry-after': '2' }).end('{}')],
    [
      'fails at all',
      'http_500',
      (response) => response.writeHead(500).end('{"error":{"message":"no memory"}}'),
    ],
    [
      'breaks off each answer',
      'truncated',
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.end(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: ' one' } }] })}\n\n`)
      },
    ],
  ]
  const slo = ['--slo', 'p90 tpot <= 50ms', '-d', '2s', '--no-progress']

  test.each(failing)('%s: no wall, no peak, and %s by name', { timeout: 120_000 }, async (_, kind, fail) => {
    const cwd = scratch()
    const failingServer = (): Promise<string> =>
      serve((response, _request, n) => (n < afterPreflight ? answer(response) : fail(response)))
    const url = await failingServer()
    // Warm: what the server still answered lies before the first window.
    const warm = ['--warmup', '1s']
    const swept = await start(['sweep', '--url', url, '-c', '1,2', ...slo, ...warm, '--json'], { cwd }).ended
    expect(swept.code).toBe(5)
    const document = JSON.parse(swept.stdout) as SweepDocument
    expect(document.walls).toMatchObject({ saturation: null, slo: null })
    for (const why of [document.walls.why.saturation, document.walls.why.slo, document.capacity.why])
      expect(why).toMatch(new RegExp(`no request was answered in any measured window: ${kind} \\d`))
    expect(document).toMatchObject({
      peak: null,
      operating_point: null,
      capacity: { load: null, binding: null },
    })
    expect(document.warnings.map(({ kind: warned }) => warned)).not.toContain('not_confirmed')
    for (const { errors } of document.points) expect(Object.keys(errors ?? {})).toEqual([kind])
    const shown = await start(['show', document.sweep], { cwd }).ended
    expect(shown.stdout).not.toMatch(/the peak|saturation wall: the first/)
    expect(shown.stdout).toMatch(new RegExp(`look at ${kind}.*: \\S`))
    expect(shown.stdout).toContain(`plimsoll show ${document.sweep}/01-users-1`)

    const sought = await start(['find', '--url', await failingServer(), ...slo, '--json'], { cwd }).ended
    expect(sought.code).toBe(5)
    const { answer: found } = JSON.parse(sought.stdout) as FindDocument
    expect(found).toMatchObject({ holds_at_per_s: null, fails_at_per_s: null })
    expect(found.why).toMatch(new RegExp(`nothing was answered in the window of the probe: ${kind} \\d`))
  })
})

describe('a server that goes away between two measurements', () => {
  const rows: readonly [
    verb: string,
    flags: readonly string[],
    folder: string,
    before: string,
    shown: string,
  ][] = [
    [
      'find',
      ['--slo', 'p50 ttft <= 9s', '--rate-from', '5', '--duration-per-point', '2s'],
      '02-',
      '[12] points?',
      '',
    ],
    ['prefill', ['--repeats', '40'], '02-', '[23] measurements', '/0\\S+'],
  ]
  test.each(rows)(
    'is said to have answered before: %s',
    { timeout: 120_000 },
    async (verb, flags, inside, done, shown) => {
      const cwd = scratch()
      const engine = await startEngine([], cwd)
      const running = start([verb, '-u', engine.url, ...flags, '--out', 'left', '--no-progress'], { cwd })
      await vi.waitUntil(
        () =>
          existsSync(join(cwd, 'left')) &&
          readdirSync(join(cwd, 'left')).some((name) => name.startsWith(inside)),
        { timeout: 60_000 },
      )
      await engine.stop()
      const { code, stderr } = await running.ended
      expect(code).toBe(2)
      expect(stderr).toMatch(
        new RegExp(`PLIM_CONNECT {2}nothing answers at \\S+; it answered before: ${done}\n {2}at left\n`),
      )
      expect(stderr).toMatch(
        new RegExp(`what was measured: plimsoll show left${shown}; to go on: start the server`),
      )
    },
  )
})

const shedding = ['-r', '20', '-n', '100', '--prompt', '16', '--output', '16', '--goodput', 'ttft:500']

describe('a server that sheds load', () => {
  test('has its refusals counted, one for each of its own', { timeout: 120_000 }, async () => {
    const cwd = scratch()
    const engine = await startEngine(
      ['--max-num-seqs', '1', '--fault', '429 when waiting>1 retry after 2s', '--truth', 't.ndjson'],
      cwd,
    )
    const { document, folder } = await run([...shedding, '--url', engine.url], { cwd })
    await engine.stop()
    const rows = await exportRows(folder)
    const truths = readTruth(join(cwd, 't.ndjson'))
    const shed = rows.filter(({ outcome }) => outcome === 'shed')
    expect(shed.length).toBeGreaterThan(5)
    expect(rows.filter(({ id }) => truths.get(id)?.http_status === 429).map(({ id }) => id)).toEqual(
      shed.map(({ id }) => id),
    )
    for (const row of shed) {
      expect(row).toMatchObject({
        ok: false,
        http_status: 429,
        retry_after_ms: 2000,
        ttft_ms: null,
        tpot_ms: null,
      })
    }
    const { counts, goodput, metrics } = document
    expect(counts).toMatchObject({
      planned: 100,
      shed: shed.length,
      ok: 100 - shed.length,
      failed: 0,
      unsent: 0,
    })
    // A refusal is an attempt and no good one, and an infinite wait among all attempts.
    expect(goodput!.attempts).toBe(100)
    expect(goodput!.good).toBeLessThanOrEqual(counts.ok)
    expect(metrics.ttft_ms!.n).toBe(counts.ok)
    expect(metrics.ttft_ms!.all_attempts!['p99']).toBe(null)
  })
})

describe('the API key', () => {
  const key = 'a-key-of-no-known-form-31415926535'

  /** All that a run left behind, as bytes. */
  function left(folder: string): string {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
      .join('\n')
  }

  test(
    'is sent, and neither stored nor printed, though the server quotes it wherever it can',
    { timeout: 120_000 },
    async () => {
      const cwd = scratch()
      let seen = 0
      const url = await serve((response, request, n) => {
        const quoted = request.headers.authorization ?? ''
        if (quoted === `Bearer ${key}`) seen++
        const error = {
          message: `no right for ${quoted} ${'.'.repeat(n % 9 === 1 ? 433 : 0)} ${key}`,
          type: `type ${quoted}`,
          code: key,
        }
        if (n < afterPreflight || n % 3 === 0) answer(response, `you are ${key}`)
        else if (n % 3 === 1) response.writeHead(500).end(JSON.stringify({ error }))
        else {
          response.writeHead(200, { 'content-type': 'text/event-stream', 'x-replica': key })
          response.end(`data: ${JSON.stringify({ error })}\n\n`)
        }
      })
      const ended = await run(
        [
          '--url',
          url,
          '-r',
          '50',
          '-n',
          '120',
          '--keep-text',
          '--replica-header',
          'x-replica',
          '--header',
          `X-Other=${key}`,
        ],
        { cwd, env: { OPENAI_API_KEY: key } },
      )
      expect(seen).toBeGreaterThan(100)
      expect(ended.document.counts.failed).toBeGreaterThan(40)
      expect(ended.stdout + ended.stderr).not.toContain(key)
      expect(left(ended.folder)).not.toContain(key)
      const exported = JSON.stringify(await exportRows(ended.folder))
      expect(exported).toContain('no right for')
      expect(exported).not.toContain(key)
      // Nor the half of it that is left where a long message was cut.
      expect(exported).toContain('…')
      expect(exported).not.toContain(key.slice(0, 8))
    },
  )

  test('is not in the journal of a run that was killed', { timeout: 120_000 }, async () => {
    const cwd = scratch()
    const folder = join(cwd, 'run')
    let failed = 0
    const url = await serve((response, request, n) => {
      if (n < afterPreflight || n % 2 === 0) answer(response)
      else
        response.writeHead(500).end(`{"error":{"message":"no right for ${request.headers.authorization}"}}`)
      if (n > afterPreflight) failed++
    })
    const running = start(['run', '--url', url, '-r', '50', '--no-progress', '--out', folder], {
      cwd,
      env: { OPENAI_API_KEY: key },
    })
    await expect.poll(() => failed, { timeout: 60_000 }).toBeGreaterThan(20)
    await expect.poll(() => left(folder).includes('no right for'), { timeout: 10_000 }).toBe(true)
    running.child.kill('SIGKILL')
    await running.ended
    expect(left(folder)).not.toContain(key)
  })

  test('is not on the terminal when it is refused', { timeout: 60_000 }, async () => {
    const cwd = scratch()
    const url = await serve((response, request) => {
      response.writeHead(401).end(`{"error":{"message":"wrong key: ${request.headers.authorization}"}}`)
    })
    const { code, stdout, stderr } = await start(['run', '--url', url], { cwd, env: { OPENAI_API_KEY: key } })
      .ended
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('PLIM_AUTH')
    expect(stderr).not.toContain(key)
    expect(readdirSync(cwd)).toEqual([])
  })
})
