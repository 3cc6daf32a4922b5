import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { noCapacity, sixPerSecond, threeWalls } from '../../test/fixtures/documents.ts'
import { cliRun } from '../../test/fixtures/cli.ts'
import type { SweepDocument } from '../report/documents.ts'
import { planFlow, ttftLimitMs } from './plan.ts'
import { readPlanFile } from './plan-file.ts'
import { objectivesYaml } from './plan-slo.ts'
import { promtool } from './slo-promtool.ts'
import { planSchema } from './plan-schema.ts'

let folder = ''
const paths = { steady: '', fast: '', none: '', no: '', inconclusive: '' }

async function sweepAt(name: string, document: SweepDocument): Promise<string> {
  const path = join(folder, name)
  await mkdir(path)
  await writeFile(join(path, 'sweep.json'), JSON.stringify(document))
  return path
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-plan-'))
  const point = threeWalls.operating_point!
  paths.steady = await sweepAt('steady', threeWalls)
  paths.fast = await sweepAt('fast', {
    ...threeWalls,
    operating_point: {
      ...point,
      requests_per_s: 2.9,
      output_tokens_per_s: 2900,
      confirmed: null,
      confirmation: null,
    },
    peak: { load: 128, output_tokens_per_s: 6000 },
  })
  const confirmation = (met: 'no' | 'inconclusive') => ({
    ...point.confirmation!,
    objectives: [{ ...sixPerSecond.objectives[0]!, met }],
  })
  for (const met of ['no', 'inconclusive'] as const)
    paths[met] = await sweepAt(met, {
      ...threeWalls,
      operating_point: { ...point, confirmed: false, confirmation: confirmation(met) },
    })
  paths.none = await sweepAt('none', noCapacity)
})

const plan = (...argv: string[]): ReturnType<typeof cliRun> =>
  cliRun(['plan', ...argv], { flows: { planFlow } })
const seed = ['--peak', '40/s', '--margin', 'derate:20%', '--survive', '1']

describe('what is printed', () => {
  it('the seed: 8, with the working', async () => {
    const { exitCode, stdout, stderr } = await plan('--each', '8/s', ...seed)
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toBe(`8 replicas for 40 req/s at the peak
  each is run at 80 %: 8 × 0.8 = 6.4; 40 ÷ 6.4 = 6.25 → 7; one may die: N − 1 ≥ 7 → 8
  often got wrong: 40 ÷ 8 → 5 has no margin and survives nothing
  each carries 8 req/s, as typed: plimsoll sweep measures it
  after the planned losses each carries 71 % of what was measured
  the mean of a minute hides its seconds: over 1 s random arrivals peak at 1.38x (P99); what serves covers 99.3 % of the seconds
measure what one carries: plimsoll sweep --url URL
`)
  })

  it('a bare margin is shown both ways and not chosen: exit 2', async () => {
    const { exitCode, stdout } = await plan(
      '--each',
      '8/s',
      '--peak',
      '40/s',
      '--margin',
      '20%',
      '--survive',
      '1',
    )
    expect(exitCode).toBe(2)
    expect(stdout).toBe(`"20 % margin" is read in two ways, and they differ here: say which.
  --margin derate:20%  8 replicas   each is run at 80 %: 8 × 0.8 = 6.4; 40 ÷ 6.4 = 6.25 → 7; one may die: N − 1 ≥ 7 → 8
  --margin uplift:20%  7 replicas   the peak is 20 % higher: 40 × 1.2 = 48; 48 ÷ 8 = 6; one may die: N − 1 ≥ 6 → 7
  each carries 8 req/s, as typed: plimsoll sweep measures it
plimsoll plan --peak 40/s --survive 1 --each 8/s --margin derate:20%
`)
  })

  it('several sweeps are ranked by what keeps the objective; the fastest need not win', async () => {
    const { stdout } = await plan(paths.fast, paths.steady, ...seed, '--price', '2.50')
    const lines = stdout
      .replaceAll(`${folder}/`, '')
      .replaceAll(/(?<=\S) {2,}/g, ' | ')
      .split('\n')
    expect(lines[0]).toBe(
      '16 replicas for 40 req/s at the peak · 40.00 an hour · 0.278 per million output tokens at the peak',
    )
    expect(lines.slice(4, 8)).toEqual([
      '  sweep | safe tok/s | peak tok/s | req/s | replicas | broke first',
      '  steady | 3,400 | 5,000 | 3.4 | 16 | p99 tpot <= 10ms',
      '  fast | 2,900 | 6,000 | 2.9 | 19 | p99 tpot <= 10ms',
      '  the fastest does not win: fast peaks at 6,000 tok/s and keeps the objective up to 2,900 tok/s',
    ])
  })

  it('an unconfirmed point is called indicative', async () => {
    const { stdout } = await plan(paths.fast, ...seed)
    expect(stdout).toContain('each carries 2.9 req/s: INDICATIVE ¹')
    expect(stdout).toContain('plimsoll run --url http://localhost:8000 --request-rate 2.9 confirms it')
  })

  it.each<[string, 'no' | 'inconclusive', string, string]>([
    [
      'it missed the objective',
      'no',
      'each carries 3.4 req/s: REFUTED ¹',
      'plimsoll find looks for a rate that holds',
    ],
    ['it could not tell', 'inconclusive', 'each carries 3.4 req/s: INDICATIVE ¹', 'confirms it'],
  ])('a rate that was tried open loop: %s', async (_, met, word, advice) => {
    const { exitCode, stdout } = await plan(paths[met], ...seed)
    expect(exitCode).toBe(0)
    const text = stdout.replaceAll(/\s+/g, ' ')
    expect(text).toContain(word)
    expect(text).toContain(advice)
    expect(stdout.includes('confirms it')).toBe(met !== 'no')
    if (met === 'no')
      expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^find a rate that holds: plimsoll find /)
  })

  it('classes in pools of their own, and in one', async () => {
    const { stdout } = await plan(
      paths.steady,
      ...seed.slice(2),
      '--class',
      'chat=30/s',
      '--class',
      `batch=10/s@${paths.fast}`,
    )
    expect(stdout).toContain('16 replicas for 40 req/s')
    expect(stdout).toContain('class chat, 30 req/s → 13 replicas')
    expect(stdout).toContain('class batch, 10 req/s → 6 replicas')
    expect(stdout).toContain('one pool for all: 17 replicas')
  })

  it('a pool for all classes survives the loss of a zone too: ⌈16 ÷ 2⌉ × 3', async () => {
    const classes = ['--class', 'chat=30/s', '--class', `batch=10/s@${paths.fast}`]
    const { stdout } = await plan(
      paths.steady,
      ...seed.slice(2),
      ...classes,
      '--zones',
      '3',
      '--survive-zones',
      '1',
    )
    expect(stdout).toContain('one pool for all: 24 replicas')
  })

  it('availability', async () => {
    const { stdout } = await plan('--each', '8/s', ...seed, '--availability', '99%', '--want-up', '99.9%')
    expect(stdout).toContain('enough are up, at 99.0 % each, with 7: 93.2 %, 8: 99.7 %, 9: 99.992 %')
    expect(stdout).toContain('99.90 % takes 9 replicas')
  })
})

describe('what is refused', () => {
  it.each([
    [
      'a batch beyond what was tested',
      ['--max-num-seqs', '512'],
      'max_num_seqs 512 lies outside what was tested',
    ],
    [
      'a batch beyond the engine’s cap',
      ['--max-num-seqs', '65', '--tested-max-num-seqs', '64'],
      'at most 64',
    ],
    ['a margin of all', ['--margin', 'derate:100%'], 'leaves no capacity'],
    ['a word for a margin', ['--margin', 'both:20%'], '--margin cannot be read'],
    ['two sources', ['--each', '8/s'], '--each and a sweep'],
    ['a class that cannot be read', ['--class', 'chat'], '--class cannot be read'],
    ['half of a start', ['--weights', '16GB'], 'the weights and the bandwidth'],
    ['an odd ramp', ['--ramp', 'fast', '--out', '/nowhere/never'], '--ramp cannot be read'],
    ['a ramp of scalers that are not written', ['--ramp', '0.1/s/s'], '--ramp says nothing without --out'],
    [
      'a wish without what it is reckoned from',
      ['--want-up', '99.9%'],
      '--want-up says nothing without --availability',
    ],
    ['lost zones of none', ['--survive-zones', '2'], 'expected --zones beside --survive-zones'],
    ['a part of a start', ['--probe', '5s'], '--probe says nothing without --weights'],
    [
      'an undecided margin with a folder',
      ['--margin', '20%', '--survive', '1', '--peak', '42/s', '--out', '/nowhere/never'],
      'read in two ways',
    ],
  ])('%s', async (_, more, said) => {
    const given = more.includes('--peak')
      ? []
      : more.includes('--margin')
        ? ['--peak', '40/s']
        : ['--peak', '40/s', '--margin', 'derate:20%']
    const { exitCode, stdout, stderr } = await plan(paths.steady, ...given, ...more)
    expect(stderr).toContain(said)
    expect([exitCode, stdout]).toEqual([2, ''])
  })
  it('no demand, no sweep, a run', async () => {
    expect((await plan(paths.steady)).stderr).toContain('--peak 40/s')
    expect((await plan('--peak', '40/s')).stderr).toContain('PLIM_RUN_FOLDER')
    expect((await plan(folder, '--peak', '40/s')).stderr).toContain('there is no sweep to plan on')
  })
  it('a sweep in which nothing keeps the objective is exit 3', async () => {
    const { exitCode, stdout } = await plan(paths.none, ...seed)
    expect(exitCode).toBe(3)
    expect(stdout).toContain('Nothing to plan on')
    expect((await plan(paths.none, ...seed, '--out', join(folder, 'never'))).stderr).toContain(
      'no operating point',
    )
  })
})

describe('machines', () => {
  it.each([
    ['typed', () => ['--each', '8/s', ...seed]],
    ['swept', () => [paths.steady, paths.fast, ...seed, '--availability', '99%']],
    ['nothing', () => [paths.none, ...seed]],
    ['no demand', () => [paths.steady, '--peak', '0/s', '--survive', '1']],
  ])('--json is one document of its schema: %s', async (_, argv) => {
    const { stdout } = await plan(...argv(), '--json')
    expect(v.safeParse(planSchema, JSON.parse(stdout)).issues).toBeUndefined()
  })
  it('no demand needs nothing', async () => {
    expect((await plan(paths.steady, '--peak', '0/s', '--survive', '1')).stdout).toContain(
      '0 replicas for 0 req/s',
    )
  })
})

describe('--out', () => {
  it('writes a folder that stands by itself', async () => {
    const out = join(folder, 'deploy')
    const demand = [
      paths.steady,
      ...seed,
      '--max-wait',
      '2s',
      '--prefill-rate',
      '20000',
      '--gpu',
      'H100 80GB',
    ]
    const start = [
      '--ramp',
      '0.1/s/s',
      '--weights',
      '16GB',
      '--bandwidth',
      '2GB/s',
      '--init',
      '20s',
      '--out',
      out,
    ]
    const { exitCode, stdout } = await plan(...demand, ...start)
    expect(exitCode).toBe(0)
    expect(stdout).toContain('capacity.md is the page to show')
    const page = await readFile(join(out, 'capacity.md'), 'utf8')
    for (const fact of [
      '**16 replicas for 40 req/s at the peak.**',
      '| SLO **binds** | 32 users |',
      'TPOT P99: 9.90 ms (95 %: 9.80 ms to 9.97 ms)',
      'engine vLLM 0.19.1, model Qwen/Qwen3-8B, GPU H100 80GB',
      '**expires 2027-02-27**',
      'runs: point-1,',
      '## What was not measured',
      '`--max-num-seqs 32 --max-num-queued-reqs 38`',
    ]) {
      expect(page).toContain(fact)
    }
    const keda = parse(await readFile(join(out, 'scaler/keda.yaml'), 'utf8')) as {
      spec: { minReplicaCount: number; triggers: { metadata: Record<string, string> }[]; fallback: object }
    }
    expect(keda.spec.minReplicaCount).toBeGreaterThanOrEqual(1)
    expect(keda.spec.fallback).toEqual({
      failureThreshold: 3,
      replicas: 2,
      behavior: 'currentReplicasIfHigher',
    })
    expect(keda.spec.triggers[0]?.metadata).toMatchObject({
      ignoreNullValues: 'false',
      query:
        'sum(vllm:num_requests_running{model_name="Qwen/Qwen3-8B"}) + sum(vllm:num_requests_waiting{model_name="Qwen/Qwen3-8B"}) + 46',
    })
    const written = JSON.parse(await readFile(join(out, 'plan.json'), 'utf8')) as { files: string[] }
    expect(v.safeParse(planSchema, written).issues).toBeUndefined()
    for (const file of written.files) expect(await readFile(join(out, file), 'utf8')).not.toBe('')
    expect(written.files).toContain('slo/llm-tpot.rules.yaml')
    expect(written.files).toContain('slo/llm-tpot.test.yaml')
    const checked = await promtool(['check', 'rules', 'llm-tpot.rules.yaml'], join(out, 'slo'))
    expect(checked.kind).not.toBe('failed')
    const again = await plan(paths.steady, ...seed, '--out', out)
    expect(again.stderr).toContain('--force writes over them')
    expect((await plan(paths.steady, ...seed, '--out', out, '--force')).exitCode).toBe(0)
  })
})

it.each([
  ['ttft < 500ms and tpot < 30ms, good 99%', 500],
  ['p99 ttft <= 2s; ttft < 1s', 1000],
  ['p99 tpot <= 10ms', null],
  [null, null],
])('the TTFT limit of %s', (objective, limit) => expect(ttftLimitMs(objective)).toBe(limit))

describe('objectives of the deploy folder', () => {
  it.each([
    [
      'ttft < 500ms and tpot < 30ms, good 99.5%',
      { 'ttft-tpot': { each: 'ttft < 500ms and tpot < 30ms', good: '99.5%', over: '30d', shed: 'bad' } },
    ],
    [
      'p99 tpot <= 10ms; p95 tpot <= 8ms',
      {
        tpot: { each: 'tpot <= 10ms', good: '99%', over: '30d', shed: 'bad' },
        'tpot-2': { each: 'tpot <= 8ms', good: '95%', over: '30d', shed: 'bad' },
      },
    ],
  ])('of %s', (objective, objectives) =>
    expect(
      (parse(objectivesYaml(objective, 'vLLM 0.19', 'm')!) as { objectives: object }).objectives,
    ).toEqual(objectives),
  )
  it('none of none', () => expect(objectivesYaml(null, null, null)).toBeNull())
  const file = readPlanFile(
    'objectives:\n  chat: { each: tpot < 30ms and ttft < 500ms, good: 0.995, over: 28d, shed: ignore }\n  answered: { good: 99.9% }\nslo: { service: chat, policy: lesson, edges: optimistic, match: { model_name: other } }\n',
    'plimsoll.yaml',
  )
  const made = (objective: string): { objectives: object; slo: object } =>
    parse(objectivesYaml(objective, 'vLLM 0.19', 'm', file)!) as { objectives: object; slo: object }
  it('with a file: name, time and refusals of the objective that asks the same', () => {
    expect(made('ttft < 500ms and tpot < 30ms, good 99.5%')).toEqual({
      objectives: {
        chat: { each: 'ttft < 500ms and tpot < 30ms', good: '99.5%', over: '28d', shed: 'ignore' },
      },
      slo: {
        service: 'chat',
        engine: 'vllm',
        match: { model_name: 'other' },
        edges: 'optimistic',
        unreachable: 'refit',
        policy: 'lesson',
      },
    })
  })
  it('another share is another objective', () =>
    expect(Object.keys(made('ttft < 500ms and tpot < 30ms, good 99%').objectives)).toEqual(['ttft-tpot']))
})

describe('plimsoll.yaml', () => {
  const files = {
    'plimsoll.yaml': 'capacity: { peak: 40/s, margin: "derate:20%", survive: 1 }\n',
    'bad.yaml': 'capacity: { peak: 40/s, margin: "derate:2x" }\n',
  }
  const filed = (...argv: string[]): ReturnType<typeof cliRun> =>
    cliRun(['plan', '--each', '8/s', ...argv], { flows: { planFlow }, files })
  it.each([
    ['says the demand, the margin and what may be lost', [], '8 replicas for 40 req/s'],
    ['flags win over it', ['--peak', '80/s', '--survive', '0'], '13 replicas for 80 req/s'],
  ])('%s', async (_, argv, said) => {
    const { exitCode, stdout } = await filed(...argv)
    expect([exitCode, stdout.slice(0, said.length)]).toEqual([0, said])
  })
  it('a mistake in it is named by its place', async () => {
    const { exitCode, stderr } = await filed('--config', 'bad.yaml')
    expect([exitCode, stderr.includes('capacity.margin of bad.yaml')]).toEqual([2, true])
  })
})
