import type { MetricFamily, Sample, Scrape } from '../wire/prometheus-text.ts'

export type EngineName = 'vllm' | 'sglang' | 'tgi' | 'trtllm' | 'dynamo' | 'llamacpp'

/**
 * An engine's state from one scrape of its `/metrics`. Several data-parallel ranks on one page are added up; null is what the
 * engine does not show.
 */
export interface EngineFacts {
  /** By the names of its metrics; null for a page of something else. */
  readonly engine: EngineName | null
  /** KV pool, tokens, and which metric says so. */
  readonly kvTokens: number | null
  readonly kvBasis: string | null
  readonly running: number | null
  readonly waiting: number | null
  /** Share of the pool in use, 0..1; over ranks the fullest. */
  readonly kvUsage: number | null
  readonly preemptions: number | null
  /** Counters of the prefix cache, in `prefixUnit`. */
  readonly prefixHits: number | null
  readonly prefixQueries: number | null
  readonly prefixUnit: 'tokens' | 'blocks'
  readonly promptTokens: number | null
  readonly generationTokens: number | null
}

/** Names as they are scraped today, older ones behind them. */
interface EngineNames {
  readonly sign: string
  readonly running: readonly string[]
  readonly waiting: readonly string[]
  readonly kvUsage: readonly string[]
  readonly preemptions: readonly string[]
  readonly prefixHits: readonly string[]
  readonly prefixQueries: readonly string[]
  readonly promptTokens: readonly string[]
  readonly generationTokens: readonly string[]
}

/**
 * What each engine calls the same thing: vLLM `vllm/v1/metrics/loggers.py`, SGLang `metrics_collector.py`, TGI's router, TensorRT-LLM
 * `metrics/collector.py`, Dynamo's frontend, llama.cpp `server-task.cpp`.
 */
const names: Readonly<Record<EngineName, EngineNames>> = {
  vllm: {
    sign: 'vllm:',
    running: ['vllm:num_requests_running'],
    waiting: ['vllm:num_requests_waiting'],
    kvUsage: ['vllm:kv_cache_usage_perc', 'vllm:gpu_cache_usage_perc'],
    preemptions: ['vllm:num_preemptions_total'],
    prefixHits: ['vllm:prefix_cache_hits_total', 'vllm:gpu_prefix_cache_hits_total'],
    prefixQueries: ['vllm:prefix_cache_queries_total', 'vllm:gpu_prefix_cache_queries_total'],
    promptTokens: ['vllm:prompt_tokens_total'],
    generationTokens: ['vllm:generation_tokens_total'],
  },
  sglang: {
    sign: 'sglang:',
    running: ['sglang:num_running_reqs'],
    waiting: ['sglang:num_queue_reqs'],
    kvUsage: ['sglang:token_usage'],
    preemptions: ['sglang:num_retracted_requests_total', 'sglang:num_retracted_reqs'],
    prefixHits: ['sglang:cached_tokens_total'],
    prefixQueries: ['sglang:prompt_tokens_total'],
    promptTokens: ['sglang:prompt_tokens_total'],
    generationTokens: ['sglang:generation_tokens_total'],
  },
  tgi: {
    sign: 'tgi_',
    running: ['tgi_batch_current_size'],
    waiting: ['tgi_queue_size'],
    kvUsage: [],
    preemptions: [],
    prefixHits: [],
    prefixQueries: [],
    promptTokens: ['tgi_request_input_length_sum'],
    generationTokens: ['tgi_request_generated_tokens_sum'],
  },
  trtllm: {
    sign: 'trtllm_',
    running: ['trtllm_num_requests_running'],
    waiting: ['trtllm_num_requests_waiting'],
    kvUsage: ['trtllm_kv_cache_utilization'],
    preemptions: [],
    prefixHits: ['trtllm_kv_cache_reused_blocks_total'],
    prefixQueries: [],
    promptTokens: ['trtllm_prompt_tokens_total'],
    generationTokens: ['trtllm_generation_tokens_total'],
  },
  dynamo: {
    sign: 'dynamo_',
    running: ['dynamo_frontend_inflight_requests'],
    waiting: ['dynamo_frontend_queued_requests'],
    kvUsage: [],
    preemptions: [],
    prefixHits: [],
    prefixQueries: [],
    promptTokens: ['dynamo_frontend_input_sequence_tokens_sum'],
    generationTokens: ['dynamo_frontend_output_tokens_total'],
  },
  llamacpp: {
    sign: 'llamacpp:',
    running: ['llamacpp:requests_processing'],
    waiting: ['llamacpp:requests_deferred'],
    kvUsage: [],
    preemptions: [],
    prefixHits: ['llamacpp:prompt_tokens_cached_total'],
    prefixQueries: [],
    promptTokens: ['llamacpp:prompt_tokens_total'],
    generationTokens: ['llamacpp:tokens_predicted_total'],
  },
}

/** What a scrape says of the engine behind it. */
export function readEngineFacts(scrape: Scrape): EngineFacts {
  const engine = engineOf(scrape)
  if (engine === null) return nothing
  const its = names[engine]
  const pool = kvPool(scrape, engine)
  const hits = sum(scrape, its.prefixHits, engine === 'sglang' ? cachedOnce : undefined)
  const missed = engine === 'trtllm' ? sum(scrape, ['trtllm_kv_cache_missed_blocks_total']) : null
  return {
    engine,
    kvTokens: pool?.tokens ?? null,
    kvBasis: pool?.basis ?? null,
    running: sum(scrape, its.running, onceARank),
    waiting: sum(scrape, its.waiting, onceARank),
    kvUsage: largest(scrape, its.kvUsage),
    preemptions: sum(scrape, its.preemptions, onceARank),
    prefixHits: hits,
    prefixQueries: hits !== null && missed !== null ? hits + missed : sum(scrape, its.prefixQueries),
    prefixUnit: engine === 'trtllm' ? 'blocks' : 'tokens',
    promptTokens: sum(scrape, its.promptTokens),
    generationTokens: sum(scrape, its.generationTokens),
  }
}

const nothing: EngineFacts = {
  engine: null,
  kvTokens: null,
  kvBasis: null,
  running: null,
  waiting: null,
  kvUsage: null,
  preemptions: null,
  prefixHits: null,
  prefixQueries: null,
  prefixUnit: 'tokens',
  promptTokens: null,
  generationTokens: null,
}

/**
 * Hits ÷ queries between two scrapes of each replica, over all of them that count both and were asked: not a mean of their rates, as one
 * that was asked more weighs more. Null where none is. A restart counts from 0.
 */
export function prefixHitRate(
  replicas: readonly { readonly before: EngineFacts; readonly after: EngineFacts }[],
): number | null {
  let [allHits, allQueries] = [0, 0]
  for (const { before, after } of replicas) {
    const hits = increase(before.prefixHits, after.prefixHits)
    const queries = increase(before.prefixQueries, after.prefixQueries)
    if (hits === null || queries === null) continue
    allHits += hits
    allQueries += queries
  }
  return allQueries === 0 ? null : allHits / allQueries
}

function increase(before: number | null, after: number | null): number | null {
  if (after === null) return null
  return before === null || after < before ? after : after - before
}

/** A front of the same page (Dynamo's) may stand before an engine's own metrics: the engine is the one asked for. */
function engineOf(scrape: Scrape): EngineName | null {
  const order: readonly EngineName[] = ['vllm', 'sglang', 'trtllm', 'tgi', 'llamacpp', 'dynamo']
  return (
    order.find((engine) => scrape.families.some(({ name }) => name.startsWith(names[engine].sign))) ?? null
  )
}

function kvPool(
  scrape: Scrape,
  engine: EngineName,
): { readonly tokens: number; readonly basis: string } | null {
  switch (engine) {
    case 'vllm': {
      const ranks = samplesOf(scrape, 'vllm:cache_config_info').map(({ labels }) => {
        // V1 keeps one block, the null block, out of use (`BlockPool`, whose `get_usage` leaves it out of the whole too).
        return (Number(labels['num_gpu_blocks']) - 1) * Number(labels['block_size'])
      })
      return pool(ranks, 'vllm:cache_config_info, (num_gpu_blocks − 1) × block_size')
    }
    case 'sglang': {
      const ranks = samplesOf(scrape, 'sglang:max_total_num_tokens')
        .filter(onceARank)
        .map(({ value }) => value)
      return pool(ranks, 'sglang:max_total_num_tokens')
    }
    case 'trtllm': {
      const blocks = sum(scrape, ['trtllm_kv_cache_max_blocks'])
      const size = largest(scrape, ['trtllm_kv_cache_tokens_per_block'])
      return blocks === null || size === null
        ? null
        : pool([blocks * size], 'trtllm_kv_cache_max_blocks × trtllm_kv_cache_tokens_per_block')
    }
    case 'tgi':
      return pool(
        samplesOf(scrape, 'tgi_batch_max_total_tokens').map(({ value }) => value),
        'tgi_batch_max_total_tokens',
      )
    default:
      return null
  }
}

/** The ranks' pools together; null where one is not a number of tokens ("None" before the engine has profiled its memory). */
function pool(
  ranks: readonly number[],
  basis: string,
): { readonly tokens: number; readonly basis: string } | null {
  if (ranks.length === 0 || !ranks.every((tokens) => Number.isFinite(tokens) && tokens > 0)) return null
  return { tokens: ranks.reduce((total, tokens) => total + tokens, 0), basis }
}

/** Tensor-parallel ranks show the same queue and pool: the first speaks for all. */
function onceARank({ labels }: Sample): boolean {
  return ['tp_rank', 'pp_rank'].every((rank) => (labels[rank] ?? '0') === '0')
}

/** SGLang's cached tokens by source, with the total as one more source. */
function cachedOnce({ labels }: Sample): boolean {
  return (labels['cache_source'] ?? 'total') === 'total'
}

function samplesOf(scrape: Scrape, name: string): readonly Sample[] {
  const family = (candidate: MetricFamily): boolean =>
    name === candidate.name || name.startsWith(`${candidate.name}_`)
  return scrape.families
    .filter(family)
    .flatMap(({ samples }) => samples.filter((sample) => sample.name === name))
}

/** The sum over the first of the names that is there; NaN samples are not. */
function sum(
  scrape: Scrape,
  from: readonly string[],
  which: (sample: Sample) => boolean = () => true,
): number | null {
  for (const name of from) {
    const found = samplesOf(scrape, name).filter((sample) => Number.isFinite(sample.value))
    const chosen = found.filter((sample) => which(sample))
    // Where none is the total, the parts are added.
    const used = chosen.length > 0 ? chosen : found
    if (used.length > 0) return used.reduce((total, { value }) => total + value, 0)
  }
  return null
}

function largest(scrape: Scrape, from: readonly string[]): number | null {
  for (const name of from) {
    const values = samplesOf(scrape, name)
      .map(({ value }) => value)
      .filter((value) => Number.isFinite(value))
    if (values.length > 0) return Math.max(...values)
  }
  return null
}
