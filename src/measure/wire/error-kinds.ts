import type { TransportErrorKind } from './transport.ts'

/**
 * Every `error_kind` that an exchange can end with.
 *
 * `http_NNN`: a status outside 200–299 (redirects that were not followed too). `in_band_error`: an error inside a 200 answer.
 * `truncated`: a clean close without finish reason or end marker, or inside the framing. `no_output`: ended well without an output
 * event. `timeout_*`: one of the four limits. `stale_connection`: a reused connection that was closed before any byte, where the
 * request may not be sent again. The rest is the transport's.
 */
export type ErrorKind =
  | `http_${number}`
  | 'in_band_error'
  | 'no_output'
  | 'stale_connection'
  | 'timeout_first_token'
  | 'timeout_idle'
  | 'timeout_total'
  | TransportErrorKind
