import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ApiKind } from '../../../measure/wire/api.ts'
import { asciiJson } from './answer-form.ts'
import { type ApiError, errorJsonOf } from './api-error.ts'

/** An error in the words of the API that was asked; null: OpenAI's. */
export function sendError(response: ServerResponse, error: ApiError, api: ApiKind | null = null): void {
  for (const [name, value] of Object.entries(error.headers ?? {})) response.setHeader(name, value)
  sendText(response, error.status, errorJsonOf(api, error))
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  sendText(response, status, asciiJson(body))
}

function sendText(response: ServerResponse, status: number, body: string): void {
  response.statusCode = status
  response.setHeader('content-type', 'application/json')
  response.setHeader('content-length', Buffer.byteLength(body))
  response.end(body)
}

/** Answers without having read the body: the connection cannot be used again. */
export function refuseUnread(request: IncomingMessage, response: ServerResponse, error: ApiError): void {
  response.setHeader('connection', 'close')
  request.resume()
  sendError(response, error)
}

/** Reads a body of at most `maxBytes`, or answers 413. `done` is not called for a body that never ends. */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
  done: (body: string) => void,
): void {
  const parts: Buffer[] = []
  let bytes = 0
  const tooLarge: ApiError = {
    status: 413,
    type: 'RequestTooLargeError',
    message: `The body is over ${maxBytes} bytes.`,
    param: null,
  }
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    refuseUnread(request, response, tooLarge)
    return
  }
  request.on('data', (part: Buffer) => {
    bytes += part.length
    if (bytes > maxBytes) {
      request.removeAllListeners('data')
      refuseUnread(request, response, tooLarge)
    } else parts.push(part)
  })
  request.on('end', () => {
    if (bytes <= maxBytes) done(Buffer.concat(parts).toString('utf8'))
  })
}
