import { lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { buildConnector, type Dispatcher } from 'undici'
import { cachedLookup } from './cached-lookup.ts'
import { checkedHeaders } from './http1-request.ts'
import { PooledTransport } from './pooled-transport.ts'
import type { Transport, TransportOptions } from './transport.ts'
import { UndiciConnection } from './undici-connection.ts'

/** What only this transport can do. */
export interface UndiciOptions {
  /** Do not check the server's certificate. */
  readonly insecure?: boolean
  /** Further certificate authorities, PEM. */
  readonly ca?: string | readonly string[] | null
  /** Address of an HTTP proxy; TLS goes through it by CONNECT. */
  readonly proxy?: string | null
  /** Speak HTTP/2, by TLS alone, or not at all; each exchange still has a connection of its own. */
  readonly http2?: boolean
  /** A unix socket to connect to instead of the address, which then only names the host. */
  readonly socketPath?: string | null
}

/**
 * A transport over undici's connections, for TLS, proxies and HTTP/2. Each connection is a dispatcher of its own with one
 * exchange at a time, so that what is reused and what is fresh is known exactly; body bytes are stamped as undici's parser hands
 * them on. A reset that comes right behind data may be told as a truncation here, which the lean transport can tell apart.
 */
export function createUndiciTransport(
  target: URL,
  options: TransportOptions & UndiciOptions,
): Promise<Transport> {
  const tls = {
    rejectUnauthorized: options.insecure !== true,
    ...(options.ca === undefined || options.ca === null
      ? {}
      : { ca: typeof options.ca === 'string' ? options.ca : [...options.ca] }),
  }
  const build = buildConnector({
    ...tls,
    autoSelectFamily: true,
    lookup: cachedLookup(systemLookup as LookupFunction, options.clock),
    allowH2: options.http2 === true,
    timeout: 0,
  } as buildConnector.BuildOptions)
  const connector = options.http2 === true ? http2Only(build) : build
  const transport = new PooledTransport<Dispatcher.DispatchOptions>(
    {
      origin: target.origin,
      prepare: (request) => ({
        origin: target.origin,
        path: request.path,
        method: (request.method ?? 'POST') as Dispatcher.HttpMethod,
        headers: checkedHeaders(request),
        body: request.body,
      }),
      connect: (connectTimeoutMs, owner) =>
        new UndiciConnection(
          { target, connector, proxy: options.proxy ?? null, tls, http2: options.http2 === true },
          connectTimeoutMs,
          owner,
          options,
        ),
    },
    options,
  )
  return Promise.resolve(transport)
}

/** A server that only takes HTTP/1.1 is not measured under the name of HTTP/2. */
function http2Only(build: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    build(options, (error, socket) => {
      if (error !== null) return callback(error, null)
      if ('alpnProtocol' in socket && socket.alpnProtocol === 'h2') return callback(null, socket)
      socket.destroy()
      callback(new Error('the server does not agree to HTTP/2'), null)
    })
}
