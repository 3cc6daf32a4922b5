import type { EngineId } from '../catalogue/catalogue.ts'
import type { ObjectiveMetric } from '../../measure/metrics/objective.ts'

/** A counter with the matchers that choose its part: `status="5xx"`. */
export interface CounterPart {
  readonly metric: string
  readonly matchers: readonly string[]
  /** A label set of that part as it would be scraped, for generated tests. */
  readonly example: Readonly<Record<string, string>>
  /** It has none of the engine's own labels: a match on them cannot apply. */
  readonly bare?: true
}

/** Which requests got an answer, from counters of events. */
export interface AnsweredSource {
  /** Every attempt: the sum of these. */
  readonly total: readonly CounterPart[]
  readonly failed: readonly CounterPart[]
  /** Refusals that stand apart; null: they cannot be told from failures, or are in no series. */
  readonly shed: readonly CounterPart[] | null
  /** A good event's series, for generated tests. */
  readonly good: readonly CounterPart[]
  /** In which series a refused request appears. */
  readonly shedWhere: string
}

export interface LatencySource {
  readonly metric: string
  /** What it is, where that differs from the word in the objective. */
  readonly note: string | null
}

/** Where an engine tells what an objective is about. */
export interface SloSource {
  readonly latency: Partial<Readonly<Record<ObjectiveMetric, LatencySource>>>
  readonly answered: AnsweredSource | null
  /** Requests that met all limits at once, and all requests: only who sees each request can count these. */
  readonly joint: { readonly total: string; readonly good: string; readonly shedMatcher: string } | null
}

const part = (
  metric: string,
  matchers: readonly string[] = [],
  example: Readonly<Record<string, string>> = {},
): CounterPart => ({ metric, matchers, example })

const api = 'handler=~"/v1/(chat/)?completions"'
const web = (status: string | null): CounterPart => ({
  metric: 'http_requests_total',
  matchers: status === null ? [api] : [api, `status="${status}"`],
  example: { handler: '/v1/chat/completions', method: 'POST', status: status ?? '2xx' },
  bare: true,
})

const pooled = 'every gap of every stream, pooled: not the mean of a request'
const successOnly = 'successful requests only'

/** By engine; sources of the names as in the catalogue. */
export const sloSources: Readonly<Record<EngineId, SloSource>> = {
  vllm: {
    latency: {
      ttft: {
        metric: 'vllm:time_to_first_token_seconds',
        note: 'from the arrival in the API server; a request aborted during its prefill adds a sample that is no first token (vLLM PR 56236)',
      },
      tpot: { metric: 'vllm:request_time_per_output_token_seconds', note: null },
      gap: { metric: 'vllm:inter_token_latency_seconds', note: pooled },
      e2e: { metric: 'vllm:e2e_request_latency_seconds', note: 'finished requests only' },
    },
    answered: {
      total: [web(null)],
      failed: [
        web('5xx'),
        part('vllm:request_success_total', ['finished_reason="error"'], { finished_reason: 'error' }),
      ],
      shed: null,
      good: [web('2xx')],
      shedWhere: 'http_requests_total{status="5xx"} as a 503, among other failures; in no vllm: series',
    },
    joint: null,
  },
  sglang: {
    latency: {
      ttft: { metric: 'sglang:time_to_first_token_seconds', note: null },
      gap: { metric: 'sglang:inter_token_latency_seconds', note: pooled },
      e2e: { metric: 'sglang:e2e_request_latency_seconds', note: null },
    },
    answered: {
      total: [part('sglang:num_requests_total'), part('sglang:num_aborted_requests_total')],
      failed: [part('sglang:num_aborted_requests_total')],
      shed: null,
      good: [part('sglang:num_requests_total', [], { is_streaming: 'true' })],
      shedWhere: 'sglang:num_aborted_requests_total, among aborts of any cause',
    },
    joint: null,
  },
  tgi: {
    latency: {
      tpot: {
        metric: 'tgi_request_mean_time_per_token_duration',
        note: 'the whole time over all tokens: the first one is in it',
      },
      e2e: { metric: 'tgi_request_duration', note: null },
    },
    answered: {
      total: [part('tgi_request_count')],
      failed: [part('tgi_request_failure', ['err!~"overloaded|validation"'], { err: 'generation' })],
      shed: [part('tgi_request_failure', ['err="overloaded"'], { err: 'overloaded' })],
      good: [part('tgi_request_count')],
      shedWhere: 'tgi_request_failure{err="overloaded"} (HTTP 429)',
    },
    joint: null,
  },
  trtllm: {
    latency: {
      ttft: { metric: 'trtllm_time_to_first_token_seconds', note: null },
      tpot: { metric: 'trtllm_time_per_output_token_seconds', note: null },
      e2e: { metric: 'trtllm_e2e_request_latency_seconds', note: null },
    },
    answered: {
      total: [part('trtllm_request_success_total'), part('trtllm_request_error_total')],
      failed: [part('trtllm_request_error_total')],
      shed: null,
      good: [part('trtllm_request_success_total', [], { finished_reason: 'stop' })],
      shedWhere: 'no series of TensorRT-LLM: count refusals at the gateway',
    },
    joint: null,
  },
  dynamo: {
    latency: {
      ttft: { metric: 'dynamo_frontend_time_to_first_token_seconds', note: null },
      gap: { metric: 'dynamo_frontend_inter_token_latency_seconds', note: pooled },
      e2e: { metric: 'dynamo_frontend_request_duration_seconds', note: null },
    },
    answered: {
      total: [part('dynamo_frontend_requests_total')],
      failed: [
        part(
          'dynamo_frontend_requests_total',
          ['status="error"', 'error_type!~"overload|validation|not_found|cancelled"'],
          { status: 'error', error_type: 'internal' },
        ),
      ],
      shed: [
        part('dynamo_frontend_requests_total', ['status="error"', 'error_type="overload"'], {
          status: 'error',
          error_type: 'overload',
        }),
      ],
      good: [part('dynamo_frontend_requests_total', [], { status: 'success', error_type: '' })],
      shedWhere:
        'dynamo_frontend_requests_total{error_type="overload"} (HTTP 529), and model_rejection_total',
    },
    joint: null,
  },
  llamacpp: { latency: {}, answered: null, joint: null },
  'llm-d': {
    latency: {
      ttft: {
        metric: 'llm_d_epp_request_ttft_seconds',
        note: 'the first byte of the response, which may come before a token; without streaming the whole time',
      },
      tpot: { metric: 'llm_d_epp_request_streaming_tpot_seconds', note: 'streamed requests only' },
      gap: {
        metric: 'llm_d_epp_request_streaming_itl_seconds',
        note: 'gaps between body chunks, not tokens',
      },
    },
    answered: {
      total: [part('llm_d_epp_request_total')],
      failed: [
        part(
          'llm_d_epp_request_error_total',
          ['error_code!~"InferencePoolResourceExhausted|ServiceUnavailable|BadRequest"'],
          { error_code: 'Internal' },
        ),
      ],
      shed: [
        part(
          'llm_d_epp_request_error_total',
          ['error_code=~"InferencePoolResourceExhausted|ServiceUnavailable"'],
          {
            error_code: 'InferencePoolResourceExhausted',
          },
        ),
      ],
      good: [part('llm_d_epp_request_total')],
      shedWhere:
        'llm_d_epp_request_error_total by its error_code (429 or 503), and flow_control_requests_total{outcome}',
    },
    joint: null,
  },
  otel: {
    latency: {
      ttft: { metric: 'gen_ai_server_time_to_first_token_seconds', note: successOnly },
      tpot: { metric: 'gen_ai_server_time_per_output_token_seconds', note: successOnly },
      e2e: { metric: 'gen_ai_server_request_duration_seconds', note: null },
    },
    answered: {
      total: [part('gen_ai_server_request_duration_seconds_count')],
      failed: [
        part('gen_ai_server_request_duration_seconds_count', ['error_type!~"|429|503|529"'], {
          error_type: '500',
        }),
      ],
      shed: [
        part('gen_ai_server_request_duration_seconds_count', ['error_type=~"429|503|529"'], {
          error_type: '429',
        }),
      ],
      good: [part('gen_ai_server_request_duration_seconds_count')],
      shedWhere: 'gen_ai_server_request_duration_seconds_count{error_type="429"} (or 503, 529)',
    },
    joint: null,
  },
  plimsoll: {
    latency: {},
    answered: null,
    joint: {
      total: 'plimsoll_requests_total',
      good: 'plimsoll_requests_good_total',
      shedMatcher: 'outcome="shed"',
    },
  },
}
