import type { ExposedMetric } from '../../../measure/wire/prometheus-exposition.ts'
import type { EngineConfig } from '../engine-config.ts'
import type { EngineEvent, EngineStats, StepFacts } from '../engine-interface.ts'
import { ExposedHistogram, exposedHistogram } from './exposed-histogram.ts'

const ttftBounds: readonly number[] = [
  0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400,
]
const e2eBounds: readonly number[] = [...ttftBounds, 600, 1200, 1800, 2400]
const interTokenBounds: readonly number[] = [
  0.002, 0.004, 0.006, 0.008, 0.01, 0.015, 0.02, 0.025, 0.03, 0.035, 0.04, 0.06, 0.08, 0.1, 0.2, 0.4, 0.6,
  0.8, 1, 2, 4, 6, 8,
]
const queueBounds: readonly number[] = [
  0, 0.001, 0.005, 0.01, 0.05, 0.1, 0.2, 0.5, 1, 2, 3, 4, 5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100, 200,
  300, 400, 500, 600, 700, 800, 900, 1000, 1200, 1400, 1600, 1800, 2000, 2500, 3000,
]
const tokenBounds: readonly number[] = [
  100, 300, 500, 700, 1000, 1500, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10_000, 12_500, 15_000,
  17_500, 20_000, 22_500, 25_000, 27_500, 30_000, 35_000, 40_000, 60_000, 80_000, 100_000, 200_000, 300_000,
  400_000, 600_000, 800_000, 1_000_000, 1_100_000,
]

/** SGLang's `--decode-log-interval`: its throughput is that of so many steps. */
const throughputSteps = 40

interface RequestClock {
  readonly arrivalMs: number
  readonly streams: boolean
  lastTokenMs: number
}

/** What is told apart by `is_streaming`. */
class Streamed {
  readonly ttft = new ExposedHistogram(ttftBounds)
  readonly e2e = new ExposedHistogram(e2eBounds)
  promptTokens = 0
  generationTokens = 0
  requests = 0
}

/**
 * What SGLang shows at `/metrics` with `--enable-metrics`: its names, labels, types and bucket bounds
 * (`python/sglang/srt/observability/metrics_collector.py`, 2026), fed by the engine's events. As there, tokens and requests are counted
 * when a request has ended, and an aborted one is only counted as that. Left out, as nothing here knows them: the stages of a request,
 * what of the pool is evictable, and all of hybrid models, disaggregation, LoRA and storage.
 */
export class SglangMetrics {
  private readonly labels: Readonly<Record<string, string>>
  /** The scheduler's own: one rank of each kind. */
  private readonly rankLabels: Readonly<Record<string, string>>
  private readonly config: EngineConfig
  private readonly clocks = new Map<string | number, RequestClock>()
  private readonly byStreaming = { true: new Streamed(), false: new Streamed() }
  private readonly interToken = new ExposedHistogram(interTokenBounds)
  private readonly queue = new ExposedHistogram(queueBounds)
  private readonly prompt = new ExposedHistogram(tokenBounds)
  private readonly uncached = new ExposedHistogram(tokenBounds)
  private readonly generation = new ExposedHistogram(tokenBounds)
  private cachedTokens = 0
  private aborted = 0
  private steps = 0
  private before = { atMs: 0, generationTokens: 0, queries: 0, hits: 0, preemptions: 0 }
  private throughput = 0
  private hitRate = 0
  private retracted = 0

  constructor(modelName: string, config: EngineConfig) {
    this.labels = { engine_type: 'unified', model_name: modelName }
    this.rankLabels = { ...this.labels, moe_ep_rank: '0', pp_rank: '0', tp_rank: '0' }
    this.config = config
  }

  accepted(id: string | number, arrivalMs: number, streams: boolean): void {
    this.clocks.set(id, { arrivalMs, streams, lastTokenMs: -1 })
  }

  askedMaxTokens(): void {
    // SGLang does not say.
  }

  answered(): void {
    // Nor this, under these names.
  }

  onStep(step: StepFacts, stats: () => EngineStats): void {
    const { prefixQueries, prefixHits, preemptions, generationTokens } = stats()
    const { before } = this
    // Of the last batch of prompts, not of all.
    if (prefixQueries > before.queries) {
      this.hitRate = (prefixHits - before.hits) / (prefixQueries - before.queries)
      before.queries = prefixQueries
      before.hits = prefixHits
    }
    this.retracted = preemptions - before.preemptions
    before.preemptions = preemptions
    this.steps += 1
    if (this.steps % throughputSteps !== 0) return
    const seconds = (step.endMs - before.atMs) / 1000
    this.throughput = seconds > 0 ? (generationTokens - before.generationTokens) / seconds : 0
    before.atMs = step.endMs
    before.generationTokens = generationTokens
  }

  onEvent(event: EngineEvent): void {
    const clock = this.clocks.get(event.id)
    if (clock === undefined) return
    if (event.kind === 'tokens') {
      if (clock.lastTokenMs < 0) this.ofStream(clock).ttft.observe((event.atMs - clock.arrivalMs) / 1000)
      // The interval over the tokens that came with it, once for each of them.
      else this.interToken.observe((event.atMs - clock.lastTokenMs) / 1000 / event.count, event.count)
      clock.lastTokenMs = event.atMs
    } else if (event.kind === 'finished') {
      this.clocks.delete(event.id)
      if (event.reason === 'length' || event.reason === 'stop') this.finished(event, this.ofStream(clock))
      else this.aborted += 1
    }
  }

  private ofStream({ streams }: RequestClock): Streamed {
    return this.byStreaming[streams ? 'true' : 'false']
  }

  private finished({ facts }: Extract<EngineEvent, { kind: 'finished' }>, streamed: Streamed): void {
    streamed.promptTokens += facts.promptTokens
    streamed.generationTokens += facts.outputTokens
    streamed.requests += 1
    streamed.e2e.observe((facts.lastTokenMs - facts.arrivalMs) / 1000)
    this.cachedTokens += facts.cachedTokens
    this.queue.observe((facts.firstScheduledMs - facts.arrivalMs) / 1000)
    this.prompt.observe(facts.promptTokens)
    this.uncached.observe(facts.promptTokens - facts.cachedTokens)
    this.generation.observe(facts.outputTokens)
  }

  exposed(stats: EngineStats): ExposedMetric[] {
    const { labels, rankLabels, config } = this
    const totalTokens = stats.usableBlocks * config.blockSize
    const usedTokens = (stats.usableBlocks - stats.freeBlocks) * config.blockSize
    const gauge = (name: string, help: string, value: number): ExposedMetric => ({
      kind: 'gauge',
      name: `sglang:${name}`,
      help,
      series: [{ labels: rankLabels, value }],
    })
    const counter = (
      name: string,
      help: string,
      value: number,
      more: Readonly<Record<string, string>> = {},
    ): ExposedMetric => ({
      kind: 'counter',
      name: `sglang:${name}`,
      help,
      series: [{ labels: { ...labels, ...more }, value }],
    })
    const spread = (name: string, help: string, of: ExposedHistogram): ExposedMetric =>
      exposedHistogram(`sglang:${name}`, help, [{ labels, of }])
    return [
      gauge('num_running_reqs', 'Requests in the batch.', stats.running),
      gauge('num_queue_reqs', 'Requests that wait.', stats.waiting),
      gauge('num_grammar_queue_reqs', 'Requests that wait for their grammar.', 0),
      gauge('num_paused_reqs', 'Requests that are paused.', 0),
      gauge('token_usage', 'Share of the KV pool in use, 0 to 1.', stats.kvUsage),
      gauge('full_token_usage', 'The same of full attention.', stats.kvUsage),
      gauge('num_used_tokens', 'Tokens of the KV pool in use.', usedTokens),
      gauge('kv_used_tokens', 'The same of full attention.', usedTokens),
      gauge('max_total_num_tokens', 'Tokens of the KV pool.', totalTokens),
      gauge('cache_hit_rate', 'Prefix cache hits of the last batch of prompts.', this.hitRate),
      gauge(
        'gen_throughput',
        `Tokens per second over ${throughputSteps} steps.`,
        stats.running === 0 ? 0 : this.throughput,
      ),
      gauge('num_retracted_reqs', 'Requests that the last step put back.', this.retracted),
      {
        kind: 'counter',
        name: 'sglang:num_retracted_requests',
        help: 'Requests that were put back.',
        series: [{ labels: rankLabels, value: stats.preemptions }],
      },
      ...this.streamed('prompt_tokens', 'Prompt tokens of requests that ended.', (one) => one.promptTokens),
      ...this.streamed('generation_tokens', 'Their generated tokens.', (one) => one.generationTokens),
      ...this.streamed('num_requests', 'Requests that ended.', (one) => one.requests),
      // Absent before the first hit, as there.
      ...(this.cachedTokens === 0
        ? []
        : [
            counter('cached_tokens', 'Prompt tokens found cached.', this.cachedTokens, {
              cache_source: 'device',
            }),
          ]),
      counter('num_aborted_requests', 'Requests that were aborted.', this.aborted),
      counter('num_so_requests', 'Requests for structured output.', 0),
      this.split('time_to_first_token_seconds', 'Arrival to first token.', (one) => one.ttft),
      spread('inter_token_latency_seconds', 'Between tokens, once for each.', this.interToken),
      this.split('e2e_request_latency_seconds', 'Arrival to last token.', (one) => one.e2e),
      exposedHistogram('sglang:queue_time_seconds', 'Arrival to first scheduling.', [
        { labels: rankLabels, of: this.queue },
      ]),
      spread('prompt_tokens_histogram', 'Prompt tokens per request.', this.prompt),
      spread('uncached_prompt_tokens_histogram', 'Those that were computed.', this.uncached),
      spread('generation_tokens_histogram', 'Generated tokens per request.', this.generation),
      {
        kind: 'gauge',
        name: 'sglang:cache_config_info',
        help: 'How the KV cache is set up.',
        series: [
          {
            labels: {
              ...rankLabels,
              num_pages: String(stats.usableBlocks),
              page_size: String(config.blockSize),
            },
            value: 1,
          },
        ],
      },
    ]
  }

  /** The series of those that something was seen of: a label's value is there from its first observation on. */
  private seen(): readonly (readonly ['true' | 'false', Streamed])[] {
    return (['true', 'false'] as const)
      .map((word) => [word, this.byStreaming[word]] as const)
      .filter(([, { requests, ttft }]) => requests > 0 || ttft.sum > 0)
  }

  private streamed(name: string, help: string, value: (one: Streamed) => number): ExposedMetric[] {
    const series = this.seen().map(([word, one]) => ({
      labels: { ...this.labels, is_streaming: word },
      value: value(one),
    }))
    return [{ kind: 'counter', name: `sglang:${name}`, help, series }]
  }

  private split(name: string, help: string, histogram: (one: Streamed) => ExposedHistogram): ExposedMetric {
    return exposedHistogram(
      `sglang:${name}`,
      help,
      this.seen().map(([word, one]) => ({
        labels: { ...this.labels, is_streaming: word },
        of: histogram(one),
      })),
    )
  }
}
