import type { MarginKind } from '../plan/fleet-size.ts'
import type { PlanFile } from './plan-file.ts'
import type { PlanSimulateConfig } from './plan-simulate.ts'

/** What `plan` was asked, numbers as exact text (law 7). */
export interface PlanConfig {
  /** Folders of sweeps; empty where `each` is typed. */
  readonly sweeps: readonly string[]
  /** A replica's requests per second as typed, "8" or "100/60". */
  readonly each: string | null
  readonly peak: string | null
  readonly classes: readonly PlanClassConfig[]
  readonly margin: { readonly share: string; readonly kind: MarginKind | 'unsaid' }
  readonly imbalance: string
  readonly failures: number
  readonly zones: { readonly count: number; readonly lost: number } | null
  readonly gpusPerReplica: number
  readonly burstWindowSeconds: number | null
  readonly pricePerGpuHour: string | null
  /** Of one replica, and the one that is wanted of the fleet. */
  readonly availability: string | null
  readonly wantedAvailability: string | null
  /** A batch size that is asked about, and the engine's cap while it was tested. */
  readonly maxNumSeqs: number | null
  readonly testedMaxNumSeqs: number | null
  readonly maxWaitMs: number | null
  readonly prefillTokensPerSecond: string | null
  readonly gpu: string | null
  readonly engineArgs: string | null
  readonly expiresAfterDays: number
  /** For the scaler: growth of the demand in requests per second each second, and the seconds of a start. */
  readonly rampPerSecond: string | null
  readonly coldStart: { readonly minSeconds: number; readonly maxSeconds: number } | null
  /** The plimsoll.yaml that was read; null without one. */
  readonly file: PlanFile | null
  /** Try the plan on a simulated day; null: do not. */
  readonly simulate: PlanSimulateConfig | null
  readonly out: string | null
  readonly force: boolean
}

export interface PlanClassConfig {
  readonly name: string
  readonly peak: string
  /** The sweep that was run with this class's requests; null: the first. */
  readonly sweep: string | null
}
