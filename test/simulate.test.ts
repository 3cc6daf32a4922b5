import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { PlimsollError } from '../src/base/errors.ts'
import * as v from 'valibot'
import { simulationSchema } from '../src/flows/simulate-schema.ts'
import { simulateFlow, type SimulateConfig } from '../src/flows/simulate.ts'
import type { FlowDeps } from '../src/flows/flow-deps.ts'
import { readRun } from '../src/measure/record/read-run.ts'
import { shownRun } from '../src/flows/show.ts'
import type { SimulationDocument } from '../src/report/simulate-document.ts'
import { renderSimulation } from '../src/report/simulate-text.ts'
import { cliRun } from './fixtures/cli.ts'
import { quietDay, smallModel } from './fixtures/simulation.ts'

const examples = fileURLToPath(new URL('../examples/fleet/', import.meta.url))
const goldens = fileURLToPath(new URL('./goldens/simulate/', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-simulate-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function simulate(
  files: Readonly<Record<string, string>>,
  config: Partial<SimulateConfig> = {},
): Promise<SimulationDocument> {
  const deps = {
    files: { readText: (path: string) => Promise.resolve(files[path] ?? '') },
    signal: new AbortController().signal,
    version: '0.1.0',
    machine: { node: 'v20.20.2' },
  } as unknown as FlowDeps
  const path = Object.keys(files)[0] as string
  return (await simulateFlow({ path, seed: null, out: null, scratch: null, ...config }, deps)).document
}

const example = (name: string): Record<string, string> => ({
  [name]: readFileSync(join(examples, name), 'utf8'),
})

// day.yaml is two million requests: its place is a terminal.
const stories = readdirSync(examples).filter((name) => name !== 'day.yaml')

describe('the stories of examples/fleet', () => {
  test.each(stories)(
    '%s',
    async (name) => {
      const text = renderSimulation(await simulate(example(name)), { color: false, out: null, typed: [name] })
      const file = join(goldens, name.replace('.yaml', '.txt'))
      if (process.env['PLIMSOLL_GOLDENS'] === 'write') {
        mkdirSync(goldens, { recursive: true })
        writeFileSync(file, text)
      }
      expect(text).toBe(readFileSync(file, 'utf8'))
    },
    60_000,
  )

  test('10 a second at a server of 8: the line grows by 2 a second', async () => {
    const { policies } = await simulate(example('queue-growth.yaml'))
    const windows = policies[0]?.windows ?? []
    const growth = ((windows[11]?.most_waiting ?? 0) - (windows[1]?.most_waiting ?? 0)) / 50
    expect(growth).toBeCloseTo(2, 1)
  })

  test('eight replicas survive the loss of one, seven do not', async () => {
    const { policies } = await simulate(example('survive-one-failure.yaml'))
    expect(policies.map((policy) => [policy.policy, policy.objective_met])).toEqual([
      ['eight', true],
      ['seven', false],
    ])
  })
})

test('rows that memory does not hold are the same rows', async () => {
  const fleet = {
    'f.yaml': `duration: 100s
replicas: 4
engine: h100-8b
traffic: { arrivals: poisson 100/s, prompt: lognormal median 200 p99 800, output: lognormal median 100 p99 400 }
router: least-loaded
`,
  }
  const bytes = async (name: string, scratch: string | null): Promise<Buffer> => {
    const out = join(folder, name)
    await simulate(fleet, { out, scratch })
    return readFileSync(join(out, 'requests.parquet'))
  }
  const held = await bytes('held', null)
  const filed = await bytes('filed', folder)
  expect(held.length).toBeGreaterThan(1_000_000)
  expect(filed.equals(held)).toBe(true)
})

describe('a document', () => {
  const small = {
    'f.yaml':
      'duration: 30s\nengine: h100-8b\ntraffic: { arrivals: poisson 5/s }\nobjective: ttft < 1s\nfaults: [kill replica 0 at 20s restart 2s]\nclients: { timeout: 20s }\n',
  }

  test.each(['averaged-p99.yaml', 'warm-pool.yaml'])('of %s is as its schema says', async (name) => {
    const document: unknown = JSON.parse(JSON.stringify(await simulate(example(name))))
    expect(v.safeParse(simulationSchema, document).issues).toBeUndefined()
  })

  test('is the same for the same seed, byte for byte, and another for another', async () => {
    const once = JSON.stringify(await simulate(small))
    expect(JSON.stringify(await simulate(small))).toBe(once)
    expect(JSON.stringify(await simulate(small, { seed: '2' }))).not.toBe(once)
  })

  test('and its run folder tell the same', async () => {
    const out = join(folder, 'run')
    const { policies } = await simulate(small, { out })
    const run = await readRun(out)
    const counts = policies[0]?.counts
    expect(run.rows).toHaveLength(counts?.arrived as number)
    expect(run.rows.filter((row) => row.ok)).toHaveLength(counts?.answered as number)
    expect(run.rows.every((row) => row.flags.includes('simulated'))).toBe(true)
    const shown = shownRun(run)
    expect(shown.metrics.ttft_ms?.p50 ?? 0).toBeCloseTo(policies[0]?.ttft_ms.p50 ?? 0, 0)
    expect(shown.counts.planned).toBe(counts?.arrived)
  })

  test('of a trace goes by the times in it', async () => {
    const { policies } = await simulate({
      'f.yaml': 'duration: 10s\nengine: h100-8b\ntraffic: { trace: t.csv, repeat: true }\n',
      't.csv':
        'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,100,10\n2023-11-16 18:17:04,100,10\n2023-11-16 18:17:05,100,10\n',
    })
    expect(policies[0]?.counts.arrived).toBe(10)
  })
})

test('an engine may be a fitted model, with single values changed', async () => {
  const fleet = (engine: string): string =>
    `duration: 30s\nengine: ${engine}\ntraffic: { arrivals: constant 2/s, prompt: 1000, output: 20 }\n`
  const model = { 'm.json': JSON.stringify(smallModel) }
  const own = await simulate({ 'f.yaml': fleet('{ model: m.json }'), ...model })
  // Of the model: 6 ms outside, a knee at 353 tokens: (6 + 1) + 0.017 · 647 + 0.000001 · 1000² ÷ 2, and its row.
  expect(own.policies[0]?.ttft_ms.p50 ?? 0).toBeCloseTo(24.5, 0)
  const late = await simulate({ 'f.yaml': fleet('{ model: m.json, front_end_ms: 106 }'), ...model })
  expect((late.policies[0]?.ttft_ms.p50 ?? 0) - (own.policies[0]?.ttft_ms.p50 ?? 0)).toBeCloseTo(100, 0)
  const both = { 'f.yaml': fleet('{ model: m.json, preset: demo }'), ...model }
  await expect(simulate(both)).rejects.toThrow('an engine is of a model or of a preset')
})

describe('a mistake in the file is named with its place', () => {
  const noFleet = 'docs/simulation.md has whole ones, each with what it shows'
  const closed = 'look for what is still open before this place'
  test.each<[string, string, string | null, string, string | undefined]>([
    ['a misspelt key', 'scalre: {}', '1:1', 'unknown key scalre', 'did you mean scaler?'],
    [
      'one inside',
      'traffic:\n  arrival: poisson 5/s',
      '2:3',
      'unknown key traffic.arrival',
      'did you mean arrivals?',
    ],
    [
      'a router',
      'router: least-loadde',
      '1:9',
      'there is no router "least-loadde"',
      'did you mean least-loaded?',
    ],
    ['one that is a map', 'router:\n  kind: fast', '2:9', 'there is no router "fast"', undefined],
    [
      'its signals',
      'router:\n  kind: random\n  signal_every: 5',
      '3:17',
      'the duration cannot be read',
      'without a unit it could be seconds or milliseconds: say 5s or 5ms',
    ],
    ['a preset', 'engine: h200', '1:9', 'there is no engine preset "h200"', undefined],
    [
      'a fault',
      'name: x\nfaults: [stall 5s at 10s]',
      '2:10',
      'a fault of an engine needs its replica',
      undefined,
    ],
    [
      'arrivals',
      'traffic: { arrivals: users 5 }',
      '1:22',
      'a fleet is not driven by a closed loop',
      undefined,
    ],
    [
      'a bare rate',
      'replicas: 1\ntraffic:\n  arrivals: 100/s',
      '3:13',
      'traffic.arrivals is not a pacer',
      'did you mean "poisson 100/s" (as users come) or "constant 100/s" (evenly spaced)?',
    ],
    [
      'a number alone',
      'traffic: { arrivals: 100 }',
      '1:22',
      'traffic.arrivals is not a pacer',
      'did you mean "poisson 100/s" (as users come) or "constant 100/s" (evenly spaced)?',
    ],
    [
      'a misspelt day',
      'traffic: { arrivals: dayly 2/s..3/s }',
      '1:22',
      'traffic.arrivals is not a pacer',
      'did you mean "daily 2/s..20/s over 24h"?',
    ],
    ['a length', 'traffic:\n  prompt: some', '2:11', 'traffic.prompt is not a length in tokens', undefined],
    ['a number', 'replicas: two', '1:11', 'replicas cannot be this', undefined],
    [
      'one of a group',
      'groups:\n  - { replicas: 1, engine: demo }\n  - { replicas: -1, engine: demo }',
      '3:17',
      'a group cannot have so many replicas',
      undefined,
    ],
    [
      'a policy of an engine',
      'engine:\n  preset: demo\n  policy: fast',
      '3:11',
      'engine.policy cannot be this',
      undefined,
    ],
    ['half a scaler', 'scaler: { metric: cpu }', '1:9', 'the scaler has no target, min, max', undefined],
    [
      'a time of a scaler',
      'scaler: { metric: in_flight, target: 1, min: 1, max: 2, sync: soon }',
      '1:63',
      'the duration cannot be read',
      undefined,
    ],
    ['no YAML', 'a: [', '1:5', 'this is not YAML', closed],
    [
      'in a policy',
      'policies:\n  a: {}\n  b: { router: fastest }',
      '3:16',
      'there is no router "fastest"',
      undefined,
    ],
    [
      'in what the policies share',
      'traffic: { arrivals: 3/s }\npolicies:\n  a: { traffic: { prompt: 5 } }',
      '1:22',
      'traffic.arrivals is not a pacer',
      'did you mean "poisson 3/s" (as users come) or "constant 3/s" (evenly spaced)?',
    ],
    ['nothing', '', null, 'the file holds no fleet', noFleet],
    ['comments alone', '# a fleet\n', null, 'the file holds no fleet', noFleet],
    ['an empty map', '{}', '1:1', 'the file holds no fleet', noFleet],
    ['a list', '- a\n', '1:1', 'the file is not a fleet', noFleet],
  ])('%s', async (_, text, place, message, hint) => {
    const error = await simulate({ 'f.yaml': text }).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(PlimsollError)
    const { code, where, message: said, hint: advice } = error as PlimsollError
    const { line, column } = where!
    expect([code, where!.file, line === undefined ? null : `${line}:${column}`]).toEqual([
      'PLIM_CONFIG',
      'f.yaml',
      place,
    ])
    expect([said, advice]).toEqual([message, hint])
  })
})

describe('plimsoll simulate', () => {
  test('prints the simulation, or one JSON document', async () => {
    const text = await cliRun(['simulate', 'fleet.yaml'])
    expect(text.stdout).toBe(renderSimulation(quietDay, { color: false, out: null, typed: ['fleet.yaml'] }))
    const seeded = await cliRun(['simulate', 'fleet.yaml', '--seed', '7'])
    expect(seeded.stdout).toMatch(/\nplimsoll simulate fleet\.yaml --seed 7 --out sim · plimsoll show sim\n$/)
    const kept = await cliRun(['simulate', 'fleet.yaml', '--out', 'my sim'])
    expect(kept.stdout).toMatch(/\nsaved my sim · plimsoll show 'my sim'\n$/)
    const json = await cliRun(['simulate', 'fleet.yaml', '--json'])
    expect(JSON.parse(json.stdout)).toEqual(quietDay)
    expect([text.stderr, text.exitCode, json.exitCode]).toEqual(['', 0, 0])
  })

  test('ends with 3 where no policy meets the objective, with 0 where one does', async () => {
    const missed = quietDay.policies.map((policy) => ({ ...policy, objective_met: false }))
    const run = async (policies: SimulationDocument['policies']): Promise<number> =>
      (
        await cliRun(['simulate', 'f.yaml'], {
          flows: { simulateFlow: () => Promise.resolve({ document: { ...quietDay, policies } }) },
        })
      ).exitCode
    expect(await run(missed)).toBe(3)
    expect(await run([...missed, ...quietDay.policies])).toBe(0)
  })
})
