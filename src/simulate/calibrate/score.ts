import { mean } from '../../stats/describe.ts'
import { percentile } from '../../stats/percentile.ts'
import type { RealRun } from './real-run.ts'
import type { Replay } from './replay.ts'

/** Figures of a set of requests, ms. */
export interface LatencyFigures {
  readonly ttftMean: number | null
  readonly tpotMean: number | null
  readonly e2eMean: number | null
  readonly ttftP99: number | null
  readonly e2eP99: number | null
  readonly tpotP90: number | null
}

export interface RunScore {
  readonly requests: number
  readonly measured: LatencyFigures
  readonly predicted: LatencyFigures
  /** predicted ÷ measured − 1. */
  readonly errors: LatencyFigures
}

/** How far a replay is from the run, over its requests from number `from` on (in order of arrival). */
export function scoreReplay(run: RealRun, replay: Replay, from: number): RunScore {
  const rows = run.requests.map((one, i) => ({ one, i })).slice(from)
  const measured = figures(
    rows.map(({ one }) => [one.queuedMs, one.firstTokenMs, one.lastTokenMs, one.outputTokens]),
  )
  const predicted = figures(
    rows.map(({ one, i }) => [
      one.queuedMs,
      replay.firstTokenMs[i] as number,
      replay.lastTokenMs[i] as number,
      one.outputTokens,
    ]),
  )
  return { requests: rows.length, measured, predicted, errors: shares(predicted, measured) }
}

type Times = readonly [queuedMs: number, firstTokenMs: number, lastTokenMs: number, outputTokens: number]

function figures(rows: readonly Times[]): LatencyFigures {
  const ttft = rows.map(([queued, first]) => first - queued)
  const e2e = rows.map(([queued, , last]) => last - queued)
  const tpot = rows.flatMap(([, first, last, tokens]) => (tokens > 1 ? [(last - first) / (tokens - 1)] : []))
  return {
    ttftMean: mean(ttft),
    tpotMean: mean(tpot),
    e2eMean: mean(e2e),
    ttftP99: level(ttft, '99'),
    e2eP99: level(e2e, '99'),
    tpotP90: level(tpot, '90'),
  }
}

function shares(predicted: LatencyFigures, measured: LatencyFigures): LatencyFigures {
  const share = (key: keyof LatencyFigures): number | null => {
    const [a, b] = [predicted[key], measured[key]]
    return a === null || b === null || b === 0 ? null : a / b - 1
  }
  return {
    ttftMean: share('ttftMean'),
    tpotMean: share('tpotMean'),
    e2eMean: share('e2eMean'),
    ttftP99: share('ttftP99'),
    e2eP99: share('e2eP99'),
    tpotP90: share('tpotP90'),
  }
}

function level(values: readonly number[], p: string): number | null {
  return percentile(
    values.toSorted((a, b) => a - b),
    p,
  )
}
