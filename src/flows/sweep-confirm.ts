import { noun } from '../base/noun.ts'
import { partSalt } from '../measure/workload/salt.ts'
import type { OperatingPoint, SweepPoint } from '../report/documents.ts'
import { isRefuted } from '../report/operating-point.ts'
import { settle } from './live-target.ts'
import { isWithinObjective, measureLoadPoint, type SweepGround } from './sweep-point.ts'

/** A point's figures as the operating point carries them, not yet confirmed. */
export function operatingPoint(point: SweepPoint): OperatingPoint | null {
  const { requests_per_s: requestsPerSecond, output_tokens_per_s: tokensPerSecond } = point.throughput
  if (requestsPerSecond === null || requestsPerSecond <= 0) return null
  const tail = (name: 'ttft_ms' | 'tpot_ms'): { p50: number | null; p99: number | null } => ({
    p50: point.metrics[name]?.p50 ?? null,
    p99: point.metrics[name]?.p99 ?? null,
  })
  return {
    load: point.load,
    in_flight: point.in_flight,
    requests_per_s: requestsPerSecond,
    output_tokens_per_s: tokensPerSecond,
    ttft_ms: tail('ttft_ms'),
    tpot_ms: tail('tpot_ms'),
    confirmed: null,
    confirmation: null,
  }
}

/** How long a confirmation takes, ms; null: by what its percentile needs, and two seconds. */
export interface ConfirmTimes {
  readonly durationMs: number | null
  readonly warmupMs: number | null
}

/** Attempts at confirming: the capacity, then the next lower tested loads. */
const mostAttempts = 3

export interface Confirmation {
  readonly point: OperatingPoint
  /** Higher points whose Poisson run missed the objective, in words. */
  readonly missed: readonly string[]
}

/**
 * Runs a Poisson load at the point's requests per second. A closed loop slows down with its server and so flatters it; where the
 * open loop misses the objective, the next lower passing point is tried.
 */
export async function confirmOperatingPoint(
  ground: SweepGround,
  candidates: readonly SweepPoint[],
  times: ConfirmTimes,
): Promise<Confirmation | null> {
  const missed: string[] = []
  let last: OperatingPoint | null = null
  let excess = 1
  let attempt = 0
  for (const candidate of candidates) {
    const point = operatingPoint(candidate)
    if (point === null || attempt === mostAttempts || ground.signal.aborted) break
    if (attempt > 0 && !hasRoomFor(candidate, excess)) continue
    const confirmed = await confirmAt(ground, point, times, attempt++)
    excess = Math.max(excess, excessOf(confirmed, candidate))
    if (confirmed.confirmed === true) return { point: confirmed, missed }
    // What missed at a lower rate says that a higher one, which was left open, does not hold either.
    if (last === null || (!isRefuted(last) && isRefuted(confirmed))) last = confirmed
    const [outcome] = confirmed.confirmation?.objectives ?? []
    missed.push(
      `Poisson at ${point.requests_per_s.toFixed(1)} req/s (${point.load.value} ${noun(point.load.value, 'user')}): ${outcome?.reason ?? 'not measured'}`,
    )
  }
  return last === null ? null : { point: last, missed }
}

/** How much worse the open loop was than the closed one at the same rate: the largest ratio of the judged percentiles. */
function excessOf({ confirmation }: OperatingPoint, closed: SweepPoint): number {
  const ratios = (confirmation?.objectives ?? []).map(({ kind, estimate }, i) => {
    const before = closed.objectives[i]?.estimate ?? null
    return kind === 'over_run' && estimate !== null && before !== null && before > 0 ? estimate / before : 1
  })
  return Math.max(1, ...ratios)
}

/** Whether a point would still be within its limits if the open loop were as much worse there. */
function hasRoomFor(point: SweepPoint, excess: number): boolean {
  return point.objectives.every(
    (objective) =>
      objective.kind !== 'over_run' ||
      objective.estimate === null ||
      objective.limit === null ||
      isWithinObjective(objective, objective.estimate * excess),
  )
}

async function confirmAt(
  ground: SweepGround,
  point: OperatingPoint,
  { durationMs, warmupMs }: ConfirmTimes,
  attempt: number,
): Promise<OperatingPoint> {
  const ratePerSecond = Number(point.requests_per_s.toPrecision(4))
  const name = attempt === 0 ? 'confirm' : `confirm-${attempt + 1}`
  const enoughMs = (1000 * 3 * ground.needs.interval) / ratePerSecond
  const longestMs = durationMs ?? Math.min(600_000, Math.max(25_000, enoughMs))
  await settle(ground.target, ground.deps, 30_000)
  const measured = await measureLoadPoint(ground, {
    pacer: { kind: 'poisson', ratePerSecond },
    name,
    salt: partSalt(ground.config.salt ?? '', name),
    warmupMs: warmupMs ?? 2000,
    shortestMs: durationMs ?? Math.min(longestMs, Math.max(12_000, enoughMs / 2)),
    longestMs,
    mostRequests: null,
    label: `confirming with Poisson at ${ratePerSecond} req/s`,
  })
  const { document } = measured
  const judged = document.objectives.filter((objective) => objective.judged)
  const met = judged.length > 0 && judged.every((objective) => objective.met === 'yes')
  return {
    ...point,
    confirmed: document.verdict.status !== 'INVALID' && document.stopped === null && met,
    confirmation: {
      run: measured.run,
      text: `Poisson at ${ratePerSecond} req/s for ${document.window.measure_s.toFixed(0)} s`,
      requests_per_s: ratePerSecond,
      verdict: document.verdict,
      objectives: document.objectives,
      goodput_share: document.goodput?.share ?? null,
    },
  }
}
