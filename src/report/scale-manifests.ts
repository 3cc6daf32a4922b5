import { stringify } from 'yaml'
import { scalerMetric } from '../operate/scale/scaler-metric.ts'

/** What a scaler is told, and of what. */
export interface ScalerFacts {
  /** Name of the Deployment, and of what is made for it. */
  readonly deployment: string
  readonly namespace: string
  /** The label `model_name` of the engine's series; null: every model that the server scrapes. */
  readonly model: string | null
  readonly engine: ScalerEngine
  readonly prometheusUrl: string
  /** Requests in flight (running and waiting) per replica. */
  readonly targetInFlight: number
  /** Added to the fleet's requests in flight: the warm pool, at the target each. */
  readonly reserveInFlight: number
  readonly minReplicas: number
  readonly maxReplicas: number
  readonly scaleDownStabilizationSeconds: number
  readonly scaleDownPeriodSeconds: number
  /** Where the figures are from, a line each, written above every file. */
  readonly comments: readonly string[]
}

export type ScalerEngine = 'vllm' | 'sglang' | 'trtllm' | 'tgi' | 'dynamo' | 'llamacpp'

/** The gauges of running and waiting requests, as each engine exports them today, and its label of the model. */
const gauges: Readonly<
  Record<ScalerEngine, { readonly running: string; readonly waiting: string; readonly label: string | null }>
> = {
  vllm: { running: 'vllm:num_requests_running', waiting: 'vllm:num_requests_waiting', label: 'model_name' },
  sglang: { running: 'sglang:num_running_reqs', waiting: 'sglang:num_queue_reqs', label: 'model_name' },
  trtllm: {
    running: 'trtllm_num_requests_running',
    waiting: 'trtllm_num_requests_waiting',
    label: 'model_name',
  },
  tgi: { running: 'tgi_batch_current_size', waiting: 'tgi_queue_size', label: null },
  // Its requests in flight hold those that wait for a first answer.
  dynamo: { running: 'dynamo_frontend_inflight_requests', waiting: '', label: 'model' },
  llamacpp: { running: 'llamacpp:requests_processing', waiting: 'llamacpp:requests_deferred', label: null },
}

/**
 * Requests in flight of all replicas as one element: summed, so that no pod is a series of its own, and empty where any part is, so
 * that silence is an error for the scaler and never a zero.
 */
export function inFlightQuery({
  engine,
  model,
  reserveInFlight,
}: Pick<ScalerFacts, 'engine' | 'model' | 'reserveInFlight'>): string {
  const { running, waiting, label } = gauges[engine]
  const match = label === null || model === null ? '' : `{${label}=${JSON.stringify(model)}}`
  const parts = [running, waiting].filter((name) => name !== '').map((name) => `sum(${name}${match})`)
  return [...parts, ...(reserveInFlight === 0 ? [] : [String(reserveInFlight)])].join(' + ')
}

/** A HorizontalPodAutoscaler on an external metric, which an adapter serves from the query in its comment. */
export function hpaManifest(facts: ScalerFacts): string {
  return withComments(
    [
      ...facts.comments,
      `The external metric ${scalerMetric} is this query, served by a metrics adapter (prometheus-adapter or the like):`,
      `  ${inFlightQuery(facts)}`,
      'AverageValue: it does not depend on how many pods are ready, so pods that still load do not shrink the fleet.',
    ],
    {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: facts.deployment, namespace: facts.namespace },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: facts.deployment },
        minReplicas: facts.minReplicas,
        maxReplicas: facts.maxReplicas,
        metrics: [
          {
            type: 'External',
            external: {
              metric: { name: scalerMetric },
              target: { type: 'AverageValue', averageValue: String(facts.targetInFlight) },
            },
          },
        ],
        behavior: behavior(facts),
      },
    },
  )
}

function behavior(facts: ScalerFacts): object {
  return {
    scaleUp: {
      stabilizationWindowSeconds: 0,
      selectPolicy: 'Max',
      policies: [
        { type: 'Percent', value: 100, periodSeconds: 15 },
        { type: 'Pods', value: 4, periodSeconds: 15 },
      ],
    },
    scaleDown: {
      stabilizationWindowSeconds: facts.scaleDownStabilizationSeconds,
      selectPolicy: 'Min',
      policies: [{ type: 'Pods', value: 1, periodSeconds: facts.scaleDownPeriodSeconds }],
    },
  }
}

/** A KEDA ScaledObject with one trigger. */
function scaledObject(facts: ScalerFacts, trigger: object): object {
  return {
    apiVersion: 'keda.sh/v1alpha1',
    kind: 'ScaledObject',
    metadata: { name: facts.deployment, namespace: facts.namespace },
    spec: {
      scaleTargetRef: { name: facts.deployment },
      pollingInterval: 15,
      minReplicaCount: facts.minReplicas,
      maxReplicaCount: facts.maxReplicas,
      fallback: { failureThreshold: 3, replicas: facts.minReplicas, behavior: 'currentReplicasIfHigher' },
      advanced: { horizontalPodAutoscalerConfig: { behavior: behavior(facts) } },
      triggers: [trigger],
    },
  }
}

/** A KEDA ScaledObject: an empty or broken answer is an error, and after three of them the fleet is held. */
export function kedaManifest(facts: ScalerFacts): string {
  return withComments(
    [
      ...facts.comments,
      'ignoreNullValues is false: an empty answer would otherwise count as 0 and scale to the minimum at the peak.',
      'The fallback holds the replicas that there are, and never fewer than minReplicaCount.',
    ],
    scaledObject(facts, {
      type: 'prometheus',
      metricType: 'AverageValue',
      metadata: {
        serverAddress: facts.prometheusUrl,
        query: inFlightQuery(facts),
        threshold: String(facts.targetInFlight),
        ignoreNullValues: 'false',
      },
    }),
  )
}

/** The same through plimsoll's own external scaler, which also knows what is stale. */
export function kedaExternalManifest(facts: ScalerFacts, scalerAddress: string): string {
  return withComments(
    [
      ...facts.comments,
      `The scaler: plimsoll scale serve --url URL --target ${facts.targetInFlight}${facts.reserveInFlight === 0 ? '' : ` --reserve ${facts.reserveInFlight}`}`,
    ],
    scaledObject(facts, {
      type: 'external',
      metricType: 'AverageValue',
      metadata: { scalerAddress, target: String(facts.targetInFlight) },
    }),
  )
}

/** Thresholds for llm-d's Workload Variant Autoscaler: its KV limits as they are shipped, its queue by the allowed wait. */
export function wvaManifest(
  facts: ScalerFacts,
  thresholds: { readonly queueLength: number; readonly queueSpare: number },
): string {
  const config = {
    kvCacheThreshold: 0.8,
    queueLengthThreshold: thresholds.queueLength,
    kvSpareTrigger: 0.1,
    queueSpareTrigger: thresholds.queueSpare,
  }
  return withComments(
    [
      ...facts.comments,
      'The KV thresholds are those that it ships with; keep those of the endpoint picker equal to them.',
    ],
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'saturation-scaling-config', namespace: facts.namespace },
      data: { default: stringify(config) },
    },
  )
}

function withComments(comments: readonly string[], manifest: object): string {
  const lines = comments.map((line) => `# ${line.replaceAll(/[\r\n]+/g, ' ')}\n`).join('')
  return lines + stringify(manifest, { lineWidth: 0 })
}
