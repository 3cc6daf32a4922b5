import type { ExposedMetric } from '../../../measure/wire/prometheus-exposition.ts'
import type { EngineConfig } from '../engine-config.ts'
import type { EngineEvent, EngineStats, StepFacts } from '../engine-interface.ts'
import { ExposedHistogram, exposedHistogram } from './exposed-histogram.ts'

const ttftBounds: readonly number[] = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640,
  2560,
]
const tokenLatencyBounds: readonly number[] = [
  0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
]
const requestLatencyBounds: readonly number[] = [
  0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680,
]
const iterationBounds: readonly number[] = [1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384]
const preemptionBounds: readonly number[] = [1, 2, 3, 4, 5, 10, 20]
const nBounds: readonly number[] = [1, 2, 5, 10, 20]

/** Bounds 1, 2, 5, 10, 20, … up to `largest`. */
export function oneTwoFiveBounds(largest: number): number[] {
  const bounds: number[] = []
  for (let power = 1; power <= largest; power *= 10) {
    for (const step of [1, 2, 5]) if (step * power <= largest) bounds.push(step * power)
  }
  return bounds
}

interface RequestClock {
  readonly arrivalMs: number
  lastTokenMs: number
}

/**
 * What vLLM V1 shows at `/metrics`: its names, labels, types and bucket bounds (`vllm/v1/metrics/loggers.py` and `buckets.py`), fed by
 * the engine's events. Latencies count from the arrival at the front end, in seconds. Differences: an abort counts under its
 * `finished_reason` (vLLM leaves it at 0, issue 31503), and adds no TTFT.
 */
export class EngineMetrics {
  private readonly labels: Readonly<Record<string, string>>
  private readonly config: EngineConfig
  private readonly clocks = new Map<string | number, RequestClock>()
  private readonly histograms: Readonly<Record<HistogramName, ExposedHistogram>>
  private readonly http = new Map<string, number>()

  constructor(modelName: string, config: EngineConfig) {
    this.labels = { engine: '0', model_name: modelName }
    this.config = config
    const tokens = oneTwoFiveBounds(config.maxModelLen)
    const bounds: Record<HistogramName, readonly number[]> = {
      time_to_first_token_seconds: ttftBounds,
      inter_token_latency_seconds: tokenLatencyBounds,
      request_time_per_output_token_seconds: tokenLatencyBounds,
      e2e_request_latency_seconds: requestLatencyBounds,
      request_queue_time_seconds: requestLatencyBounds,
      request_inference_time_seconds: requestLatencyBounds,
      request_prefill_time_seconds: requestLatencyBounds,
      request_decode_time_seconds: requestLatencyBounds,
      request_prompt_tokens: tokens,
      request_generation_tokens: tokens,
      request_max_num_generation_tokens: tokens,
      request_params_max_tokens: tokens,
      request_prefill_kv_computed_tokens: tokens,
      request_params_n: nBounds,
      request_num_preemptions: preemptionBounds,
      iteration_tokens_total: iterationBounds,
    }
    this.histograms = Object.fromEntries(
      Object.entries(bounds).map(([name, list]) => [name, new ExposedHistogram(list)]),
    ) as Record<HistogramName, ExposedHistogram>
  }

  accepted(id: string | number, arrivalMs: number): void {
    this.clocks.set(id, { arrivalMs, lastTokenMs: -1 })
  }

  onStep(step: StepFacts): void {
    this.histograms.iteration_tokens_total.observe(step.tokens)
  }

  onEvent(event: EngineEvent): void {
    const clock = this.clocks.get(event.id)
    if (clock === undefined) return
    if (event.kind === 'tokens') {
      if (clock.lastTokenMs < 0) {
        this.histograms.time_to_first_token_seconds.observe((event.atMs - clock.arrivalMs) / 1000)
      } else this.histograms.inter_token_latency_seconds.observe((event.atMs - clock.lastTokenMs) / 1000)
      clock.lastTokenMs = event.atMs
    } else if (event.kind === 'finished') {
      this.clocks.delete(event.id)
      if (event.reason === 'length' || event.reason === 'stop') this.finished(event)
    }
  }

  private finished({ facts }: Extract<EngineEvent, { kind: 'finished' }>): void {
    const { histograms } = this
    const decodeMs = facts.lastTokenMs - facts.firstTokenMs
    histograms.e2e_request_latency_seconds.observe((facts.lastTokenMs - facts.arrivalMs) / 1000)
    histograms.request_queue_time_seconds.observe((facts.firstScheduledMs - facts.arrivalMs) / 1000)
    histograms.request_prefill_time_seconds.observe((facts.firstTokenMs - facts.firstScheduledMs) / 1000)
    histograms.request_decode_time_seconds.observe(decodeMs / 1000)
    histograms.request_inference_time_seconds.observe((facts.lastTokenMs - facts.firstScheduledMs) / 1000)
    if (facts.outputTokens > 1) {
      histograms.request_time_per_output_token_seconds.observe(decodeMs / (facts.outputTokens - 1) / 1000)
    }
    histograms.request_prompt_tokens.observe(facts.promptTokens)
    histograms.request_generation_tokens.observe(facts.outputTokens)
    histograms.request_max_num_generation_tokens.observe(facts.outputTokens)
    histograms.request_prefill_kv_computed_tokens.observe(facts.promptTokens - facts.cachedTokens)
    histograms.request_params_n.observe(1)
    histograms.request_num_preemptions.observe(facts.preemptions)
  }

  askedMaxTokens(maxTokens: number | null): void {
    if (maxTokens !== null) this.histograms.request_params_max_tokens.observe(maxTokens)
  }

  answered(handler: string, method: string, status: number): void {
    const key = JSON.stringify([handler, method, `${Math.floor(status / 100)}xx`])
    this.http.set(key, (this.http.get(key) ?? 0) + 1)
  }

  exposed(stats: EngineStats): ExposedMetric[] {
    const { labels } = this
    const one = (
      kind: 'counter' | 'gauge',
      name: string,
      help: string,
      value: number,
      more: Readonly<Record<string, string>> = {},
    ): ExposedMetric => ({
      kind,
      name: `vllm:${name}`,
      help,
      series: [{ labels: { ...labels, ...more }, value }],
    })
    return [
      one('gauge', 'num_requests_running', 'Requests in the batch.', stats.running),
      one('gauge', 'num_requests_waiting', 'Requests that wait, preempted ones with them.', stats.waiting),
      {
        kind: 'gauge',
        name: 'vllm:num_requests_waiting_by_reason',
        help: 'Waiting requests by reason.',
        series: [
          { labels: { ...labels, reason: 'capacity' }, value: stats.waiting },
          { labels: { ...labels, reason: 'deferred' }, value: 0 },
        ],
      },
      one('gauge', 'kv_cache_usage_perc', 'Share of the KV blocks in use, 0 to 1.', stats.kvUsage),
      one('gauge', 'engine_sleep_state', 'Whether the engine is awake.', 1, { sleep_state: 'awake' }),
      one('counter', 'prefix_cache_queries', 'Tokens looked up in the prefix cache.', stats.prefixQueries),
      one('counter', 'prefix_cache_hits', 'Tokens found in the prefix cache.', stats.prefixHits),
      one('counter', 'num_preemptions', 'Preemptions.', stats.preemptions),
      one('counter', 'prompt_tokens', 'Prompt tokens processed.', stats.promptTokens),
      one('counter', 'generation_tokens', 'Tokens generated.', stats.generationTokens),
      {
        kind: 'counter',
        name: 'vllm:request_success',
        help: 'Requests that ended, by reason.',
        series: (['stop', 'length', 'abort', 'error'] as const).map((reason) => ({
          labels: { ...labels, finished_reason: reason },
          value: stats.finished[reason],
        })),
      },
      ...Object.entries(this.histograms).map(([name, of]) =>
        exposedHistogram(`vllm:${name}`, histogramHelp[name as HistogramName], [{ labels, of }]),
      ),
      ...this.speculation(stats),
      this.cacheConfig(),
      {
        kind: 'counter',
        name: 'http_requests',
        help: 'HTTP requests by handler, method and class of status.',
        series: [...this.http].map(([key, value]) => {
          const [handler, method, status] = JSON.parse(key) as [string, string, string]
          return { labels: { handler, method, status }, value }
        }),
      },
    ]
  }

  /** As `vllm/v1/spec_decode/metrics.py` names them; absent where nothing is drafted. */
  private speculation({ speculation }: EngineStats): ExposedMetric[] {
    if (speculation === null) return []
    const { labels } = this
    const one = (name: string, help: string, value: number): ExposedMetric => ({
      kind: 'counter',
      name: `vllm:spec_decode_${name}`,
      help,
      series: [{ labels, value }],
    })
    return [
      one('num_drafts', 'Drafts that were verified.', speculation.drafts),
      one('num_draft_tokens', 'Drafted tokens.', speculation.draftTokens),
      one('num_accepted_tokens', 'Drafted tokens that were accepted.', speculation.acceptedTokens),
      {
        kind: 'counter',
        name: 'vllm:spec_decode_num_accepted_tokens_per_pos',
        help: 'Accepted tokens by their position in the draft.',
        series: speculation.acceptedAt.map((value, position) => ({
          labels: { ...labels, position: String(position) },
          value,
        })),
      },
    ]
  }

  private cacheConfig(): ExposedMetric {
    const { blockSize, numGpuBlocks, enablePrefixCaching } = this.config
    const labels = {
      engine: '0',
      block_size: String(blockSize),
      cache_dtype: 'auto',
      enable_prefix_caching: enablePrefixCaching ? 'True' : 'False',
      gpu_memory_utilization: '0.9',
      num_gpu_blocks: String(numGpuBlocks),
      num_gpu_blocks_override: 'None',
    }
    return {
      kind: 'gauge',
      name: 'vllm:cache_config_info',
      help: 'How the KV cache is set up.',
      series: [{ labels, value: 1 }],
    }
  }
}

const histogramHelp = {
  time_to_first_token_seconds: 'Arrival to first token.',
  inter_token_latency_seconds: 'Between two steps that gave a request tokens.',
  request_time_per_output_token_seconds: 'Mean time per token after the first, per request.',
  e2e_request_latency_seconds: 'Arrival to last token.',
  request_queue_time_seconds: 'Arrival to first scheduling.',
  request_inference_time_seconds: 'First scheduling to last token.',
  request_prefill_time_seconds: 'First scheduling to first token.',
  request_decode_time_seconds: 'First to last token.',
  request_prompt_tokens: 'Prompt tokens per request.',
  request_generation_tokens: 'Generated tokens per request.',
  request_max_num_generation_tokens: 'Largest number of generated tokens over the answers of a request.',
  request_params_max_tokens: 'max_tokens as asked for.',
  request_prefill_kv_computed_tokens: 'Prompt tokens that were computed, not cached.',
  request_params_n: 'n as asked for.',
  request_num_preemptions: 'Preemptions per request.',
  iteration_tokens_total: 'Tokens per step.',
} as const

type HistogramName = keyof typeof histogramHelp
