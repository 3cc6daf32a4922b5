import { counters, gauges, histograms, type Catalogue } from './catalogue.ts'

const prefix = 'vllm:'
const ttft = '0.001 0.005 0.01 0.02 0.04 0.06 0.08 0.1 0.25 0.5 0.75 1 2.5 5 7.5 10 20 40 80 160 640 2560'
const perToken = '0.01 0.025 0.05 0.075 0.1 0.15 0.2 0.3 0.4 0.5 0.75 1 2.5 5 7.5 10 20 40 80'
const perRequest = '0.3 0.5 0.8 1 1.5 2 2.5 5 10 15 20 30 40 50 60 120 240 480 960 1920 7680'

/**
 * vLLM V1: `vllm/v1/metrics/loggers.py` and `buckets.py` of vllm-project/vllm (2025 to May 2026). Python's client library puts
 * `_total` behind a counter's name, so the names in the code and on the page differ.
 */
export const vllmCatalogue: Catalogue = {
  engine: 'vllm',
  title: 'vLLM V1',
  prefix,
  labels: ['model_name', 'engine'],
  asOf: 'vLLM V1, May 2026',
  bucketSetting: null,
  metrics: [
    ...gauges(prefix, 'num_requests_running num_requests_waiting kv_cache_usage_perc'),
    ...gauges(prefix, 'num_requests_waiting_by_reason', 'reason'),
    ...gauges(prefix, 'engine_sleep_state', 'sleep_state'),
    ...gauges(
      prefix,
      'cache_config_info',
      'block_size',
      'num_gpu_blocks',
      'cache_dtype',
      'enable_prefix_caching',
      'gpu_memory_utilization',
      'num_gpu_blocks_override',
    ),
    ...gauges(prefix, 'lora_requests_info', 'running_lora_adapters', 'waiting_lora_adapters', 'max_lora'),
    ...counters(
      prefix,
      `num_preemptions_total prompt_tokens_total generation_tokens_total prompt_tokens_cached_total
       prefix_cache_queries_total prefix_cache_hits_total external_prefix_cache_queries_total
       external_prefix_cache_hits_total mm_cache_queries_total mm_cache_hits_total corrupted_requests_total`,
    ),
    ...counters(prefix, 'prompt_tokens_by_source_total', 'source'),
    ...counters(prefix, 'request_success_total', 'finished_reason'),
    ...histograms(prefix, 'time_to_first_token_seconds', ttft),
    ...histograms(prefix, 'inter_token_latency_seconds request_time_per_output_token_seconds', perToken),
    ...histograms(
      prefix,
      `e2e_request_latency_seconds request_queue_time_seconds request_inference_time_seconds
       request_prefill_time_seconds request_decode_time_seconds`,
      perRequest,
    ),
    ...histograms(
      prefix,
      `request_prompt_tokens request_generation_tokens request_max_num_generation_tokens
       request_params_max_tokens request_prefill_kv_computed_tokens`,
      null,
    ),
    ...histograms(prefix, 'request_params_n', '1 2 5 10 20'),
    ...histograms(prefix, 'request_num_preemptions', '1 2 3 4 5 10 20'),
    ...histograms(prefix, 'iteration_tokens_total', '1 8 16 32 64 128 256 512 1024 2048 4096 8192 16384'),
    ...histograms(
      prefix,
      'kv_block_lifetime_seconds kv_block_idle_before_evict_seconds kv_block_reuse_gap_seconds',
      null,
    ),
    ...counters('', 'http_requests_total', 'handler', 'method', 'status'),
  ],
  renames: [
    {
      from: 'vllm:gpu_cache_usage_perc',
      to: 'vllm:kv_cache_usage_perc',
      note: 'deprecated in 0.9, hidden by default afterwards',
    },
    {
      from: 'vllm:gpu_prefix_cache_queries_total',
      to: 'vllm:prefix_cache_queries_total',
      note: 'renamed with V1',
    },
    { from: 'vllm:gpu_prefix_cache_hits_total', to: 'vllm:prefix_cache_hits_total', note: 'renamed with V1' },
    {
      from: 'vllm:gpu_prefix_cache_hit_rate',
      to: 'vllm:prefix_cache_hits_total',
      note: 'a gauge once; now two counters, hits over queries, in tokens',
    },
    {
      from: 'vllm:time_per_output_token_seconds',
      to: 'vllm:inter_token_latency_seconds',
      note: 'the gaps are inter_token_latency_seconds; the mean of a request is request_time_per_output_token_seconds',
    },
    {
      from: 'vllm:time_in_queue_requests',
      to: 'vllm:request_queue_time_seconds',
      note: 'renamed',
    },
    {
      from: 'vllm:num_requests_swapped',
      to: null,
      note: 'V1 does not swap; preemptions are num_preemptions_total',
    },
    { from: 'vllm:cpu_cache_usage_perc', to: null, note: 'V1 does not swap' },
    {
      from: 'vllm:avg_prompt_throughput_toks_per_s',
      to: 'vllm:prompt_tokens_total',
      note: 'take rate() of the counter',
    },
    {
      from: 'vllm:avg_generation_throughput_toks_per_s',
      to: 'vllm:generation_tokens_total',
      note: 'take rate() of the counter',
    },
    { from: 'vllm:tokens_total', to: 'vllm:generation_tokens_total', note: 'prompt_tokens_total is apart' },
    {
      from: 'vllm:num_requests_success_total',
      to: 'vllm:request_success_total',
      note: 'never was a name of vLLM',
    },
    {
      from: 'vllm:http_requests_total',
      to: 'http_requests_total',
      note: 'the web framework exports it, without a prefix',
    },
  ],
}
