import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exponential, randomStream, type Random } from '../src/base/random.ts'
import { defaultMetrics } from '../src/flows/compare-figures.ts'
import { compareRuns, type ArmPaths, type CompareSettings } from '../src/flows/compare.ts'
import { defaultRules } from '../src/judge/compare-metric.ts'
import { startManifest } from '../src/measure/record/manifest.ts'
import { streamedRow } from '../src/measure/record/made-rows.ts'
import type { RequestRow } from '../src/measure/record/request-row.ts'
import { writeRun } from '../src/measure/record/run-folder.ts'
import type { EngineRequest } from '../src/simulate/engine/engine-interface.ts'
import { createEngine } from '../src/simulate/engine/engine.ts'
import { enginePreset } from '../src/simulate/engine/presets.ts'
import { runVirtual } from '../src/simulate/engine/run-virtual.ts'

// Runs of the engine in virtual time, as run folders: B's steps are 3 % longer than A's, which makes TPOT 3.5 % longer, or the same.

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-engines-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const perSecond = 25
const count = 20

function requests(random: Random): EngineRequest[] {
  let arrivalMs = 0
  return Array.from({ length: count }, (_, id) => {
    arrivalMs += (1000 * exponential(random)) / perSecond
    return {
      id,
      arrivalMs,
      promptTokenIds: { length: 64 + Math.floor(384 * random.next()), seed: id + 1 },
      outputTokens: 16 + Math.floor(96 * random.next()),
    }
  })
}

/** One run: what an engine whose steps take `scale` times as long does with the load of `seed`. */
async function run(path: string, seed: string, scale: number, minute: number): Promise<string> {
  const { config } = enginePreset('demo')
  const { baseMs, perTokenMs, perSequenceMs } = config.stepTime
  const engine = createEngine(
    {
      ...config,
      stepTime: {
        ...config.stepTime,
        baseMs: baseMs * scale,
        perTokenMs: perTokenMs * scale,
        perSequenceMs: perSequenceMs * scale,
      },
    },
    randomStream(path, 'jitter'),
    { events: 'requests' },
  )
  const results = runVirtual(engine, {
    arrivals: requests(randomStream(seed, 'load')),
    keepTokenTimes: true,
  })
  const rows = results.map(({ id, arrivalMs, tokenTimesMs, facts }): RequestRow => {
    const times = Array.from(tokenTimesMs ?? [])
    return streamedRow({
      id: `r${id}`,
      plannedMs: arrivalMs,
      ttftMs: (times[0] ?? 0) - arrivalMs,
      gapsMs: times.slice(1).map((at, i) => at - (times[i] ?? at)),
      promptTokens: facts?.promptTokens ?? 0,
    })
  })
  const full = join(folder, path)
  await writeRun(
    full,
    startManifest({
      name: 'run',
      versions: { plimsoll: '0.1.0', node: 'v20' },
      config: {},
      seed,
      salt: null,
      pacer: { kind: 'poisson', ratePerSecond: perSecond },
      workload: { text: 'made', digest: seed },
      target: { url: 'virtual', api: 'chat', model: 'demo' },
      clock: { origin_monotonic_ns: 0, started_at: new Date(1e12 + 60_000 * minute).toISOString() },
      planned: count,
    }),
    rows,
  )
  return full
}

async function arm(
  name: string,
  runs: number,
  scale: number,
  seedOf: (i: number) => string,
): Promise<ArmPaths> {
  const paths: string[] = []
  for (let i = 0; i < runs; i++) paths.push(await run(`${name}/${i}`, seedOf(i), scale, 2 * i))
  return { name, paths }
}

const settings: CompareSettings = { ...defaultRules, metrics: defaultMetrics, primary: 'tpot_mean' }

describe('two engines 3.5 % apart', () => {
  it('five runs of each with loads of their own: inconclusive; thirty: slower', async () => {
    const a = await arm('a', 30, 1, (i) => `a${i}`)
    const b = await arm('b', 30, 1.03, (i) => `b${i}`)
    const first = (side: ArmPaths): ArmPaths => ({ ...side, paths: side.paths.slice(0, 5) })
    const five = await compareRuns({ a: first(a), b: first(b) }, settings, '0.1.0')
    expect(five.design.paired_by).toBeNull()
    expect(five.metrics[0]).toMatchObject({ metric: 'tpot_mean', verdict: 'inconclusive', regression: false })
    expect(five.metrics[0]?.runs_needed?.power).toBeGreaterThan(5)
    const thirty = await compareRuns({ a, b }, settings, '0.1.0')
    expect(thirty.metrics[0]).toMatchObject({ verdict: 'slower', regression: true })
    expect(thirty.metrics[0]?.interval?.[0]).toBeGreaterThan(0)
  })

  it('five pairs with the same loads tell already', async () => {
    const a = await arm('pa', 5, 1, (i) => `p${i}`)
    const b = await arm('pb', 5, 1.03, (i) => `p${i}`)
    const { design, metrics } = await compareRuns({ a, b }, settings, '0.1.0')
    expect(design.paired_by).toBe('seed')
    expect(metrics[0]).toMatchObject({ verdict: 'slower' })
    expect(metrics[0]?.change).toBeGreaterThan(0.02)
  })

  it('an engine against itself: no difference, in pairs equivalent', async () => {
    const a = await arm('sa', 6, 1, (i) => `s${i}`)
    const b = await arm('sb', 6, 1, (i) => `s${i}`)
    const { metrics, regression } = await compareRuns({ a, b }, settings, '0.1.0')
    expect(metrics[0]?.verdict).toBe('equivalent')
    expect(regression).toBe(false)
  })
})
