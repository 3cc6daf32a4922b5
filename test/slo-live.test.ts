import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { monotonicClock } from '../src/base/clock.ts'
import { doctorFlow } from '../src/flows/doctor.ts'
import { liveBudget } from '../src/flows/slo-budget.ts'
import { livePage } from '../src/flows/slo-page.ts'
import { openPrometheus, type PrometheusServer } from '../src/flows/slo-prometheus.ts'
import { sloFiles, sloRules } from '../src/flows/slo-rules.ts'
import { watchFlow } from '../src/flows/watch.ts'
import type { WatchDocument } from '../src/report/watch-document.ts'
import { startEngineServer, type EngineServer } from '../src/simulate/engine/server/engine-server.ts'
import { readEngineSettings } from '../src/simulate/engine/server/engine-settings.ts'
import { liveDeps } from './fixtures/pages.ts'
import { freePort, isInstalled, until } from './fixtures/programs.ts'

// Prometheus itself, with the generated rules, scraping the embedded engine: an outage pages and the page goes away after it; an idle
// time and a restart are no outage. Windows are seconds long here; nothing else of the rules is different.

const source = `
objectives:
  chat: { each: ttft < 500ms, good: 90%, over: 1h, shed: bad }
slo:
  service: live
  engine: vllm
  interval: 1s
  min_bad: 3
  policy:
    name: seconds
    comparator: '>='
    alerts:
      - { severity: page, long: 12s, short: 4s, factor: 4 }
`

const here = isInstalled('prometheus')
if (!here) console.warn('prometheus is not here (apt-get install prometheus): the live test is skipped')

const clock = monotonicClock(performance, () => process.hrtime.bigint())
const specs = sloRules([{ path: 'live.yaml', text: source }], {})

function startEngine(port: number, faults: readonly string[]): Promise<EngineServer> {
  return startEngineServer({
    ...readEngineSettings({ port: String(port), fault: faults }),
    clock,
    hrtimeNs: () => process.hrtime.bigint(),
    wallClockMs: () => Date.now(),
  })
}

describe.skipIf(!here)('a live Prometheus', () => {
  let folder = ''
  let engine: EngineServer
  let prometheus: ChildProcess
  let address = ''
  let server: PrometheusServer
  let enginePort = 0
  const loading = new AbortController()
  const asked: Promise<unknown>[] = []

  async function alerts(name: string): Promise<number> {
    return (await server.query(`ALERTS{alertname="${name}", alertstate="firing"}`)).length
  }

  /** Some thirty requests a second. */
  async function load(): Promise<void> {
    while (!loading.signal.aborted) {
      asked.push(
        fetch(`http://127.0.0.1:${enginePort}/v1/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'plimsoll-demo', prompt: 'a few words', max_tokens: 2 }),
        })
          .then((response) => response.text())
          .catch(() => null),
      )
      await new Promise((resolve) => setTimeout(resolve, 33))
    }
  }
  let loaded: Promise<void> = Promise.resolve()

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'plimsoll-live-'))
    for (const { name, text } of sloFiles(specs)) writeFileSync(join(folder, name), text)
    enginePort = await freePort()
    engine = await startEngine(enginePort, ['503 100% at 20s for 12s'])
    const port = await freePort()
    address = `http://127.0.0.1:${port}`
    writeFileSync(
      join(folder, 'prometheus.yml'),
      [
        'global: { scrape_interval: 1s, evaluation_interval: 1s }',
        'rule_files: ["*.rules.yaml"]',
        `scrape_configs: [{ job_name: engine, static_configs: [{ targets: ["127.0.0.1:${enginePort}"] }] }]`,
      ].join('\n'),
    )
    prometheus = spawn(
      'prometheus',
      [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--log.level=error',
      ],
      { stdio: 'ignore' },
    )
    server = await openPrometheus(address, { clock })
    loaded = load()
    await until('Prometheus has scraped the engine', async () => (await server.value('up')) === 1)
  }, 60_000)

  afterAll(async () => {
    loading.abort()
    await loaded
    await Promise.all(asked)
    prometheus.kill('SIGTERM')
    await server.close()
    await engine.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('pages in an outage and not before, stops after it, and stays silent when idle and over a restart', async () => {
    await until(
      'requests are counted',
      async () => ((await server.value('slo:requests:increase4s{sli="answered"}')) ?? 0) > 30,
    )
    expect(await alerts('SloBurnPage')).toBe(0)

    await until('the page fires', async () => (await alerts('SloBurnPage')) > 0)
    const firing = await server.query('ALERTS{alertname="SloBurnPage", alertstate="firing"}')
    expect(firing.map(({ labels }) => [labels['service'], labels['sli'], labels['severity']])).toEqual([
      ['live', 'answered', 'page'],
    ])
    // The same from the counters themselves, without any rule.
    const spec = specs.map((one) => one.spec)
    const pages = await livePage(spec, server)
    expect(pages.map(({ decisions }) => decisions[0]?.verdict)).toContain('page')
    const [, answered] = await liveBudget(spec, server)
    expect(answered?.report.input.bad).toBeGreaterThan(0)

    await until('the page goes away', async () => (await alerts('SloBurnPage')) === 0)

    // A restart: the counters begin anew.
    await engine.close()
    engine = await startEngine(enginePort, [])
    const restarted = Date.now()
    await until('it is scraped again', async () => (await server.value('up')) === 1)
    let paged = 0
    await until('a while has passed since the restart', async () => {
      paged += await alerts('SloBurnPage')
      return Date.now() - restarted > 8000
    })
    expect(paged).toBe(0)

    // Idle: no requests is not a failure, and no ratio is recorded.
    loading.abort()
    await loaded
    await until(
      'the windows are empty',
      async () => (await server.value('slo:requests:increase12s{sli="answered"}')) === 0,
    )
    expect(await alerts('SloBurnPage')).toBe(0)
    expect(await server.query('slo:bad_ratio:increase12s{sli="answered"}')).toEqual([])
  }, 180_000)

  it('doctor finds the engine, and nothing wrong with the rules that it is asked about', async () => {
    const [rules] = sloFiles(specs)
    const report = await doctorFlow(
      {
        url: `http://127.0.0.1:${enginePort}`,
        prometheus: address,
        engine: null,
        files: [{ path: rules!.name, text: readFileSync(join(folder, rules!.name), 'utf8') }],
      },
      { clock },
    )
    expect(report.engine).toMatchObject({ engine: 'vllm' })
    const errors = report.files
      .flatMap(({ uses }) => uses.flatMap(({ findings }) => findings))
      .filter(({ severity }) => severity === 'error')
    expect(errors.map(({ message }) => message)).toEqual([])
  })

  it('watch sees the engine through it, its failures counted', async () => {
    const looks: WatchDocument[] = []
    await watchFlow(
      {
        urls: [],
        machineUrls: [],
        prometheusUrl: address,
        keyEnv: 'NONE',
        objectives: ['ttft < 500ms, good 90%'],
        windowsMs: [1000, 2000],
        intervalMs: 1100,
        count: 4,
        sweep: null,
        record: false,
        name: 'watch',
        runsDir: 'runs',
        out: null,
      },
      {
        ...liveDeps(new AbortController().signal),
        onLook: async (document) => {
          looks.push(document)
          // One answer between two looks, so that there is something to share.
          await fetch(`http://127.0.0.1:${enginePort}/v1/completions`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ model: 'plimsoll-demo', prompt: 'a few words', max_tokens: 2 }),
          })
        },
      },
    )
    const last = looks.at(-1)!
    expect(last.fleet).toMatchObject({ up: 1, known: 1 })
    expect(last.replicas.map(({ name, engine: what }) => [name, what])).toEqual([
      [`127.0.0.1:${enginePort}`, 'vllm'],
    ])
    expect(last.notes).toEqual([])
    const answered = looks.flatMap(({ objectives }) =>
      objectives.flatMap(({ windows }) =>
        windows.flatMap(({ limits }) => limits.filter(({ text }) => text === 'answered')),
      ),
    )
    expect(answered.length).toBeGreaterThan(0)
    expect(answered.every(({ low, high }) => low === 1 && high === 1)).toBe(true)
  }, 60_000)
})
