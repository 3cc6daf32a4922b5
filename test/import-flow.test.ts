import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportFlow } from '../src/flows/export.ts'
import { importFlow } from '../src/flows/import.ts'
import { fleetSchema, importSchema } from '../src/flows/options/import-schema.ts'
import { runSchema } from '../src/flows/options/document-schemas.ts'
import { fleetFlow } from '../src/flows/show-fleet.ts'
import { showFlow } from '../src/flows/show.ts'
import { readRun } from '../src/measure/record/read-run.ts'
import type { FleetDocument } from '../src/report/fleet-document.ts'
import type { ImportDocument } from '../src/report/import-document.ts'
import { cliRun, type CliResult } from './fixtures/cli.ts'
import { madeRequests, vllmResult } from './fixtures/result-files.ts'

// From a file of another tool to what is printed, and on to the verbs that take its run folder.

const goldens = fileURLToPath(new URL('goldens/import/', import.meta.url))
const place = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-import-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The golden of that name; with PLIMSOLL_GOLDENS=write it is written first. */
function golden(name: string, text: string): string {
  if (process.env['PLIMSOLL_GOLDENS'] === 'write') {
    mkdirSync(goldens, { recursive: true })
    writeFileSync(goldens + name, text)
  }
  return readFileSync(goldens + name, 'utf8')
}

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const flows = { importFlow, showFlow, exportFlow, fleetFlow }

async function plimsoll(...argv: readonly string[]): Promise<CliResult> {
  const found = await cliRun(argv, { flows })
  const clean = (text: string): string =>
    text.replaceAll(folder, '.').replaceAll(place('.').replace(/\/$/, ''), 'test')
  return { ...found, stdout: clean(found.stdout), stderr: clean(found.stderr) }
}

async function importJson(...argv: readonly string[]): Promise<ImportDocument> {
  const { stdout, stderr } = await cliRun(['import', ...argv, '--json'], { flows })
  expect(stderr).toBe('')
  const document = JSON.parse(stdout) as ImportDocument
  const checked = v.safeParse(importSchema, document)
  expect(checked.issues?.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`)).toBeUndefined()
  return document
}

describe('what plimsoll import prints', () => {
  it.each([
    ['vllm.txt', () => [file('vllm.json', vllmResult(madeRequests(400)))], 0],
    [
      'vllm-two-runs.txt',
      () => [file('two.json', `${vllmResult(madeRequests(50))}\n${vllmResult(madeRequests(60))}\n`)],
      0,
    ],
    ['guidellm.txt', () => [place('fixtures/import/guidellm-0.8.1.json.gz')], 5],
    [
      'aiperf.txt',
      () => [
        place('fixtures/import/aiperf-0.13.0.jsonl.gz'),
        place('fixtures/import/aiperf-0.13.0-summary.json.gz'),
      ],
      5,
    ],
    ['sglang.txt', () => [place('cases/imp-02-sglang-jsonl-infinity.result.jsonl')], 0],
    ['all-failed.txt', () => [place('cases/imp-03-nan-everywhere.result.json')], 5],
    ['spans.txt', () => [place('cases/imp-06-merge-two-runs.runs.json')], 0],
    ['truncated.txt', () => [file('cut.json', vllmResult(madeRequests(60)).slice(0, 9000))], 0],
  ])('%s', async (name, files, code) => {
    const { stdout, stderr, exitCode } = await plimsoll('import', ...files(), '--dry-run')
    expect(stdout).toBe(golden(name, stdout))
    expect([exitCode, stderr]).toEqual([code, ''])
  })

  it.each([
    [
      'an empty file',
      '',
      'PLIM_FILE  the file is empty\n  at ./bad.json:1:1\n  expected the results of a load test\n',
    ],
    ['another JSON', '{"hello": 1}', 'PLIM_FILE  this is no result file known here\n  at ./bad.json:1:1\n'],
    ['no JSON', '{"completed" 1}', 'PLIM_FILE  this is'],
  ])('%s: exit 2, the place on stderr, nothing on stdout', async (_, text, stderr) => {
    const found = await plimsoll('import', file('bad.json', text))
    expect([found.exitCode, found.stdout]).toEqual([2, ''])
    expect(found.stderr.startsWith(stderr)).toBe(true)
  })
})

describe('an imported run', () => {
  it('is a run folder that the other verbs take', async () => {
    const source = file('again.json', vllmResult(madeRequests(200)))
    const out = join(folder, 'again')
    const document = await importJson(source, '--out', out)
    const run = await readRun(out)
    expect([run.complete, run.rows.length, run.manifest.verdict, run.manifest.source?.kind]).toEqual([
      true,
      200,
      null,
      'import',
    ])
    expect(run.rows.every((row) => row.flags.includes('imported'))).toBe(true)
    const shown = await plimsoll('show', out, '--json')
    const document2 = JSON.parse(shown.stdout) as unknown
    expect(v.is(runSchema, document2)).toBe(true)
    expect(document2).toEqual(
      JSON.parse(JSON.stringify(document.runs[0]?.run).replaceAll(folder, '.')) as unknown,
    )
    const exported = await plimsoll('export', out, '--format', 'vllm')
    const back = JSON.parse(exported.stdout) as Record<string, unknown>
    const before = JSON.parse(vllmResult(madeRequests(200))) as Record<string, number>
    for (const key of ['completed', 'total_output_tokens']) expect(back[key]).toBe(before[key])
    for (const key of ['mean_ttft_ms', 'p99_tpot_ms', 'std_itl_ms', 'output_throughput'])
      expect(back[key]).toBeCloseTo(before[key] as number, 6)
  })

  it('agrees with the tool where only conventions differ, and names them', async () => {
    const { runs } = await importJson(file('named.json', vllmResult(madeRequests(400))), '--dry-run')
    const published = runs[0]?.published ?? []
    expect(published.length).toBe(14)
    expect(published.filter(({ status }) => status === 'not_recomputable')).toEqual([])
    const why = new Set(published.filter(({ status }) => status === 'differs').map((one) => one.why))
    for (const one of why)
      expect(one).toMatch(/^(linear between ranks \(numpy\), ours is the nearest rank|std of a population)/)
  })

  it('GuideLLM, really written: late sends come to light, and every figure that differs is explained', async () => {
    const { runs } = await importJson(place('fixtures/import/guidellm-0.8.1.json.gz'), '--dry-run')
    const [only] = runs
    expect(only?.run.verdict.reasons.map(({ rule }) => rule)).toContain('late_sends')
    const differing = only?.published.filter(({ status }) => status === 'differs') ?? []
    expect(differing.length).toBeGreaterThan(40)
    expect(differing.filter(({ why }) => why?.startsWith('no reading') === true)).toEqual([])
    const tpot = differing.find(({ name }) => name === 'time_per_output_token_ms.p99')
    expect(tpot?.why).toContain('TTFT is in it')
  })

  it('AIPerf, really written: tokens of its own tokenizer are not those of the server', async () => {
    const { runs } = await importJson(
      place('fixtures/import/aiperf-0.13.0.jsonl.gz'),
      place('fixtures/import/aiperf-0.13.0-summary.json.gz'),
      '--dry-run',
    )
    const [only, ...others] = runs
    expect(others).toEqual([])
    expect(only?.run.warnings.map(({ kind }) => kind)).toContain('token_count_disagrees')
    const differing = only?.published.filter(({ status }) => status === 'differs') ?? []
    expect(differing.filter(({ why }) => why?.startsWith('no reading') === true)).toEqual([])
    const itl = differing.find(({ name }) => name === 'inter_token_latency.avg')
    expect([itl?.why, Math.round((itl?.ours ?? 0) / (itl?.published ?? 1))]).toEqual([
      "N by its own tokenizer, ours is the server's",
      4,
    ])
  })

  it('requests and summary of one test are held against each other', async () => {
    const records = Array.from(
      { length: 20 },
      (_, i) =>
        `{"metadata":{"request_start_ns":${1750000000000000000n + BigInt(i) * 100000000n},"request_end_ns":${1750000000305000000n + BigInt(i) * 100000000n},"benchmark_phase":"profiling"},"metrics":{"time_to_first_token":{"value":${100 + i},"unit":"ms"},"request_latency":{"value":${300 + i},"unit":"ms"},"output_sequence_length":{"value":21,"unit":"tokens"},"inter_token_latency":{"value":10,"unit":"ms"}},"error":null}`,
    ).join('\n')
    const summary =
      '{"schema_version":"1.5","time_to_first_token":{"unit":"ms","avg":109.5,"p99":118.81,"p50":109.5},"inter_token_latency":{"unit":"ms","avg":10},"request_count":{"unit":"requests","avg":20}}'
    const { runs, files } = await importJson(
      file('records.jsonl', records),
      file('summary.json', summary),
      '--dry-run',
    )
    expect([files.length, runs.length]).toEqual([2, 1])
    expect(runs[0]?.published.map(({ name, status, ours }) => [name, status, ours])).toEqual([
      ['time_to_first_token.avg', 'agrees', 109.5],
      ['time_to_first_token.p99', 'differs', 119],
      ['time_to_first_token.p50', 'differs', 109],
      ['inter_token_latency.avg', 'agrees', 10],
    ])
  })
})

describe('exports', () => {
  it('llm-d: every statistic has its unit, what was not measured is left out', async () => {
    const out = join(folder, 'llmd')
    await importJson(file('llmd.json', vllmResult(madeRequests(100))), '--out', out)
    const { stdout, exitCode } = await plimsoll('export', out, '--format', 'llm-d')
    expect(exitCode).toBe(0)
    const report = JSON.parse(stdout) as {
      version: string
      results: { request_performance: { aggregate: Record<string, Record<string, unknown>> } }
    }
    expect(report.version).toBe('0.2.1')
    const { requests, latency, throughput } = report.results.request_performance.aggregate
    expect(requests).toMatchObject({
      total: 100,
      failures: 10,
      incomplete: 0,
      input_length: { units: 'count', mean: 512 },
    })
    expect(
      Object.entries(latency ?? {}).map(([name, one]) => [name, (one as { units: string }).units]),
    ).toEqual([
      ['time_to_first_token', 'ms'],
      ['normalized_time_per_output_token', 'ms/token'],
      ['time_per_output_token', 'ms/token'],
      ['inter_token_latency', 'ms/token'],
      ['request_latency', 'ms'],
    ])
    expect(Object.keys(throughput ?? {})).toEqual([
      'input_token_rate',
      'output_token_rate',
      'total_token_rate',
      'request_rate',
    ])
    expect(stdout).not.toContain('null,\n            "p')
  })

  it('parquet: a file that stands alone; not to stdout, not over a file that is there', async () => {
    const out = join(folder, 'pq')
    await importJson(file('pq.json', vllmResult(madeRequests(30))), '--out', out)
    const target = join(folder, 'copy.parquet')
    expect((await plimsoll('export', out, '--format', 'parquet')).stderr).toContain(
      '--format parquet --out FILE',
    )
    expect((await plimsoll('export', out, '--format', 'parquet', '--out', target)).exitCode).toBe(0)
    expect((await plimsoll('export', out, '--format', 'parquet', '--out', target)).stderr).toContain(
      '--force writes over it',
    )
    const [copy, original] = [await readRun(target), await readRun(out)]
    expect(copy.rows).toEqual(original.rows)
    expect(copy.manifest.source?.tool).toBe('vLLM bench serve')
  })
})

describe('show --as-fleet', () => {
  it('pools the requests of runs', async () => {
    const [a, b] = [join(folder, 'fleet-a'), join(folder, 'fleet-b')]
    await importJson(file('a.json', vllmResult(madeRequests(100))), '--out', a)
    await importJson(
      file('b.json', vllmResult(madeRequests(240).map((one) => ({ ...one, ttftS: one.ttftS * 4 })))),
      '--out',
      b,
    )
    const { stdout, exitCode } = await plimsoll('show', a, b, '--as-fleet')
    expect(stdout).toBe(golden('as-fleet.txt', stdout))
    expect(exitCode).toBe(0)
    const fleet = JSON.parse((await plimsoll('show', a, b, '--as-fleet', '--json')).stdout) as unknown
    expect(v.safeParse(fleetSchema, fleet).issues?.map((issue) => issue.message)).toBeUndefined()
    for (const again of [a, `${a}/`, join(a, '..', 'fleet-a')]) {
      const twice = await plimsoll('show', a, b, again, '--as-fleet')
      expect(twice.exitCode).toBe(2)
      expect(twice.stderr).toContain('one replica is given twice, and would count as two')
    }
  })

  it('adds the histograms of scrapes, and prints what their buckets leave open', async () => {
    const scrape = (counts: readonly number[]): string =>
      [
        '# TYPE vllm:time_to_first_token_seconds histogram',
        ...['0.1', '0.25', '0.5', '1.0', '+Inf'].map(
          (le, at) => `vllm:time_to_first_token_seconds_bucket{model_name="m",le="${le}"} ${counts[at]}`,
        ),
        `vllm:time_to_first_token_seconds_sum{model_name="m"} 1`,
        `vllm:time_to_first_token_seconds_count{model_name="m"} ${counts[4]}`,
        '',
      ].join('\n')
    const a = file('a.prom', scrape([900, 990, 998, 1000, 1000]))
    const b = file('b.prom', scrape([100, 200, 400, 480, 500]))
    const { stdout, exitCode } = await cliRun(['show', a, b, '--as-fleet'], {
      flows,
      files: Object.fromEntries([a, b].map((path) => [path, readFileSync(path, 'utf8')])),
    })
    const text = stdout.replaceAll(folder, '.')
    expect(text).toBe(golden('as-fleet-scrapes.txt', text))
    expect(exitCode).toBe(0)
  })

  it('adds native histograms out of an answer of Prometheus, a series a replica', async () => {
    const series = (
      instance: string,
      counts: readonly (readonly [index: number, count: number])[],
    ): object => ({
      metric: { __name__: 'vllm:time_to_first_token_seconds', instance },
      histogram: [
        1764500000,
        {
          count: String(counts.reduce((sum, [, count]) => sum + count, 0)),
          sum: '1',
          buckets: counts.map(([index, count]) => [
            0,
            String(2 ** (index / 8)),
            String(2 ** ((index + 1) / 8)),
            String(count),
          ]),
        },
      ],
    })
    const answer = (...result: readonly object[]): string =>
      JSON.stringify({ status: 'success', data: { resultType: 'vector', result } })
    const fast = series('pod-a:8000', [
      [-24, 900],
      [-16, 99],
      [-8, 1],
    ])
    const slow = series('pod-b:8000', [
      [-16, 60],
      [4, 40],
    ])
    const both = file('native.json', answer(fast, slow))
    const alone = [file('native-a.json', answer(fast)), file('native-b.json', answer(slow))]
    const asFleet = (...paths: readonly string[]): Promise<CliResult> =>
      cliRun(['show', ...paths, '--as-fleet'], {
        flows,
        files: Object.fromEntries(paths.map((path) => [path, readFileSync(path, 'utf8')])),
      })
    const { stdout, exitCode } = await asFleet(both)
    const text = stdout.replaceAll(folder, '.')
    expect(text).toBe(golden('as-fleet-native.txt', text))
    expect(exitCode).toBe(0)
    const apart = await asFleet(...alone)
    expect(apart.stdout.split('\n').slice(1, 5)).toEqual(stdout.split('\n').slice(1, 5))
    const one = await asFleet(alone[0]!)
    expect([one.exitCode, one.stderr]).toEqual([
      2,
      expect.stringContaining('of an answer of Prometheus each series is one'),
    ])
  })

  it('bounds the fleet of AIPerf aggregates, TPOT too', async () => {
    const aggregate = (scale: number): string =>
      JSON.stringify({
        request_count: { unit: 'requests', avg: 200 },
        time_to_first_token: {
          unit: 'ms',
          avg: 40 * scale,
          p50: 38 * scale,
          p90: 60 * scale,
          p99: 80 * scale,
          max: 95 * scale,
        },
        inter_token_latency: { unit: 'ms', avg: 8 * scale, p50: 8 * scale, p99: 11 * scale, max: 12 * scale },
        request_latency: { unit: 'ms', avg: 900 * scale, p50: 880 * scale, p99: 1500 * scale },
      })
    const runs: string[] = []
    for (const scale of [1, 2]) {
      const path = file(`profile_export_aiperf_${scale}.json`, aggregate(scale))
      const imported = await importJson(path, '--out', join(folder, `aiperf-${scale}`))
      expect(imported.runs[0]?.run.warnings.map(({ message }) => message).join()).toContain(
        'not in the file: every distribution; as published: ',
      )
      runs.push(join(folder, `aiperf-${scale}`))
    }
    const fleet = JSON.parse(
      (await plimsoll('show', ...runs, '--as-fleet', '--json')).stdout,
    ) as FleetDocument
    const tpot = fleet.figures.find(({ metric }) => metric === 'tpot_ms')
    expect(tpot?.percentiles['p99']).toMatchObject({ method: 'quantiles', value: null, low: 16, high: 22 })
    expect(tpot?.percentiles['p50']).toMatchObject({ value: null, each: [8, 16] })
  })

  it('bounds what has only published quantiles', async () => {
    const source = place('cases/imp-02-sglang-jsonl-infinity.result.jsonl')
    const first = await importJson(source, '--out', join(folder, 'q'))
    const [a = '', b = ''] = first.runs.map(({ folder: path }) => path ?? '')
    const { stdout } = await plimsoll('show', a, b, '--as-fleet')
    expect(stdout).toContain('bounds: all that quantiles of each can say')
  })

  it('one alone is no fleet', async () => {
    const { exitCode, stderr } = await plimsoll('show', folder, '--as-fleet')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('--as-fleet puts several replicas together')
  })
})
