/** At most so much change in a period. */
export interface ScalingPolicy {
  readonly type: 'Pods' | 'Percent'
  readonly value: number
  readonly periodSeconds: number
}

export interface ScalingRules {
  readonly stabilizationSeconds: number
  /** `Max` takes the policy that allows most change, `Min` the one that allows least. */
  readonly select: 'Max' | 'Min' | 'Disabled'
  readonly policies: readonly ScalingPolicy[]
}

export interface HpaBehavior {
  readonly up: ScalingRules
  readonly down: ScalingRules
}

/** What `autoscaling/v2` does where nothing is said. */
export const defaultBehavior: HpaBehavior = {
  up: {
    stabilizationSeconds: 0,
    select: 'Max',
    policies: [
      { type: 'Pods', value: 4, periodSeconds: 15 },
      { type: 'Percent', value: 100, periodSeconds: 15 },
    ],
  },
  down: {
    stabilizationSeconds: 300,
    select: 'Max',
    policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
  },
}

interface AtTime {
  readonly atMs: number
  readonly replicas: number
}

/** What the controller remembers between two syncs. */
export interface HpaState {
  /** Raw recommendations, youngest last. */
  readonly recommendations: readonly AtTime[]
  /** Replicas added and removed, youngest last. */
  readonly added: readonly AtTime[]
  readonly removed: readonly AtTime[]
}

export const freshHpaState: HpaState = { recommendations: [], added: [], removed: [] }

export interface HpaBounds {
  readonly minReplicas: number
  readonly maxReplicas: number
}

export interface HpaDecision {
  readonly replicas: number
  readonly state: HpaState
  /** Which rule had the last word. */
  readonly limitedBy: 'none' | 'stabilization' | 'policy' | 'bounds'
}

/**
 * One sync: the recommendation held within its stabilisation windows (down: the largest of the window; up: the smallest), then within
 * the rate policies, then within the bounds. A pure step: the same for a simulated fleet and a live prediction.
 */
export function hpaStep(
  state: HpaState,
  current: number,
  recommended: number,
  nowMs: number,
  bounds: HpaBounds,
  behavior: HpaBehavior = defaultBehavior,
): HpaDecision {
  const recommendations = [...state.recommendations, { atMs: nowMs, replicas: recommended }]
  const stable = stabilized(recommendations, current, nowMs, behavior)
  const { added, removed } = state
  let allowed = stable
  if (stable > current) {
    allowed = Math.min(stable, upLimit(current, added, removed, nowMs, behavior.up), bounds.maxReplicas)
  } else if (stable < current) {
    allowed = Math.max(stable, downLimit(current, added, removed, nowMs, behavior.down), bounds.minReplicas)
  }
  const replicas = Math.min(bounds.maxReplicas, Math.max(bounds.minReplicas, allowed))
  const change = { atMs: nowMs, replicas: Math.abs(replicas - current) }
  const young = (times: readonly AtTime[], seconds: number): AtTime[] =>
    times.filter(({ atMs }) => nowMs - atMs <= seconds * 1000)
  const longest = (rules: ScalingRules): number =>
    Math.max(0, ...rules.policies.map(({ periodSeconds }) => periodSeconds))
  const remember = Math.max(longest(behavior.up), longest(behavior.down))
  return {
    replicas,
    limitedBy:
      replicas !== allowed
        ? 'bounds'
        : allowed !== stable
          ? 'policy'
          : stable !== recommended
            ? 'stabilization'
            : 'none',
    state: {
      recommendations: young(
        recommendations,
        Math.max(behavior.up.stabilizationSeconds, behavior.down.stabilizationSeconds),
      ),
      added: young(replicas > current ? [...added, change] : added, remember),
      removed: young(replicas < current ? [...removed, change] : removed, remember),
    },
  }
}

function stabilized(
  recommendations: readonly AtTime[],
  current: number,
  nowMs: number,
  { up, down }: HpaBehavior,
): number {
  // A recommendation of exactly the window's age is out of it; that of now counts even without a window.
  const inWindow = (seconds: number): number[] =>
    recommendations
      .filter(({ atMs }) => atMs === nowMs || nowMs - atMs < seconds * 1000)
      .map(({ replicas }) => replicas)
  const least = Math.min(...inWindow(up.stabilizationSeconds))
  const most = Math.max(...inWindow(down.stabilizationSeconds))
  let held = current
  if (held < least) held = least
  if (held > most) held = most
  return held
}

/** Largest size that the policies for growing allow now. */
export function upLimit(
  current: number,
  added: readonly AtTime[],
  removed: readonly AtTime[],
  nowMs: number,
  rules: ScalingRules,
): number {
  if (rules.select === 'Disabled') return current
  const limits = rules.policies.map(({ type, value, periodSeconds }) => {
    const before = current - sumSince(added, nowMs, periodSeconds) + sumSince(removed, nowMs, periodSeconds)
    return type === 'Pods' ? before + value : Math.ceil(before * (1 + value / 100))
  })
  return rules.select === 'Max' ? Math.max(...limits) : Math.min(...limits)
}

/** Smallest size that the policies for shrinking allow now. */
export function downLimit(
  current: number,
  added: readonly AtTime[],
  removed: readonly AtTime[],
  nowMs: number,
  rules: ScalingRules,
): number {
  if (rules.select === 'Disabled') return current
  const limits = rules.policies.map(({ type, value, periodSeconds }) => {
    const before = current - sumSince(added, nowMs, periodSeconds) + sumSince(removed, nowMs, periodSeconds)
    return type === 'Pods' ? before - value : Math.trunc(before * (1 - value / 100))
  })
  return rules.select === 'Max' ? Math.min(...limits) : Math.max(...limits)
}

function sumSince(events: readonly AtTime[], nowMs: number, seconds: number): number {
  return events
    .filter(({ atMs }) => nowMs - atMs < seconds * 1000)
    .reduce((sum, { replicas }) => sum + replicas, 0)
}
