import type { Clock } from '../base/clock.ts'
import { PlimsollError } from '../base/errors.ts'
import { openAsker, type Asker } from './send-once.ts'

export interface PlainAskerOptions {
  readonly clock: Clock
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

/**
 * Asks an address that was typed for pages beside the measurement: metrics, a Prometheus server. Without a scheme it is http.
 * @throws PlimsollError PLIM_URL for what is no address.
 */
export async function openPlainAsker(
  address: string,
  { clock, headers = {}, timeoutMs }: PlainAskerOptions,
): Promise<{ readonly url: URL; readonly asker: Asker }> {
  const text = address.includes('://') ? address : `http://${address}`
  if (!URL.canParse(text)) {
    throw new PlimsollError('PLIM_URL', 'this is not an address', { received: `"${address}"` })
  }
  const url = new URL(text)
  return { url, asker: await openAsker(url, { clock, api: 'chat', headers, tls: {}, timeoutMs }) }
}
