import { scalePolicy, usableShare, type PolicyBasis, type ScalePolicy } from '../operate/scale/policy.ts'
import { toRational } from '../stats/rational.ts'
import type { SweepDocument } from '../report/documents.ts'
import type { PolicyFacts } from '../report/scale-documents.ts'
import type { ScalerEngine, ScalerFacts } from '../report/scale-manifests.ts'
import { planBasis } from './plan-basis.ts'

export interface PolicyConfig {
  readonly margin: { readonly share: string; readonly kind: 'derate' | 'uplift' }
  readonly rampPerSecond: string | null
  readonly coldStart: PolicyBasis['coldStart']
  readonly minReplicas: number
  readonly maxReplicas: number
}

/** The policy of a sweep's operating point; null where it has none. */
export function policyOf(sweep: SweepDocument, config: PolicyConfig): ScalePolicy | null {
  const basis = planBasis(sweep)
  const point = sweep.operating_point
  if (basis === null || point === null) return null
  const curve = sweep.points.flatMap(({ load, in_flight, throughput }) => {
    const inFlight = in_flight ?? (load.kind === 'concurrency' ? load.value : null)
    const rate = throughput.requests_per_s
    return inFlight === null || rate === null || load.value > point.load.value
      ? []
      : [{ requestsPerSecond: rate, inFlight }]
  })
  return scalePolicy({
    requestsPerSecond: toRational(basis.requests_per_s),
    usableShare: usableShare(config.margin.share, config.margin.kind),
    curve,
    rampPerSecond: config.rampPerSecond,
    coldStart: config.coldStart,
    minReplicas: config.minReplicas,
    maxReplicas: config.maxReplicas,
  })
}

/** A policy under its public names. */
export function policyFacts(policy: ScalePolicy): PolicyFacts {
  return {
    trigger_per_s: policy.triggerPerSecond,
    target_per_s: policy.targetPerSecond,
    target_in_flight: policy.targetInFlight,
    warm_pool: policy.warmPool,
    reserve_in_flight: policy.reserveInFlight,
    min_replicas: policy.minReplicas,
    max_replicas: policy.maxReplicas,
    scale_down_stabilization_s: policy.scaleDownStabilizationSeconds,
    scale_down_period_s: policy.scaleDownPeriodSeconds,
    working: policy.working,
  }
}

/** A policy as the manifests take it. */
export function scalerFacts(
  policy: ScalePolicy,
  sweep: SweepDocument,
  given: {
    readonly deployment: string
    readonly namespace: string
    readonly prometheusUrl: string
    readonly comments: readonly string[]
  },
): ScalerFacts {
  return {
    ...given,
    model: sweep.target.model,
    engine: scalerEngine(sweep.target.engine),
    targetInFlight: policy.targetInFlight,
    reserveInFlight: policy.reserveInFlight,
    minReplicas: policy.minReplicas,
    maxReplicas: policy.maxReplicas,
    scaleDownStabilizationSeconds: policy.scaleDownStabilizationSeconds,
    scaleDownPeriodSeconds: policy.scaleDownPeriodSeconds,
  }
}

/** The engine by the words of a sweep ("vLLM 0.19.1"); the embedded engine speaks vLLM's names. */
export function scalerEngine(engine: string | null): ScalerEngine {
  const text = engine?.toLowerCase() ?? ''
  if (text.includes('sglang')) return 'sglang'
  if (text.includes('trt') || text.includes('tensorrt')) return 'trtllm'
  if (text.includes('tgi') || text.includes('text-generation')) return 'tgi'
  if (text.includes('dynamo')) return 'dynamo'
  return text.includes('llama.cpp') || text.includes('llamacpp') ? 'llamacpp' : 'vllm'
}
