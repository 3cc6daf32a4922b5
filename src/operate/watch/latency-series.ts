import { noun } from '../../base/noun.ts'
import type { EngineName } from '../../measure/load/metrics-scrape.ts'
import type { ObjectiveMetric } from '../../measure/metrics/objective.ts'

/** A histogram of seconds, and what one observation of it is. */
export interface LatencySeries {
  readonly name: string
  /** `request`: one a request, so that it can be an objective's share; `token`: one a token; `byte`: the first byte, not token. */
  readonly per: 'request' | 'token' | 'byte'
}

type EngineLatencies = Readonly<Partial<Record<ObjectiveMetric, readonly LatencySeries[]>>>

const request = (name: string): LatencySeries => ({ name, per: 'request' })
const token = (name: string): LatencySeries => ({ name, per: 'token' })

/** What each engine exports, the best first (names as scraped today, an older one behind it). */
const series: Readonly<Record<EngineName, EngineLatencies>> = {
  vllm: {
    ttft: [request('vllm:time_to_first_token_seconds')],
    tpot: [
      request('vllm:request_time_per_output_token_seconds'),
      token('vllm:inter_token_latency_seconds'),
      token('vllm:time_per_output_token_seconds'),
    ],
    gap: [token('vllm:inter_token_latency_seconds')],
    e2e: [request('vllm:e2e_request_latency_seconds')],
  },
  sglang: {
    ttft: [request('sglang:time_to_first_token_seconds')],
    tpot: [token('sglang:inter_token_latency_seconds')],
    gap: [token('sglang:inter_token_latency_seconds')],
    e2e: [request('sglang:e2e_request_latency_seconds')],
  },
  tgi: {
    tpot: [request('tgi_request_mean_time_per_token_duration')],
    e2e: [request('tgi_request_duration')],
  },
  trtllm: {
    ttft: [request('trtllm_time_to_first_token_seconds')],
    tpot: [request('trtllm_time_per_output_token_seconds')],
    e2e: [request('trtllm_e2e_request_latency_seconds')],
  },
  dynamo: {
    ttft: [request('dynamo_frontend_time_to_first_token_seconds')],
    tpot: [token('dynamo_frontend_inter_token_latency_seconds')],
    gap: [token('dynamo_frontend_inter_token_latency_seconds')],
    e2e: [request('dynamo_frontend_request_duration_seconds')],
  },
  llamacpp: {},
}

/** The histograms of an engine that can answer for a metric, best first; none where it has none. */
export function latencySeries(engine: EngineName, metric: ObjectiveMetric): readonly LatencySeries[] {
  return series[engine][metric] ?? []
}

/** A figure that none of the engines has a histogram of: however long they are watched, it stays unknown. */
export interface MissingSeries {
  readonly engines: readonly string[]
  readonly metric: ObjectiveMetric
}

/** The first of the metrics that no engine of a fleet, by its name, has a histogram of; null where each may still be told. */
export function missingSeries(
  engines: readonly string[],
  metrics: readonly ObjectiveMetric[],
): MissingSeries | null {
  const known = [...new Set(engines)]
  const metric = metrics.find((one) => known.every((engine) => !hasLatencySeries(engine, one)))
  return metric === undefined || known.length === 0 ? null : { engines: known, metric }
}

/** "llamacpp has no histogram of tpot". */
export function withoutHistogram({ engines }: MissingSeries, what: string): string {
  return `${engines.join(' and ')} ${noun(engines.length, 'has', 'have')} no histogram of ${what}`
}

function hasLatencySeries(engine: string, metric: ObjectiveMetric): boolean {
  return Object.hasOwn(series, engine) && latencySeries(engine as EngineName, metric).length > 0
}

/** Every histogram that a watch may need of an engine. */
export function latencyNames(engine: EngineName): readonly string[] {
  return [...new Set(Object.values(series[engine]).flatMap((list) => list.map(({ name }) => name)))]
}
