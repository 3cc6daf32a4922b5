import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { exponential, randomStream, uniformInteger } from '../../base/random.ts'
import { architectureCalled, modelSizes } from './architecture.ts'
import { fitRun, replayLoss } from './fit-run.ts'
import { gpuCalled } from './gpu.ts'
import { readRealRun, type RealRun } from './real-run.ts'
import { realEngineConfig, replayRun } from './replay.ts'
import { realRunDocument } from './real-run-document.ts'
import { scoreReplay } from './score.ts'
import { physicalBounds } from './step-bounds.ts'

/** A run that an engine with these coefficients would have given. */
function synthetic(seed: number, change: Partial<RealRun> = {}): RealRun {
  const random = randomStream(seed, 'synthetic')
  let atMs = 0
  const asked: RealRun = {
    model: 'meta-llama/Llama-3.1-8B',
    gpuName: 'NVIDIA H100 80GB HBM3',
    gpus: 1,
    dataParallel: 1,
    expertParallel: false,
    gpuMemoryBytes: null,
    maxNumSeqs: 48,
    maxNumBatchedTokens: 2048,
    maxModelLen: 32_768,
    blockSize: 16,
    numGpuBlocks: 4000,
    gpuMemoryUtilization: 0.9,
    enablePrefixCaching: true,
    unanswered: 0,
    requests: Array.from({ length: 180 }, (_, i) => ({
      id: `bench-${i}`,
      promptTokens: uniformInteger(random, 200, 3000),
      outputTokens: uniformInteger(random, 100, 600),
      blockIds: [],
      queuedMs: i === 0 ? 0 : (atMs += 70 * exponential(random)),
      firstTokenMs: 0,
      lastTokenMs: 0,
    })),
    ...change,
  }
  const stepTime = {
    baseMs: 7.2,
    kneeTokens: 260,
    perTokenMs: 0.021,
    perContextTokenMs: 52e-6,
    perPairMs: 2.1e-6,
    perSequenceMs: 0.012,
  }
  const truth = replayRun(asked, realEngineConfig(asked), stepTime)
  const requests = asked.requests.map((one, i) => ({
    ...one,
    firstTokenMs: truth.firstTokenMs[i] as number,
    lastTokenMs: truth.lastTokenMs[i] as number,
  }))
  return { ...asked, requests }
}

describe('fitRun', () => {
  test('foretells the requests it has not seen of an engine that it could be', () => {
    const run = synthetic(1)
    const fit = fitRun(run, { fitOn: 60, starts: 2, evaluations: 240, seed: 1 })
    expect(fit.bounds.source).toBe('physics')
    const { errors, requests } = scoreReplay(run, fit.best.replay, fit.fitOn)
    expect(requests).toBe(120)
    for (const error of [errors.ttftMean, errors.tpotMean, errors.e2eMean]) {
      expect(Math.abs(error as number)).toBeLessThan(0.02)
    }
  })

  test('sees no time of the requests that it is to foretell', () => {
    const run = synthetic(2)
    const spoilt = {
      ...run,
      requests: run.requests.map((one, i) =>
        i < 60
          ? one
          : { ...one, firstTokenMs: one.firstTokenMs * 3 + 1e6, lastTokenMs: one.lastTokenMs * 3 + 2e6 },
      ),
    }
    const options = { fitOn: 60, starts: 1, evaluations: 60, seed: 1 }
    expect(fitRun(spoilt, options).best.stepTime).toEqual(fitRun(run, options).best.stepTime)
  })

  test('without the name of the GPU it says that nothing bounds it', () => {
    const run = synthetic(3, { gpuName: 'a GPU of tomorrow' })
    const fit = fitRun(run, { fitOn: 60, starts: 1, evaluations: 30, seed: 1 })
    expect(fit.bounds.source).toBe('not negative')
  })

  test('two ranks of data parallelism are two engines', () => {
    const one = synthetic(5, { maxNumSeqs: 8 })
    const two = synthetic(5, { maxNumSeqs: 8, dataParallel: 2 })
    const last = (run: RealRun): number => Math.max(...run.requests.map((request) => request.lastTokenMs))
    expect(last(two)).toBeLessThan(0.7 * last(one))
    const fit = fitRun(two, { fitOn: 60, starts: 1, evaluations: 120, seed: 1 })
    const { errors } = scoreReplay(two, fit.best.replay, fit.fitOn)
    expect(Math.abs(errors.e2eMean as number)).toBeLessThan(0.03)
  })

  test('a replay of itself has no loss, a slower one has some', () => {
    const run = synthetic(4)
    const settings = realEngineConfig(run)
    const truth = {
      baseMs: 7.2,
      kneeTokens: 260,
      perTokenMs: 0.021,
      perContextTokenMs: 52e-6,
      perPairMs: 2.1e-6,
      perSequenceMs: 0.012,
    }
    expect(replayLoss(run, replayRun(run, settings, truth), 180)).toBe(0)
    const slower = replayRun(run, settings, { ...truth, baseMs: 8 })
    expect(replayLoss(run, slower, 180)).toBeGreaterThan(1e-3)
  })
})

describe('sizes of models', () => {
  // Parameters, and bytes of keys and values of one token in BF16, as the models' cards have them.
  test.each([
    ['meta-llama/Llama-3.1-8B', 8.03e9, 131_072],
    ['mistralai/Mistral-7B-v0.3', 7.248e9, 131_072],
    ['meta-llama/Llama-3.1-70B-Instruct', 70.554e9, 327_680],
    ['Qwen/Qwen2.5-7B', 7.615e9, 57_344],
    ['Qwen/Qwen3-32B', 32.76e9, 262_144],
    ['meta-llama/Llama-2-7b-hf', 6.738e9, 524_288],
  ])('%s', (name, parameters, kvBytes) => {
    const shape = architectureCalled(name)
    if (shape === null) throw new Error(`${name} is not known`)
    const sizes = modelSizes(shape)
    expect(sizes.parameters / parameters).toBeCloseTo(1, 2)
    expect(2 * sizes.kvValues).toBe(kvBytes)
  })

  test('a model or GPU that is not known is null, not the nearest', () => {
    expect(architectureCalled('acme/great-9000b')).toBeNull()
    expect(gpuCalled('Acme Accelerator')).toBeNull()
    expect(gpuCalled('NVIDIA H100 PCIe')?.name).toBe('H100 PCIe')
    expect(gpuCalled('NVIDIA H100 80GB HBM3')?.name).toBe('H100 SXM')
    expect(gpuCalled('NVIDIA L40S')?.name).toBe('L40S')
  })

  test('no bound lets a GPU be faster than its data sheet', () => {
    const gpu = gpuCalled('NVIDIA GeForce RTX 4090')
    const shape = architectureCalled('meta-llama/Llama-3.1-8B')
    if (gpu === null || shape === null) throw new Error('both are known')
    const bounds = physicalBounds(gpu, shape, 1)
    // 15.0 GB of weights without the embedding over 1008 GB/s are 14.9 ms.
    expect(bounds.weightsMs[0]).toBeGreaterThan(14.8)
    // 2 · 6.98e9 FLOP a token over 165 TFLOP/s are 84 µs.
    expect(bounds.perTokenMs[0]).toBeCloseTo(0.0845, 3)
  })
})

describe('readRealRun', () => {
  const meta = { file: 'meta.json', text: '{"model":"m","engine_kwargs":{"max_num_seqs":64}}' }
  const row =
    '{"request_id":"bench-0","input_toks":5,"output_toks":2,"queued_ts":1,"first_token_ts":2,"last_token_ts":3}'
  const requests = { file: 'requests.jsonl', text: `${row}\n` }
  const workload = {
    file: 'w.jsonl',
    text: '{"arrival_ms":0,"input_toks":5,"output_toks":2,"prompt_blocks":[1]}\n',
  }

  test('joins rows and workload', () => {
    const run = readRealRun({ meta, requests, workload })
    expect(run).toMatchObject({ maxNumSeqs: 64, maxNumBatchedTokens: 2048, numGpuBlocks: null, gpus: 1 })
    expect(run.requests).toEqual([
      {
        id: 'bench-0',
        promptTokens: 5,
        outputTokens: 2,
        blockIds: [1],
        queuedMs: 0,
        firstTokenMs: 1000,
        lastTokenMs: 2000,
      },
    ])
  })

  const lines = `${row}\n${row.replace('bench-0', 'bench-1').replace('"queued_ts":1', '"queued_ts":1.5')}\n`
  const plans = workload.text + workload.text

  test.each([
    ['line ends of Windows', (text: string) => text.replaceAll('\n', '\r\n')],
    ['no end of the last line', (text: string) => text.trimEnd()],
    ['a byte order mark', (text: string) => `\uFEFF${text}`],
    ['empty lines', (text: string) => text.replaceAll('\n', '\n\n')],
  ])('%s change nothing', (_, change) => {
    const read = (text: (of: string) => string): RealRun =>
      readRealRun({
        meta: { ...meta, text: text(meta.text) },
        requests: { ...requests, text: text(lines) },
        workload: { ...workload, text: text(plans) },
      })
    expect(read(change)).toEqual(read((of) => of))
  })

  test('what is left out is not needed: lengths and blocks of the workload, the pool by its tokens', () => {
    const bare = { ...workload, text: '{"arrival_ms":0,"output_toks":2}\n' }
    const tokens = { ...meta, text: '{"kv_cache":{"num_kv_tokens":41408,"block_size":16}}' }
    const run = readRealRun({ meta: tokens, requests, workload: bare })
    expect([run.numGpuBlocks, run.requests[0]?.blockIds]).toEqual([2588, []])
  })

  test('a request that never reached the scheduler has no time, and the others keep theirs', () => {
    const never = '{"request_id":"bench-1","input_toks":5,"output_toks":0,"queued_ts":null}'
    const text = `${row}\n${never}\n`
    const run = readRealRun({ meta, requests: { ...requests, text }, workload: { ...workload, text: plans } })
    expect([run.requests[0]?.firstTokenMs, run.unanswered]).toEqual([1000, 1])
  })

  test('counts what was never answered', () => {
    const lost = row.replace('bench-0', 'bench-1').replace('"first_token_ts":2', '"first_token_ts":null')
    const two = { ...workload, text: workload.text + workload.text }
    const run = readRealRun({ meta, workload: two, requests: { ...requests, text: `${row}\n${lost}` } })
    expect([run.requests.length, run.unanswered]).toEqual([1, 1])
  })

  test.each([
    ['text that is no JSON', { requests: { ...requests, text: `${row}\nnonsense` } }, 2],
    ['a row without its time', { requests: { ...requests, text: row.replace('"queued_ts":1,', '') } }, 1],
    [
      'a row that is not in the workload',
      { requests: { ...requests, text: row.replace('bench-0', 'bench-7') } },
      1,
    ],
    ['another workload', { workload: { ...workload, text: workload.text.replace(':5', ':6') } }, 1],
    ['no rows', { requests: { ...requests, text: '\n' } }, 1],
  ])('%s is refused with its line', (_, change, line) => {
    expect(() => readRealRun({ meta, requests, workload, ...change })).toThrow(
      expect.objectContaining({ code: 'PLIM_FILE', where: expect.objectContaining({ line }) }),
    )
  })
})

// Runs of real vLLM servers are not part of the project. PLIMSOLL_REAL_RUNS names a folder that has them.
const folder = process.env['PLIMSOLL_REAL_RUNS'] ?? ''
const real = [
  ['rtx4090-llama-3.1-8b', 'workload-llama-3.1-8b.jsonl'],
  ['rtxpro6000x2-qwen3-32b', 'workload-qwen3-32b.jsonl'],
] as const

describe.skipIf(!existsSync(folder))('real runs of vLLM 0.19 (skipped without PLIMSOLL_REAL_RUNS)', () => {
  test.each(real)(
    '%s: fitted on the first 100, the other 200 are foretold',
    (name, workload) => {
      const text = (...path: string[]) => {
        const file = join(folder, ...path)
        return { file, text: readFileSync(file, 'utf8') }
      }
      const run = readRealRun({
        meta: text(name, 'meta.json'),
        requests: text(name, 'requests.jsonl'),
        workload: text(workload),
      })
      const fit = fitRun(run, { fitOn: 100, starts: 2, evaluations: 400, seed: 1 })
      const { errors } = realRunDocument(run, fit, null)
      const bars = {
        ttft_mean: 0.02,
        tpot_mean: 0.02,
        e2e_mean: 0.02,
        ttft_p99: 0.03,
        e2e_p99: 0.03,
        tpot_p90: 0.05,
      }
      const missed = Object.entries(bars).filter(
        ([key, bar]) => !(Math.abs(errors[key as keyof typeof bars] as number) < bar),
      )
      expect(missed).toEqual([])
    },
    120_000,
  )
})
