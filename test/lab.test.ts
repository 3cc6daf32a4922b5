import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'
import { describe, expect, it, test } from 'vitest'
import { labOmission } from '../src/flows/lab-omission.ts'
import { labSchema } from '../src/flows/lab-schema.ts'
import { readLoadTable } from '../src/flows/lab-table.ts'
import { labTail } from '../src/flows/lab-tail.ts'
import { labWalls, poolTokens, simulateLoads } from '../src/flows/lab-walls.ts'
import type { LabWalls } from '../src/report/lab-documents.ts'
import { enginePreset } from '../src/simulate/engine/presets.ts'
import { cliRun } from './fixtures/cli.ts'
import { threeWalls } from './fixtures/documents.ts'
import { readGoldens } from './goldens/golden.ts'

/** Fewer draws than by default, where only the form of the answer is looked at. */
const light: Readonly<Record<string, readonly string[]>> = {
  tail: ['--repeats', '100', '--tasks', '1000'],
  walls: ['--loads', '1,8,64'],
  omission: [],
}
const goldens = fileURLToPath(new URL('./goldens/lab/', import.meta.url))

/** Compares with the golden of that name. With PLIMSOLL_GOLDENS=write it is written instead. */
function golden(name: string, printed: string): string {
  if (process.env['PLIMSOLL_GOLDENS'] === 'write') {
    mkdirSync(goldens, { recursive: true })
    writeFileSync(goldens + name, printed)
  }
  return readFileSync(goldens + name, 'utf8')
}

describe('what is printed', () => {
  test.each([
    ['tail.txt', ['tail']],
    ['tail-ascii.txt', ['tail', '--ascii']],
    ['tail-pareto.txt', ['tail', '30', '300', '--shape', 'pareto']],
    ['walls.txt', ['walls']],
    ['walls-ascii.txt', ['walls', '--ascii']],
    ['walls-no-wall.txt', ['walls', '--loads', '1,2,4']],
    ['omission.txt', ['omission']],
    ['omission-ascii.txt', ['omission', '--ascii']],
    ['list.txt', []],
  ])('%s, and nothing on stderr', async (name, argv) => {
    const { exitCode, stdout, stderr } = await cliRun(['lab', ...argv])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toBe(golden(name, stdout))
  })

  test.each(['tail', 'walls', 'omission'])('%s in ASCII is ASCII, with no sign lost', async (name) => {
    const { stdout } = await cliRun(['lab', name, '--ascii', ...light[name]!])
    expect(stdout).toMatch(/^[\n -~]+$/)
    expect(stdout).not.toContain('?')
  })

  test.each(['tail', 'walls', 'omission'])('%s again, and in colour, is the same text', async (name) => {
    const first = await cliRun(['lab', name, ...light[name]!])
    const second = await cliRun(['lab', name, ...light[name]!], { color: true })
    // eslint-disable-next-line no-control-regex
    expect(second.stdout.replaceAll(/\u001B\[\d+m/g, '')).toBe(first.stdout)
  })

  test.each(['tail', 'walls', 'omission'])('%s --json is one document', async (name) => {
    const { stdout } = await cliRun(['lab', name, '--json', ...light[name]!])
    const { issues } = v.safeParse(labSchema, JSON.parse(stdout))
    expect(issues?.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`)).toBeUndefined()
    expect(JSON.parse(stdout)).toMatchObject({ schema: 'plimsoll.lab/1', kind: name })
    expect(stdout).not.toMatch(/NaN|Infinity/)
  })

  test.each([
    [['omision'], 'did you mean plimsoll lab omission?'],
    [['tail', '--sede', '2'], 'did you mean --seed?'],
    [['tail', '--percentile', '100'], 'not a percentile'],
    [['tail', '--tasks', '100000000', '--calls', '1000'], 'longer than one would wait'],
    [['omission', '0/s'], 'cannot be followed'],
    [['walls', 'nowhere.csv'], 'nowhere.csv is not there'],
    [['walls', '--preset', 'abacus'], 'there is no engine preset'],
  ])('%s is refused with a sentence', async (argv, said) => {
    const { exitCode, stdout, stderr } = await cliRun(['lab', ...argv])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain(said)
  })
})

describe('lab tail', () => {
  const options = {
    percentile: '99',
    shape: 'exponential',
    sizes: [100, 1000],
    repeats: 2000,
    calls: 20,
    slow: 0.01,
    tasks: 400_000,
  } as const
  const found = labTail({ ...options, seed: '1' })

  it('gives the closed forms of the truths', () => {
    for (const row of found.rows) {
      const truth = readGoldens().find(({ id }) => id === `q5.tailsim.n${row.n}`)?.expected as Record<
        string,
        number
      >
      expect(row.closed_form.mean).toBeCloseTo(truth['mean']!, 9)
      expect(row.closed_form.sd).toBeCloseTo(truth['sd']!, 9)
      expect(row.closed_form.underestimates).toBeCloseTo(truth['p_underestimate']!, 9)
    }
  })

  it.each(['1', '2', 'another'])(
    'the simulation of seed %s lies within 5 standard errors of them',
    (seed) => {
      for (const { closed_form: closed, simulated, repeats } of labTail({ ...options, seed, tasks: 1000 })
        .rows) {
        expect(Math.abs(simulated.mean - closed.mean!)).toBeLessThan((5 * closed.sd!) / Math.sqrt(repeats))
        expect(Math.abs(simulated.sd / closed.sd! - 1)).toBeLessThan(0.15)
        const p = closed.underestimates
        expect(Math.abs(simulated.underestimates - p)).toBeLessThan(5 * Math.sqrt((p * (1 - p)) / repeats))
      }
    },
  )

  it('the agent of twenty calls by brute force is within 0.003 of 18.21 %', () => {
    const truth = readGoldens().find(({ id }) => id === 'q5.tailsim.agent_bruteforce')!
    expect(Math.abs(found.agent.simulated - (truth.expected as number))).toBeLessThan(truth.tolerance.abs!)
    expect(found.agent.closed_form).toBeCloseTo(0.18209, 5)
  })

  it('the same seed draws the same, another seed another', () => {
    const small = { ...options, sizes: [50], repeats: 100, tasks: 1000 }
    expect(labTail({ ...small, seed: '7' })).toEqual(labTail({ ...small, seed: '7' }))
    expect(labTail({ ...small, seed: '7' }).rows).not.toEqual(labTail({ ...small, seed: '8' }).rows)
  })

  it('every estimate is in a bar', () => {
    for (const { histogram, repeats } of found.rows)
      expect(histogram.reduce((a, b) => a + b, 0)).toBe(repeats)
  })
})

describe('lab omission', () => {
  it('both clients are as in the truths', () => {
    const found = labOmission({
      ratePerSecond: 5,
      durationMs: 60_000,
      stallMs: 3000,
      stallStartMs: 10_000,
      serviceMs: 20,
      server: 'parallel',
    })
    const [scheduled, waiting, catching] = found.clients
    expect(scheduled).toMatchObject({ sent: 300, slow: 15, p99_ms: 2420 })
    expect(waiting).toMatchObject({ sent: 285, slow: 1, p99_ms: 20, max_ms: 3020 })
    expect(catching).toMatchObject({ sent: 300, slow: 1, p99_ms: 20 })
    // The waiting client sends nothing while it waits.
    const silent = waiting!.near_stall.filter(([sent]) => sent > 10_000 && sent < 13_020)
    expect(silent).toEqual([])
  })
})

describe('lab walls', () => {
  const demo = enginePreset('demo').config
  const sweep = { config: demo, seed: '1', promptTokens: 256, outputTokens: 128 }

  it('throughput, pace and users keep to Little: N ≥ X × TPOT', () => {
    for (const point of simulateLoads({ ...sweep, loads: [1, 8, 32, 96] })) {
      expect(point.n).toBeGreaterThanOrEqual(299)
      expect(point.tokens_per_s * (point.p99_tpot_ms! / 1000)).toBeLessThanOrEqual(point.load * 1.2)
      expect(point.p99_tpot_upper_ms!).toBeGreaterThanOrEqual(point.p99_tpot_ms!)
    }
  })

  it('the same seed simulates the same', () => {
    expect(simulateLoads({ ...sweep, loads: [4, 48] })).toEqual(simulateLoads({ ...sweep, loads: [4, 48] }))
  })

  it('a smaller pool makes memory bind', () => {
    const points = simulateLoads({ ...sweep, loads: [1, 2, 4, 8, 16, 32, 64] })
    const question = {
      source: '',
      seed: '1',
      points,
      tpotLimitMs: 10,
      ttftLimitMs: null,
      tokensPerRequest: 384,
    }
    expect(labWalls({ ...question, kvTokens: poolTokens(demo) }).capacity).toMatchObject({
      load: 32,
      binding: 'slo',
    })
    expect(labWalls({ ...question, kvTokens: 4000 })).toMatchObject({
      memory: { load: 10 },
      capacity: { load: 8, binding: 'memory' },
    })
  })

  it('the table of the truths gives their walls, from JSON and from CSV', async () => {
    const truth = readGoldens().find(({ id }) => id === 'q7.sweep.walls')!
    const { sweep: rows } = truth.inputs as { sweep: Record<string, number>[] }
    const names = Object.keys(rows[0]!)
    const csv = [names.join(','), ...rows.map((row) => names.map((name) => row[name]).join(','))].join('\n')
    for (const [file, text] of [
      ['sweep-table.json', JSON.stringify(rows)],
      ['table.csv', csv],
      ['table.md', csv.replaceAll(/^(.*)$/gm, '| $1 |').replaceAll(',', ' | ')],
    ] as const) {
      const flags = ['--tpot', '10ms', '--kv-tokens', '450000', '--request', '3000', '--json']
      const { stdout, stderr } = await cliRun(['lab', 'walls', file, ...flags], { files: { [file]: text } })
      expect(stderr).toBe('')
      const found = JSON.parse(stdout) as LabWalls
      expect(found).toMatchObject({
        peak: { load: 128, tokens_per_s: 5000 },
        saturation: { load: 96 },
        slo: { load: 32 },
        memory: { load: 150 },
        capacity: { load: 32, tokens_per_s: 3400, binding: 'slo' },
      })
      // A table has no intervals: what passes does so by its estimate alone, by the rule of a sweep.
      expect(found.points.every(({ passes, indicative }) => indicative === passes)).toBe(true)
      expect(found.slo?.indicative).toBe(true)
      // The law that the table was made from.
      expect(found.law?.peak_load).toBeCloseTo(125, -1)
    }
  })

  it('a measured sweep is taken from its folder', async () => {
    const { stdout, exitCode } = await cliRun(['lab', 'walls', 'runs/1129-1501-sweep', '--json'], {
      flows: {
        showFlow: (paths) =>
          Promise.resolve({ shown: paths.map((path) => ({ kind: 'sweep', path, document: threeWalls })) }),
      },
    })
    expect(exitCode).toBe(0)
    const found = JSON.parse(stdout) as LabWalls
    expect(found.source).toBe('measured: runs/1129-1501-sweep')
    expect(found.points.length).toBe(
      threeWalls.points.filter((one) => one.throughput.output_tokens_per_s !== null).length,
    )
    const { exitCode: ofRun, stderr } = await cliRun(['lab', 'walls', 'runs/1129-1436-run'])
    expect(ofRun).toBe(2)
    expect(stderr).toContain('one run, not a sweep')
  })

  test.each([
    ['no column of users', 'a,tok_per_s\n1,2\n', 'a row has no concurrency'],
    ['a word for a number', 'users,tok/s\n1,fast\n', '"fast" is not a number'],
    ['nothing', '', 'has no rows'],
    ['broken JSON', '[{"n": 1', 'is not JSON'],
  ])('a table with %s is refused with the place', (_, text, said) => {
    expect(() => readLoadTable(text, 't.csv')).toThrow(said)
  })
})

test.each([
  ['sizes', ['tail', '1000000000'], 'at most 1,000,000'],
  ['a stall longer than its test', ['omission', '--stall', '365d'], 'the stall does not lie within the test'],
  ['users', ['walls', '--loads', '1000000000'], 'at most 10,000'],
])('an experiment that would not end is refused: %s', async (_, argv, word) => {
  const { stderr, exitCode } = await cliRun(['lab', ...argv])
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(word)])
})
