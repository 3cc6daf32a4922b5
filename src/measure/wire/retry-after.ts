import type { HeaderLookup } from './transport.ts'

/**
 * How long a refusal asks the client to wait, ms: `retry-after-ms` (as OpenAI sends it), else `Retry-After` in seconds or as an
 * HTTP date (RFC 9110 §10.2.3). A date is read against the response's own `Date`, else against `wallNowMs`. Null: not said.
 */
export function retryAfterMs(header: HeaderLookup, wallNowMs: (() => number) | null): number | null {
  const exact = number(header('retry-after-ms'))
  if (exact !== null) return exact
  const value = header('retry-after')
  if (value === undefined) return null
  const seconds = number(value)
  if (seconds !== null) return Math.round(seconds * 1000)
  const at = Date.parse(value)
  if (Number.isNaN(at)) return null
  const answered = Date.parse(header('date') ?? '')
  const nowMs = Number.isNaN(answered) ? (wallNowMs?.() ?? null) : answered
  return nowMs === null ? null : Math.max(0, at - nowMs)
}

function number(text: string | undefined): number | null {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null
}
