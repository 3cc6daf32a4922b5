import { mkdtemp, readFile, rm, symlink, writeFile, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { threeWalls } from '../../test/fixtures/documents.ts'
import { liveDeps, pageServer, vllmPage } from '../../test/fixtures/pages.ts'
import { cliRun } from '../../test/fixtures/cli.ts'
import type { WatchDocument } from '../report/watch-document.ts'
import { watchSchema } from './operate-schemas.ts'
import { showFlow } from './show.ts'
import { signalsFlow } from './scale-signals.ts'
import { watchFlow, type WatchConfig } from './watch.ts'

const config: WatchConfig = {
  urls: [],
  machineUrls: [],
  prometheusUrl: null,
  keyEnv: 'NONE',
  objectives: ['ttft < 500ms and tpot < 50ms, good 99%'],
  windowsMs: [150, 400],
  intervalMs: 100,
  count: 8,
  sweep: null,
  record: false,
  name: 'watch',
  runsDir: 'runs',
  out: null,
}

describe('watch', () => {
  it('a fleet: merged counts, burn only of full windows, a silent replica unknown; kept for signals', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plimsoll-watch-'))
    await mkdir(join(folder, 'sweep'))
    await writeFile(join(folder, 'sweep', 'sweep.json'), JSON.stringify(threeWalls))
    const a = await pageServer(vllmPage({ running: 8, waiting: 0, kv: 0.4 }))
    const b = await pageServer(vllmPage({ running: 8, waiting: 8, kv: 0.6 }))
    const machine = await pageServer(
      'node_cpu_seconds_total{cpu="0",mode="idle"} 1\nDCGM_FI_DEV_FB_USED 9\nDCGM_FI_DEV_FB_FREE 1\n',
    )
    const looks: WatchDocument[] = []
    const out = join(folder, 'kept')
    const outcome = await watchFlow(
      {
        ...config,
        urls: [a.url, b.url],
        machineUrls: [machine.url],
        sweep: join(folder, 'sweep'),
        record: true,
        out,
      },
      {
        ...liveDeps(new AbortController().signal),
        onLook(document) {
          looks.push(document)
          const n = looks.length * 100
          // Each look 100 more a replica, a tenth of which is too late.
          a.text = vllmPage({ running: 8, waiting: 0, kv: 0.4, ttft: [n * 0.5, n * 0.9, n] })
          b.text =
            looks.length < 7
              ? vllmPage({ running: 8, waiting: 8, kv: 0.6, ttft: [n * 0.5, n * 0.9, n] })
              : null
        },
      },
    )
    expect(outcome.looks).toBe(8)
    for (const look of looks) expect(v.safeParse(watchSchema, look).issues).toBeUndefined()
    const [first] = looks
    expect(first?.fleet).toMatchObject({
      running: 16,
      waiting: 8,
      kv_usage_max: 0.6,
      gpu_memory: 0.9,
      ttft: null,
    })
    expect(first?.objectives[0]?.windows.map(({ burn, share }) => [burn, share])).toEqual([
      [null, null],
      [null, null],
    ])
    expect(first?.objectives[0]?.alerts.map(({ state }) => state)).toEqual([null, null])
    const settled = looks[6]
    // Both limits are missed by a tenth: together at best a tenth is bad, at worst a fifth.
    expect(settled?.objectives[0]?.windows[1]?.share?.[0]).toBeCloseTo(0.8, 9)
    expect(settled?.objectives[0]?.windows[1]?.share?.[1]).toBeCloseTo(0.9, 9)
    expect(settled?.objectives[0]?.windows[1]?.burn?.[0]).toBeCloseTo(10, 9)
    expect(settled?.objectives[0]?.alerts).toEqual([
      { name: 'lesson', state: 'fires' },
      { name: 'sre-workbook', state: 'may_fire' },
    ])
    expect(settled?.walls).toContainEqual({
      kind: 'slo',
      at: 32,
      unit: 'in flight a replica',
      now: 12,
      share: 0.375,
    })
    const last = looks[7]
    expect(last?.fleet).toMatchObject({ up: 1, known: 2, running: 8 })
    expect(last?.notes[0]).toContain('unknown, not idle')

    const lines = (await readFile(join(out, 'server.ndjson'), 'utf8')).trimEnd().split('\n')
    expect(lines).toHaveLength(16)
    const { shown } = await showFlow([out], liveDeps(new AbortController().signal))
    expect(shown).toEqual([{ kind: 'watch', path: out, document: last }])
    const { document } = await signalsFlow(
      { path: out, objective: 'ttft < 100ms', holdMs: 0, coldStartMs: null, on: 'gpu_memory' },
      liveDeps(new AbortController().signal),
    )
    expect(document.breach_at_s).not.toBeNull()
    expect(document.policy?.refused).toContain('too few to tell')
  })

  it('says what it waits for: two looks, a request, a window', async () => {
    const page = await pageServer(vllmPage({ running: 0, waiting: 0, ttft: [5, 5, 5] }))
    const looks: WatchDocument[] = []
    const notices: string[] = []
    await watchFlow(
      { ...config, urls: [page.url], count: 3 },
      {
        ...liveDeps(new AbortController().signal),
        onNotice: (text) => notices.push(text),
        onLook(document) {
          looks.push(document)
          if (looks.length === 2) page.text = vllmPage({ running: 0, waiting: 0, ttft: [6, 6, 6] })
        },
      },
    )
    expect(looks.map(({ objectives }) => objectives[0]?.windows[1]?.why)).toEqual([
      'one look so far, and it takes two',
      expect.stringMatching(/^no request was answered in the \d+ms watched$/),
      expect.stringMatching(/^\d+ms of 400ms watched$/),
    ])
    expect(notices).toEqual([
      `watching ${page.url} every 100ms: rates and latencies come with the second look; a burn takes 150ms of watching, a page 400ms`,
    ])
  })

  it.each([
    [
      'one engine that has no histograms',
      ['llamacpp:requests_processing 1\n'],
      'llamacpp has no histogram of ttft',
      false,
    ],
    [
      'beside one that has them, it is only that nobody asked',
      ['llamacpp:requests_processing 1\n', vllmPage({ running: 0, waiting: 0, ttft: [5, 5, 5] })],
      expect.stringMatching(/^no request was answered in the \d+ms watched$/),
      true,
    ],
  ])('what no watching will tell is not waited for: %s', async (_, texts, why, waits) => {
    const pages = await Promise.all(texts.map((text) => pageServer(text)))
    const looks: WatchDocument[] = []
    await watchFlow(
      { ...config, urls: pages.map(({ url }) => url), count: 2 },
      { ...liveDeps(new AbortController().signal), onLook: (document) => void looks.push(document) },
    )
    const [window] = looks.at(-1)?.objectives[0]?.windows ?? []
    expect(window).toMatchObject({ burn: null, why, waits })
    for (const look of looks) expect(v.safeParse(watchSchema, look).issues).toBeUndefined()
  })

  it('an outage: no request is answered, none is in a histogram, and the page is out all the same', async () => {
    const page = await pageServer(vllmPage({ running: 1, waiting: 0, answers: { '2xx': 100 } }))
    const looks: WatchDocument[] = []
    await watchFlow(
      { ...config, urls: [page.url], count: 7 },
      {
        ...liveDeps(new AbortController().signal),
        onLook(document) {
          looks.push(document)
          page.text = vllmPage({ running: 1, waiting: 0, answers: { '2xx': 100, '5xx': looks.length * 10 } })
        },
      },
    )
    const last = looks.at(-1)?.objectives[0]
    expect(last?.windows.map(({ share, burn, n }) => [share, burn, n > 0])).toEqual([
      [[0, 0], [100, 100], true],
      [[0, 0], [100, 100], true],
    ])
    expect(last?.windows[0]?.limits.at(-1)).toEqual({ text: 'answered', low: 0, high: 0 })
    expect(last?.alerts.map(({ state }) => state)).toEqual(['fires', 'fires'])
  })

  it('a disk that fills up costs what is kept, not the watch', async () => {
    const page = await pageServer(vllmPage({ running: 1, waiting: 0 }))
    const out = join(await mkdtemp(join(tmpdir(), 'plimsoll-watch-')), 'kept')
    const unsaved: string[] = []
    const outcome = await watchFlow(
      { ...config, urls: [page.url], count: 3, record: true, out },
      {
        ...liveDeps(new AbortController().signal),
        onUnsaved: ({ code }) => unsaved.push(code),
        async onLook() {
          await rm(join(out, 'server.ndjson'), { force: true })
          await symlink('/dev/full', join(out, 'server.ndjson'))
        },
      },
    )
    expect(outcome).toMatchObject({ looks: 3, folder: out })
    expect(unsaved).toEqual(['PLIM_RUN_FOLDER', 'PLIM_RUN_FOLDER'])
  })

  it('an engine that counts no failures is said to', async () => {
    const page = await pageServer(vllmPage({ running: 1, waiting: 0 }))
    const outcome = await watchFlow(
      { ...config, urls: [page.url], count: 3 },
      { ...liveDeps(new AbortController().signal), onLook: () => {} },
    )
    expect(outcome.last?.notes).toContain(
      'vllm shows no counter of failed requests here: shares are of the answered ones',
    )
  })

  it('nothing that answers is said at once', async () => {
    const down = await pageServer(null)
    const deps = { ...liveDeps(new AbortController().signal), onLook: () => {} }
    await expect(watchFlow({ ...config, urls: [down.url] }, deps)).rejects.toThrow('no metrics can be read')
    await expect(watchFlow(config, deps)).rejects.toThrow('nothing to watch')
  })

  it.each([
    [
      'a port that refuses',
      null,
      /^connect ECONNREFUSED 127\.0\.0\.1:1, from http:\/\/127\.0\.0\.1:1\/metrics$/,
    ],
    [
      'a path that is not there',
      { status: 404, text: '{"detail":"Not Found"}' },
      /^HTTP 404: Not Found, from /,
    ],
    ['a web page', { status: 200, text: '<!doctype html><title>Grafana</title>' }, /^a web page, from /],
    ['something else', { status: 200, text: '{"a": [1]}' }, /^a page of something else, from /],
  ])('what came instead of metrics is told: %s', async (_, answer, received) => {
    const page = answer === null ? null : await pageServer(answer.text)
    if (page !== null && answer !== null) page.status = answer.status
    const url = page?.url ?? 'http://127.0.0.1:1'
    const deps = { ...liveDeps(new AbortController().signal), onLook: () => {} }
    await expect(watchFlow({ ...config, urls: [url] }, deps)).rejects.toMatchObject({
      code: 'PLIM_CONNECT',
      received: expect.stringMatching(received) as string,
      hint: expect.stringContaining(
        `curl ${url}/metrics shows what is there${answer === null ? '' : '; SGLang'}`,
      ) as string,
    })
  })

  it('ends with the signal', async () => {
    const page = await pageServer(vllmPage({ running: 1, waiting: 0 }))
    const stop = new AbortController()
    const outcome = await watchFlow(
      { ...config, urls: [page.url], count: null, intervalMs: 60_000 },
      { ...liveDeps(stop.signal), onLook: () => setTimeout(() => stop.abort(), 20) as unknown as void },
    )
    expect(outcome).toMatchObject({ looks: 1, folder: null })
  })
})

describe('the command line', () => {
  it.each([
    ['nothing', ['watch'], 'there is nothing to watch'],
    ['one window', ['watch', '--url', 'a', '--windows', '5m'], '--windows takes a short and a long one'],
    ['too often', ['watch', '--url', 'a', '--interval', '1ms'], 'too short'],
    ['a part of scale', ['scale', 'signal'], 'did you mean plimsoll scale signals?'],
    ['no target', ['scale', 'serve', '--url', 'a'], 'plimsoll scale policy SWEEP gives it'],
    ['half of TLS', ['scale', 'serve', '--url', 'a', '--target', '3', '--tls-key', 'k'], 'go together'],
    ['nothing to serve from', ['scale', 'serve', '--target', '3'], 'nothing to read the load from'],
    ['a margin', ['scale', 'policy', 'runs/a', '--margin', '20%'], 'say which'],
    ['bounds', ['scale', 'policy', 'runs/a', '--min', '4', '--max', '3'], '--max is under --min'],
    ['a signal without a run', ['scale', 'policy', 'runs/a', '--on', 'cpu'], '--run RUN'],
    ['a format', ['scale', 'policy', 'runs/a', '--format', 'kedaa'], 'did you mean keda?'],
    ['a flag', ['scale', 'policy', 'runs/a', '--rampp', '1/s/s'], 'did you mean --ramp?'],
  ])('%s is refused: %s', async (_, argv, said) => {
    const { exitCode, stdout, stderr } = await cliRun(argv)
    expect(stderr).toContain(said)
    expect([exitCode, stdout]).toEqual([2, ''])
  })
  it('a policy in each format', async () => {
    expect((await cliRun(['scale', 'policy', 'runs/a', '-f', 'keda'])).stdout).toBe('kind: ScaledObject\n')
    expect(JSON.parse((await cliRun(['scale', 'policy', 'runs/a', '-f', 'json'])).stdout)).toMatchObject({
      warm_pool: 1,
    })
    expect((await cliRun(['scale', 'policy', 'runs/a'])).stdout).toContain('Aim at 19 requests')
    expect((await cliRun(['scale'])).stdout).toContain('plimsoll scale signals')
    expect((await cliRun(['scale', 'signals', 'runs/a'])).stdout).toContain('Scale on waiting')
  })
})
