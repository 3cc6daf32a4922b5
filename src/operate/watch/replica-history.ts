import { cpuBusy, readMachineSample, type MachineSample } from '../../measure/load/machine-facts.ts'
import { readEngineFacts, type EngineFacts } from '../../measure/load/metrics-scrape.ts'
import { addHistograms, histogramMean, type HistogramValue } from '../../measure/wire/prometheus-histogram.ts'
import type { Scrape } from '../../measure/wire/prometheus-text.ts'
import { unknownSample, type ServerSample } from '../../measure/record/server-samples.ts'
import { answeredParts, attemptsBetween, type Attempts } from './answered-share.ts'
import { latencyNames, latencySeries } from './latency-series.ts'
import { addedScrape, histogramBetween, counterBetween, noTotals, type Totals } from './running-totals.ts'

interface Snapshot {
  readonly atMs: number
  readonly totals: Totals
}

/** A replica's page as it was looked at, oldest look first. A class: it has a beginning and grows. */
export class ReplicaHistory {
  readonly name: string
  /** Null until a page was read. */
  facts: EngineFacts | null = null
  machine: MachineSample | null = null
  cpu: number | null = null
  /** Whether the last look found a page of an engine. */
  up = false
  lastReadMs: number | null = null
  private lastScrape: Scrape | null = null
  private lastTotals: Totals = noTotals
  private readonly snapshots: Snapshot[] = []
  private readonly keepMs: number

  constructor(name: string, keepMs: number) {
    this.name = name
    this.keepMs = keepMs
  }

  /** One look; null: the page could not be read. What was known before is kept, but no longer called current. */
  observe(atMs: number, scrape: Scrape | null, tookMs: number | null = null): ServerSample {
    const facts = scrape === null ? null : readEngineFacts(scrape)
    if (scrape === null || facts === null || facts.engine === null) {
      this.up = false
      return { ...unknownSample, at_ms: atMs, replica: this.name, scrape_ms: tookMs }
    }
    const machine = readMachineSample(scrape)
    this.cpu = cpuBusy(this.machine, machine)
    const before = this.lastTotals
    if (this.lastScrape !== null) {
      this.lastTotals = addedScrape(before, this.lastScrape, scrape, {
        histograms: latencyNames(facts.engine),
        counters: countersOf(facts.engine),
        parts: answeredParts(facts.engine),
      })
    }
    this.facts = facts
    this.machine = machine
    this.lastScrape = scrape
    this.up = true
    this.lastReadMs = atMs
    this.snapshots.push({ atMs, totals: this.lastTotals })
    // One snapshot at or before the start of the longest window has to stay.
    while (this.snapshots.length > 1 && (this.snapshots[1]?.atMs ?? atMs) <= atMs - this.keepMs)
      this.snapshots.shift()
    const mean = (metric: 'ttft' | 'tpot'): number | null => {
      const found = this.firstOf(metric, before, this.lastTotals)
      const seconds = found === null ? null : histogramMean(found.value)
      return seconds === null ? null : seconds * 1000
    }
    const first = this.firstOf('ttft', before, this.lastTotals)
    return {
      at_ms: atMs,
      replica: this.name,
      scrape_ms: tookMs,
      up: true,
      running: facts.running,
      waiting: facts.waiting,
      kv_usage: facts.kvUsage,
      preemptions: facts.preemptions,
      prompt_tokens: facts.promptTokens,
      generation_tokens: facts.generationTokens,
      prefix_hits: facts.prefixHits,
      prefix_queries: facts.prefixQueries,
      ttft_ms: mean('ttft'),
      tpot_ms: mean('tpot'),
      requests: first?.value.count ?? null,
      cpu: this.cpu,
      gpu_memory: machine.gpuMemory,
      gpu_busy: machine.gpuBusy,
    }
  }

  /** What a window ending at the last look observed, and how much of it was watched; null before the second look. */
  window(
    windowMs: number,
  ): { readonly from: Totals; readonly to: Totals; readonly watchedMs: number } | null {
    const last = this.snapshots.at(-1)
    if (last === undefined || this.snapshots.length < 2) return null
    const from = this.snapshots.findLast(({ atMs }) => atMs <= last.atMs - windowMs) ?? this.snapshots[0]!
    return { from: from.totals, to: last.totals, watchedMs: last.atMs - from.atMs }
  }

  /** The best histogram for a metric that observed anything ever, between two totals. */
  firstOf(
    metric: 'ttft' | 'tpot' | 'e2e' | 'gap',
    from: Totals,
    to: Totals,
  ): {
    readonly value: HistogramValue
    readonly per: 'request' | 'token' | 'byte'
    readonly name: string
  } | null {
    const engine = this.facts?.engine ?? null
    if (engine === null) return null
    for (const { name, per } of latencySeries(engine, metric)) {
      const value = histogramBetween(from, to, name)
      if (value !== null) return { value, per, name }
    }
    return null
  }

  /** Attempts and those without an answer between two totals; null where the engine does not count them. */
  attempts(from: Totals, to: Totals): Attempts | null {
    const engine = this.facts?.engine ?? null
    return engine === null ? null : attemptsBetween(engine, from, to)
  }

  generated(from: Totals, to: Totals): number | null {
    const engine = this.facts?.engine ?? null
    const [name] = engine === null ? [] : countersOf(engine)
    return name === undefined ? null : counterBetween(from, to, name)
  }
}

/** Output tokens, by engine: what a watch turns into tokens per second. */
function countersOf(engine: NonNullable<EngineFacts['engine']>): readonly string[] {
  return {
    vllm: ['vllm:generation_tokens_total'],
    sglang: ['sglang:generation_tokens_total'],
    trtllm: ['trtllm_generation_tokens_total'],
    tgi: ['tgi_request_generated_tokens_sum'],
    dynamo: ['dynamo_frontend_output_tokens_total'],
    llamacpp: ['llamacpp:tokens_predicted_total'],
  }[engine]
}

/** Histograms of several replicas as one; null where none has any. */
export function merged(values: readonly HistogramValue[]): HistogramValue | null {
  return values.length === 0 ? null : addHistograms(values)
}
