import { counters, gauges, histograms, type Catalogue } from './catalogue.ts'

const epp = 'llm_d_epp_'

/** The endpoint picker of llm-d (`llm-d/llm-d-router`, docs/metrics.md). Its TTFT is the first byte of the response. */
export const llmdCatalogue: Catalogue = {
  engine: 'llm-d',
  title: 'llm-d endpoint picker',
  prefix: epp,
  labels: ['model_name', 'target_model_name', 'fairness_id', 'priority'],
  asOf: 'llm-d-router, August 2026',
  bucketSetting: null,
  metrics: [
    ...counters(epp, 'request_total'),
    ...counters(epp, 'request_error_total', 'error_code'),
    ...counters(epp, 'request_slo_violation_total', 'type'),
    ...counters(epp, 'flow_control_requests_total', 'outcome'),
    ...gauges(
      epp,
      `request_running average_kv_cache_utilization average_queue_size average_running_requests
       ready_endpoints flow_control_queue_size flow_control_stale_endpoints program_aware_jains_fairness_index`,
    ),
    ...gauges(epp, 'flow_control_pool_saturation', 'stage'),
    ...histograms(
      epp,
      'request_ttft_seconds',
      '0.005 0.025 0.05 0.1 0.2 0.4 0.6 0.8 1 1.25 1.5 2 3 4 5 6 8 10 15 20 30 45 60 120',
      'streaming',
    ),
    ...histograms(
      epp,
      'request_streaming_tpot_seconds request_streaming_itl_seconds request_ntpot_seconds',
      '0.0005 0.00205 0.005 0.01 0.02 0.04 0.06 0.08 0.1 0.125 0.15 0.2 0.3 0.4 0.5 0.6 0.8 1 2',
    ),
    ...histograms(epp, 'request_duration_seconds', null),
    ...histograms(epp, 'request_input_tokens request_output_tokens request_cached_tokens', null),
    ...histograms(epp, 'flow_control_request_queue_duration_seconds', null, 'outcome'),
  ],
  renames: [],
}

const otel = '0.01 0.02 0.04 0.08 0.16 0.32 0.64 1.28 2.56 5.12 10.24 20.48 40.96 81.92'

/** OpenTelemetry's generative AI conventions v1.41 in the names that Prometheus' translation gives them. */
export const otelCatalogue: Catalogue = {
  engine: 'otel',
  title: 'OpenTelemetry GenAI',
  prefix: 'gen_ai_',
  labels: [
    'gen_ai_operation_name',
    'gen_ai_provider_name',
    'gen_ai_request_model',
    'gen_ai_response_model',
    'server_address',
    'server_port',
    'error_type',
  ],
  asOf: 'semantic conventions v1.41.0 (development)',
  bucketSetting: 'the advice of a view in the SDK (explicit bucket boundaries)',
  metrics: [
    ...histograms(
      'gen_ai_',
      'client_token_usage',
      '1 4 16 64 256 1024 4096 16384 65536 262144 1048576 4194304 16777216 67108864',
      'gen_ai_token_type',
    ),
    ...histograms(
      'gen_ai_',
      `client_operation_duration_seconds client_operation_time_to_first_chunk_seconds
       client_operation_time_per_output_chunk_seconds server_request_duration_seconds`,
      otel,
    ),
    ...histograms(
      'gen_ai_',
      'server_time_per_output_token_seconds',
      '0.01 0.025 0.05 0.075 0.1 0.15 0.2 0.3 0.4 0.5 0.75 1 2.5',
    ),
    ...histograms(
      'gen_ai_',
      'server_time_to_first_token_seconds',
      '0.001 0.005 0.01 0.02 0.04 0.06 0.08 0.1 0.25 0.5 0.75 1 2.5 5 7.5 10',
    ),
  ],
  renames: [],
}

/**
 * plimsoll's own counters, of its gateway and of anything that judges requests one by one: every request that ended, by what became
 * of it, and those that met all limits of their class at once.
 */
export const plimsollCatalogue: Catalogue = {
  engine: 'plimsoll',
  title: 'plimsoll gateway',
  prefix: 'plimsoll_',
  labels: ['class', 'model'],
  asOf: 'this version',
  bucketSetting: 'the gateway makes a bucket of every limit in plimsoll.yaml',
  metrics: [
    ...counters('plimsoll_', 'requests_total', 'outcome'),
    ...counters('plimsoll_', 'requests_good_total'),
    ...histograms('plimsoll_', 'ttft_seconds tpot_seconds e2e_seconds', null),
  ],
  renames: [],
}
