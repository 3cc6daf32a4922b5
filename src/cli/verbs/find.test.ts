import { describe, expect, test } from 'vitest'
import { cliRun } from '../../../test/fixtures/cli.ts'
import { betweenTwoRates, clientBoundFind, noRateHolds } from '../../../test/fixtures/find.ts'
import type { FindConfig } from '../../flows/options/run-config.ts'
import type { FindDocument } from '../../report/find-document.ts'

const words = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2]!)

async function config(line: string, yaml?: string): Promise<FindConfig> {
  const { find, stderr } = await cliRun(['find', ...words(line)], {
    files: yaml === undefined ? {} : { 'plimsoll.yaml': yaml },
  })
  expect(stderr).not.toContain('PLIM_')
  return find!
}

describe('what flags of find say', () => {
  test.each<[string, string, Partial<Record<keyof FindConfig, unknown>>]>([
    [
      'nothing: from a probe, to 5 %, short answers, an objective is there',
      '',
      {
        from: null,
        resolution: 0.05,
        points: 10,
        pointDurationMs: null,
        maxDurationMs: null,
        run: { workload: { output: { tokens: 8 } }, objectives: [{ text: 'p90 tpot <= 10ms' }] },
      },
    ],
    ['where to begin', '--rate-from 90/min', { from: 1.5 }],
    ['a finer search needs more points', '--resolution 1%', { resolution: 0.01, points: 13 }],
    ['points', '--points 4', { points: 4 }],
    ['time', '-d 30s --max-duration 10m', { pointDurationMs: 30_000, maxDurationMs: 600_000 }],
    ['a server: its lengths are those of run', '-u h:1', { run: { workload: { output: { tokens: 128 } } } }],
    ['tags', '--tag gpu=h100', { run: { metadata: { gpu: 'h100' } } }],
  ])('%s', async (_, line, wanted) => {
    expect(await config(line)).toMatchObject(wanted)
  })

  test('capacity.at of the file is what is looked for', async () => {
    const { run } = await config('', 'capacity: { at: p99 tpot <= 10ms }\n')
    expect(run.objectives.map(({ text }) => text)).toEqual(['p99 tpot <= 10ms'])
  })

  test('how long a run or a sweep of the file measures is nothing to a search', async () => {
    const yaml = 'window: { measure: 5s }\nsweep: { points: 3, duration_per_point: 2s }\n'
    expect(await config('', yaml)).toMatchObject({ points: 10, pointDurationMs: null })
  })

  test.each([
    ['an objective that never fails', '--goodput ttft:500', 'counts and never fails'],
    ['a resolution that nobody can reach', '--resolution 0.01%', '--resolution is too fine'],
    ['a rate of nothing', '--rate-from 0', '--rate-from would send nothing'],
    ['one point finds nothing', '--points 1', '--points is too small'],
    ['a tag without a value', '--tag fast', '--tag takes pairs'],
  ])('%s is refused', async (_, line, said) => {
    const { stderr, exitCode, find } = await cliRun(['find', ...words(line)])
    expect(stderr).toContain(said)
    expect([exitCode, find]).toEqual([2, null])
  })
})

describe('how a search ends', () => {
  const allInvalid = {
    ...clientBoundFind,
    points: clientBoundFind.points.filter(({ decision }) => decision === 'invalid'),
  }
  test.each<[string, FindDocument, boolean, number]>([
    ['a rate that holds', betweenTwoRates, false, 0],
    ['no rate that holds', noRateHolds, false, 3],
    ['a client that was the limit at one point', clientBoundFind, false, 0],
    ['a client that was the limit at every point', allInvalid, false, 5],
    ['by hand', betweenTwoRates, true, 130],
  ])('%s', async (_, document, interrupted, code) => {
    const { exitCode, stdout } = await cliRun(['find', '--json'], {
      flows: { findFlow: () => Promise.resolve({ document, interrupted }) },
    })
    expect(exitCode).toBe(code)
    expect(JSON.parse(stdout)).toEqual(document)
  })

  test('shown again it prints the same; there is no page of it', async () => {
    const { stdout } = await cliRun(['find'])
    const flows = {
      showFlow: () =>
        Promise.resolve({ shown: [{ kind: 'find', path: 'runs/x', document: betweenTwoRates } as const] }),
    }
    expect((await cliRun(['show', 'runs/x'], { flows })).stdout).toBe(stdout)
    const page = await cliRun(['show', 'runs/x', '--html'], { flows })
    expect(page.exitCode).toBe(2)
    expect(page.stderr).toContain('there is no page of a search for a rate')
  })
})
