import type { Random } from '../../base/random.ts'
import type { RouterSpec } from './fleet-spec.ts'

/** What a router may know of a replica. */
export interface RouterTarget {
  /** Its place among all replicas of the simulation. */
  readonly index: number
  /** Requests that it has. */
  inFlight: number
  /** The same as it was when the router last looked. */
  seenInFlight: number
}

export interface Router {
  /** One of `targets`, which are in order of index and not empty. */
  choose(targets: readonly RouterTarget[], affinity: number): RouterTarget
  /** The router looks again. Only called where signals are stale. */
  look(targets: readonly RouterTarget[]): void
}

/** Bindings that a prefix-aware router remembers. */
const mostBindings = 65_536
/** A bound replica is left for another while it has more than this many times the mean load, and so many requests more. */
const patience = 2
const patienceRequests = 8

/**
 * - `random`: each replica with equal chance.
 * - `round-robin`: one after the other, in order of their index.
 * - `least-loaded`: the fewest requests in flight, the lowest index among equals.
 * - `prefix-aware`: the replica that had the last request that begins alike, unless it has far more to do than the others;
 *   else the least loaded.
 */
export function createRouter(spec: RouterSpec, random: Random): Router {
  const stale = spec.signalEveryMs > 0
  const loadOf = stale
    ? (target: RouterTarget) => target.seenInFlight
    : (target: RouterTarget) => target.inFlight
  const leastLoaded = (targets: readonly RouterTarget[]): RouterTarget => {
    let best = targets[0] as RouterTarget
    for (let i = 1; i < targets.length; i++) {
      const target = targets[i] as RouterTarget
      if (loadOf(target) < loadOf(best)) best = target
    }
    return best
  }
  const look = (targets: readonly RouterTarget[]): void => {
    for (const target of targets) target.seenInFlight = target.inFlight
  }
  switch (spec.kind) {
    case 'random':
      return {
        look,
        choose: (targets) => targets[Math.floor(random.next() * targets.length)] as RouterTarget,
      }
    case 'round-robin': {
      let turn = 0
      return { look, choose: (targets) => targets[turn++ % targets.length] as RouterTarget }
    }
    case 'least-loaded':
      return { look, choose: leastLoaded }
    default:
      return { look, choose: prefixAware(leastLoaded, loadOf) }
  }
}

function prefixAware(
  leastLoaded: (targets: readonly RouterTarget[]) => RouterTarget,
  loadOf: (target: RouterTarget) => number,
): Router['choose'] {
  const bound = new Map<number, number>()
  return (targets, affinity) => {
    if (affinity < 0) return leastLoaded(targets)
    const index = bound.get(affinity)
    const known = index === undefined ? undefined : targets.find((target) => target.index === index)
    let chosen = known
    if (known !== undefined) {
      let sum = 0
      for (const target of targets) sum += loadOf(target)
      const limit = (patience * sum) / targets.length + patienceRequests
      if (loadOf(known) > limit) chosen = undefined
    }
    chosen ??= leastLoaded(targets)
    // The oldest binding makes room: a map keeps the order in which its keys came.
    bound.delete(affinity)
    bound.set(affinity, chosen.index)
    if (bound.size > mostBindings) bound.delete(bound.keys().next().value as number)
    return chosen
  }
}
