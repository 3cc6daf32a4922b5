import type { ExposedMetric } from '../../../measure/wire/prometheus-exposition.ts'
import type { EngineConfig } from '../engine-config.ts'
import type { EngineEvent, EngineStats, StepFacts } from '../engine-interface.ts'
import { EngineMetrics } from './engine-metrics.ts'
import { SglangMetrics } from './sglang-metrics.ts'

/** What an engine shows at `/metrics`, fed by what happens. */
export interface EnginePage {
  /** A request came in at `arrivalMs`, asked for as a stream or in one piece. */
  accepted(id: string | number, arrivalMs: number, streams: boolean): void
  /** The request's own limit, where it set one. */
  askedMaxTokens(maxTokens: number | null): void
  onStep(step: StepFacts, stats: () => EngineStats): void
  onEvent(event: EngineEvent): void
  /** `status` as its class: `2xx`. */
  answered(handler: string, method: string, status: number): void
  exposed(stats: EngineStats): ExposedMetric[]
}

/** The page of the engine whose scheduler it is: a static batch has no page of its own, and shows vLLM's. */
export function enginePage(modelName: string, config: EngineConfig): EnginePage {
  return config.policy === 'sglang'
    ? new SglangMetrics(modelName, config)
    : new EngineMetrics(modelName, config)
}
