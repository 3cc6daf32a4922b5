/** A steady schedule that meets a server which freezes once. Times in ms. */
export interface StallExperiment {
  readonly intervalMs: number
  readonly requests: number
  readonly stallStartMs: number
  readonly stallMs: number
  readonly serviceMs: number
  /** `parallel`: requests do not slow each other. `serial`: one at a time, in order. */
  readonly server?: 'parallel' | 'serial'
}

/** What a client wrote down. */
export interface StallReading {
  /** In the order of sending. */
  readonly latenciesMs: readonly number[]
  /** Requests that the stall made slower. */
  readonly slow: number
}

/** A client that sends by the clock and times from the schedule: it sees everyone who would have waited. */
export function scheduledClient(experiment: StallExperiment): StallReading {
  const latencies: number[] = []
  let busyUntil = Number.NEGATIVE_INFINITY
  for (let i = 0; i < experiment.requests; i++) {
    const sent = i * experiment.intervalMs
    const start = experiment.server === 'serial' ? Math.max(sent, busyUntil) : sent
    const end = finish(experiment, start)
    busyUntil = end
    latencies.push(end - sent)
  }
  return reading(experiment, latencies)
}

/**
 * A client that waits for each answer before it sends again, and times from the send: coordinated omission. It skips the
 * slots that it missed, or sends them back to back.
 */
export function waitingClient(experiment: StallExperiment, missed: 'skip' | 'catch_up'): StallReading {
  const latencies: number[] = []
  let free = 0
  for (let slot = 0; slot < experiment.requests; slot++) {
    const scheduled = slot * experiment.intervalMs
    if (missed === 'skip' && scheduled < free) continue
    const sent = Math.max(scheduled, free)
    free = finish(experiment, sent)
    latencies.push(free - sent)
  }
  return reading(experiment, latencies)
}

/** Percentile of the scheduled client in the limit of a dense schedule: stall·(1 − (1 − p) ÷ share), 0 outside the share. */
export function stallPercentile(stall: number, slowShare: number, p: number): number {
  return slowShare <= 0 ? 0 : Math.max(0, stall * (1 - (1 - p) / slowShare))
}

/**
 * HdrHistogram's correction for coordinated omission: each value v also stands for the requests that a waiting client did
 * not send, v − interval, v − 2·interval, … down to the interval.
 */
export function backfillOmitted(values: ArrayLike<number>, interval: number): number[] {
  const filled: number[] = []
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number
    filled.push(value)
    if (!(interval > 0)) continue
    for (let missing = value - interval; missing >= interval; missing -= interval) filled.push(missing)
  }
  return filled
}

/** When work that starts at `start` is done, nothing moving during the stall. */
function finish({ stallStartMs, stallMs, serviceMs }: StallExperiment, start: number): number {
  const stallEnd = stallStartMs + stallMs
  if (start >= stallStartMs) return Math.max(start, stallEnd) + serviceMs
  return start + serviceMs <= stallStartMs ? start + serviceMs : start + serviceMs + stallMs
}

function reading({ serviceMs }: StallExperiment, latenciesMs: readonly number[]): StallReading {
  return { latenciesMs, slow: latenciesMs.filter((latency) => latency > serviceMs).length }
}
