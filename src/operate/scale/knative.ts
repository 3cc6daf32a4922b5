/** Knative's pod autoscaler, its defaults (knative/serving `pkg/autoscaler/scaling/autoscaler.go`). */
export interface KpaConfig {
  /** Concurrency per pod that is aimed at, and the most that a pod takes. */
  readonly target: number
  readonly capacity: number
  readonly burstCapacity: number
  readonly panicThreshold: number
  readonly stableWindowSeconds: number
  readonly maxScaleUpRate: number
  readonly maxScaleDownRate: number
}

/** The target is 70 % of the container's concurrency, 100 where none is set. */
export const kpaDefaults: KpaConfig = {
  target: 70,
  capacity: 100,
  burstCapacity: 211,
  panicThreshold: 2,
  stableWindowSeconds: 60,
  maxScaleUpRate: 1000,
  maxScaleDownRate: 2,
}

export interface KpaState {
  /** When panic was last justified; null: no panic. */
  readonly panicSinceMs: number | null
  /** The most pods of this panic: it never goes below. */
  readonly panicPods: number
}

export const calmKpa: KpaState = { panicSinceMs: null, panicPods: 0 }

export interface KpaDecision {
  readonly desired: number
  readonly panicking: boolean
  /** Pods for either window, before the limits of change. */
  readonly stable: number
  readonly panic: number
  /** Below 0 the activator stays in the path. */
  readonly excessBurstCapacity: number
  readonly state: KpaState
}

/** One tick: concurrency over the stable and the panic window to pods. */
export function kpaStep(
  state: KpaState,
  observed: { readonly ready: number; readonly stable: number; readonly panic: number },
  nowMs: number,
  config: KpaConfig = kpaDefaults,
): KpaDecision {
  const ready = Math.max(1, observed.ready)
  const stable = Math.ceil(observed.stable / config.target)
  const panic = Math.ceil(observed.panic / config.target)
  const most = Math.ceil(config.maxScaleUpRate * ready)
  const least = Math.floor(ready / config.maxScaleDownRate)
  const limited = (pods: number): number => Math.min(Math.max(pods, least), most)
  const over = panic / ready >= config.panicThreshold
  const expired =
    state.panicSinceMs !== null && nowMs - state.panicSinceMs > config.stableWindowSeconds * 1000
  const panicSinceMs = over ? nowMs : expired ? null : state.panicSinceMs
  const panicking = panicSinceMs !== null
  const wanted = panicking ? Math.max(limited(stable), limited(panic)) : limited(stable)
  const panicPods = panicking ? Math.max(state.panicPods, wanted, observed.ready) : 0
  return {
    desired: panicking ? panicPods : wanted,
    panicking,
    stable,
    panic,
    excessBurstCapacity: excessBurst(observed, config),
    state: { panicSinceMs, panicPods },
  }
}

/** A burst capacity of 0 takes the activator out of the path, −1 keeps it there. */
function excessBurst(
  { ready, panic }: { readonly ready: number; readonly panic: number },
  { capacity, burstCapacity }: KpaConfig,
): number {
  if (burstCapacity <= 0) return Math.max(-1, burstCapacity)
  return Math.floor(ready * capacity - burstCapacity - panic)
}
