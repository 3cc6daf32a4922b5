import { PlimsollError } from '../../base/errors.ts'
import { createHttp1Transport } from './http1-transport.ts'
import type { Transport, TransportOptions } from './transport.ts'
import type { UndiciOptions } from './undici-transport.ts'

/** Everything a target may need: the plain path takes none of the TLS, proxy and HTTP/2 settings. */
export type ChosenTransportOptions = TransportOptions & UndiciOptions

/**
 * The transport for a target: the lean one for plain HTTP/1.1, undici's connections where TLS, a proxy or HTTP/2 is wanted. undici
 * is only loaded then.
 */
export async function createTransport(target: URL, options: ChosenTransportOptions): Promise<Transport> {
  if (options.http2 === true && target.protocol !== 'https:') {
    throw new PlimsollError('PLIM_USAGE', 'HTTP/2 is spoken over TLS only', {
      expected: 'an https:// address with --http2',
      received: target.origin,
    })
  }
  const plain = target.protocol === 'http:' && (options.proxy ?? null) === null && options.http2 !== true
  if (plain) return createHttp1Transport(target, options)
  const { createUndiciTransport } = await import('./undici-transport.ts')
  return createUndiciTransport(target, options)
}
