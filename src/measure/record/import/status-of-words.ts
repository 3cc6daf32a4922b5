/** Reason phrases that clients give instead of a status, or behind it. */
const phrases: readonly (readonly [phrase: string, status: number])[] = [
  ['too many requests', 429],
  ['service (?:temporarily )?unavailable', 503],
  ['bad gateway', 502],
  ['gateway time-?out', 504],
  ['internal server error', 500],
  ['bad request', 400],
  ['not found', 404],
  ['unauthorized', 401],
  ['forbidden', 403],
  ['request time-?out', 408],
  ['payload too large', 413],
  ['unprocessable (?:entity|content)', 422],
]
const anyPhrase = `(?:${phrases.map(([phrase]) => phrase).join('|')}|server error|client error)`
const number = '([45]\\d\\d)(?!\\d)'

/**
 * The forms in which clients write a status into a message. Three digits alone are none: a port, a time limit and a count of tokens
 * have them too.
 */
const shapes: readonly RegExp[] = [
  // 503 · "503: overloaded" · "429, message='Too Many Requests'" (aiohttp)
  new RegExp(`^\\s*['"]?${number}['"]?\\s*(?:$|[:,–-](?!\\d))`),
  // "HTTP 503" · "HTTP/1.1 503" · "http_503" · "HTTP Error 503: …" (urllib) · "HTTPError: 503"
  new RegExp(`\\bHTTP(?:/\\d(?:\\.\\d)?)?(?:[\\s_:-]*(?:error|status|code))*[\\s_:=(-]*${number}`, 'i'),
  // "status 503" · "status code: 503" · "StatusCode(503)" · '"status": 429' · "Error code: 429 - {…" (openai)
  new RegExp(`\\bstatus(?:[\\s_-]*code)?["']?\\s*(?:[:=(]|is|was|of)?\\s*["']?${number}`, 'i'),
  new RegExp(`\\b(?:error|response)[\\s_-]*code["']?\\s*(?:[:=(]|is|was|of)?\\s*["']?${number}`, 'i'),
  new RegExp(`["']code["']\\s*:\\s*["']?${number}`, 'i'),
  // "Server error '503 Service Unavailable' for url" (httpx) · "503 Server Error: …" (requests) · "Service Unavailable (503)"
  new RegExp(`(?:^|[^\\d.:])${number}[\\s:,-]+['"(]?${anyPhrase}`, 'i'),
  new RegExp(`${anyPhrase}['"]?\\s*[[(:]\\s*${number}`, 'i'),
]

/** The HTTP status of 4xx or 5xx that a message names, in a form that is one; null where it names none. */
export function statusOfWords(message: string | null): number | null {
  const text = message?.trim() ?? ''
  for (const shape of shapes) {
    const found = shape.exec(text)?.[1]
    if (found !== undefined) return Number(found)
  }
  return phrases.find(([phrase]) => new RegExp(`^${phrase}$`, 'i').test(text))?.[1] ?? null
}
