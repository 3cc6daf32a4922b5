import { fromActualSend } from '../../metrics/derive.ts'
import type { RequestRow } from '../request-row.ts'
import type { Rows } from '../rows.ts'
import { passingList } from '../row-table.ts'
import type { PublishedMetric } from './imported-run.ts'
import { orderedValues, type OrderedValues } from './ordered-values.ts'

/** One way in which a metric's values can be read off the same requests. The first is ours. */
export interface ValueReading {
  readonly why: string
  /** Made when it is first asked for. */
  readonly values: () => OrderedValues
}

type Of = (row: RequestRow) => number | null | ArrayLike<number>

export function valueReadings(metric: PublishedMetric, rows: Rows): readonly ValueReading[] {
  const ok = rows.filter((row) => row.ok)
  return (readings[metric] ?? []).map(([why, of, failedAsZero]) => ({
    why,
    values: once(() => orderedValues(failedAsZero === true ? rows : ok, (row) => (row.ok ? of(row) : 0))),
  }))
}

const fromSend = 'from the actual send, ours from the intended one'
const zeros = 'a failed request counts as 0'

const readings: Readonly<
  Partial<Record<PublishedMetric, readonly (readonly [why: string, of: Of, failedAsZero?: true])[]>>
> = {
  ttft_ms: [
    ['', (row) => row.ttft_ms],
    [fromSend, (row) => fromActualSend(row.ttft_ms, row.lag_ms)],
    ['a missing one counts as 0', (row) => row.ttft_ms ?? 0],
    [zeros, (row) => row.ttft_ms, true],
  ],
  tpot_ms: [
    ['', (row) => row.tpot_ms],
    [
      'TTFT is in it: (last token − send) ÷ N; ours is (tpot·N − ttft) ÷ (N − 1)',
      (row) => over(row.e2e_ms, row.completion_tokens),
    ],
    [
      'TTFT and the end of the request are in it: (end − send) ÷ N',
      (row) => over(row.done_ms, row.completion_tokens),
    ],
    [
      '÷ N where N tokens have N − 1 gaps',
      (row) => over(minus(row.e2e_ms, row.ttft_ms), row.completion_tokens),
    ],
    [
      'to the end of the request: (end − first token) ÷ (N − 1)',
      (row) => over(minus(row.done_ms, row.ttft_ms), less(row.completion_tokens)),
    ],
    ['an answer of one token counts as 0', (row) => row.tpot_ms ?? 0],
    [
      'weighted by tokens: long answers count more',
      (row) => repeated(row.tpot_ms, less(row.completion_tokens)),
    ],
    [
      'TTFT is in it, and a request weighs by its tokens: (last token − send) ÷ N, N times',
      (row) =>
        repeated(over(minus(row.e2e_ms, row.lag_ms ?? 0), row.completion_tokens), row.completion_tokens),
    ],
    [
      'TTFT is in it: (last token − actual send) ÷ N',
      (row) => over(minus(row.e2e_ms, row.lag_ms ?? 0), row.completion_tokens),
    ],
    [zeros, (row) => row.tpot_ms, true],
  ],
  gaps_ms: [
    ['', (row) => passingList(row, 'gaps_ms')],
    ['a mean a request, (E2E − TTFT) ÷ (N − 1), not its gaps', (row) => row.tpot_ms],
    ['each chunk’s tokens at one time: gaps of 0 inside chunks', (row) => insideChunks(row)],
    ['the wait for the first token is in it: E2E ÷ N', (row) => over(row.e2e_ms, row.completion_tokens)],
    [
      'the wait for the first token counts as a gap',
      (row) => (row.ttft_ms === null ? row.gaps_ms : [row.ttft_ms, ...row.gaps_ms]),
    ],
  ],
  e2e_ms: [
    ['', (row) => row.e2e_ms],
    [fromSend, (row) => fromActualSend(row.e2e_ms, row.lag_ms)],
    ['to the end of the request, ours to the last token', (row) => row.done_ms],
    ['to the end of the request and from the actual send', (row) => fromActualSend(row.done_ms, row.lag_ms)],
    [zeros, (row) => row.e2e_ms, true],
  ],
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

function over(ms: number | null, tokens: number | null): number | null {
  return ms === null || tokens === null || tokens <= 0 ? null : ms / tokens
}

function minus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a - b
}

function less(tokens: number | null): number | null {
  return tokens === null ? null : tokens - 1
}

function repeated(value: number | null, times: number | null): readonly number[] | null {
  // Made in one go: a hundred million numbers are asked for several times.
  // oxlint-disable-next-line unicorn/no-new-array
  return value === null || times === null ? null : new Array<number>(Math.max(0, times)).fill(value)
}

function insideChunks(row: RequestRow): readonly number[] | null {
  const { event_tokens: events } = row
  if (events === null) return null
  return events.flatMap((tokens, event) => {
    const inside = Array.from({ length: Math.max(0, tokens - 1) }, () => 0)
    return event === 0 ? inside : [row.gaps_ms[event - 1] ?? 0, ...inside]
  })
}

/** What a rate can be made of. */
export interface RateInput {
  /** Ours, over the window; null where nothing can be said. */
  readonly requestsPerS: number | null
  readonly outputTokensPerS: number | null
  readonly inputTokensPerS: number | null
  /** The tool's own duration. */
  readonly durationMs: number | null
}

/** Ways to read a rate off the same requests. The first is ours. */
export function rateReadings(
  metric: PublishedMetric,
  rows: Rows,
  input: RateInput,
  toolOutputTokens: number | null = null,
): readonly { readonly why: string; readonly value: number | null }[] {
  const ok = rows.filter((row) => row.ok)
  const spanMs = wholeSpanMs(rows)
  const per = (amount: number, ms: number | null): number | null =>
    ms === null || ms <= 0 ? null : (amount * 1000) / ms
  const sum = (all: Rows, of: (row: RequestRow) => number | null): number =>
    all.reduce((total, row) => total + (of(row) ?? 0), 0)
  const each = (
    ours: number | null,
    amount: (all: Rows) => number,
  ): { why: string; value: number | null }[] => [
    { why: '', value: ours },
    { why: 'over its own duration', value: per(amount(ok), input.durationMs) },
    { why: 'from the first send to the last end', value: per(amount(ok), spanMs) },
    { why: 'failures count too, over its own duration', value: per(amount(rows), input.durationMs) },
    { why: 'failures count too, from the first send to the last end', value: per(amount(rows), spanMs) },
  ]
  if (metric === 'requests_per_s') return each(input.requestsPerS, (all) => all.length)
  if (metric === 'output_tokens_per_s' && toolOutputTokens !== null) {
    const why = "N by its own tokenizer, ours is the server's"
    return [
      ...each(input.outputTokensPerS, (all) => sum(all, (row) => row.completion_tokens)),
      { why, value: per(toolOutputTokens, input.durationMs) },
      { why, value: per(toolOutputTokens, spanMs) },
    ]
  }
  if (metric === 'output_tokens_per_s')
    return each(input.outputTokensPerS, (all) => sum(all, (row) => row.completion_tokens))
  return each(input.inputTokensPerS, (all) => sum(all, (row) => row.prompt_tokens))
}

function wholeSpanMs(rows: Rows): number | null {
  let first = Number.POSITIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  for (const row of rows) {
    const endMs = row.done_ms ?? row.e2e_ms
    if (row.sent_ms === null || row.planned_ms === null || endMs === null) continue
    first = Math.min(first, row.sent_ms)
    last = Math.max(last, row.planned_ms + endMs)
  }
  return last > first ? last - first : null
}
