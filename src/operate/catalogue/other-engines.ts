import { counters, gauges, histograms, type Catalogue } from './catalogue.ts'
import { vllmCatalogue } from './vllm.ts'

const vllmBuckets = (name: string): string =>
  vllmCatalogue.metrics.find((metric) => metric.name === `vllm:${name}`)?.buckets?.join(' ') ?? ''

/** 35 bounds 0.0001·1.5^k of TGI's router, as its Rust code makes them: each the last one times 1.5. */
const tgiBuckets = ((): string => {
  const bounds: number[] = []
  let bound = 0.0001
  for (let k = 1; k <= 35; k++) bounds.push((bound *= 1.5))
  return bounds.map(String).join(' ')
})()

/** Text Generation Inference: `router/src/server.rs` of huggingface/text-generation-inference. Seconds, although no name says so. */
export const tgiCatalogue: Catalogue = {
  engine: 'tgi',
  title: 'Text Generation Inference',
  prefix: 'tgi_',
  labels: [],
  asOf: 'TGI 3 (maintenance mode since December 2025)',
  bucketSetting: null,
  metrics: [
    ...gauges('tgi_', 'queue_size batch_current_size batch_current_max_tokens batch_max_total_tokens'),
    ...counters('tgi_', 'request_count request_success'),
    ...counters('tgi_', 'request_failure', 'err'),
    ...counters('tgi_', 'batch_inference_count batch_inference_success batch_inference_failure', 'method'),
    ...counters('tgi_', 'batch_concat', 'reason'),
    ...histograms(
      'tgi_',
      `request_duration request_validation_duration request_queue_duration request_inference_duration
       request_mean_time_per_token_duration`,
      tgiBuckets,
    ),
    ...histograms(
      'tgi_',
      'batch_inference_duration batch_forward_duration batch_decode_duration batch_filter_duration',
      tgiBuckets,
      'method',
    ),
    ...histograms('tgi_', 'request_input_length request_generated_tokens request_max_new_tokens', null),
    ...histograms('tgi_', 'batch_next_size request_skipped_tokens', null),
  ],
  renames: [],
}

/** TensorRT-LLM's `trtllm-serve`: `tensorrt_llm/metrics/collector.py`, adapted from vLLM's. */
export const trtllmCatalogue: Catalogue = {
  engine: 'trtllm',
  title: 'TensorRT-LLM',
  prefix: 'trtllm_',
  labels: ['model_name', 'engine_type'],
  asOf: 'TensorRT-LLM, 2026',
  bucketSetting: "the collector's bucket lists (constructor of the metrics collector)",
  metrics: [
    ...gauges(
      'trtllm_',
      `num_requests_running num_requests_waiting kv_cache_utilization kv_cache_hit_rate kv_cache_max_blocks
       kv_cache_free_blocks kv_cache_used_blocks kv_cache_tokens_per_block num_paused_requests
       max_num_active_requests max_batch_size_runtime`,
    ),
    ...counters(
      'trtllm_',
      `kv_cache_reused_blocks_total kv_cache_missed_blocks_total prompt_tokens_total generation_tokens_total
       prompt_cached_tokens_total request_error_total num_requests_completed_total`,
    ),
    ...counters('trtllm_', 'request_success_total', 'finished_reason'),
    ...histograms('trtllm_', 'time_to_first_token_seconds', vllmBuckets('time_to_first_token_seconds')),
    ...histograms('trtllm_', 'time_per_output_token_seconds', vllmBuckets('inter_token_latency_seconds')),
    ...histograms(
      'trtllm_',
      `e2e_request_latency_seconds request_queue_time_seconds request_decode_time_seconds
       request_inference_time_seconds`,
      vllmBuckets('e2e_request_latency_seconds'),
    ),
    ...histograms(
      'trtllm_',
      'request_prefill_time_seconds',
      '0.001 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 20 40 80 160 640 2560',
    ),
  ],
  renames: [],
}

const model = 'model'

/** NVIDIA Dynamo's frontend: `lib/llm/src/http/service/metrics.rs`. Bounds are log-spaced with two figures. */
export const dynamoCatalogue: Catalogue = {
  engine: 'dynamo',
  title: 'NVIDIA Dynamo frontend',
  prefix: 'dynamo_frontend_',
  labels: [model],
  asOf: 'Dynamo, 2026',
  bucketSetting:
    'DYN_METRICS_TTFT_MIN/_MAX/_COUNT and DYN_METRICS_ITL_… set range and number, not a given edge',
  metrics: [
    ...gauges(
      'dynamo_frontend_',
      `inflight_requests active_requests queued_requests disconnected_clients model_total_kv_blocks
       model_max_num_seqs worker_active_decode_blocks worker_active_prefill_tokens
       worker_last_time_to_first_token_seconds router_queue_pending_requests`,
    ),
    ...counters('dynamo_frontend_', 'requests_total', 'endpoint', 'request_type', 'status', 'error_type'),
    ...counters(
      'dynamo_frontend_',
      'requests_started_total model_rejection_total model_cancellation_total output_tokens_total model_migration_total',
      'endpoint',
    ),
    ...histograms(
      'dynamo_frontend_',
      'time_to_first_token_seconds',
      '0 0.0022 0.0047 0.01 0.022 0.047 0.1 0.22 0.47 1 2.2 4.7 10 22 48 100 220 480',
    ),
    ...histograms(
      'dynamo_frontend_',
      'inter_token_latency_seconds',
      '0 0.0019 0.0035 0.0067 0.013 0.024 0.045 0.084 0.16 0.3 0.56 1.1 2',
    ),
    ...histograms('dynamo_frontend_', 'request_duration_seconds', '0 2 4 8 16 32 64 130 260 510'),
    ...histograms('dynamo_frontend_', 'input_sequence_tokens output_sequence_tokens cached_tokens', null),
  ],
  renames: [],
}

/** llama.cpp's server with `--metrics`: `tools/server/server-task.cpp`. No histograms, no labels. */
export const llamacppCatalogue: Catalogue = {
  engine: 'llamacpp',
  title: 'llama.cpp server',
  prefix: 'llamacpp:',
  labels: [],
  asOf: 'llama.cpp, 2026',
  bucketSetting: null,
  metrics: [
    ...counters(
      'llamacpp:',
      `prompt_tokens_total prompt_seconds_total tokens_predicted_total tokens_predicted_seconds_total
       n_decode_total n_tokens_max prompt_tokens_cached_total spec_decode_num_draft_tokens_total
       spec_decode_num_accepted_tokens_total`,
    ),
    ...gauges(
      'llamacpp:',
      'prompt_tokens_seconds predicted_tokens_seconds requests_processing requests_deferred n_busy_slots_per_decode',
    ),
  ],
  renames: [
    { from: 'llamacpp:kv_cache_usage_ratio', to: null, note: 'removed; nothing shows the KV cache' },
    { from: 'llamacpp:kv_cache_tokens', to: null, note: 'removed; nothing shows the KV cache' },
  ],
}
