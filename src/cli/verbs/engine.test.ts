import { performance } from 'node:perf_hooks'
import { describe, expect, it } from 'vitest'
import { monotonicClock } from '../../base/clock.ts'
import type { SettingTexts } from '../../simulate/engine/server/engine-settings.ts'
import { readEngineSettings } from '../../simulate/engine/server/engine-settings.ts'
import { engineBanner, runEngineVerb } from './engine.ts'

/** Runs the verb until it has printed, looks at its server with `look`, and stops it. */
async function run<T>(
  flags: SettingTexts,
  files: Readonly<Record<string, string>>,
  look: (printed: string) => Promise<T>,
): Promise<{ code: number; seen: T }> {
  const stop = new AbortController()
  let say: (text: string) => void = () => {}
  const printed = new Promise<string>((resolve) => {
    say = resolve
  })
  const code = runEngineVerb({
    flags,
    cli: {
      stdout: { write: (text) => say(text) },
      readFile: (path) => Promise.resolve(files[path] ?? null),
      flowDeps: () =>
        Promise.resolve({
          clock: monotonicClock(performance, () => process.hrtime.bigint()),
          wallClock: () => 1_700_000_000_000,
          signal: stop.signal,
        }),
    },
  })
  const failed = code.then(
    () => '',
    (error: unknown) => Promise.reject(error as Error),
  )
  try {
    const seen = await look(await Promise.race([printed, failed]))
    return { seen, code: await (stop.abort(), code) }
  } finally {
    stop.abort()
  }
}

describe('plimsoll engine', () => {
  it('serves until it is stopped, and prints how to load it', async () => {
    const { code, seen } = await run({ port: '0', model: 'm' }, {}, async (printed) => {
      const url = /http:\S+/.exec(printed)?.[0] ?? ''
      return { printed, health: (await fetch(`${url}/health`)).status }
    })
    expect(code).toBe(0)
    expect(seen.health).toBe(200)
    expect(seen.printed).toContain('serving m at http://127.0.0.1:')
    expect(seen.printed).toContain('plimsoll run --url http://127.0.0.1:')
  })

  it('prints one JSON document with --json', async () => {
    const { seen } = await run({ port: '0', json: true }, {}, (printed) =>
      Promise.resolve(JSON.parse(printed) as { clock: { origin_monotonic_ns: number } }),
    )
    // The zero of its faults' times, on the clock of truth files and runs.
    expect(seen.clock.origin_monotonic_ns).toBeLessThanOrEqual(Number(process.hrtime.bigint()))
    expect(seen).toMatchObject({ schema: 'plimsoll.engine/1', model: 'plimsoll-demo', faults: [] })
  })

  it('reads a file, which flags override and add faults to', async () => {
    const file =
      'max-num-seqs: 8\nmax_model_len: 512\nprefix-caching: false\nstep-time: { c0: 2ms }\nfaults: [no usage]\n'
    const { seen } = await run(
      { port: '0', json: true, config: 'e.yaml', 'max-num-seqs': '9', fault: ['503 5%'] },
      { 'e.yaml': file },
      (printed) => Promise.resolve(JSON.parse(printed) as object),
    )
    expect(seen).toMatchObject({
      config: { maxNumSeqs: 9, maxModelLen: 512, enablePrefixCaching: false, stepTime: { baseMs: 2 } },
      faults: ['no usage', '503 5%'],
    })
  })

  it.each([
    ['a file that is not there', { config: 'x.yaml' }, {}, 'PLIM_CONFIG'],
    ['a file that is not YAML', { config: 'x.yaml' }, { 'x.yaml': 'a: [1\n' }, 'PLIM_CONFIG'],
    ['a file with a list', { config: 'x.yaml' }, { 'x.yaml': '- 1\n' }, 'PLIM_CONFIG'],
    ['a file with an unknown setting', { config: 'x.yaml' }, { 'x.yaml': 'seats: 1\n' }, 'PLIM_CONFIG'],
    ['a flag that cannot be read', { port: 'x' }, {}, 'PLIM_USAGE'],
  ])('refuses %s', async (_, flags, files, code) => {
    await expect(run(flags, files, () => Promise.resolve())).rejects.toMatchObject({ code })
  })

  it('says what it simulates, what goes wrong, and the next command', () => {
    const settings = readEngineSettings({
      'max-num-seqs': '64',
      'no-prefix-caching': true,
      'kv-tokens': '450000',
      'block-size': '16',
      'max-num-batched-tokens': '2048',
      'max-model-len': '8192',
      'step-time': 'c0=6.4ms,c1=17.1us,c2=45ns,c3=1ns,c4=10us,t0=273',
      fault: ['stall 3s at 10s'],
      truth: 't.ndjson',
    })
    expect(engineBanner({ url: 'http://127.0.0.1:8000' }, settings)).toBe(
      `serving plimsoll-demo at http://127.0.0.1:8000   Ctrl-C ends
  a simulation: the scheduler of vLLM V1, made-up text, no GPU; preset demo (a made-up engine that shows all three walls), seed 1
  64 seats, 2,048 tokens a step, 450,000 KV tokens, context 8,192, no prefix cache
  step 6.4 ms + 17.1 µs a token over 273 + 45 ns a context token + 10 µs a row
  fault: stall 3s at 10s
  truth of each request: t.ndjson
plimsoll run --url http://127.0.0.1:8000 --request-rate 5 --duration 60s --slo 'ttft < 500ms and tpot < 30ms'
`,
    )
  })
})
