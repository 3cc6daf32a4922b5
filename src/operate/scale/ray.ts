/** Ray Serve's autoscaling, its defaults (`ray/serve/autoscaling_policy.py`). */
export interface RayConfig {
  readonly targetOngoing: number
  readonly minReplicas: number
  readonly maxReplicas: number
  readonly upscalingFactor: number
  readonly downscalingFactor: number
  readonly upscaleDelaySeconds: number
  readonly downscaleDelaySeconds: number
  /** Of the control loop. */
  readonly tickSeconds: number
}

export const rayDefaults: RayConfig = {
  targetOngoing: 2,
  minReplicas: 1,
  maxReplicas: 1_000_000,
  upscalingFactor: 1,
  downscalingFactor: 1,
  upscaleDelaySeconds: 30,
  downscaleDelaySeconds: 600,
  tickSeconds: 0.1,
}

/** Consecutive ticks that wanted more (positive) or fewer (negative) replicas. */
export type RayState = number

export interface RayDecision {
  readonly replicas: number
  readonly wanted: number
  readonly state: RayState
}

/** Replicas wanted: running · (1 + (ongoing ÷ (target · running) − 1) · factor), rounded up, in doubles as Python has them. */
export function rayWanted(running: number, ongoing: number, config: RayConfig = rayDefaults): number {
  if (running === 0) return ongoing > 0 ? Math.max(1, config.minReplicas) : config.minReplicas
  const ratio = ongoing / running / config.targetOngoing
  const factor = ratio > 1 ? config.upscalingFactor : config.downscalingFactor
  const wanted = Math.ceil(running * (1 + (ratio - 1) * factor))
  return Math.min(config.maxReplicas, Math.max(config.minReplicas, wanted))
}

/** One tick: a change is made only after it was wanted without a break for longer than its delay; from 0 at once. */
export function rayStep(
  state: RayState,
  running: number,
  ongoing: number,
  config: RayConfig = rayDefaults,
): RayDecision {
  const wanted = rayWanted(running, ongoing, config)
  if (running === 0 && wanted > 0) return { replicas: wanted, wanted, state: 0 }
  if (wanted === running) return { replicas: running, wanted, state: 0 }
  const up = wanted > running
  const counted = up ? Math.max(0, state) + 1 : Math.min(0, state) - 1
  const delay = up ? config.upscaleDelaySeconds : config.downscaleDelaySeconds
  const needed = Math.trunc(delay / config.tickSeconds)
  if (Math.abs(counted) > needed) return { replicas: wanted, wanted, state: 0 }
  return { replicas: running, wanted, state: counted }
}
