import type { Warning } from '../base/warnings.ts'
import type { FleetMethod } from '../judge/fleet-percentiles.ts'

/** What `plimsoll show --as-fleet --json` prints: several runs or scrapes as one fleet. Latencies in ms. */
export interface FleetDocument {
  readonly schema: 'plimsoll.fleet/1'
  readonly plimsoll: string
  readonly sources: readonly FleetSource[]
  readonly figures: readonly FleetFigure[]
  readonly warnings: readonly Warning[]
}

export interface FleetSource {
  readonly path: string
  /**
   * `requests`: a run folder with its rows; `scrape`: Prometheus text; `native`: a series of native histograms from Prometheus' HTTP API;
   * `quantiles`: an import that has only published figures.
   */
  readonly kind: 'requests' | 'scrape' | 'native' | 'quantiles'
  /** Requests, or observations of the largest histogram; null: unknown. */
  readonly n: number | null
}

export interface FleetFigure {
  /** `ttft_ms` and so on; for a scrape its metric's own name. */
  readonly metric: string
  readonly label: string
  readonly n: number | null
  readonly percentiles: Readonly<Record<string, FleetFigurePercentile>>
}

export interface FleetFigurePercentile {
  readonly method: FleetMethod
  readonly value: number | null
  readonly low: number | null
  readonly high: number | null
  readonly each: readonly (number | null)[]
}
