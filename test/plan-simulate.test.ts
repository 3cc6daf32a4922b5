import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'
import { afterAll, describe, expect, test } from 'vitest'
import { planFlow } from '../src/flows/plan.ts'
import { planSchema } from '../src/flows/plan-schema.ts'
import type { PlanDocument } from '../src/report/plan-document.ts'
import { cliRun } from './fixtures/cli.ts'
import { smallModel } from './fixtures/simulation.ts'

const goldens = fileURLToPath(new URL('./goldens/plan/', import.meta.url))
const sweep = fileURLToPath(new URL('../examples/runs/sweep', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-plan-day-'))
afterAll(() => rmSync(folder, { recursive: true }))

function golden(name: string, text: string): string {
  if (process.env['PLIMSOLL_GOLDENS'] === 'write') {
    mkdirSync(goldens, { recursive: true })
    writeFileSync(goldens + name, text)
  }
  return readFileSync(goldens + name, 'utf8')
}

const trace = Array.from({ length: 600 }, (_, i) =>
  JSON.stringify({ timestamp: 100 * i, input_length: 500, output_length: 20 }),
).join('\n')
const files = { 'model.json': JSON.stringify(smallModel), 'trace.jsonl': trace }

const plan = (...argv: string[]): ReturnType<typeof cliRun> =>
  cliRun(['plan', ...argv], { flows: { planFlow }, files })

const peak = ['--peak', '40/s', '--margin', 'derate:20%', '--survive', '1']
const requests = ['--prompt', '1024', '--output', '128', '--traffic', 'daily 4/s..40/s over 30m']
const objective = ['--slo', 'ttft < 1s and tpot < 20ms, good 99%']
const day = ['--simulate', '--model', 'h100-8b', ...requests, ...objective]

describe('plimsoll plan --simulate', () => {
  test('a plan that survives, with one fewer beside it', async () => {
    const { stdout, stderr, exitCode } = await plan('--each', '16/s', ...peak, ...day)
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toBe(golden('survives.txt', stdout))
  })

  test('a plan on a rate that no replica keeps fails, says so and ends with 3', async () => {
    const { stdout, exitCode } = await plan('--each', '60/s', ...peak.slice(0, 4), '--survive', '0', ...day)
    expect(exitCode).toBe(3)
    expect(stdout).toBe(golden('fails.txt', stdout))
  })

  test('a fitted model brings the slowest engine that it does not rule out', async () => {
    const model = ['--simulate', '--model', 'model.json', ...requests, ...objective]
    const { document } = await planned(['--each', '16/s', ...peak, ...model])
    expect(document.simulation?.cases.map(({ kind }) => kind)).toEqual([
      'plan',
      'one_fewer',
      'slowest_engine',
    ])
    expect(document.simulation?.engine.source).toBe('model')
  })

  test('the document is as its schema says, and the same every time', async () => {
    const { document, exitCode } = await planned(['--each', '16/s', ...peak, ...day])
    expect(exitCode).toBe(0)
    expect(v.safeParse(planSchema, document).issues).toBeUndefined()
    const [first] = document.simulation?.cases ?? []
    expect(first?.hours).toHaveLength(24)
    expect(first?.hours.reduce((sum, { arrived }) => sum + arrived, 0)).toBe(first?.arrived)
    const again = await planned(['--each', '16/s', ...peak, ...day])
    expect(again.document.simulation).toEqual(document.simulation)
  })

  test('a recorded hour instead of a made day', async () => {
    const argv = ['--each', '16/s', ...peak, '--simulate', '--model', 'h100-8b', ...objective]
    const { document } = await planned([...argv, '--traffic', 'trace.jsonl'])
    expect(document.simulation?.traffic).toMatchObject({ peak_per_s: 10, lengths: "the trace's own" })
    expect(document.simulation?.cases[0]?.arrived).toBe(600)
  })

  test('--out writes the page of the day, and the capacity page says when it failed', async () => {
    const out = join(folder, 'deploy')
    const tight = ['--traffic', 'daily 4/s..40/s over 30m', '--slo', 'p99 tpot <= 6ms']
    const flags = ['--simulate', '--model', 'demo', '--prompt', '256', '--output', '32', ...tight]
    const { exitCode } = await plan(sweep, ...peak, ...flags, '--out', out)
    expect(exitCode).toBe(3)
    const page = readFileSync(join(out, 'simulation.md'), 'utf8')
    expect(page).toBe(golden('simulation.md', page))
    const capacity = readFileSync(join(out, 'capacity.md'), 'utf8')
    expect(capacity).toContain('It FAILED on the simulated day')
    expect(capacity).toContain('- [simulation.md](simulation.md)')
  })

  test.each([
    [
      'no engine',
      ['--each', '8/s', ...peak, '--simulate', ...requests, ...objective],
      'what engine the plan',
    ],
    ['no objective', ['--each', '8/s', ...peak, '--simulate', '--model', 'demo', ...requests], 'to judge'],
    [
      'no lengths',
      ['--each', '8/s', ...peak, '--simulate', '--model', 'demo', ...objective],
      'lengths of the requests',
    ],
    [
      'a margin that is read in two ways',
      ['--each', '8/s', '--peak', '40/s', '--margin', '20%', '--survive', '1', ...day],
      'only one plan is tried',
    ],
    ['several pools', ['--each', '8/s', '--class', 'a=2/s', '--class', 'b=1/s', ...day], 'tries one pool'],
    [
      'a flag without the day',
      ['--each', '8/s', ...peak, '--router', 'random'],
      '--simulate beside --router',
    ],
    ['a router', ['--each', '8/s', ...peak, ...day, '--router', 'fastest'], 'least-loaded'],
    ['only gaps', ['--each', '8/s', ...peak, ...day.slice(0, -2), '--slo', 'gap < 1s'], 'gap < 1s'],
  ])('%s is refused with what would do', async (_, argv, word) => {
    const { stderr, exitCode } = await plan(...argv)
    expect([exitCode, stderr.includes(word)]).toEqual([2, true])
  })
})

async function planned(
  argv: readonly string[],
): Promise<{ readonly document: PlanDocument; readonly exitCode: number }> {
  const { stdout, stderr, exitCode } = await plan(...argv, '--json')
  expect(stderr).toBe('')
  return { document: JSON.parse(stdout) as PlanDocument, exitCode }
}
