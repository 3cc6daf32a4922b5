import type { Timers } from './transport.ts'

/** What a platform's event loop offers. */
export interface EventLoop extends Timers {
  setImmediate(callback: () => void): unknown
}

interface Limit {
  timer: unknown
  cleared: boolean
}

/**
 * Timers for limits on what others do: before one strikes, what has arrived is read. An event loop that was held up runs the timers
 * that are due before it reads its sockets, and would call late what lay waiting there in time.
 */
export function timeLimits(loop: EventLoop): Timers {
  return {
    setTimeout(callback, delayMs) {
      const limit: Limit = { timer: null, cleared: false }
      limit.timer = loop.setTimeout(() => {
        loop.setImmediate(() => {
          if (!limit.cleared) callback()
        })
      }, delayMs)
      return limit
    },
    clearTimeout(handle) {
      const limit = handle as Limit
      limit.cleared = true
      loop.clearTimeout(limit.timer)
    },
  }
}
