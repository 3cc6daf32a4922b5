import { standardNormal, type Random } from '../../base/random.ts'
import { hpaReplicas } from '../../operate/scale/hpa.ts'
import type { ColdStartSpec, ScalerSpec } from './fleet-spec.ts'

/** z of the 99th percentile. */
const z99 = 2.3263478740408408

/** Draws the time from a replica's order until it serves, ms. */
export function drawColdStart(spec: ColdStartSpec, random: Random): number {
  if (spec.kind === 'fixed') return spec.ms
  const sigma = Math.log(spec.p99Ms / spec.medianMs) / z99
  return spec.medianMs * Math.exp(sigma * standardNormal(random))
}

/** What the metric pipeline had at a time: the sum over the replicas that were read; null where nothing could be read. */
export interface MetricReading {
  readonly atMs: number
  readonly sum: number | null
}

/**
 * The decisions of a HorizontalPodAutoscaler on an external metric with an average target: desired = ⌈Σ ÷ target⌉ outside the
 * tolerance, held by the stabilisation windows (the lowest recommendation of the last on the way up, the highest on the way
 * down), at most the larger of twice as many and four more in a round, within its limits. Metrics that are missing keep the
 * number that there is.
 */
export class Scaler {
  private readonly spec: ScalerSpec
  private readonly readings: MetricReading[] = []
  private readonly recommended: Array<{ readonly atMs: number; readonly replicas: number }> = []

  constructor(spec: ScalerSpec) {
    this.spec = spec
  }

  read(reading: MetricReading): void {
    this.readings.push(reading)
  }

  /** How many replicas there shall be, with `current` ordered or serving. */
  decide(nowMs: number, current: number): number {
    const { spec } = this
    const readable = nowMs - spec.metricDelayMs
    while (this.readings.length > 1 && (this.readings[1] as MetricReading).atMs <= readable)
      this.readings.shift()
    // It begins with what there is, so that the first look at an idle fleet does not empty it.
    if (this.recommended.length === 0) this.recommended.push({ atMs: nowMs, replicas: current })
    const [reading] = this.readings
    const sum = reading !== undefined && reading.atMs <= readable ? reading.sum : null
    const wanted =
      sum === null || current === 0
        ? current
        : hpaReplicas(current, sum / current, spec.target, {
            tolerance: spec.tolerance,
            arithmetic: 'kubernetes',
          })
    this.recommended.push({ atMs: nowMs, replicas: wanted })
    const longest = Math.max(spec.upStabilizationMs, spec.downStabilizationMs)
    while ((this.recommended[0] as { atMs: number }).atMs < nowMs - longest) this.recommended.shift()
    let up = wanted
    let down = wanted
    for (const { atMs, replicas } of this.recommended) {
      if (atMs >= nowMs - spec.upStabilizationMs) up = Math.min(up, replicas)
      if (atMs >= nowMs - spec.downStabilizationMs) down = Math.max(down, replicas)
    }
    const held = Math.min(Math.max(current, up), down)
    const atMost = Math.max(2 * current, current + 4)
    return Math.min(Math.max(Math.min(held, atMost), spec.minReplicas), spec.maxReplicas)
  }
}

/** Pause before attempt `attempt` (from 1): backoff · 2^(attempt − 1), spread evenly over 50–150 %. */
export function drawBackoff(backoffMs: number, attempt: number, random: Random): number {
  return backoffMs * 2 ** (attempt - 1) * (0.5 + random.next())
}

/**
 * CPU share of a pod that serves from a GPU: its one busy core feeds the GPU whatever the load is, so that it tells nothing of
 * the load. `busy` is whether any request runs.
 */
export function podCpuShare(busy: boolean, cores: number): number {
  return (busy ? 1 : 0.1) / cores
}
