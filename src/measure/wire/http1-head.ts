/** Response heads beyond this are refused: no server of ours sends a tenth of it. */
export const maxHeadBytes = 65_536

/** A response head, parsed. Header names are lower-case; several of one name are joined with a comma. */
export interface ResponseHead {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly framing: BodyFraming
  /** Whether the connection may serve another request after this body (RFC 9112 §9.3). */
  readonly keepAlive: boolean
  /** `Keep-Alive: timeout=N` in ms, where the server says how long it will wait. */
  readonly idleMs: number | null
}

export type BodyFraming =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'close' }

/** Why a head cannot be used, in words for the row's `error_message`. */
export class HeadError extends Error {
  override readonly name = 'HeadError'
}

/**
 * Parses the text of a response head (status line and fields, without the empty line). Line ends may be CRLF or LF; folded lines
 * are joined. @throws HeadError
 */
export function parseHead(text: string): ResponseHead {
  const lines = text.split(/\r?\n/)
  const statusLine = lines[0] ?? ''
  const found = /^HTTP\/1\.([01]) +(\d{3})(?: |$)/.exec(statusLine)
  if (found === null)
    throw new HeadError(`the answer is not HTTP/1.1: ${JSON.stringify(statusLine.slice(0, 40))}`)
  const status = Number(found[2])
  const headers = new Map<string, string>()
  let last: string | null = null
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i]!
    if (line === '') continue
    if (line[0] === ' ' || line[0] === '\t') {
      if (last !== null) headers.set(last, `${headers.get(last)!} ${line.trim()}`)
      continue
    }
    const colon = line.indexOf(':')
    if (colon < 1) throw new HeadError(`a header line has no name: ${JSON.stringify(line.slice(0, 40))}`)
    last = line.slice(0, colon).trimEnd().toLowerCase()
    const value = line.slice(colon + 1).trim()
    const before = headers.get(last)
    headers.set(last, before === undefined ? value : `${before}, ${value}`)
  }
  const framing = bodyFraming(status, headers)
  const connection = (headers.get('connection') ?? '').toLowerCase()
  const persistent = found[1] === '1' ? !/\bclose\b/.test(connection) : /\bkeep-alive\b/.test(connection)
  const idle = /\btimeout\s*=\s*"?(\d+)/i.exec(headers.get('keep-alive') ?? '')
  return {
    status,
    headers,
    framing,
    keepAlive: persistent && framing.kind !== 'close',
    idleMs: idle === null ? null : Number(idle[1]) * 1000,
  }
}

/** RFC 9112 §6.3 for the answer to a POST or GET. */
function bodyFraming(status: number, headers: ReadonlyMap<string, string>): BodyFraming {
  if (status < 200 || status === 204 || status === 304) return { kind: 'none' }
  const transfer = headers.get('transfer-encoding')
  if (transfer !== undefined) {
    return /(^|,)\s*chunked\s*$/i.test(transfer) ? { kind: 'chunked' } : { kind: 'close' }
  }
  const length = headers.get('content-length')
  if (length === undefined) return { kind: 'close' }
  const values = new Set(length.split(',').map((value) => value.trim()))
  const [value] = values
  if (values.size !== 1 || value === undefined || !/^\d{1,15}$/.test(value)) {
    throw new HeadError(`content-length is not one number: ${JSON.stringify(length.slice(0, 40))}`)
  }
  return { kind: 'length', bytes: Number(value) }
}
