import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { describeError, type PlimsollError } from '../src/base/errors.ts'
import { importFile } from '../src/measure/record/import/import-file.ts'
import type { ImportedRun } from '../src/measure/record/import/imported-run.ts'
import { mergedRate } from '../src/measure/record/import/span-rates.ts'

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-imp-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Case {
  readonly file: string
  readonly expect: Readonly<Record<string, unknown>>
}

async function read(
  id: string,
): Promise<{ readonly runs: readonly ImportedRun[]; readonly expected: Case['expect'] }> {
  const place = (name: string): string => fileURLToPath(new URL(`cases/${name}`, import.meta.url))
  const sidecar = JSON.parse(readFileSync(place(`${id}.expect.json`), 'utf8')) as Case
  const { runs } = await importFile(place(sidecar.file))
  return { runs, expected: sidecar.expect }
}

async function readText(name: string, text: string): Promise<readonly ImportedRun[]> {
  const file = join(folder, name)
  writeFileSync(file, text)
  return (await importFile(file)).runs
}

function published(run: ImportedRun | undefined, name: string): number | null {
  const found = run?.published.find((one) => one.name === name)
  expect([name, found === undefined]).toEqual([name, false])
  expect(found?.value === null).toBe(found?.why !== null)
  return found?.value ?? null
}

function counts(run: ImportedRun | undefined): { n_ok: number; n_failed: number } {
  const of = (...outcomes: readonly string[]): number =>
    run?.rows.filter((row) => outcomes.includes(row.outcome) && row.phase === 'measure').length ?? -1
  return { n_ok: of('ok'), n_failed: of('failed', 'shed') }
}

const measured = (run: ImportedRun | undefined) =>
  run?.rows.filter((row) => row.ok && row.phase === 'measure') ?? []

describe('result files of other tools, the shared cases', () => {
  it('imp-02: SGLang lines with Infinity, NaN and placeholders of 0', async () => {
    const { runs, expected } = await read('imp-02-sglang-jsonl-infinity')
    expect({
      runs: runs.length,
      rates: runs.map(({ facts }) => facts['request_rate']),
      mean_ttft_ms: runs.map((run) => published(run, 'mean_ttft_ms')),
      mean_itl_ms: runs.map((run) => published(run, 'mean_itl_ms')),
      output_tps: runs.map(({ facts }) => facts['output_tokens_per_s']),
      accept_length: runs.map(({ facts }) => facts['accept_length']),
      placeholder_zero: runs.map(({ facts }) => (facts['placeholder_metrics'] as string[]).length > 0),
    }).toEqual(expected)
    expect(published(runs[1], 'mean_tpot_ms')).toBe(4.7)
  })

  it('imp-03: NaN everywhere', async () => {
    const { runs, expected } = await read('imp-03-nan-everywhere')
    expect({
      tpot_p99: published(runs[0], 'tpot.percentile_99'),
      ttft_max: published(runs[0], 'ttft.max'),
      ttft_mean: published(runs[0], 'ttft.mean'),
      total_requests: runs[0]?.rows.length,
      n_ok: counts(runs[0]).n_ok,
      success_rate: runs[0]?.facts['success_rate'],
    }).toEqual(expected)
  })

  it('imp-04: one name, three formulas', async () => {
    const { runs, expected } = await read('imp-04-guidellm-tpot-names')
    const ok = measured(runs[0])
    const tpots = ok.map((row) => row.tpot_ms).filter((one) => one !== null)
    expect({
      ...counts(runs[0]),
      n_incomplete: runs[0]?.rows.filter((row) => row.outcome === 'censored').length,
      ttft_ms: ok.map((row) => row.ttft_ms),
      tpot_ms: ok.map((row) => row.tpot_ms),
      e2e_last_token_ms: ok.map((row) => row.e2e_ms),
      tpot_mean_ms: tpots.reduce((sum, one) => sum + one, 0) / tpots.length,
    }).toEqual(expected)
    expect(runs[0]?.warnings.map(({ message }) => message)).toEqual([
      'time_per_output_token_ms is (last token − start) ÷ N in 1: TTFT is in it; (last − first) ÷ N in 1',
    ])
  })

  it('imp-05: a metric twice in a record, times beyond 2^53', async () => {
    const { runs, expected } = await read('imp-05-aiperf-records')
    const run = runs[0]
    const ok = measured(run)
    expect({
      n_ok: ok.length,
      n_cancelled: run?.facts['cancelled'],
      n_warmup: run?.facts['warmup_requests'],
      ttft_ms: ok.map((row) => row.ttft_ms),
      e2e_ms: ok.map((row) => row.e2e_ms),
      tpot_ms: ok.map((row) => row.tpot_ms),
      duplicate_keys: run?.facts['duplicate_keys'],
      start_gap_ms: (ok.at(1)?.sent_ms ?? 0) - (ok.at(0)?.sent_ms ?? 0),
    }).toEqual(expected)
    expect(run?.rows.find((row) => row.outcome === 'censored')?.done_ms).toBe(0.6)
    expect(run?.warnings[0]?.message).toMatch(
      /jsonl:1:\d+ has "time_to_first_token" twice .*: 260 ms and 5 ms; 260 ms was taken/,
    )
  })

  it('imp-06: two runs read together', async () => {
    const { runs, expected } = await read('imp-06-merge-two-runs')
    const merged = mergedRate(
      runs.map(({ rows, facts }) => ({
        n: rows.length,
        firstMs: facts['first_send_ms'] as number,
        lastMs: facts['last_send_ms'] as number,
      })),
    )
    expect(merged.each).toEqual(expected['rate_each'])
    expect(merged.merged).toBeCloseTo(expected['rate_merged'] as number, 9)
    expect(merged.wholeSpan).toBeCloseTo(expected['wrong_span_rate'] as number, 9)
    expect(merged.idleMs / 1000).toBeCloseTo(expected['idle_gap_s'] as number, 9)
  })

  it('imp-07: five stand-ins for "none"', async () => {
    const { runs, expected } = await read('imp-07-all-failed-sentinels')
    const [a, b, c] = runs
    expect(runs.map(({ label }) => label)).toEqual(['a', 'b', 'c'])
    expect({
      a: { ...counts(a), p99_ms: published(a, 'latency.p99'), min_rps: published(a, 'requests.min') },
      b: {
        ...counts(b),
        slowest: published(b, 'slowest'),
        fastest: published(b, 'fastest'),
        average: published(b, 'average'),
        ok_rps: b?.facts['ok_per_s'],
      },
      c: {
        ...counts(c),
        tpot: published(c, 'mean_tpot_s'),
        ttft: published(c, 'mean_ttft_s'),
        latency: published(c, 'mean_latency_s'),
      },
    }).toEqual(expected)
  })

  it('imp-08: LLMPerf has the first-token wait in its ITL', async () => {
    const { runs, expected } = await read('imp-08-llmperf-rows')
    const ok = measured(runs[0])
    const errors: Record<string, number> = {}
    for (const row of runs[0]?.rows ?? [])
      if (row.error_code !== null) errors[row.error_code] = (errors[row.error_code] ?? 0) + 1
    expect({
      ...counts(runs[0]),
      ttft_ms: ok.map((row) => row.ttft_ms),
      tpot_ms: ok.map((row) => row.tpot_ms),
      reported_itl_is_e2e_over_n: runs[0]?.facts['reported_itl_is_e2e_over_n'],
      errors,
    }).toEqual(expected)
  })
})

describe('further cases of their kinds', () => {
  it('a vLLM file with one failure has it as a failure, not as zeros', async () => {
    const runs = await readText(
      'vllm.json',
      '{"date":"20260801-101500","endpoint_type":"openai-chat","backend":"openai-chat","num_prompts":3,"request_rate":"inf","max_concurrency":2,"duration":2.91,"completed":2,"failed":1,"total_output_tokens":6,"mean_ttft_ms":110.0,"p99_ttft_ms":113.92,"input_lens":[1024,1024,1024],"output_lens":[3,3,0],"ttfts":[0.106,0.114,0.0],"itls":[[0.010,0.010],[0.011,0.010],[]],"start_times":[9123.4,9123.4,9124.5],"generated_texts":["a","b",""],"errors":["","","Bad Gateway"]}',
    )
    const [run] = runs
    expect(
      run?.rows.map((row) => [
        row.outcome,
        row.ttft_ms,
        row.e2e_ms === null ? null : Math.round(row.e2e_ms * 1e6) / 1e6,
        row.error_kind,
      ]),
    ).toEqual([
      ['ok', 106, 126, null],
      ['ok', 114, 135, null],
      ['failed', null, null, 'http_502'],
    ])
    expect(run?.rows.at(2)?.planned_ms).toBeCloseTo(1100, 6)
    expect(run?.pacer).toEqual({ kind: 'concurrency', users: 2, thinkTimeMs: 0 })
  })

  it('the wait for a slot belongs to the latency where the file has it', async () => {
    const [run] = await readText(
      'queue.json',
      '{"backend":"vllm","completed":1,"duration":5,"output_lens":[2],"ttfts":[0.1],"itls":[[0.05]],"start_times":[7.0],"queue_times":[2.0],"errors":[""]}',
    )
    expect(run?.rows.at(0)).toMatchObject({
      planned_ms: 0,
      sent_ms: 2000,
      lag_ms: 2000,
      ttft_ms: 2100,
      e2e_ms: 2150,
      tpot_ms: 50,
    })
  })

  it('a doubled key whose values cannot be told apart refuses the record; the same value twice does not', async () => {
    const record = (first: number, second: number): string =>
      `{"metadata":{"request_start_ns":1750000000000000000,"benchmark_phase":"profiling"},"metrics":{"time_to_first_token":{"value":${first},"unit":"ms"},"time_to_first_token":{"value":${second},"unit":"ms"},"request_latency":{"value":300,"unit":"ms"},"output_sequence_length":{"value":9,"unit":"tokens"}},"error":null}\n`
    const [refused] = await readText('refused.jsonl', record(260, 5))
    expect(refused?.rows).toEqual([])
    expect(refused?.warnings.at(-1)?.message).toMatch(/^1 record was refused: .*refused.jsonl:1\)$/)
    const [kept] = await readText('kept.jsonl', record(260, 260))
    expect(kept?.rows.map((row) => row.ttft_ms)).toEqual([260])
  })

  it('a failed record keeps no latency of an answer, whatever stands in it', async () => {
    const [run] = await readText(
      'failed.jsonl',
      '{"metadata":{"request_start_ns":1750000000000000000,"benchmark_phase":"profiling"},"metrics":{"time_to_first_token":{"value":0,"unit":"ms"},"request_latency":{"value":0,"unit":"ms"}},"error":{"code":503,"type":"HTTPError","message":"busy"}}',
    )
    expect(run?.rows.map((row) => [row.outcome, row.error_kind, row.ttft_ms, row.e2e_ms])).toEqual([
      ['shed', 'http_503', null, null],
    ])
  })

  it('the credit that AIPerf gave is the intended send, and its metrics carry their units', async () => {
    const [run] = await readText(
      'credit.jsonl',
      '{"metadata":{"credit_issued_ns":1788226305230000001,"request_start_ns":1788226305237000002,"request_end_ns":1788226305315000000,"benchmark_phase":"profiling"},"metrics":{"time_to_first_token":{"value":42100,"unit":"us"},"request_latency":{"value":0.0621,"unit":"sec"},"output_sequence_length":{"value":3,"unit":"tokens"},"inter_chunk_latency":{"value":[9.8,10.2],"unit":"ms"}},"error":null}',
    )
    expect(run?.rows.at(0)?.lag_ms).toBe(7.000001)
    expect(run?.rows.at(0)?.ttft_ms).toBeCloseTo(49.100001, 9)
    expect(run?.rows.at(0)?.tpot_ms).toBeCloseTo(10, 9)
  })

  it.each([
    [
      'GuideLLM without times',
      '{"requests":{"successful":[{"request_id":"a","time_to_first_token_ms":200.0,"time_per_output_token_ms":54.54545454545455,"output_tokens":11,"request_latency":0.61}]}}',
      200,
      40,
    ],
    [
      'GuideLLM, a TTFT of 0',
      '{"requests":{"successful":[{"request_id":"a","time_to_first_token_ms":0.0,"output_tokens":11,"request_latency":0.61}]}}',
      null,
      null,
    ],
    [
      'inference-perf',
      '[{"start_time":10.0,"end_time":11.0,"request":"{}","response":"","info":{"request_metrics":{"text":{"input_tokens":5}},"response_metrics":{"output_tokens":5,"response_chunks":["x"],"output_token_times":[10.2,10.3,10.3,10.4,10.4]}},"error":null}]',
      200,
      50,
    ],
    [
      'genai-bench in seconds',
      '{"aggregated_metrics":{"num_concurrency":1,"run_duration":2,"num_completed_requests":1,"num_error_requests":0},"individual_request_metrics":[{"ttft":0.2,"tpot":0.05,"e2e_latency":0.4,"num_input_tokens":5,"num_output_tokens":5}],"_time_unit":"s"}',
      200,
      50,
    ],
    [
      'MLCommons events',
      ['issued', 'recv_first', 'recv_non_first', 'recv_non_first', 'complete']
        .map(
          (event, at) =>
            `{"event_type":"sample.${event}","timestamp_ns":${1788226305230000001n + BigInt([0, 200, 250, 300, 301][at] ?? 0) * 1000000n},"sample_uuid":"u"}`,
        )
        .join('\n'),
      200,
      50,
    ],
  ])('%s', async (_, text, ttft, tpot) => {
    const [run] = await readText('one.json', text)
    const row = run?.rows.at(0)
    expect(row?.ok).toBe(true)
    expect(row?.ttft_ms === null ? null : Math.round((row?.ttft_ms ?? 0) * 1e6) / 1e6).toBe(ttft)
    expect(row?.tpot_ms === null ? null : Math.round((row?.tpot_ms ?? 0) * 1e6) / 1e6).toBe(tpot)
    expect(row?.flags).toContain('imported')
  })

  it.each([
    [
      'vegeta hits',
      '{"attack":"","seq":0,"code":200,"timestamp":"2026-08-01T10:00:00.123456789Z","latency":2000000,"error":""}\n{"attack":"","seq":1,"code":503,"timestamp":"2026-08-01T10:00:00.223456789Z","latency":1000000,"error":"503 Service Unavailable"}\n',
      [
        ['ok', 2, 0],
        ['shed', null, 100],
      ],
    ],
    [
      'k6 points',
      '{"type":"Metric","metric":"http_req_duration","data":{}}\n{"type":"Point","metric":"http_req_duration","data":{"time":"2026-08-01T10:00:01Z","value":20.5,"tags":{"status":"200"}}}\n{"type":"Point","metric":"http_req_waiting","data":{"time":"2026-08-01T10:00:01Z","value":12.5,"tags":{}}}\n{"type":"Point","metric":"dropped_iterations","data":{"time":"2026-08-01T10:00:02Z","value":1,"tags":{}}}\n',
      [
        ['ok', 20.5, 0],
        ['unsent', null, 1020.5],
      ],
    ],
    [
      'hey CSV',
      'response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n0.0200,0,0,0,0.0190,0.001,200,0.5000\n',
      [['ok', 20, 0]],
    ],
    [
      'oha CSV',
      'request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n0.1,0,0,0.02,0.04,5,200\n',
      [['ok', 40, 0]],
    ],
  ])('%s', async (_, text, rows) => {
    const [run] = await readText('http.txt', text)
    expect(
      run?.rows.map((row) => [
        row.outcome,
        row.e2e_ms,
        row.planned_ms === null ? null : Math.round(row.planned_ms * 1e3) / 1e3,
      ]),
    ).toEqual(rows)
  })

  it.each([
    ['an empty file', '', /empty/],
    ['white space', ' \n\n', /empty/],
    ['another JSON', '{"hello": 1}', /no result file known here[^]*/],
    ['no JSON', '{"completed": }', /not JSON|no result file/],
    ['a text', 'Requests per second: 12\n', /no result file known here/],
    ['a program', '\u007fELF\u0002\u0001\u0000', /no result file known here/],
  ])('%s is an error with its place', async (_, text, message) => {
    const file = join(folder, 'bad.json')
    writeFileSync(file, text)
    await expect(importFile(file)).rejects.toMatchObject({
      code: 'PLIM_FILE',
      message: expect.stringMatching(message) as string,
      where: { file, line: 1 },
    })
  })

  it.each([
    ['a program', Buffer.from('7f454c4602010100', 'hex'), 'bytes that are no text: 7f 45 4c 46 02 01 01 00'],
    ['text with marks that a terminal obeys', Buffer.from('a\u001b[2Jb\u202Ec'), '"a\\x1b[2Jb\\u202ec"'],
    ['JSON with such keys', Buffer.from('{"a\u009b2J": 1}'), 'a\\x9b2J'],
  ])('%s is shown in plain letters', async (_, bytes, shown) => {
    const file = join(folder, 'binary.bin')
    writeFileSync(file, bytes)
    const error = await importFile(file).catch((found: unknown) => found as PlimsollError)
    expect((error as PlimsollError).received).toContain(shown)
    expect(describeError(error as PlimsollError).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
  })
})
