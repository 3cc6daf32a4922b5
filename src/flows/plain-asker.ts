import type { Clock } from '../base/clock.ts'
import { PlimsollError, restated } from '../base/errors.ts'
import { httpAddress } from '../measure/wire/target-url.ts'
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
  const url = addressOf(address)
  return { url, asker: await openAsker(url, { clock, api: 'chat', headers, tls: {}, timeoutMs }) }
}

function addressOf(address: string): URL {
  try {
    return httpAddress(address)
  } catch (error) {
    if (!(error instanceof PlimsollError)) throw error
    throw restated(error, {
      expected: 'the address of an engine or a Prometheus server, like http://HOST:PORT',
    })
  }
}
