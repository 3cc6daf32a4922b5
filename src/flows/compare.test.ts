import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { threeWalls } from '../../test/fixtures/documents.ts'
import { liveDeps } from '../../test/fixtures/pages.ts'
import { randomStream, standardNormal } from '../base/random.ts'
import { defaultRules } from '../judge/compare-metric.ts'
import { startManifest, type JsonObject } from '../measure/record/manifest.ts'
import { streamedRow } from '../measure/record/made-rows.ts'
import { writeRun } from '../measure/record/run-folder.ts'
import { defaultMetrics } from './compare-figures.ts'
import { compareInterleaved, interleavedOrder } from './compare-interleaved.ts'
import { readRun } from '../measure/record/read-run.ts'
import { shownRun } from './show.ts'
import { planComparison } from './compare-pilot.ts'
import { comparePlanSchema, compareSchema } from './compare-schema.ts'
import { compareRuns, type ArmPaths, type CompareSettings } from './compare.ts'
import { resolveRunConfig } from './options/resolve.ts'
import type { RunConfig } from './options/run-config.ts'
import { serverFactsJson } from './run-facts.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-compare-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const settings: CompareSettings = { ...defaultRules, metrics: defaultMetrics, primary: null }

interface Made {
  readonly seed?: string
  readonly tpotMs: number
  readonly model?: string
  readonly tokens?: number
  readonly at?: number
  readonly block?: string
  readonly gpu?: string
  readonly users?: number
  readonly thinkTimeMs?: number
  readonly url?: string
  readonly embedded?: boolean
  /** What it was asked, as `run` stores it. */
  readonly config?: JsonObject
}

/** A run of 40 requests of one a second, each with TPOTs near `tpotMs`. */
async function makeRun(path: string, made: Made): Promise<string> {
  const random = randomStream(made.seed ?? '1', path)
  const rows = Array.from({ length: 40 }, (_, i) =>
    streamedRow({
      id: `r${i}`,
      plannedMs: i * 1000,
      ttftMs: 100,
      gapsMs: Array.from(
        { length: (made.tokens ?? 20) - 1 },
        () => made.tpotMs * (1 + 0.05 * standardNormal(random)),
      ),
    }),
  )
  const manifest = startManifest({
    name: 'run',
    versions: { plimsoll: '0.1.0', node: 'v20' },
    config: {
      ...made.config,
      metadata: {
        ...(made.block === undefined ? {} : { block: made.block }),
        ...(made.gpu === undefined ? {} : { gpu: made.gpu }),
      },
    },
    seed: made.seed ?? '1',
    salt: null,
    pacer:
      made.users === undefined
        ? { kind: 'constant', ratePerSecond: 1 }
        : { kind: 'concurrency', users: made.users, thinkTimeMs: made.thinkTimeMs ?? 0 },
    workload: { text: 'made', digest: 'd' },
    target: { url: made.url ?? 'http://x', api: 'chat', model: made.model ?? 'm' },
    ...(made.embedded === true && {
      server: serverFactsJson({
        engine: null,
        embedded: true,
        kvTokens: null,
        slots: null,
        maxModelLen: null,
        prefixHitRate: null,
      }),
    }),
    clock: {
      origin_monotonic_ns: 0,
      started_at: new Date(1e12 + (made.at ?? 0) * 60_000).toISOString(),
    },
    planned: 40,
    window: { warmup_s: 0, measure_s: 40, drain_s: 10, start_ms: 0, end_ms: 40_000, how: 'given' },
  })
  const full = join(folder, path)
  await writeRun(full, manifest, rows)
  return full
}

async function arm(name: string, of: (i: number) => Made, n = 4): Promise<ArmPaths> {
  const paths: string[] = []
  for (let i = 0; i < n; i++) paths.push(await makeRun(`${name}/${i}`, of(i)))
  return { name, paths }
}

describe('the command that makes such runs', () => {
  const prompt = { kind: 'fixed', tokens: 900 }
  const asked: JsonObject = {
    workload: { kind: 'random', prompt, output: { kind: 'fixed', tokens: 64 } },
    objectives: [{ name: null, text: 'ttft < 1s', good: null, form: 'plimsoll', shedIsBad: true }],
    model: 'm 1',
    count: 40,
    durationMs: null,
  }
  const lengths = ['--model', 'm 1', '--prompt', '900', '--output', '64', '--slo', 'ttft < 1s']
  const rest = [...lengths, '--num-prompts', '40']
  const made = (over: Partial<Made> = {}): Made => ({ tpotMs: 20, url: 'http://a:1', config: asked, ...over })

  it.each<[string, Made, Made, readonly string[] | undefined]>([
    [
      'two servers',
      made(),
      made({ url: 'http://b:2' }),
      ['--run', 'http://a:1', 'http://b:2', '--pacer', 'constant 1/s', ...rest],
    ],
    [
      'one address, as before and after a change: the server of A is to be named',
      made(),
      made(),
      ['--run', 'URL_A', 'http://a:1', '--pacer', 'constant 1/s', ...rest],
    ],
    [
      'users',
      made({ users: 8 }),
      made({ users: 8, url: 'http://b:2' }),
      ['--run', 'http://a:1', 'http://b:2', '--concurrency', '8', ...rest],
    ],
    [
      'two loads: none of them is the one',
      made({ users: 8 }),
      made({ url: 'http://b:2' }),
      ['--run', 'http://a:1', 'http://b:2', '--request-rate', 'RATE', ...rest],
    ],
    [
      'the embedded engine, which is gone',
      made({ embedded: true }),
      made({ url: 'http://b:2' }),
      ['--run', 'URL_A', 'http://b:2', '--pacer', 'constant 1/s', ...rest],
    ],
    ['no server at all', made({ embedded: true }), made({ embedded: true }), undefined],
  ])('%s', async (name, first, second, again) => {
    const [a, b] = [
      await arm(`again a ${name}`, () => first, 2),
      await arm(`again b ${name}`, () => second, 2),
    ]
    const document = await compareRuns({ a, b }, settings, '0.1.0')
    expect(document.again).toEqual(again)
    expect(v.safeParse(compareSchema, document).issues).toBeUndefined()
    const plan = await planComparison([a.paths, b.paths], 0.02, settings, '0.1.0')
    expect(plan.again).toEqual(again)
    expect(v.safeParse(comparePlanSchema, plan).issues).toBeUndefined()
  })

  it('a password in an address is in nothing that is printed', async () => {
    // No config is made with one; should another be, it is not printed all the same.
    const secret = (host: string): string => `http://me:hidden@${host}`
    expect(() => resolveRunConfig({ url: secret('a:1') })).toThrow('would be written to reports')
    const server = (host: string): RunConfig => ({
      ...resolveRunConfig({ url: `http://${host}` }),
      target: { kind: 'server', url: secret(host) },
    })
    const interleaved = {
      a: server('a:1'),
      b: server('b:2'),
      runs: 2,
      runsDir: folder,
      out: join(folder, 'secret'),
      settings,
    }
    const deps = { ...liveDeps(new AbortController().signal), onNotice: () => undefined }
    const { document } = await compareInterleaved(
      interleaved,
      {
        async runFlow({ out, seed }) {
          const record = await readRun(await makeRun(out!.slice(folder.length + 1), made({ seed })))
          return { document: shownRun(record), measured: record, interrupted: false }
        },
        checkServer: () => Promise.resolve(),
      },
      deps,
    )
    expect(document.again?.slice(0, 3)).toEqual(['--run', 'http://[redacted]@a:1', 'http://[redacted]@b:2'])
    expect(JSON.stringify(document)).not.toContain('hidden')
  })

  it('a pilot of one arm, and one that is none yet', async () => {
    const { paths } = await arm('again one', () => made(), 2)
    const words = ['--pacer', 'constant 1/s', ...rest]
    const strict = { ...settings, margin: 0.03 }
    expect((await planComparison([paths], 0.02, strict, '0.1.0')).again).toEqual([
      '--run',
      'http://a:1',
      'URL_B',
      ...words,
      '--margin',
      '3%',
    ])
    await expect(planComparison([paths.slice(0, 1)], 0.02, settings, '0.1.0')).rejects.toMatchObject({
      hint: expect.stringContaining(
        "plimsoll compare --run http://a:1 http://a:1 --pacer 'constant 1/s' --model 'm 1'",
      ) as string,
    })
  })
})

describe('a comparison of run folders', () => {
  it('pairs by seed, sees 5 %, and the document keeps its schema', async () => {
    const a = await arm('pa', (i) => ({ seed: String(i), tpotMs: 20 + i, at: 2 * i }))
    const b = await arm('pb', (i) => ({ seed: String(i), tpotMs: 1.05 * (20 + i), at: 2 * i + 1 }))
    const document = await compareRuns({ a, b }, settings, '0.1.0')
    expect(document.design).toMatchObject({ paired_by: 'seed', primary: 'tpot_mean' })
    const [primary] = document.metrics
    expect(primary).toMatchObject({ metric: 'tpot_mean', verdict: 'slower', regression: true })
    expect(primary?.change).toBeCloseTo(0.05, 2)
    expect(document.regression).toBe(true)
    expect(document.order?.order).toBe('ABABABAB')
    expect(document.residue).toEqual([])
    const checked = v.safeParse(compareSchema, document)
    expect(checked.issues?.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`)).toBeUndefined()
    expect(JSON.stringify(document)).not.toMatch(/NaN|undefined/)
  })

  it('without pairs the same runs do not tell', async () => {
    const a = await arm('ua', (i) => ({ tpotMs: 20 + i }))
    const b = await arm('ub', (i) => ({ tpotMs: 1.05 * (20 + i) }))
    const document = await compareRuns({ a, b }, settings, '0.1.0')
    expect(document.design.paired_by).toBeNull()
    expect(document.metrics[0]).toMatchObject({ verdict: 'inconclusive', regression: false })
    expect(document.metrics[0]?.runs_needed?.power).toBeGreaterThan(10)
    expect(document.warnings.map(({ kind }) => kind)).toEqual(['pseudo_replication'])
  })

  it('lists the residue: the model, the lengths', async () => {
    const a = await arm('ra', () => ({ tpotMs: 20 }), 2)
    const b = await arm('rb', () => ({ tpotMs: 20, model: 'n', tokens: 30 }), 2)
    const { residue, warnings } = await compareRuns({ a, b }, settings, '0.1.0')
    expect(warnings.map(({ kind }) => kind)).toEqual(['length_confounded'])
    expect(residue.map(({ name, a: first, b: second }) => [name, first, second])).toEqual([
      ['model', 'm', 'n'],
      ['tokens an answer', '20', '30'],
    ])
    expect(residue[1]?.explains?.next).toContain('--ignore-eos')
  })

  it('lists the tags that differ, but not those that say which runs belong together', async () => {
    const a = await arm('ta', (i) => ({ tpotMs: 20, gpu: 'h100', block: String(i) }), 2)
    const b = await arm('tb', (i) => ({ tpotMs: 20, gpu: 'h200', block: String(i + 1) }), 2)
    const { residue } = await compareRuns({ a, b }, settings, '0.1.0')
    expect(residue.map(({ name, a: first, b: second }) => [name, first, second])).toEqual([
      ['tag gpu', 'h100', 'h200'],
    ])
  })

  it('one run an arm: no verdict, and what to do', async () => {
    const a = await arm('oa', () => ({ tpotMs: 20 }), 1)
    const b = await arm('ob', () => ({ tpotMs: 15 }), 1)
    const { metrics, regression } = await compareRuns({ a, b }, settings, '0.1.0')
    expect(metrics[0]).toMatchObject({ verdict: null, interval: null })
    expect(regression).toBe(false)
  })

  it('a folder of runs is an arm', async () => {
    await arm('base', () => ({ tpotMs: 20 }), 3)
    const b = await arm('new', () => ({ tpotMs: 20 }), 3)
    const document = await compareRuns(
      { a: { name: 'base', paths: [join(folder, 'base')] }, b },
      settings,
      '0.1.0',
    )
    expect(document.arms.a.runs).toHaveLength(3)
  })

  const sweepOf = async (name: string, loads: readonly number[]): Promise<string> => {
    for (const load of loads) await makeRun(`${name}/${load}`, { tpotMs: 10 + 5 * load })
    const points = loads.map((value) => ({
      ...threeWalls.points[0],
      load: { kind: 'concurrency', value },
      run: String(value),
    }))
    writeFileSync(join(folder, name, 'sweep.json'), JSON.stringify({ ...threeWalls, points }))
    return join(folder, name)
  }

  it.each([
    ['a sweep with a run at one of its loads: that point alone', 2, 0, ['2 users'], 2],
    ['a sweep with as many users who pause: another load, refused', 2, 500, null, 0],
    ['a sweep with a run at another load: refused', 3, 0, null, 0],
    ['a sweep with an open-loop run: refused', null, 0, null, 0],
  ])('%s', async (_, users, thinkTimeMs, keys, leftOut) => {
    const made = `${users ?? 'open'}-${thinkTimeMs}`
    const a = { name: 'a', paths: [await sweepOf(`sweep-${made}`, [1, 2, 4])] }
    const b = {
      name: 'b',
      paths: [
        await makeRun(`alone-${made}`, { tpotMs: 21, ...(users === null ? {} : { users, thinkTimeMs }) }),
      ],
    }
    const compared = compareRuns({ a, b }, settings, '0.1.0')
    if (keys === null) {
      await expect(compared).rejects.toMatchObject({
        code: 'PLIM_USAGE',
        message: 'the two arms have no load in common',
      })
      return
    }
    const { design, metrics, arms } = await compared
    expect(design.paired_by).toBe('load')
    expect(metrics[0]?.pairs.map(({ key }) => key)).toEqual(keys)
    expect(arms.a.left_out).toHaveLength(leftOut)
  })

  it('sweeps are matched load by load; a load of one arm only is left out and said', async () => {
    const sweep = async (name: string, loads: readonly number[], slower: number): Promise<string> => {
      for (const load of loads) await makeRun(`${name}/${load}`, { tpotMs: slower * (10 + load) })
      const points = loads.map((value) => ({
        ...threeWalls.points[0],
        load: { kind: 'concurrency', value },
        run: String(value),
      }))
      writeFileSync(join(folder, name, 'sweep.json'), JSON.stringify({ ...threeWalls, points }))
      return join(folder, name)
    }
    const document = await compareRuns(
      {
        a: { name: 'a', paths: [await sweep('sa', [1, 2, 4], 1)] },
        b: { name: 'b', paths: [await sweep('sb', [1, 2, 4, 8], 1.1)] },
      },
      settings,
      '0.1.0',
    )
    expect(document.design.paired_by).toBe('load')
    expect(document.metrics[0]?.pairs.map(({ key }) => key)).toEqual(['1 user', '2 users', '4 users'])
    expect(document.metrics[0]?.verdict).toBe('slower')
    expect(document.arms.b.left_out).toEqual([
      { path: join(folder, 'sb', '8'), why: '8 users is in one arm only' },
    ])
  })

  it('a block without a usable partner is left out, so that the rest stay pairs', async () => {
    const a = await arm('ka', (i) => ({ tpotMs: 20 + i, block: String(i) }), 4)
    const b = await arm('kb', (i) => ({ tpotMs: 21 + i, block: String(i) }), 3)
    const { design, arms } = await compareRuns({ a, b }, settings, '0.1.0')
    expect(design.paired_by).toBe('block')
    expect(arms.a.left_out).toEqual([{ path: a.paths[3], why: 'block 3 has no usable run in the other arm' }])
  })

  it('a pilot says how many runs an effect needs', async () => {
    const a = await arm('pilot', (i) => ({ tpotMs: 20 + 0.4 * i }), 3)
    const plan = await planComparison([a.paths, []], 0.03, settings, '0.1.0')
    expect(v.is(comparePlanSchema, plan)).toBe(true)
    expect(plan.metrics[0]).toMatchObject({ metric: 'tpot_mean', n: 3, pairs_needed: null })
    expect(plan.metrics[0]?.needed.power).toBeGreaterThan(plan.metrics[0]?.needed.t ?? 0)
    await expect(planComparison([[a.paths[0]!], []], 0.03, settings, '0.1.0')).rejects.toThrow('two runs')
  })
})

it('the interleaved order cancels a drift over every two blocks', () => {
  expect(
    interleavedOrder(4)
      .map(({ arm: letter }) => letter)
      .join(''),
  ).toBe('ABBAABBA')
  expect(interleavedOrder(2).map(({ block }) => block)).toEqual([1, 1, 2, 2])
})

describe('runs that stand where they say nothing', () => {
  it('on both sides: said, and compared', async () => {
    const [one, other] = [
      await makeRun('same/one', { tpotMs: 20 }),
      await makeRun('same/other', { tpotMs: 20 }),
    ]
    const arms = (b: readonly string[]) => ({ a: { name: 'a', paths: [one] }, b: { name: 'b', paths: b } })
    const { warnings } = await compareRuns(arms([`${one}/`]), settings, '0.1.0')
    expect(warnings[0]).toMatchObject({ kind: 'same_run', evidence: { runs: 1 } })
    expect(warnings[0]?.message).toBe(`1 run stands on both sides: ${one}`)
    const apart = await compareRuns(arms([other]), settings, '0.1.0')
    expect(apart.warnings.map(({ kind }) => kind)).not.toContain('same_run')
  })

  it('twice on one side: refused', async () => {
    const one = await makeRun('twice/one', { tpotMs: 20 })
    const arms = { a: { name: 'a', paths: [one, join(one, '..')] }, b: { name: 'b', paths: [one] } }
    await expect(compareRuns(arms, settings, '0.1.0')).rejects.toThrow('a run stands twice in A')
  })
})
