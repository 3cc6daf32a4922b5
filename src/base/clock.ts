/**
 * A monotonic clock. Times are milliseconds (fractions kept) since an origin that the clock itself chose.
 * Every part that measures or schedules takes a `Clock`; only the edges make one.
 */
export interface Clock {
  /** Milliseconds since `originMonotonicNs`. Never decreases; ignores wall-clock steps. */
  nowMs(): number
  /** CLOCK_MONOTONIC at this clock's zero, in nanoseconds: the value that `clock.origin_monotonic_ns` carries. */
  readonly originMonotonicNs: bigint
}

/**
 * The machine's monotonic clock with its zero at `originMonotonicNs` (now, unless given). Two threads or processes of one
 * machine that are given the same origin read the same time: Node's `performance.now()` and `process.hrtime` are both
 * CLOCK_MONOTONIC, so their difference is constant within a thread.
 */
export function monotonicClock(
  performance: { now(): number },
  hrtimeNs: () => bigint,
  originMonotonicNs: bigint = hrtimeNs(),
): Clock {
  const offsetMs = measureOffsetMs(performance, hrtimeNs, originMonotonicNs)
  return { originMonotonicNs, nowMs: () => performance.now() + offsetMs }
}

/** The tightest of several back-to-back readings: a preemption between the two reads would shift every later stamp. */
function measureOffsetMs(
  performance: { now(): number },
  hrtimeNs: () => bigint,
  originMonotonicNs: bigint,
): number {
  let bestWidthMs = Number.POSITIVE_INFINITY
  let offsetMs = 0
  for (let attempt = 0; attempt < 16; attempt++) {
    const before = performance.now()
    const hrMs = Number(hrtimeNs() - originMonotonicNs) / 1e6
    const after = performance.now()
    if (after - before < bestWidthMs) {
      bestWidthMs = after - before
      offsetMs = hrMs - (before + after) / 2
    }
  }
  return offsetMs
}

/** A clock that moves only when told to, for virtual time and for tests. */
export interface VirtualClock extends Clock {
  advanceTo(ms: number): void
}

export function virtualClock(startMs = 0): VirtualClock {
  let ms = startMs
  return {
    originMonotonicNs: 0n,
    nowMs: () => ms,
    advanceTo(next: number) {
      if (next < ms) throw new RangeError(`a clock cannot go back from ${ms} to ${next} ms`)
      ms = next
    },
  }
}
