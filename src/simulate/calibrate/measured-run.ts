import { PlimsollError } from '../../base/errors.ts'
import { noun } from '../../base/noun.ts'
import { randomStream } from '../../base/random.ts'
import type { Pacer } from '../../measure/load/pacer.ts'
import type { Rows } from '../../measure/record/rows.ts'
import { mean } from '../../stats/describe.ts'
import { createEngine } from '../engine/engine.ts'
import type { EngineConfig } from '../engine/engine-config.ts'
import type { EngineRequest } from '../engine/engine-interface.ts'
import { runVirtual } from '../engine/run-virtual.ts'

/** A load test as a fit sees it: what was sent, how, and what came of it. */
export interface MeasuredRun {
  readonly name: string
  /** Users of a closed loop and their pause; null: requests came at their own times. */
  readonly closed: { readonly users: number; readonly thinkMs: number } | null
  /** In order of sending. */
  readonly requests: readonly MeasuredRequest[]
}

export interface MeasuredRequest {
  readonly atMs: number
  readonly promptTokens: number
  readonly outputTokens: number
  readonly ttftMs: number
  readonly tpotMs: number | null
  /** How long after its time it was sent: in a closed loop, from the answer before it. */
  readonly lagMs: number
  /** Only what was sent in the window counts; the rest is replayed because it was there. */
  readonly counts: boolean
}

/** Mean times of the requests of one run whose prompts are about as long (within a factor of two). */
export interface MeanPoint {
  readonly run: string
  readonly n: number
  readonly promptTokens: number
  readonly ttftMs: number
  readonly tpotMs: number | null
  /** Standard errors of the means ÷ the means, as if the requests had nothing to do with each other. */
  readonly ttftError: number
  readonly tpotError: number
}

/** Answers a second of a closed loop by Little's law, users ÷ (mean time of an answer + pause), and its standard error ÷ itself. */
export interface LoopRate {
  readonly perSecond: number
  readonly error: number
}

/** Takes what was answered with known lengths. @throws PlimsollError PLIM_NUMBER where nothing was. */
export function measuredRun(name: string, pacer: Pacer | null, rows: Rows): MeasuredRun {
  const requests = rows.flatMap((row): MeasuredRequest[] => {
    const { sent_ms: sent, ttft_ms: ttft, prompt_tokens: prompt, completion_tokens: output } = row
    if (!row.ok || sent === null || ttft === null || prompt === null || output === null) return []
    return [
      {
        atMs: sent,
        promptTokens: prompt,
        outputTokens: output,
        ttftMs: ttft - (row.lag_ms ?? 0),
        tpotMs: row.tpot_ms,
        lagMs: row.lag_ms ?? 0,
        counts: row.phase === 'measure',
      },
    ]
  })
  if (!requests.some((request) => request.counts)) {
    throw new PlimsollError('PLIM_NUMBER', `nothing can be learnt from ${name}`, {
      expected: 'answered requests with prompt and output tokens in the measured window',
      received: `${rows.length} ${noun(rows.length, 'row')}, none of them such a one`,
    })
  }
  const closed = pacer?.kind === 'concurrency' ? { users: pacer.users, thinkMs: pacer.thinkTimeMs } : null
  return { name, closed, requests: requests.sort((a, b) => a.atMs - b.atMs) }
}

/** The points of a run as they were measured. */
export function measuredPoints(run: MeasuredRun): MeanPoint[] {
  return pointsOf(run, run.requests)
}

/** The same points of an engine with that configuration, given the same requests in the same way. */
export function simulatedPoints(run: MeasuredRun, config: EngineConfig): MeanPoint[] {
  return pointsOf(run, simulatedTimes(run, config))
}

/** What came out of the closed loop as it was measured; null of an open one. */
export function measuredRate(run: MeasuredRun): LoopRate | null {
  return rateOf(run, run.requests)
}

/** The same of an engine with that configuration. */
export function simulatedRate(run: MeasuredRun, config: EngineConfig): LoopRate | null {
  return rateOf(run, simulatedTimes(run, config))
}

function rateOf({ closed, requests }: MeasuredRun, times: readonly Times[]): LoopRate | null {
  if (closed === null) return null
  const answers = requests.flatMap(({ counts, outputTokens }, i) => {
    const { ttftMs, tpotMs } = times[i] as Times
    return counts ? [ttftMs + (tpotMs ?? 0) * (outputTokens - 1)] : []
  })
  const answerMs = mean(answers)
  if (answerMs === null) return null
  return {
    perSecond: (1000 * closed.users) / (answerMs + closed.thinkMs),
    error: relativeError(answers),
  }
}

function simulatedTimes(run: MeasuredRun, config: EngineConfig): Times[] {
  const engine = createEngine(config, randomStream(0, 'replay'), { events: 'requests' })
  const { requests, closed } = run
  const request = (id: number, arrivalMs: number): EngineRequest => {
    const { promptTokens, outputTokens } = requests[id] as MeasuredRequest
    return { id, arrivalMs, promptTokenIds: { length: promptTokens, seed: null }, outputTokens }
  }
  // A closed loop is simulated as one: whoever is slower sends less.
  let next = closed === null ? requests.length : Math.min(closed.users, requests.length)
  const results = runVirtual(engine, {
    arrivals: requests
      .slice(0, next)
      .map((one, id) => request(id, closed === null ? one.atMs : Math.max(0, one.atMs))),
    onResult: ({ endMs }) => {
      if (closed === null || next >= requests.length) return null
      const { lagMs } = requests[next] as MeasuredRequest
      return request(next++, endMs + closed.thinkMs + lagMs)
    },
  })
  const times: Times[] = requests.map(() => ({ ttftMs: Number.POSITIVE_INFINITY, tpotMs: null }))
  for (const { id, facts } of results) {
    if (facts === null || facts.firstTokenMs < 0) continue
    times[id as number] = {
      ttftMs: facts.firstTokenMs - facts.arrivalMs,
      tpotMs:
        facts.outputTokens > 1 ? (facts.lastTokenMs - facts.firstTokenMs) / (facts.outputTokens - 1) : null,
    }
  }
  return times
}

interface Times {
  readonly ttftMs: number
  readonly tpotMs: number | null
}

function pointsOf(run: MeasuredRun, times: readonly Times[]): MeanPoint[] {
  const bins = new Map<number, { prompts: number[]; ttfts: number[]; tpots: number[] }>()
  run.requests.forEach(({ promptTokens, counts }, i) => {
    if (!counts) return
    const key = Math.floor(Math.log2(promptTokens))
    const bin = bins.get(key) ?? { prompts: [], ttfts: [], tpots: [] }
    const { ttftMs, tpotMs } = times[i] as Times
    bin.prompts.push(promptTokens)
    bin.ttfts.push(ttftMs)
    if (tpotMs !== null) bin.tpots.push(tpotMs)
    bins.set(key, bin)
  })
  return [...bins.entries()]
    .sort(([a], [b]) => a - b)
    .map(([, { prompts, ttfts, tpots }]) => ({
      run: run.name,
      n: prompts.length,
      promptTokens: mean(prompts) as number,
      ttftMs: mean(ttfts) as number,
      tpotMs: mean(tpots),
      ttftError: relativeError(ttfts),
      tpotError: relativeError(tpots),
    }))
}

/** sd ÷ √n ÷ mean; 0 of one value, which says nothing of its scatter. */
function relativeError(values: readonly number[]): number {
  const centre = mean(values)
  if (centre === null || centre === 0 || values.length < 2) return 0
  const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0)
  return Math.sqrt(squares / (values.length - 1) / values.length) / centre
}
