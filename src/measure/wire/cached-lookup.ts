import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { Clock } from '../../base/clock.ts'

/** How long an answer of the resolver is used, ms: short enough to follow a service, long enough not to ask for each socket. */
const keepMs = 5_000

/**
 * A host name lookup that asks the system at most once in five seconds a name: the system's resolver works on a pool of four
 * threads, and a thousand new connections a second would queue in it and be counted as the server's time.
 * All addresses are kept, so that both families can be tried.
 */
export function cachedLookup(lookup: LookupFunction, clock: Clock): LookupFunction {
  const known = new Map<string, { readonly untilMs: number; readonly addresses: readonly LookupAddress[] }>()
  const asking = new Map<string, Parameters<LookupFunction>[2][]>()
  return (hostname, options, callback) => {
    const answer = (addresses: readonly LookupAddress[], reply: Parameters<LookupFunction>[2]): void => {
      if (options.all === true) return reply(null, [...addresses])
      const first = addresses[0]!
      reply(null, first.address, first.family)
    }
    const cached = known.get(hostname)
    if (cached !== undefined && clock.nowMs() < cached.untilMs) return answer(cached.addresses, callback)
    const others = asking.get(hostname)
    if (others !== undefined) return void others.push(callback)
    const waiting = [callback]
    asking.set(hostname, waiting)
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      asking.delete(hostname)
      const list = Array.isArray(addresses) ? addresses : []
      if (error === null && list.length > 0) {
        known.set(hostname, { untilMs: clock.nowMs() + keepMs, addresses: list })
      }
      for (const reply of waiting) {
        if (error !== null) reply(error, [])
        else answer(list, reply)
      }
    })
  }
}
