/** What an endpoint picker last read of one engine. */
export interface EndpointLoad {
  readonly queue: number
  /** Share of the KV pool, 0 to 1. */
  readonly kv: number
}

/** Where one endpoint counts as full: the defaults of llm-d-router's utilisation detector. */
export interface GateThresholds {
  readonly queue: number
  readonly kv: number
}

export const gateDefaults: GateThresholds = { queue: 5, kv: 0.8 }

/**
 * The endpoint picker's gate (llm-d-router, utilisation detector): each endpoint max(queue ÷ 5, KV ÷ 0.8), the roofline of the two; the
 * pool their plain mean, closed at 1. Null, a stale endpoint (older than 200 ms), counts as 1: it fails closed, so an outage of the
 * scrapes stops the traffic. Without endpoints there is no mean, and nothing to send to: closed.
 */
export function poolSaturation(
  endpoints: readonly (EndpointLoad | null)[],
  thresholds: GateThresholds = gateDefaults,
): { readonly saturation: number | null; readonly gated: boolean } {
  if (endpoints.length === 0) return { saturation: null, gated: true }
  const saturation =
    endpoints.reduce((sum, endpoint) => sum + endpointSaturation(endpoint, thresholds), 0) / endpoints.length
  return { saturation, gated: saturation >= 1 }
}

/** max(queue ÷ its threshold, KV ÷ its threshold); 1 for one that is not known. */
export function endpointSaturation(
  endpoint: EndpointLoad | null,
  thresholds: GateThresholds = gateDefaults,
): number {
  return endpoint === null ? 1 : Math.max(endpoint.queue / thresholds.queue, endpoint.kv / thresholds.kv)
}
