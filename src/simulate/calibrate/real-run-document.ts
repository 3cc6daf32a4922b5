import type { StepTimeModel } from '../engine/step-time.ts'
import type { FittedModel, RunFit } from './fit-run.ts'
import type { RealRun } from './real-run.ts'
import { realEngineConfig } from './replay.ts'
import { scoreReplay, type LatencyFigures } from './score.ts'

interface Spread {
  readonly low: number | null
  readonly high: number | null
}

/** What `npm run real` prints. Times in ms; errors are signed shares. */
export interface RealRunDocument {
  readonly model: string
  readonly gpu: string
  readonly gpus: number
  /** Requests that the fit saw. */
  readonly fit_on: number
  /** Requests that it did not see and that the errors are over. */
  readonly predicted: number
  /** Requests without a first or last token: neither replayed nor judged. */
  readonly unanswered: number
  readonly errors: Figures
  readonly measured: Figures
  readonly prediction: Figures
  /** Over the requests fitted on: how well the model can do at all. */
  readonly errors_in_fit: Figures
  /** Of the same figures over all requests, as another simulator reports them for itself on this run; null where it does not. */
  readonly errors_of_llmservingsim: Partial<Figures> | null
  readonly bounded_by: string
  readonly coefficients: Coefficients
  readonly at_bounds: readonly string[]
  readonly preemptions: number
  readonly num_gpu_blocks: { readonly value: number; readonly source: 'run' | 'reckoned' }
  /** Lowest and highest among the fits that are about as good: what this run leaves open. */
  readonly open: {
    readonly fits: number
    /** A step with one row of 1,000 tokens context: what no saturated run shows. */
    readonly idle_tpot_ms: Spread
    readonly coefficients: Readonly<Record<keyof Coefficients, Spread>>
    readonly errors: Readonly<Record<keyof Figures, Spread>>
  }
  readonly replays: number
}

export interface Figures {
  readonly ttft_mean: number | null
  readonly tpot_mean: number | null
  readonly e2e_mean: number | null
  readonly ttft_p99: number | null
  readonly e2e_p99: number | null
  readonly tpot_p90: number | null
}

interface Coefficients {
  readonly base_ms: number
  readonly knee_tokens: number
  readonly per_token_us: number
  readonly per_context_token_ns: number
  readonly per_pair_ns: number
  readonly per_sequence_us: number
}

export function realRunDocument(run: RealRun, fit: RunFit, peerSummary: string | null): RealRunDocument {
  const held = scoreReplay(run, fit.best.replay, fit.fitOn)
  const seen = { ...run, requests: run.requests.slice(0, fit.fitOn) }
  const errors = fit.alike.map((one) => named(scoreReplay(run, one.replay, fit.fitOn).errors))
  const coefficientsOf = fit.alike.map((one) => coefficients(one.stepTime))
  return {
    model: run.model,
    gpu: run.gpuName,
    gpus: run.gpus,
    fit_on: fit.fitOn,
    predicted: held.requests,
    unanswered: run.unanswered,
    errors: rounded(named(held.errors)),
    measured: rounded(named(held.measured)),
    prediction: rounded(named(held.predicted)),
    errors_in_fit: rounded(named(scoreReplay(seen, fit.best.replay, 0).errors)),
    errors_of_llmservingsim: peerSummary === null ? null : peerErrors(peerSummary),
    bounded_by: fit.bounds.source,
    coefficients: rounded(coefficients(fit.best.stepTime)),
    at_bounds: fit.best.atBounds,
    preemptions: fit.best.replay.preemptions,
    num_gpu_blocks: {
      value: realEngineConfig(run).numGpuBlocks,
      source: run.numGpuBlocks === null ? 'reckoned' : 'run',
    },
    open: {
      fits: fit.alike.length,
      idle_tpot_ms: spread(fit.alike.map(idleTpotMs)),
      coefficients: spreads(coefficientsOf),
      errors: spreads(errors),
    },
    replays: fit.evaluations,
  }
}

/** The step of a single decoding row with 1,000 tokens of context. */
function idleTpotMs({ stepTime }: FittedModel): number {
  return (
    stepTime.baseMs +
    Math.max(0, 1 - stepTime.kneeTokens) * stepTime.perTokenMs +
    1000 * stepTime.perContextTokenMs +
    stepTime.perSequenceMs
  )
}

function named(figures: LatencyFigures): Figures {
  return {
    ttft_mean: figures.ttftMean,
    tpot_mean: figures.tpotMean,
    e2e_mean: figures.e2eMean,
    ttft_p99: figures.ttftP99,
    e2e_p99: figures.e2eP99,
    tpot_p90: figures.tpotP90,
  }
}

function coefficients(stepTime: StepTimeModel): Coefficients {
  return {
    base_ms: stepTime.baseMs,
    knee_tokens: stepTime.kneeTokens,
    per_token_us: stepTime.perTokenMs * 1e3,
    per_context_token_ns: stepTime.perContextTokenMs * 1e6,
    per_pair_ns: stepTime.perPairMs * 1e6,
    per_sequence_us: stepTime.perSequenceMs * 1e3,
  }
}

const peerRows: Readonly<Record<string, keyof Figures>> = {
  'TTFT Mean': 'ttft_mean',
  'TPOT Mean': 'tpot_mean',
  'Latency Mean': 'e2e_mean',
  'TTFT P99': 'ttft_p99',
  'Latency P99': 'e2e_p99',
  'TPOT P90': 'tpot_p90',
}

/** The last column of its table, in percent. */
function peerErrors(summary: string): Partial<Figures> | null {
  const found: Partial<Record<keyof Figures, number>> = {}
  for (const line of summary.split('\n')) {
    const match = /^(\w+ \w+)\s.*?([+-][\d.]+)%\s*$/.exec(line)
    const key = match === null ? undefined : peerRows[match[1] as string]
    if (key !== undefined) found[key] = significant(Number(match?.[2]) / 100)
  }
  return Object.keys(found).length === 0 ? null : found
}

function spread(values: ReadonlyArray<number | null>): Spread {
  const known = values.filter((value) => value !== null)
  if (known.length === 0) return { low: null, high: null }
  return { low: significant(Math.min(...known)), high: significant(Math.max(...known)) }
}

function spreads<K extends string>(
  all: ReadonlyArray<Readonly<Record<K, number | null>>>,
): Record<K, Spread> {
  const keys = Object.keys(all[0] ?? {}) as K[]
  return Object.fromEntries(keys.map((key) => [key, spread(all.map((one) => one[key]))])) as Record<K, Spread>
}

function rounded<T extends object>(of: T): T {
  const pairs = Object.entries(of).map(([key, value]) => [
    key,
    typeof value === 'number' ? significant(value) : value,
  ])
  return Object.fromEntries(pairs) as T
}

/** Five digits are more than any of this is known to. */
function significant(value: number): number {
  return Number(value.toPrecision(5))
}
