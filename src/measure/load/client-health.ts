/** What the instrument says of itself over a run. Times in ms, shares of one core as 0..1. */
export interface ClientHealth {
  /** Lag of the sends behind their plan, over all sent requests. */
  readonly lag_ms: { readonly p50: number | null; readonly p99: number | null; readonly max: number | null }
  readonly loop_delay_ms: {
    readonly p50: number | null
    readonly p99: number | null
    readonly max: number | null
  }
  readonly cpu: {
    /** Busiest worker's share of one core, of those whose share can be read; null: of none. */
    readonly worker_max: number | null
    /** Null where it cannot be read here. Earlier versions wrote 0 then. */
    readonly workers: readonly (number | null)[]
    /** The whole process's share, in cores. */
    readonly process: number | null
    /** Busy share of the machine, 0..1, where it can be read. */
    readonly machine: number | null
  }
  readonly workers: number
  /** Lag of our stamp behind the server's write on the loopback fake: the instrument's own error, the worse of before and after. */
  readonly own_error_ms: OwnError
  /** The same before the run and after it; null: not measured then. Absent in run folders of versions that measured once. */
  readonly own_error_before_ms?: OwnError | null
  readonly own_error_after_ms?: OwnError | null
  /** Output events per second that this client can take, from the same calibration. */
  readonly capacity_events_per_s: number | null
  readonly events: number
  /** Whether the server's address is one of this machine. */
  readonly same_machine: boolean
}

export interface OwnError {
  readonly p50: number | null
  readonly p99: number | null
}

/** The health with the error that was measured after the run: the one with the larger P99 stands for the run. */
export function withErrorAfter(health: ClientHealth, after: OwnError | null): ClientHealth {
  const before = health.own_error_ms
  const isWorse = after !== null && after.p99 !== null && (before.p99 === null || after.p99 > before.p99)
  return {
    ...health,
    own_error_ms: isWorse ? after : before,
    own_error_before_ms: before,
    own_error_after_ms: after,
  }
}
