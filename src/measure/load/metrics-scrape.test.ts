import { describe, expect, test } from 'vitest'
import { parsePrometheusText } from '../wire/prometheus-text.ts'
import { prefixHitRate, readEngineFacts, type EngineFacts } from './metrics-scrape.ts'

const read = (...lines: string[]): EngineFacts =>
  readEngineFacts(parsePrometheusText(`${lines.join('\n')}\n`))

describe('readEngineFacts', () => {
  const rows: [sentence: string, lines: string[], facts: Partial<EngineFacts>][] = [
    [
      'vLLM with two data-parallel ranks: pools and queues are added, the fuller cache is shown',
      [
        '# TYPE vllm:num_requests_running gauge',
        'vllm:num_requests_running{engine="0"} 3',
        'vllm:num_requests_running{engine="1"} 4',
        '# TYPE vllm:num_requests_waiting gauge',
        'vllm:num_requests_waiting{engine="0"} 1',
        'vllm:num_requests_waiting_by_reason{engine="0",reason="capacity"} 9',
        '# TYPE vllm:kv_cache_usage_perc gauge',
        'vllm:kv_cache_usage_perc{engine="0"} 0.25',
        'vllm:kv_cache_usage_perc{engine="1"} 0.5',
        'vllm:cache_config_info{block_size="16",num_gpu_blocks="100",engine="0"} 1',
        'vllm:cache_config_info{block_size="16",num_gpu_blocks="100",engine="1"} 1',
        '# TYPE vllm:prefix_cache_hits_total counter',
        'vllm:prefix_cache_hits_total 30',
        'vllm:prefix_cache_queries_total 100',
        'vllm:num_preemptions_total 2',
      ],
      {
        engine: 'vllm',
        running: 7,
        waiting: 1,
        kvUsage: 0.5,
        kvTokens: 2 * 99 * 16,
        prefixHits: 30,
        prefixQueries: 100,
        preemptions: 2,
        prefixUnit: 'tokens',
      },
    ],
    [
      'a pool not yet profiled is unknown',
      ['vllm:cache_config_info{block_size="16",num_gpu_blocks="None"} 1'],
      { engine: 'vllm', kvTokens: null, kvBasis: null },
    ],
    ['an older vLLM', ['vllm:gpu_cache_usage_perc 0.1'], { engine: 'vllm', kvUsage: 0.1 }],
    [
      'SGLang over two tensor-parallel ranks, cached tokens by source with their total',
      [
        'sglang:max_total_num_tokens{tp_rank="0"} 5000',
        'sglang:max_total_num_tokens{tp_rank="1"} 5000',
        'sglang:num_running_reqs{tp_rank="0"} 2',
        'sglang:num_running_reqs{tp_rank="1"} 2',
        'sglang:cached_tokens_total{cache_source="device"} 7',
        'sglang:cached_tokens_total{cache_source="host"} 1',
        'sglang:cached_tokens_total{cache_source="total"} 8',
        'sglang:prompt_tokens_total{is_streaming="true"} 30',
        'sglang:prompt_tokens_total{is_streaming="false"} 10',
      ],
      {
        engine: 'sglang',
        kvTokens: 5000,
        running: 2,
        prefixHits: 8,
        prefixQueries: 40,
        kvBasis: 'sglang:max_total_num_tokens',
      },
    ],
    [
      'TensorRT-LLM counts blocks',
      [
        'trtllm_kv_cache_max_blocks 10',
        'trtllm_kv_cache_tokens_per_block 32',
        'trtllm_kv_cache_reused_blocks_total 3',
        'trtllm_kv_cache_missed_blocks_total 9',
      ],
      { engine: 'trtllm', kvTokens: 320, prefixHits: 3, prefixQueries: 12, prefixUnit: 'blocks' },
    ],
    [
      'llama.cpp has no pool to show',
      ['llamacpp:requests_processing 1', 'llamacpp:requests_deferred 0'],
      { engine: 'llamacpp', running: 1, waiting: 0, kvTokens: null },
    ],
    [
      'TGI',
      ['tgi_queue_size 4', 'tgi_batch_max_total_tokens 16000'],
      { engine: 'tgi', waiting: 4, kvTokens: 16_000 },
    ],
    ['NaN is not there', ['vllm:num_requests_running NaN'], { engine: 'vllm', running: null }],
    ['some other exporter', ['node_cpu_seconds_total 1'], { engine: null, running: null }],
  ]
  test.each(rows)('%s', (_sentence, lines, facts) => expect(read(...lines)).toMatchObject(facts))
})

describe('prefixHitRate', () => {
  const at = (hits: number, queries: number): EngineFacts =>
    read(`vllm:prefix_cache_hits_total ${hits}`, `vllm:prefix_cache_queries_total ${queries}`)
  const one = (before: EngineFacts, after: EngineFacts): number | null => prefixHitRate([{ before, after }])
  test('is the share of what was asked in between', () => expect(one(at(10, 100), at(40, 160))).toBe(0.5))
  test('counts from 0 after a restart', () => expect(one(at(10, 100), at(2, 8))).toBe(0.25))
  test('is unknown where nothing was asked', () => expect(one(at(1, 2), at(1, 2))).toBeNull())
  test('is unknown where nothing is counted', () => expect(one(read('x 1'), read('x 1'))).toBeNull())
  test('of several replicas is that of all their tokens, not the mean of their rates', () => {
    const busy = { before: at(0, 0), after: at(90, 100) }
    const idle = { before: at(0, 0), after: at(0, 20) }
    expect(prefixHitRate([busy, idle])).toBe(0.75)
    expect(prefixHitRate([busy, { before: read('x 1'), after: read('x 1') }])).toBe(0.9)
  })
})
