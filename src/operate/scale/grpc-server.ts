import { createSecureServer, createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { PlimsollError } from '../../base/errors.ts'

/** The codes of gRPC that are used here. */
export const grpcStatus = {
  ok: 0,
  invalidArgument: 3,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
} as const

/** Ends a call with a status that is not ok. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Takes one message, gives one. */
export type UnaryMethod = (request: Buffer) => Buffer | Promise<Buffer>
/** Takes one message and gives many: `send` until the call is over, `done` is aborted when the caller is gone. */
export type StreamMethod = (
  request: Buffer,
  send: (message: Buffer) => void,
  done: AbortSignal,
) => Promise<void>

export interface GrpcMethods {
  readonly unary: Readonly<Record<string, UnaryMethod>>
  readonly stream: Readonly<Record<string, StreamMethod>>
}

export interface GrpcServerOptions {
  readonly host: string
  readonly port: number
  readonly tls: { readonly cert: string; readonly key: string } | null
}

export interface GrpcServer {
  /** `host:port`, as KEDA's `scalerAddress` takes it. */
  readonly address: string
  close(): Promise<void>
}

/** No message of this contract is as long. */
const longestMessage = 1024 * 1024

/** A gRPC server over HTTP/2: unary and server-streaming calls, no compression. Throws PLIM_USAGE where it cannot listen. */
export async function startGrpcServer(methods: GrpcMethods, options: GrpcServerOptions): Promise<GrpcServer> {
  const server: Http2Server =
    options.tls === null ? createServer() : createSecureServer({ ...options.tls, allowHTTP1: false })
  const sessions = new Set<{ close(): void; destroy(): void }>()
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    session.on('error', () => session.destroy())
  })
  server.on('stream', (stream, headers) => {
    stream.on('error', () => stream.destroy())
    const path = headers[':path'] ?? ''
    const type = headers['content-type'] ?? ''
    if (headers[':method'] !== 'POST' || !type.startsWith('application/grpc')) {
      stream.respond({ ':status': 415 }, { endStream: true })
      return
    }
    void answer(stream, path, methods)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new PlimsollError('PLIM_USAGE', `the scaler cannot listen on ${options.host}:${options.port}`, {
          received: cause.code === 'EADDRINUSE' ? 'the port is taken' : cause.message,
          hint: 'give another --port, or 0 for any that is free',
          cause,
        }),
      ),
    )
    server.listen(options.port, options.host, resolve)
  })
  const { address, port, family } = server.address() as AddressInfo
  return {
    address: `${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const session of sessions) session.destroy()
      }),
  }
}

async function answer(stream: ServerHttp2Stream, path: string, methods: GrpcMethods): Promise<void> {
  const done = new AbortController()
  stream.once('close', () => done.abort())
  try {
    const unary = Object.hasOwn(methods.unary, path) ? methods.unary[path] : undefined
    const streaming = Object.hasOwn(methods.stream, path) ? methods.stream[path] : undefined
    if (unary === undefined && streaming === undefined) {
      throw new GrpcError(grpcStatus.unimplemented, `there is no method ${path}`)
    }
    const request = await readMessage(stream)
    if (unary !== undefined) {
      const message = await unary(request)
      begin(stream)
      stream.end(framed(message))
    } else {
      begin(stream)
      await streaming?.(
        request,
        (message) => void (stream.writable && stream.write(framed(message))),
        done.signal,
      )
      if (stream.writable) stream.end()
    }
  } catch (error) {
    fail(stream, error)
  }
}

/** Headers of an answer that ends well: the status comes behind the body. */
function begin(stream: ServerHttp2Stream): void {
  if (stream.destroyed) return
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(grpcStatus.ok) }))
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
}

function fail(stream: ServerHttp2Stream, error: unknown): void {
  if (stream.destroyed) return
  if (stream.headersSent) {
    stream.close()
    return
  }
  const code =
    error instanceof GrpcError
      ? error.code
      : error instanceof RangeError
        ? grpcStatus.invalidArgument
        : grpcStatus.internal
  stream.respond(
    {
      ':status': 200,
      'content-type': 'application/grpc',
      'grpc-status': String(code),
      'grpc-message': percentEncoded(error instanceof Error ? error.message : String(error)),
    },
    { endStream: true },
  )
}

/** As gRPC wants a status message: everything but printable ASCII, and the percent sign, by its bytes. */
function percentEncoded(text: string): string {
  return Array.from(Buffer.from(text, 'utf8'), (byte) =>
    byte >= 0x20 && byte <= 0x7e && byte !== 0x25
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('')
}

/** The one message of a call: a byte for compression, four for the length, the message. */
async function readMessage(stream: ServerHttp2Stream): Promise<Buffer> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of stream) {
    pieces.push(piece as Buffer)
    size += (piece as Buffer).length
    if (size > longestMessage) throw new RangeError('the message is too long')
  }
  const body = Buffer.concat(pieces)
  if (body.length < 5) throw new RangeError('the call holds no message')
  if (body[0] !== 0) throw new GrpcError(grpcStatus.unimplemented, 'compressed messages are not taken')
  const length = body.readUInt32BE(1)
  if (body.length !== 5 + length) throw new RangeError('the call holds not exactly one message')
  return body.subarray(5)
}

function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}
