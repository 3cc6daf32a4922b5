import type { TransportErrorKind } from './transport.ts'

const kinds: Readonly<Record<string, TransportErrorKind>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  ECONNABORTED: 'connection_reset',
  UND_ERR_SOCKET: 'connection_reset',
  ETIMEDOUT: 'timeout_connect',
  UND_ERR_CONNECT_TIMEOUT: 'timeout_connect',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETDOWN: 'unreachable',
  EMFILE: 'client_sockets',
  ENFILE: 'client_sockets',
  EADDRNOTAVAIL: 'client_sockets',
  ENOBUFS: 'client_sockets',
  EPROTO: 'tls',
  HPE_HEADER_OVERFLOW: 'protocol',
  UND_ERR_HEADERS_OVERFLOW: 'protocol',
  UND_ERR_INFO: 'protocol',
}

/**
 * What a socket's or client library's error means to a request. Where several addresses of a host were tried, the error that all
 * share, or the first: Node gives them as one AggregateError. Errors before the connection stood that nothing here names are
 * `unreachable`, later ones `connection_reset`.
 */
export function failureKind(
  error: Error & { code?: string; errors?: readonly Error[] },
  connected: boolean,
): { kind: TransportErrorKind; message: string; code: string | null } {
  const inner = (error.errors?.[0] as (Error & { code?: string }) | undefined) ?? error
  const code = inner.code ?? error.code ?? null
  const messages = error.errors?.map((one) => one.message) ?? [error.message]
  const kind = inner.name === 'HTTPParserError' ? 'protocol' : kindOf(code, connected)
  return { kind, message: messages.join('; ') || (code ?? 'unknown'), code }
}

function kindOf(code: string | null, connected: boolean): TransportErrorKind {
  if (code !== null) {
    const known = kinds[code]
    // A connection that stood and then timed out in the kernel was lost, not refused.
    if (known !== undefined) return connected && known === 'timeout_connect' ? 'connection_reset' : known
    if (code.startsWith('HPE_')) return 'protocol'
    if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_OSSL)/.test(code)) return 'tls'
  }
  return connected ? 'connection_reset' : 'unreachable'
}
