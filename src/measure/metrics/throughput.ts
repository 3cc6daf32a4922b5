import type { RequestRow } from '../record/request-row.ts'
import type { Rows } from '../record/rows.ts'
import { passingList } from '../record/row-table.ts'
import type { Throughput } from './run-summary.ts'
import type { RunWindow } from './run-window.ts'

/**
 * Rates over the window's length.
 *
 * - Output tokens: those emitted inside the window, whichever request they belong to: also of requests sent before it began and
 *   of ones still running when it ended, so that neither cutting nor draining biases the rate (a run divided by its drain looks
 *   slower, one that drops its last requests too). A token is timed by its output event: intended send + TTFT + gaps. The
 *   request's N tokens are spread over its events as their own counts say (`event_tokens`), else evenly; where N is unknown an
 *   event counts as one token. An answer that was not streamed is counted whole when it came. Failed requests do not count.
 * - Requests: answered well (last output event, or the whole answer) inside the window.
 * - Input tokens: prompts whose first output event came inside the window, which is when their prefill was done. An answer cut at the
 *   end tells no usage: its prompt is left out where those of the others are known.
 *
 * Null for a window without length, and a sum of tokens where an answer that counts does not say how many: missing is not zero.
 */
export function throughput(rows: Rows, window: RunWindow): Throughput {
  const seconds = (window.endMs - window.startMs) / 1000
  if (!(seconds > 0)) {
    return { window_s: 0, requests_per_s: null, output_tokens_per_s: null, input_tokens_per_s: null }
  }
  let requests = 0
  let outputTokens: number | null = 0
  let inputTokens = 0
  const prompts = { known: 0, unknown: 0, unknownOk: 0 }
  for (const row of rows) {
    if (row.planned_ms === null || (row.outcome !== 'ok' && row.outcome !== 'censored')) continue
    const endMs = row.e2e_ms ?? row.done_ms
    if (row.ok && endMs !== null && contains(window, row.planned_ms + endMs)) requests++
    const emitted = tokensInside(row, row.planned_ms, window)
    outputTokens = outputTokens === null || emitted === null ? null : outputTokens + emitted
    if (row.prompt_tokens !== null) prompts.known++
    const firstMs = row.ttft_ms ?? (row.ok ? endMs : null)
    if (firstMs === null || !contains(window, row.planned_ms + firstMs)) continue
    inputTokens += row.prompt_tokens ?? 0
    if (row.prompt_tokens === null) prompts[row.ok ? 'unknownOk' : 'unknown']++
  }
  const isInputKnown = prompts.unknownOk === 0 && (prompts.unknown === 0 || prompts.known > 0)
  return {
    window_s: seconds,
    requests_per_s: requests / seconds,
    output_tokens_per_s: outputTokens === null ? null : outputTokens / seconds,
    input_tokens_per_s: isInputKnown ? inputTokens / seconds : null,
  }
}

function contains(window: RunWindow, ms: number): boolean {
  return ms >= window.startMs && ms < window.endMs
}

/** Null where it is not known. */
function tokensInside(row: RequestRow, plannedMs: number, window: RunWindow): number | null {
  if (row.ttft_ms === null) {
    const wholeMs = row.e2e_ms ?? row.done_ms
    if (wholeMs === null || !row.ok || !contains(window, plannedMs + wholeMs)) return 0
    return row.completion_tokens
  }
  const events = passingList(row, 'gaps_ms').length + 1
  const total = tokensOf(row, events)
  const firstMs = plannedMs + row.ttft_ms
  const lastMs = row.e2e_ms === null ? null : plannedMs + row.e2e_ms
  if (lastMs !== null && firstMs >= window.startMs && lastMs < window.endMs) return total
  if (firstMs >= window.endMs || (lastMs !== null && lastMs < window.startMs)) return 0
  const weights = row.event_tokens?.length === events ? row.event_tokens : null
  let weightInside = 0
  let weight = 0
  let atMs = firstMs
  for (let event = 0; event < events; event++) {
    if (event > 0) atMs += row.gaps_ms[event - 1] ?? 0
    const own = weights === null ? 1 : (weights[event] ?? 0)
    weight += own
    if (contains(window, atMs)) weightInside += own
  }
  return weight === 0 ? 0 : (total * weightInside) / weight
}

function tokensOf(row: RequestRow, events: number): number {
  if (row.completion_tokens !== null) return row.completion_tokens
  if (row.event_tokens === null) return events
  return row.event_tokens.reduce((sum, tokens) => sum + tokens, 0)
}
