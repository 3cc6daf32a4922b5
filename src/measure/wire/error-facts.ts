import type { ErrorFacts } from './chunk-facts.ts'

/** Text of servers goes on rows shortened to this. */
const maxTextLength = 500

/**
 * Reads an error in any of the shapes that servers send: OpenAI's `{"error": {message, type, code}}`, TGI's
 * `{"error": "text", "error_type": "…"}`, older vLLM's `{"object": "error", message, …}`, FastAPI's `{"detail": …}`, or the inner
 * object alone. `value` is the parsed JSON. Null where it reports none (`"error": null`).
 */
export function errorFacts(value: unknown, bare = false): ErrorFacts | null {
  if (typeof value !== 'object' || value === null) {
    return bare && typeof value === 'string' ? facts(null, null, value) : null
  }
  const outer = value as Record<string, unknown>
  const error = outer['error']
  if (isError(error)) {
    if (typeof error !== 'object') {
      return facts(
        outer['code'] ?? outer['status'],
        outer['error_type'] ?? outer['type'],
        outer['message'] ?? error,
      )
    }
    const inner = error as Record<string, unknown>
    const message = inner['message'] ?? inner['detail'] ?? outer['message'] ?? null
    return facts(
      inner['code'] ?? inner['status'] ?? outer['code'] ?? outer['status'],
      inner['type'] ?? outer['error_type'],
      message ?? JSON.stringify(error),
    )
  }
  if (outer['object'] === 'error' || bare) {
    const detail = outer['message'] ?? outer['detail'] ?? outer['msg'] ?? null
    if (detail !== null || outer['object'] === 'error') {
      return facts(outer['code'] ?? outer['status'], outer['type'] ?? outer['error_type'], detail)
    }
  }
  return bare ? facts(null, null, JSON.stringify(value)) : null
}

/** `"error"` fields that say there is none: null, false, an empty text. */
export function isError(error: unknown): boolean {
  return error !== undefined && error !== null && error !== false && error !== ''
}

/** The error of a body or line that need not be JSON: an HTML page gives its title, other text itself. */
export function errorFactsOfText(text: string): ErrorFacts | null {
  // Some gateways frame even the body of an HTTP error as an event.
  const trimmed = text.trim().replace(/^(event:.*\s+)?data: ?/, '')
  if (trimmed === '') return null
  try {
    const found = errorFacts(JSON.parse(trimmed), true)
    if (found !== null) return found
  } catch {
    // Not JSON: read as text below.
  }
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(trimmed)?.[1]?.trim()
  if (title !== undefined && title !== '') return facts(null, null, title)
  if (!trimmed.startsWith('<')) return facts(null, null, trimmed)
  return facts(
    null,
    null,
    trimmed
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  )
}

function facts(code: unknown, type: unknown, message: unknown): ErrorFacts {
  return { code: shortText(code), type: shortText(type), message: shortText(message) }
}

function shortText(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text
}
