import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { importFile } from '../src/measure/record/import/import-file.ts'

// Result files that end in the middle, or are torn: what was read, what is lost, and where.

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-breaks-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('files that are not whole', () => {
  it('vLLM: several objects appended, the last one cut off', async () => {
    const file = join(folder, 'appended.json')
    writeFileSync(
      file,
      '{"endpoint_type":"vllm","completed":2,"duration":1,"output_lens":[1,1],"ttfts":[0.1,0.2],"itls":[[],[]],"errors":["",""]}\n{"endpoint_type":"vllm","completed":2,"dur',
    )
    const { runs, warnings } = await importFile(file)
    expect(runs.map(({ rows }) => rows.length)).toEqual([2])
    expect(warnings.map(({ kind, message }) => [kind, message.replace(folder, '')])).toEqual([
      [
        'file_truncated',
        'the file breaks off at /appended.json:2:43: 2 requests before it were read, what came behind is lost',
      ],
    ])
  })

  it('vLLM: a file that breaks off inside its columns gives the requests that are whole', async () => {
    const file = join(folder, 'cut.json')
    writeFileSync(
      file,
      '{"backend":"vllm","completed":3,"duration":1,\n"input_lens":[1,1,1],"output_lens":[2,2,2],"ttfts":[0.1,0.2,0.3],\n"itls":[[0.01],[0.02],[0.0',
    )
    const { runs } = await importFile(file)
    expect(
      runs[0]?.rows.map((row) => [
        row.ok,
        row.ttft_ms,
        row.tpot_ms === null ? null : Math.round(row.tpot_ms),
      ]),
    ).toEqual([
      [true, 100, 10],
      [true, 200, 20],
      [true, 300, null],
    ])
    expect(runs[0]?.broken).toMatchObject({
      place: { line: 3, column: 27, path: 'itls[2][0]', truncated: true },
      read: 3,
      loss: { whole: 2, planned: 3, missing: ['itls of 1 requests', 'errors of all'] },
    })
  })

  it.each([
    [
      'AIPerf records',
      '{"metadata":{"request_start_ns":1750000000000000000,"benchmark_phase":"profiling"},"metrics":{"request_latency":{"value":3¦00,"unit":"ms"}},"error":null}\n',
      '',
      'metrics.request_latency.value',
    ],
    [
      'GuideLLM',
      '{"request_id":"a","time_to_first_token_ms":200.0,"output_tokens":1¦1,"request_latency":0.61},\n',
      '{"requests":{"successful":[\n',
      'requests.successful[3].output_tokens',
    ],
    [
      'inference-perf',
      '{"start_time":10.0,"end_time":11.¦0,"info":{"output_token_times":[10.2,10.3]},"error":null},\n',
      '[\n',
      '[3].end_time',
    ],
    [
      'genai-bench',
      '{"ttft":0.2,"tpot":0.05,"e2e_latency":0.4¦,"num_input_tokens":5,"num_output_tokens":5},\n',
      '{"aggregated_metrics":{"num_concurrency":1},"individual_request_metrics":[\n',
      'individual_request_metrics[3].e2e_latency',
    ],
    [
      'LLMPerf',
      '{"error_code":null,"ttft_s":0.4,"end_to_end_latency_s":2.4,"number¦_output_tokens":101},\n',
      '[\n',
      '[3]',
    ],
    [
      'MLCommons events',
      '{"event_type":"sample.issued","timestamp_ns":178822¦6305230000001,"sample_uuid":"u#"}\n',
      '',
      'timestamp_ns',
    ],
    [
      'vegeta hits',
      '{"attack":"","seq":0,"code":200,"timestamp":"2026-08-01T10¦:00:00.123456789Z","latency":2000000,"error":""}\n',
      '',
      'timestamp',
    ],
    [
      'k6 points',
      '{"type":"Point","metric":"http_req_duration","data":{"time":"2026-08¦-01T10:00:01Z","value":20.5,"tags":{"status":"200"}}}\n',
      '',
      'data.time',
    ],
    [
      'oha CSV',
      '0.1,0,0,0.02,0.0¦4,5,200\n',
      'request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n',
      '',
    ],
  ])('%s that break off: what was read, and where the file ends', async (_, record, head, path) => {
    const file = join(folder, 'cut-off.txt')
    const half = record.slice(0, record.indexOf('¦'))
    const whole = head + [0, 1, 2].map((at) => record.replace('#', String(at)).replace('¦', '')).join('')
    writeFileSync(file, whole + half)
    const { runs, warnings } = await importFile(file)
    const lines = whole.split('\n').length
    expect(warnings).toEqual([])
    expect(runs.map(({ rows, broken }) => [rows.length, broken?.read, broken?.place])).toEqual([
      [3, 3, expect.objectContaining({ file, line: lines, column: half.length + 1, path, truncated: true })],
    ])
  })

  it('lines that are torn among others: each is lost alone, and they are counted', async () => {
    const line = (at: number): string =>
      `{"metadata":{"request_start_ns":${1750000000000000000n + BigInt(at)},"benchmark_phase":"profiling"},"metrics":{},"error":null}\n`
    const file = join(folder, 'torn.jsonl')
    writeFileSync(
      file,
      `${line(0)}${line(1)}${line(2).slice(0, 60)}\n${line(3)}${line(4).slice(0, 4)}\n${line(5)}`,
    )
    const { runs } = await importFile(file)
    expect(runs[0]?.rows.length).toBe(4)
    expect(runs[0]?.broken).toMatchObject({
      place: { line: 3, column: 61, places: 2, isStopped: false, received: 'the end of the line' },
      read: 4,
    })
  })

  it('CSV lines that are none are counted, not left out without a word', async () => {
    const file = join(folder, 'torn.csv')
    writeFileSync(
      file,
      'request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n0.1,0,0,0.02,0.04,5,200\n0.2,0,0,0.0\n0.3,0,0,0.02,none,5,200\n\n0.4,0,0,0.02,0.04,5,200\n',
    )
    const { runs } = await importFile(file)
    expect(runs[0]?.rows.length).toBe(2)
    expect(runs[0]?.broken?.place).toMatchObject({
      line: 3,
      places: 2,
      truncated: false,
      expected: '7 fields',
      received: '"0.2,0,0,0.0"',
    })
  })
})

describe('values that cannot be are named, with their number and the first place', () => {
  const whole = {
    backend: 'vllm',
    completed: 3,
    duration: 1,
    input_lens: [1, 1, 1],
    output_lens: [2, 2, 2],
    ttfts: [0.1, 0.2, 0.3],
    itls: [[0.01], [0.02], [0.03]],
    errors: ['', '', ''],
  }
  it.each([
    [
      'a TTFT below 0',
      { ttfts: [0.1, -0.5, -1] },
      '2 values of ttfts cannot be: the first, ttfts[1] is -0.5',
    ],
    [
      'a TTFT that is no number',
      { ttfts: ['?', 0.2, 0.3] },
      '1 value of ttfts cannot be: the first, ttfts[0] is ?',
    ],
    [
      'more tokens than there are',
      { output_lens: [2, 2, 1e18] },
      '1 value of output_lens cannot be: the first, output_lens[2] is 1000000000000000000',
    ],
    [
      'a list that is too short',
      { itls: [[0.01], [0.02]] },
      'itls has 2 entries for 3 requests: those from no. 3 on have none',
    ],
    ['a test of less than no time', { duration: -1 }, 'duration is -1: a test lasts longer than 0 s'],
  ])('%s', async (_, over, message) => {
    const file = join(folder, 'odd.json')
    writeFileSync(file, JSON.stringify({ ...whole, ...over }))
    const { runs } = await importFile(file)
    expect(runs[0]?.warnings.map((one) => one.message)).toEqual([message])
  })

  it('NaN, as Python writes it', async () => {
    const file = join(folder, 'nan.json')
    writeFileSync(file, JSON.stringify(whole).replace('[0.1,', '[NaN,'))
    const { runs } = await importFile(file)
    expect(runs[0]?.warnings.map((one) => one.message)).toEqual([
      '1 value of ttfts cannot be: the first, ttfts[0] is NaN',
    ])
  })

  it.each([
    [
      'rows',
      'own.jsonl',
      '{"id":"r-1","planned_ms":0,"tpot_after_first_event_ms":null,"tokens_source":"server"}\n',
    ],
    ['parquet', 'own.parquet', 'PAR1\u0000\u0001'],
  ])('what plimsoll itself exported, as %s, is pointed to show', async (_, name, text) => {
    const file = join(folder, name)
    writeFileSync(file, text)
    await expect(importFile(file)).rejects.toThrow(
      expect.objectContaining({ hint: expect.stringContaining('plimsoll show RUN') as string }),
    )
  })
})
