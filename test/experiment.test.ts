import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { PlimsollError } from '../src/base/errors.ts'
import { cliRun } from './fixtures/cli.ts'
import { clientBound, sixPerSecond } from './fixtures/documents.ts'
import * as v from 'valibot'
import { experimentSchema } from '../src/flows/experiment-schema.ts'
import { combine } from '../src/cli/prepare-experiment.ts'
import type { RunDocument } from '../src/report/documents.ts'
import { experimentFlow, overRuns } from '../src/flows/experiment.ts'
import { showFlow } from '../src/flows/show.ts'
import type { RunConfig } from '../src/flows/options/run-config.ts'

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-experiment-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let made = 0

/** The verb with runs that answer at once: each run's rate a little more than the last. */
async function experiment(argv: readonly string[], yaml?: string, document: RunDocument = sixPerSecond) {
  const asked: RunConfig[] = []
  const out = join(folder, `e-${made++}`)
  const result = await cliRun(['run', '--out', out, ...argv], {
    ...(yaml === undefined ? {} : { files: { 'bench.yaml': yaml } }),
    flows: {
      experimentFlow: (config, deps) =>
        experimentFlow(config, deps, (run) => {
          asked.push(run)
          const throughput = { ...document.throughput, requests_per_s: 5 + asked.length / 10 }
          return Promise.resolve({ document: { ...document, throughput }, interrupted: false })
        }),
    },
  })
  return { ...result, asked, out }
}

describe('run --repeat', () => {
  test('five runs: a folder of runs, a seed each, the interval over runs', async () => {
    const { stdout, stderr, exitCode, asked, out } = await experiment(['--repeat', '5'])
    expect(asked.map(({ seed, out: run }) => [seed, run])).toEqual(
      ['1', '1.2', '1.3', '1.4', '1.5'].map((seed, at) => [seed, `${out}/run-${at + 1}`]),
    )
    expect(stdout.replaceAll(out, 'runs/e')).toMatchInlineSnapshot(`
      "5 runs: 5 VALID · objective missed in 5 of 5 runs

                    mean         [95 %]           between runs
        TTFT p50     212 ms      [212, 212]           cv 0.0 %   n = 5
        TTFT p99     836 ms      [836, 836]           cv 0.0 %   n = 5
        TPOT p50    19.8 ms      [19.8, 19.8]         cv 0.0 %   n = 5
        TPOT p99    38.4 ms      [38.4, 38.4]         cv 0.0 %   n = 5
        E2E p50    4,121 ms      [4,121, 4,121]       cv 0.0 %   n = 5
        requests    5.30 /s      [5.10, 5.50]         cv 3.0 %   n = 5
        output     1,653 tok/s   [1,653, 1,653]       cv 0.0 %   n = 5
        good        72.4 %       [72.4, 72.4]         cv 0.0 %   n = 5

        mean and 95 % interval over runs: mean ± t(0.975; n − 1) · s ÷ √n; the run is the unit, not the request
      saved runs/e · plimsoll show runs/e/run-1
      "
    `)
    expect(stderr).toContain('run 5 of 5')
    // The objective of the document is missed in every run.
    expect(exitCode).toBe(3)
    const kept = v.parse(experimentSchema, JSON.parse(readFileSync(join(out, 'experiment.json'), 'utf8')))
    expect(kept.complete).toBe(true)
  })

  test('shown again it prints the same, as text and as a document', async () => {
    const { stdout, out } = await experiment(['--repeat', '2'])
    expect((await cliRun(['show', out], { flows: { showFlow } })).stdout).toBe(stdout)
    const json = (await cliRun(['show', out, '--json'], { flows: { showFlow } })).stdout
    expect(JSON.parse(json)).toEqual(JSON.parse(readFileSync(join(out, 'experiment.json'), 'utf8')))
    const page = await cliRun(['show', out, '--html'], { flows: { showFlow } })
    expect(page.stderr).toContain('there is no page of an experiment')
  })

  test('runs that are INVALID are left out, and nothing else left is exit 5', async () => {
    const { stdout, exitCode } = await experiment(['--repeat', '2'], undefined, clientBound)
    expect(exitCode).toBe(5)
    expect(stdout).toContain('no run may be used')
  })

  test.each([
    ['once is a run as ever', ['--repeat', '1'], 'a run'],
    ['none is refused', ['--repeat', '0'], '--repeat'],
    ['a salt would warm the cache of the second run', ['--repeat', '2', '--salt', 'x'], 'warm cache'],
    ['--junit is of one run', ['--repeat', '2', '--junit', 'x.xml'], '--junit is of one run'],
  ])('%s', async (_, argv, said) => {
    const { asked, stderr, run } = await experiment(argv)
    expect(asked).toEqual([])
    expect(run === null ? stderr : 'a run').toContain(said)
  })
})

describe('run -f with a matrix', () => {
  test('every combination, round by round, over what the file says', async () => {
    const yaml = 'repeat: 2\nmatrix:\n  concurrency: [1, 8]\n  random-output-len: [64, 128]\n'
    const { asked, stdout } = await experiment(['-f', 'bench.yaml'], yaml)
    expect(asked).toHaveLength(8)
    expect(asked.slice(0, 4).map(({ pacer, workload }) => [pacer, workload])).toMatchObject([
      [{ users: 1 }, { output: { tokens: 64 } }],
      [{ users: 1 }, { output: { tokens: 128 } }],
      [{ users: 8 }, { output: { tokens: 64 } }],
      [{ users: 8 }, { output: { tokens: 128 } }],
    ])
    expect(asked.map(({ seed }) => seed)).toEqual(['1', '1', '1', '1', '1.2', '1.2', '1.2', '1.2'])
    expect(stdout).toContain('8 runs (4 settings × 2)')
    expect(stdout).toContain('--concurrency 8 --random-output-len 128')
  })

  test.each([
    ['a flag that is not there', 'matrix: { concurency: [1, 2] }', 'did you mean concurrency?', []],
    ['a value that cannot be read', 'matrix: { concurrency: [1, none] }', '--concurrency', []],
    ['a list that is empty', 'matrix: { concurrency: [] }', 'bench.yaml:1', []],
    ['what a flag says too', 'matrix: { concurrency: [1, 2] }', 'both say it', ['--concurrency', '4']],
  ])('%s is refused before anything is sent', async (_, yaml, said, argv) => {
    const { asked, stderr, exitCode } = await experiment(['-f', 'bench.yaml', ...argv], yaml)
    expect({ sent: asked.length, exitCode }).toEqual({ sent: 0, exitCode: 2 })
    expect(stderr).toContain(said)
  })

  test('--max-duration caps whatever says the end', async () => {
    const cap = async (argv: readonly string[]): Promise<number | null | undefined> =>
      (await cliRun(['run', '--max-duration', '30s', ...argv])).run?.durationMs
    expect(await cap([])).toBe(30_000)
    expect(await cap(['--duration', '10s'])).toBe(10_000)
    expect(await cap(['-n', '100000'])).toBe(30_000)
  })
})

describe('over runs', () => {
  test('Student: 1 … 5 have the mean 3 ± 2.776 · 1.581 ÷ √5', () => {
    const { mean, low, high } = overRuns([1, 2, 3, 4, 5])
    expect(mean).toBe(3)
    expect(low).toBeCloseTo(3 - 1.9632, 3)
    expect(high).toBeCloseTo(3 + 1.9632, 3)
  })

  test('one run has no interval, and says why', () => {
    expect(overRuns([7])).toMatchObject({ mean: 7, low: null, why: 'one run has no spread between runs' })
    expect(overRuns([])).toMatchObject({ mean: null, why: 'no run tells it' })
  })

  test('as many combinations as the product of the lists', () => {
    const lists = fc.array(fc.uniqueArray(fc.nat(9), { minLength: 1, maxLength: 4 }), { maxLength: 4 })
    fc.assert(
      fc.property(lists, (all) => {
        const cells = combine(all.map((values, at) => [`flag-${at}`, values]))
        expect(new Set(cells.map((cell) => JSON.stringify(cell))).size).toBe(
          all.reduce((product, { length }) => product * length, 1),
        )
      }),
    )
  })
})

test('a server that goes away is said to have answered before, with the folder that tells what', async () => {
  let ran = 0
  const gone = new PlimsollError('PLIM_CONNECT', 'nothing answers at http://b:2')
  const out = join(folder, 'gone')
  const { exitCode, stderr } = await cliRun(['run', '--out', out, '--repeat', '3'], {
    flows: {
      experimentFlow: (config, deps) =>
        experimentFlow(config, deps, () =>
          ran++ === 2
            ? Promise.reject(gone)
            : Promise.resolve({ document: sixPerSecond, interrupted: false }),
        ),
    },
  })
  expect(exitCode).toBe(2)
  expect(stderr.replaceAll(out, 'runs/e')).toBe(
    'run 1 of 3\nrun 2 of 3\nrun 3 of 3\nPLIM_CONNECT  nothing answers at http://b:2; it answered before: 2 of 3 runs\n  at runs/e\n  what was measured: plimsoll show runs/e, then the same again\n',
  )
})
