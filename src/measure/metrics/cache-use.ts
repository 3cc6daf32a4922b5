import type { RequestRow } from '../record/request-row.ts'
import type { RunSummary } from './run-summary.ts'

type Told = Pick<RequestRow, 'ok' | 'prompt_tokens' | 'cached_tokens'>

/** Cached ÷ prompt tokens over the ok requests whose server told both; null where none did. */
export function cacheUse(rows: Iterable<Told>): RunSummary['cache'] {
  const { prompt, cached } = totals(rows, 0)
  return prompt === 0 ? null : { prompt_tokens: prompt, cached_tokens: cached, hit_rate: cached / prompt }
}

/**
 * Share of prompt tokens that were found in the cache beyond the first `leadTokens` of each prompt: those are the chat template's,
 * the same in every prompt, and no cache that has seen one request misses them. What is left is warmth. From the rows where the
 * server tells each its `cached_tokens`, else from its counters (`counted`, hits ÷ queries); null where neither is known.
 */
export function warmHitRate(
  rows: Iterable<Told>,
  leadTokens: number,
  counted: number | null = null,
): number | null {
  const { prompt, cached } = totals(rows, leadTokens)
  if (prompt > 0) return cached / prompt
  if (counted === null) return null
  let known = 0
  let all = 0
  for (const { prompt_tokens: tokens } of rows) {
    if (tokens === null) continue
    known++
    all += tokens
  }
  return all === 0 ? counted : Math.max(0, counted - (known * leadTokens) / all)
}

function totals(rows: Iterable<Told>, leadTokens: number): { prompt: number; cached: number } {
  let prompt = 0
  let cached = 0
  for (const row of rows) {
    if (!row.ok || row.prompt_tokens === null || row.cached_tokens === null) continue
    prompt += row.prompt_tokens
    cached += Math.max(0, row.cached_tokens - leadTokens)
  }
  return { prompt, cached }
}
