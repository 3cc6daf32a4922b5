import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { monotonicClock } from '../src/base/clock.ts'
import { openPrometheus, type PrometheusServer } from '../src/flows/slo-prometheus.ts'
import { sloFiles, sloRules } from '../src/flows/slo-rules.ts'
import { nativeServer, type Observations } from './fixtures/native-histogram.ts'
import { freePort, isInstalled, until } from './fixtures/programs.ts'

// Prometheus itself with native histograms, scraped as protobuf: promtool has no notation for them. The limit is no bound of any bucket.

const source = `
objectives:
  chat: { each: ttft < 470ms, good: 90%, over: 1h }
slo:
  service: live
  engine: vllm
  interval: 1s
  min_bad: 3
  match: { model_name: m }
  policy:
    name: seconds
    comparator: '>='
    alerts:
      - { severity: page, long: 12s, short: 4s, factor: 4 }
`
const here = isInstalled('prometheus')
if (!here) console.warn('prometheus is not here (apt-get install prometheus): the live test is skipped')

describe.skipIf(!here)('native histograms in a live Prometheus', () => {
  const specs = sloRules([{ path: 'live.yaml', text: source }], { histograms: 'native' })
  const clock = monotonicClock(performance, () => process.hrtime.bigint())
  let folder = ''
  let prometheus: ChildProcess
  let server: PrometheusServer
  let page: Awaited<ReturnType<typeof nativeServer>>
  /** What each scrape adds: observations of 100 ms and of 2 s. */
  let step: readonly [fast: number, slow: number] = [90, 10]
  const add = (observed: Observations): void => {
    const [fast, slow] = step
    observed.set(0.1, (observed.get(0.1) ?? 0) + fast)
    observed.set(2, (observed.get(2) ?? 0) + slow)
  }
  const ratio = (): Promise<number | null> => server.value('slo:bad_ratio:increase4s{sli="ttft"}')
  const paged = async (): Promise<number> =>
    (await server.query('ALERTS{alertname="SloBurnPage", sli="ttft", alertstate="firing"}')).length

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'plimsoll-native-'))
    for (const { name, text } of sloFiles(specs)) writeFileSync(join(folder, name), text)
    page = await nativeServer('vllm:time_to_first_token_seconds', add)
    const port = await freePort()
    writeFileSync(
      join(folder, 'prometheus.yml'),
      [
        'global: { scrape_interval: 1s, evaluation_interval: 1s }',
        'rule_files: ["*.rules.yaml"]',
        `scrape_configs: [{ job_name: engine, static_configs: [{ targets: ["127.0.0.1:${page.port}"] }] }]`,
      ].join('\n'),
    )
    prometheus = spawn(
      'prometheus',
      [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--enable-feature=native-histograms',
        '--log.level=error',
      ],
      { stdio: 'ignore' },
    )
    server = await openPrometheus(`http://127.0.0.1:${port}`, { clock })
    await until('Prometheus has scraped', async () => (await server.value('up')) === 1)
  }, 60_000)

  afterAll(async () => {
    prometheus.kill('SIGTERM')
    await server.close()
    await page.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('counts events on either side of a limit that is no bound, pages, and is not NaN when nobody asks', async () => {
    expect(page.accepts.some((accept) => accept.includes('application/vnd.google.protobuf'))).toBe(true)
    await until('a tenth is bad', async () => Math.abs(((await ratio()) ?? 0) - 0.1) < 1e-9)
    expect(await paged()).toBe(0)

    step = [0, 100]
    await until('all are bad', async () => (await ratio()) === 1)
    await until('the page fires', async () => (await paged()) > 0)

    step = [100, 0]
    await until('none is bad', async () => (await ratio()) === 0)
    await until('the page goes away', async () => (await paged()) === 0)

    step = [0, 0]
    await until('nobody asks', async () => (await server.value('slo:requests:increase12s{sli="ttft"}')) === 0)
    expect(await server.value('slo:bad:increase12s{sli="ttft"}')).toBe(0)
    expect(await server.query('slo:bad_ratio:increase12s{sli="ttft"}')).toEqual([])
    const records = await server.query('{__name__=~"slo:.*"}')
    expect(records.length).toBeGreaterThan(5)
    expect(records.filter(({ value }) => !Number.isFinite(value))).toEqual([])
  }, 120_000)
})
