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
    /** Busiest worker's share of one core. */
    readonly worker_max: number | null
    readonly workers: readonly number[]
    /** The whole process's share, in cores. */
    readonly process: number | null
    /** Busy share of the machine, 0..1, where it can be read. */
    readonly machine: number | null
  }
  readonly workers: number
  /** Lag of our stamp behind the server's write on the loopback fake before the run: the instrument's own error. */
  readonly own_error_ms: { readonly p50: number | null; readonly p99: number | null }
  /** Output events per second that this client can take, from the same calibration. */
  readonly capacity_events_per_s: number | null
  readonly events: number
  /** Whether the server's address is one of this machine. */
  readonly same_machine: boolean
}
