import { PlimsollError } from '../../base/errors.ts'
import type { WireRequest } from './transport.ts'

const fieldName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** Latin-1 without control characters (tab allowed), RFC 9110 §5.5. */
// eslint-disable-next-line no-control-regex
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/
const own = new Set(['host', 'content-length', 'connection', 'transfer-encoding'])

/** The head of a request as it goes on the wire, empty line included. */
export function requestHead(request: WireRequest, host: string): string {
  let text = `${request.method ?? 'POST'} ${checkedPath(request)} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`
  for (const name in request.headers) {
    if (!own.has(name.toLowerCase())) text += `${checkedField(name, request.headers[name]!)}\r\n`
  }
  const bytes = typeof request.body === 'string' ? Buffer.byteLength(request.body) : request.body.length
  return `${text}content-length: ${bytes}\r\n\r\n`
}

/** The headers of a request for a library that adds its own. */
export function checkedHeaders(request: WireRequest): Record<string, string> {
  checkedPath(request)
  const headers: Record<string, string> = {}
  for (const name in request.headers) {
    if (own.has(name.toLowerCase())) continue
    checkedField(name, request.headers[name]!)
    headers[name] = request.headers[name]!
  }
  return headers
}

function checkedPath(request: WireRequest): string {
  if (!/^\/[\x21-\x7e]*$/.test(request.path)) {
    throw new PlimsollError('PLIM_URL', 'a request path must begin with / and hold no blanks', {
      received: JSON.stringify(request.path),
    })
  }
  return request.path
}

function checkedField(name: string, value: string): string {
  if (!isHeaderName(name) || !isHeaderValue(value)) {
    throw new PlimsollError('PLIM_USAGE', 'a header cannot be sent', {
      expected: 'a name of letters, digits and dashes; a value without line breaks',
      received: `header ${JSON.stringify(name)}`,
    })
  }
  return `${name}: ${value}`
}

export function isHeaderName(name: string): boolean {
  return fieldName.test(name)
}

export function isHeaderValue(value: string): boolean {
  return fieldValue.test(value)
}
