import { counters, gauges, histograms, type Catalogue } from './catalogue.ts'

const prefix = 'sglang:'
const ttft = '0.1 0.2 0.4 0.6 0.8 1 2 4 6 8 10 20 40 60 80 100 200 400'

/** SGLang: `python/sglang/srt/observability/metrics_collector.py` of sgl-project/sglang (2026); shown with `--enable-metrics` only. */
export const sglangCatalogue: Catalogue = {
  engine: 'sglang',
  title: 'SGLang',
  prefix,
  labels: ['model_name', 'engine_type', 'tp_rank', 'pp_rank', 'moe_ep_rank', 'dp_rank'],
  asOf: 'SGLang, 2026',
  bucketSetting: '--bucket-time-to-first-token, --bucket-inter-token-latency, --bucket-e2e-request-latency',
  metrics: [
    ...gauges(
      prefix,
      `num_running_reqs num_queue_reqs num_grammar_queue_reqs num_paused_reqs token_usage full_token_usage
       swa_token_usage mamba_usage num_used_tokens kv_available_tokens kv_evictable_tokens kv_used_tokens
       max_total_num_tokens cache_hit_rate gen_throughput num_retracted_reqs max_running_requests_under_SLO
       num_prefill_bootstrap_queue_reqs num_prefill_inflight_queue_reqs num_decode_prealloc_queue_reqs
       num_decode_transfer_queue_reqs`,
    ),
    ...counters(prefix, 'num_retracted_requests_total num_aborted_requests_total num_so_requests_total'),
    ...counters(prefix, 'prompt_tokens_total generation_tokens_total num_requests_total', 'is_streaming'),
    ...counters(prefix, 'cached_tokens_total', 'cache_source'),
    ...gauges(prefix, 'cache_config_info', 'page_size', 'num_pages'),
    ...histograms(prefix, 'time_to_first_token_seconds', ttft, 'is_streaming'),
    ...histograms(
      prefix,
      'inter_token_latency_seconds',
      '0.002 0.004 0.006 0.008 0.01 0.015 0.02 0.025 0.03 0.035 0.04 0.06 0.08 0.1 0.2 0.4 0.6 0.8 1 2 4 6 8',
    ),
    ...histograms(prefix, 'e2e_request_latency_seconds', `${ttft} 600 1200 1800 2400`, 'is_streaming'),
    ...histograms(
      prefix,
      'queue_time_seconds',
      `0 0.001 0.005 0.01 0.05 0.1 0.2 0.5 1 2 3 4 5 10 15 20 30 40 50 60 70 80 90 100 200 300 400 500 600 700
       800 900 1000 1200 1400 1600 1800 2000 2500 3000`,
    ),
    ...histograms(prefix, 'per_stage_req_latency_seconds', null, 'stage'),
    ...histograms(
      prefix,
      'prompt_tokens_histogram uncached_prompt_tokens_histogram generation_tokens_histogram',
      null,
    ),
  ],
  renames: [
    {
      from: 'sglang:time_per_output_token_seconds',
      to: 'sglang:inter_token_latency_seconds',
      note: 'the documentation still has the old name',
    },
  ],
}
