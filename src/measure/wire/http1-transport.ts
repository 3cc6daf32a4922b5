import { lookup as systemLookup } from 'node:dns'
import type { LookupFunction, TcpNetConnectOpts } from 'node:net'
import { PlimsollError } from '../../base/errors.ts'
import { cachedLookup } from './cached-lookup.ts'
import { Http1Connection, type Http1Request } from './http1-connection.ts'
import { requestHead } from './http1-request.ts'
import { PooledTransport } from './pooled-transport.ts'
import type { Transport, TransportOptions } from './transport.ts'

/** One read fills at most this much; every connection of a transport reads into the same memory. */
const readBufferBytes = 65_536

/**
 * Plain HTTP/1.1 over `node:net`, lean enough to time every token of thousands of streams: sockets read into one buffer, nothing
 * is copied unless a piece is cut, and the clock is read once a read, before any parse.
 */
export function createHttp1Transport(
  target: URL,
  options: TransportOptions & { readonly socketPath?: string | null },
): Transport {
  if (target.protocol !== 'http:') {
    throw new PlimsollError('PLIM_INTERNAL', 'the plain transport was asked for TLS', {
      received: target.protocol,
    })
  }
  const buffer = Buffer.allocUnsafeSlow(readBufferBytes)
  const socketPath = options.socketPath ?? null
  const tcp: TcpNetConnectOpts = {
    host: target.hostname.replace(/^\[|\]$/g, ''),
    port: target.port === '' ? 80 : Number(target.port),
    lookup: cachedLookup(systemLookup as LookupFunction, options.clock),
  }
  const address = socketPath === null ? tcp : { path: socketPath }
  return new PooledTransport<Http1Request>(
    {
      origin: target.origin,
      prepare: (request) => ({ head: requestHead(request, target.host), body: request.body }),
      connect: (connectTimeoutMs, owner) =>
        new Http1Connection(address, buffer, connectTimeoutMs, owner, options),
    },
    options,
  )
}
