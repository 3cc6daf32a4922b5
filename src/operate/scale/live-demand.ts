/** What was last read of one replica. */
export interface ReplicaLoad {
  readonly name: string
  /** Running and waiting; null: its page could not be read, or does not say. */
  readonly inFlight: number | null
}

/** The last total that was known whole, and when. */
export interface DemandMemory {
  readonly value: number | null
  readonly atMs: number | null
}

export const freshDemand: DemandMemory = { value: null, atMs: null }

export interface LiveDemand {
  /** `known`: every replica told. `held`: some or all did not, and the last total stands. `unknown`: nothing was told for too long. */
  readonly kind: 'known' | 'held' | 'unknown'
  /** Requests in flight of the fleet; null when unknown. */
  readonly value: number | null
  /** Whether anything is asked for. Only a known 0 says no: unknown is not idle. */
  readonly active: boolean
  /** Why it is not known, in a sentence. */
  readonly why: string | null
}

export interface DemandOptions {
  /** How long a last total may stand in for silence, ms; after that the scaler says that it does not know. */
  readonly holdMs: number
}

/**
 * One look at the fleet. Silence of a replica never lowers the total: what is known may raise it above the last, and else the last stands.
 */
export function liveDemand(
  memory: DemandMemory,
  replicas: readonly ReplicaLoad[],
  atMs: number,
  { holdMs }: DemandOptions,
): { readonly demand: LiveDemand; readonly memory: DemandMemory } {
  const silent = replicas.filter(({ inFlight }) => inFlight === null || !Number.isFinite(inFlight))
  const known = replicas.reduce(
    (sum, { inFlight }) => sum + (inFlight !== null && Number.isFinite(inFlight) ? inFlight : 0),
    0,
  )
  if (replicas.length > 0 && silent.length === 0) {
    return {
      demand: { kind: 'known', value: known, active: known > 0, why: null },
      memory: { value: known, atMs },
    }
  }
  const why =
    replicas.length === 0
      ? 'no replica is seen'
      : `${silent.map(({ name }) => name).join(', ')} ${silent.length === 1 ? 'does' : 'do'} not tell: unknown, not idle`
  const age = memory.atMs === null ? null : atMs - memory.atMs
  if (memory.value === null || age === null || age > holdMs) {
    const since = age === null ? '' : ` for ${Math.round(age / 1000)} s`
    return { demand: { kind: 'unknown', value: null, active: true, why: `${why}${since}` }, memory }
  }
  const value = Math.max(memory.value, known)
  return { demand: { kind: 'held', value, active: true, why: `${why}; the last total stands` }, memory }
}
