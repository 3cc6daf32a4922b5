import { describe, expect, it } from 'vitest'
import { readEngineFacts } from '../../src/measure/load/metrics-scrape.ts'
import { histogramOf, histogramSeries } from '../../src/measure/wire/prometheus-histogram.ts'
import { samplesOf, sumOf } from '../../src/measure/wire/prometheus-counter.ts'
import { catalogues } from '../../src/operate/catalogue/engines.ts'
import { comparePage, detectEngine, liveSeries } from '../../src/operate/doctor/examine.ts'
import { messages, model, post, quick, scrape, start, stream } from './kit.ts'

const sglang = { ...quick, policy: 'sglang' } as const
const asked = { model, messages, max_tokens: 5, ignore_eos: true }

describe('/metrics of the SGLang scheduler', () => {
  it('has SGLang’s names and none of vLLM’s, as the catalogue knows them', async () => {
    const server = await start({ config: sglang })
    await stream(server, { max_tokens: 5, ignore_eos: true })
    await stream(server, { max_tokens: 5, ignore_eos: true })
    await post(server, '/v1/chat/completions', asked)
    const page = await scrape(server)
    expect(detectEngine(page)).toBe('sglang')
    const own = liveSeries(page)
    const foreign = [...own.keys()].filter((name) => !/^(sglang:|node_cpu_|DCGM_)/.test(name))
    expect(foreign).toEqual([])
    expect(comparePage(own, catalogues.sglang)).toMatchObject({ unknown: [], otherBounds: [] })
    const labels = new Set([
      ...catalogues.sglang.labels,
      'is_streaming',
      'cache_source',
      'page_size',
      'num_pages',
    ])
    const odd = [...own].flatMap(([name, { labels: its }]) =>
      name.startsWith('sglang:')
        ? [...its.keys()].filter((label) => label !== 'le' && !labels.has(label))
        : [],
    )
    expect(odd).toEqual([])
  })

  it('counts what ended, streams apart, and the tokens between which there was a gap', async () => {
    const server = await start({ config: sglang })
    await stream(server, { max_tokens: 5, ignore_eos: true })
    await post(server, '/v1/chat/completions', asked)
    const page = await scrape(server)
    expect(sumOf(page, 'sglang:num_requests_total', { is_streaming: 'true' })).toBe(1)
    expect(sumOf(page, 'sglang:generation_tokens_total')).toBe(10)
    expect(histogramOf(page, 'sglang:time_to_first_token_seconds', { is_streaming: 'false' })?.count).toBe(1)
    expect(histogramOf(page, 'sglang:inter_token_latency_seconds')?.count).toBe(8)
    expect(histogramSeries(page, 'sglang:e2e_request_latency_seconds')).toHaveLength(2)
    expect(samplesOf(page, 'sglang:num_running_reqs')[0]?.labels).toMatchObject({ tp_rank: '0' })
  })

  it('is read as an engine: the pool, the queue, the hits over the prompts', async () => {
    const prompt = Array.from({ length: 64 }, (_, i) => `word${i}`).join(' ')
    const server = await start({ config: sglang })
    for (const _ of [1, 2]) await post(server, '/v1/completions', { prompt, max_tokens: 2, ignore_eos: true })
    const facts = readEngineFacts(await scrape(server))
    expect(facts).toMatchObject({
      engine: 'sglang',
      kvTokens: (quick.numGpuBlocks - 1) * quick.blockSize,
      running: 0,
      waiting: 0,
      kvUsage: 0,
      preemptions: 0,
      promptTokens: 256,
      generationTokens: 4,
      prefixQueries: 256,
    })
    expect(facts.prefixHits).toBeGreaterThan(32)
    expect(sumOf(await scrape(server), 'sglang:cache_hit_rate')).toBeGreaterThan(0.5)
  })
})
