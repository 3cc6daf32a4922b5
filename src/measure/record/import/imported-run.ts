import type { Warning } from '../../../base/warnings.ts'
import type { Pacer } from '../../load/pacer.ts'
import type { JsonObject } from '../manifest.ts'
import type { FileBreak, RunLoss } from './file-break.ts'
import type { Rows } from '../rows.ts'

export type FormatName =
  | 'vllm'
  | 'sglang'
  | 'aiperf-records'
  | 'aiperf-summary'
  | 'guidellm'
  | 'inference-perf-requests'
  | 'inference-perf-summary'
  | 'genai-bench'
  | 'llmperf-responses'
  | 'llmperf-summary'
  | 'mlc-events'
  | 'mlc-summary'
  | 'k6-points'
  | 'k6-summary'
  | 'vegeta-hits'
  | 'vegeta-report'
  | 'oha-report'
  | 'oha-csv'
  | 'hey-csv'
  | 'autocannon'
  | 'evalscope'
  | 'llm-load-test'
  | 'request-spans'

/** What a published figure is about. `rate`s are per second of the tool's own duration. */
export type PublishedMetric =
  | 'ttft_ms'
  | 'tpot_ms'
  | 'gaps_ms'
  | 'e2e_ms'
  | 'requests_per_s'
  | 'output_tokens_per_s'
  | 'input_tokens_per_s'
  | 'other'

/** A figure as the tool wrote it, in our unit. */
export interface Published {
  /** The tool's own name, its path in the file. */
  readonly name: string
  /** Null where the file has a stand-in for "none": NaN, an infinity, −1, a zero without a measurement. */
  readonly value: number | null
  readonly unit: 'ms' | 'req/s' | 'tok/s' | 'tokens' | 'requests' | '%' | ''
  readonly metric: PublishedMetric
  /** `mean`, `std`, `min`, `max`, or a percentile in percent as text. */
  readonly statistic: string
  /** Why it is null. */
  readonly why: string | null
}

/** A figure that cannot be had from the file, and what it would need. */
export interface Unrecoverable {
  readonly figure: string
  readonly why: string
}

/** How another tool computes what it publishes, so that a difference can be named. */
export interface ToolFormulas {
  readonly ttft: string
  readonly tpot: string
  readonly gaps: string
  readonly e2e: string
  readonly percentiles: string
  readonly rate: string
}

/** One load test out of a file. */
export interface ImportedRun {
  /** What tells it from others of the file: its rate or concurrency; null for the only one. */
  readonly label: string | null
  readonly format: FormatName
  readonly tool: string
  readonly file: string
  /** In the file's order. Empty `gaps_ms` and no events: the file does not have them. */
  readonly rows: Rows
  /** Wall clock at the run's zero, ms since 1970; null where the file has no wall clock. */
  readonly originWallMs: number | null
  readonly target: { readonly url: string; readonly api: string; readonly model: string | null } | null
  readonly pacer: Pacer | null
  /** The tool's own duration, from which its rates come. */
  readonly durationMs: number | null
  /** Whether each request's own start is in the file. */
  readonly startsKnown: boolean
  /** Whether the rows carry latencies; else only their number and outcome is known. */
  readonly rowsKnown: boolean
  readonly published: readonly Published[]
  /** The tool's own TPOT of each row, where it counts tokens otherwise than the row does. */
  readonly toolTpotMs?: (row: number) => number | null
  /** Output tokens of the answered requests as the tool counts them, where that is otherwise. */
  readonly toolOutputTokens?: number
  readonly formulas: ToolFormulas
  /** Further facts of the file, in its own words. */
  readonly facts: JsonObject
  readonly unrecoverable: readonly Unrecoverable[]
  /** What is not there of a run whose file breaks off, where the format can tell more than the number of its rows. */
  readonly loss?: RunLoss
  /** Set by who reads the file: what its end in the middle, or torn places, took from this run. */
  readonly broken?: FileBreak
  readonly warnings: readonly Warning[]
}

/** A part of an imported run that is the same for all of its format. */
export const noFacts: Pick<
  ImportedRun,
  | 'label'
  | 'originWallMs'
  | 'target'
  | 'pacer'
  | 'durationMs'
  | 'published'
  | 'facts'
  | 'unrecoverable'
  | 'warnings'
> = {
  label: null,
  originWallMs: null,
  target: null,
  pacer: null,
  durationMs: null,
  published: [],
  facts: {},
  unrecoverable: [],
  warnings: [],
}
