/** One look at one replica. Times are ms after the run's zero; null is what was not told. */
export interface ServerSample {
  readonly at_ms: number
  readonly replica: string
  /** What the look itself took, ms, from asking to the page's last byte: what it tells is up to this much older or newer. */
  readonly scrape_ms: number | null
  /** False: the page could not be read, and all else is null. */
  readonly up: boolean
  readonly running: number | null
  readonly waiting: number | null
  readonly kv_usage: number | null
  /** Counters since the engine's start: they grow, and fall only when it is started again. */
  readonly preemptions: number | null
  readonly prompt_tokens: number | null
  readonly generation_tokens: number | null
  /** Of the prefix cache: tokens, for some engines blocks. */
  readonly prefix_hits: number | null
  readonly prefix_queries: number | null
  /** Means of what was observed since the last sample. */
  readonly ttft_ms: number | null
  readonly tpot_ms: number | null
  readonly requests: number | null
  /** Shares, 0..1. */
  readonly cpu: number | null
  readonly gpu_memory: number | null
  readonly gpu_busy: number | null
}

/** A look that told nothing. */
export const unknownSample: ServerSample = {
  at_ms: 0,
  replica: '',
  scrape_ms: null,
  up: false,
  running: null,
  waiting: null,
  kv_usage: null,
  preemptions: null,
  prompt_tokens: null,
  generation_tokens: null,
  prefix_hits: null,
  prefix_queries: null,
  ttft_ms: null,
  tpot_ms: null,
  requests: null,
  cpu: null,
  gpu_memory: null,
  gpu_busy: null,
}
