import { multiply, toNumber } from '../../stats/rational.ts'
import { allowedBadShare } from './budget.ts'
import type { AlertTier } from './policy.ts'
import { promSeconds } from './prometheus-duration.ts'
import { directSeconds, type SloRules } from './rules.ts'

/** So many minutes of so many good and bad events a minute. `reset`: the counters begin at 0 again. `absent`: no samples at all. */
export interface Stretch {
  readonly minutes: number
  readonly good: number
  readonly bad: number
  readonly kind?: 'reset' | 'absent'
}

export interface Scenario {
  readonly name: string
  readonly stretches: readonly Stretch[]
  /** Minutes at which the alerts are looked at. */
  readonly looks: readonly number[]
  /** The bad events' own series is not there until the first of them. */
  readonly lazyBad?: true
  /** Bounds of buckets as Go and Rust write them, without `.0`. */
  readonly plainBounds?: true
}

const perMinute = 600

/** Bad events among a minute's, to a share that whole counters can show. */
function atShare(share: number): Pick<Stretch, 'good' | 'bad'> {
  const bad = Math.min(perMinute, Math.max(0, Math.round(share * perMinute)))
  return { good: perMinute - bad, bad }
}

/** What every set of rules has to stand: outage, slow burn, blip, idle, absent series, a fresh series, a counter reset, low traffic. */
export function scenariosFor(rules: SloRules): readonly Scenario[] {
  const allowed = toNumber(allowedBadShare(rules.spec.objective))
  const pages = rules.policy.tiers.filter(
    ({ severity, long }) => severity === 'page' && (promSeconds(long) ?? 0) <= 6 * 3600,
  )
  const clean: Pick<Stretch, 'good' | 'bad'> = { good: perMinute, bad: 0 }
  const down = atShare(1)
  const [fast] = pages
  const slow = pages.at(-1)
  const scenarios: Scenario[] = [
    {
      name: 'healthy traffic is silent',
      stretches: [{ minutes: 40, ...clean }],
      looks: [10, 39],
    },
    {
      name: 'an outage pages, and stops paging after it ends',
      stretches: [
        { minutes: 60, ...clean },
        { minutes: 30, ...down },
        { minutes: 40, ...clean },
      ],
      looks: [59, 61, 65, 70, 89, 97, 129],
    },
    {
      name: 'two bad minutes',
      stretches: [
        { minutes: 60, ...clean },
        { minutes: 2, ...down },
        { minutes: 20, ...clean },
      ],
      looks: [62, 64, 70, 81],
    },
    {
      name: 'an idle half hour is no failure',
      stretches: [
        { minutes: 30, ...clean },
        { minutes: 30, good: 0, bad: 0 },
        { minutes: 30, ...clean },
      ],
      looks: [45, 58, 65, 88],
    },
    {
      name: 'no series at all is told, and is no page',
      stretches: [{ minutes: 30, good: 0, bad: 0, kind: 'absent' }],
      looks: [5, 25],
    },
    {
      name: 'a fresh series: the long window is only as long as the data, so an outage at the start pages at once',
      stretches: [{ minutes: 20, ...down }],
      looks: [5, 18],
    },
    {
      name: 'a counter reset is no burst',
      stretches: [
        { minutes: 40, ...clean },
        { minutes: 20, ...clean, kind: 'reset' },
      ],
      looks: [39, 42, 50, 58],
    },
    {
      name: 'low traffic: one failure among few requests is not enough',
      stretches: [
        { minutes: 60, good: 1, bad: 0 },
        { minutes: 1, good: 0, bad: 1 },
        { minutes: 10, good: 1, bad: 0 },
      ],
      looks: [62, 66, 70],
    },
    {
      name: 'a failure counter that does not exist is 0',
      stretches: [{ minutes: 20, ...clean }],
      looks: [15],
      lazyBad: true,
    },
    {
      name: 'bounds spelled without .0',
      stretches: [{ minutes: 20, ...clean }],
      looks: [15],
      plainBounds: true,
    },
  ]
  if (fast !== undefined && slow !== undefined) {
    const thresholds = [fast, slow].map((tier) =>
      toNumber(multiply(tier.factor, allowedBadShare(rules.spec.objective))),
    )
    const [high = 1, low = 1] = thresholds
    const share = fast === slow ? Math.min(1, low * 1.3) : (high + low) / 2
    // From half an hour of health the long window burns as soon as the bad share outweighs it.
    const quiet = 30
    const until = Math.ceil((quiet * low) / Math.max(share - low, 0.001))
    scenarios.push({
      name: fast === slow ? 'a slow burn just over the threshold' : `a slow burn that only ${slow.long} sees`,
      stretches: [
        { minutes: quiet, ...clean },
        { minutes: Math.min(2 * until + 30, 330), ...atShare(share) },
      ],
      looks: [quiet - 1, quiet + Math.floor(until / 2), quiet + Math.min(2 * until + 30, 330) - 5],
    })
    if (allowed * perMinute >= 2) {
      scenarios.push({
        name: 'errors within the budget are silent',
        stretches: [{ minutes: 40, ...atShare(allowed / 2) }],
        looks: [20, 39],
      })
    }
  }
  return scenarios
}

export type Firing = 'fires' | 'silent' | 'unsure'

/**
 * Whether an alert fires at a minute. Prometheus extrapolates the ends of a window, so that a figure within a tenth of its limit is left
 * out of the tests: they assert what is meant, not how it is rounded.
 */
export function firingAt(
  tier: AlertTier,
  scenario: Scenario,
  minute: number,
  spec: SloRules['spec'],
): Firing {
  const now = firingNow(tier, scenario, minute, spec)
  if ((promSeconds(tier.long) ?? 0) <= directSeconds) return now
  // A long window is the sum of short ones, each of which is full only when its own length has passed.
  const before = firingNow(tier, scenario, minute - 5, spec)
  return before === now ? now : 'unsure'
}

function firingNow(tier: AlertTier, scenario: Scenario, minute: number, spec: SloRules['spec']): Firing {
  const threshold = toNumber(multiply(tier.factor, allowedBadShare(spec.objective)))
  const long = countsIn(scenario, minute, tier.long)
  const short = countsIn(scenario, minute, tier.short)
  const parts: Firing[] = [
    ratioSide(long, threshold),
    ratioSide(short, threshold),
    countSide(long.bad, spec.minBad),
    countSide(long.bad + long.good, spec.minRequests),
  ]
  if (parts.includes('silent')) return 'silent'
  return parts.includes('unsure') ? 'unsure' : 'fires'
}

function ratioSide({ good, bad }: { good: number; bad: number }, threshold: number): Firing {
  const total = good + bad
  if (total === 0) return 'silent'
  const ratio = bad / total
  if (ratio >= Math.min(threshold * 1.1, (threshold + 1) / 2)) return 'fires'
  return ratio <= threshold * 0.9 ? 'silent' : 'unsure'
}

function countSide(count: number, least: number): Firing {
  if (least === 0) return 'fires'
  if (count >= least * 1.3 + 1) return 'fires'
  return count <= least / 2 ? 'silent' : 'unsure'
}

/** Events of the window that ends at a minute; what a restart loses is lost. */
function countsIn(scenario: Scenario, minute: number, window: string): { good: number; bad: number } {
  const from = minute - (promSeconds(window) ?? 0) / 60
  let at = 0
  let good = 0
  let bad = 0
  for (const stretch of scenario.stretches) {
    const overlap = Math.max(0, Math.min(minute, at + stretch.minutes) - Math.max(from, at))
    good += stretch.good * overlap
    bad += stretch.bad * overlap
    at += stretch.minutes
  }
  return { good, bad }
}
