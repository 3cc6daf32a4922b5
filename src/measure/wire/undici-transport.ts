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
  /** Offer HTTP/2 to TLS servers; each exchange still has a connection of its own. */
  readonly http2?: boolean
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
  const connector = buildConnector({
    ...tls,
    autoSelectFamily: true,
    lookup: cachedLookup(systemLookup as LookupFunction, options.clock),
    allowH2: options.http2 === true,
    timeout: 0,
  } as buildConnector.BuildOptions)
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
