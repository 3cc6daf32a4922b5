import { noun } from '../base/noun.ts'
import { isClientBound } from '../judge/verdict.ts'
import { partSalt } from '../measure/workload/salt.ts'
import type { FindDocument } from '../report/find-document.ts'
import { failureShares, failureWords } from '../report/failure-words.ts'
import { settle } from './live-target.ts'
import { measureLoadPoint, sweepPoint, type SweepGround } from './sweep-point.ts'

/** Users of the closed loops that tell where a search begins. */
const probeUsers = [8, 32, 128, 512] as const
/** More users that bring less than this are the last. */
const leastGain = 1.25
const shortestMs = 2000
const longestMs = 60_000

/** What short closed loops showed of a server. */
export interface Probe {
  readonly facts: NonNullable<FindDocument['probe']>
  /** The first rate to try: half of the best that they got. Null: nothing was answered. */
  readonly fromPerSecond: number | null
  /** Median time of an answer with the fewest users, ms. */
  readonly e2eMs: number | null
  /** Why nothing was answered, where requests failed rather than took long: "http_429 100 % of the requests". */
  readonly failed: string | null
}

/** Loads the server with more and more users for a few seconds each, until more of them bring no more answers. */
export async function probeRate(ground: SweepGround): Promise<Probe> {
  const runs: string[] = []
  let best: { readonly users: number; readonly perSecond: number } | null = null
  let e2eMs: number | null = null
  let failed: string | null = null
  for (const users of probeUsers) {
    if (ground.signal.aborted) break
    await settle(ground.target, ground.deps, 30_000)
    const name = `00-probe-${users}-users`
    const lengthMs = Math.min(longestMs, Math.max(shortestMs, 2 * (e2eMs ?? 0)))
    const measured = await measureLoadPoint(ground, {
      pacer: { kind: 'concurrency', users, thinkTimeMs: 0, staggerMs: e2eMs ?? 500 },
      name,
      salt: partSalt(ground.config.salt ?? '', name),
      warmupMs: Math.min(10_000, Math.max(400, 1.5 * (e2eMs ?? 0))),
      shortestMs: lengthMs,
      longestMs: lengthMs,
      mostRequests: null,
      label: `where to begin: ${users} ${noun(users, 'user')}`,
    })
    const point = sweepPoint({ kind: 'concurrency', value: users }, measured)
    runs.push(measured.run)
    e2eMs ??= measured.document.metrics.e2e_ms?.p50 ?? null
    const perSecond = point.throughput.requests_per_s
    if (perSecond === null || perSecond <= 0) {
      if (best === null && measured.document.stopped?.kind === 'early')
        failed = failureWords(failureShares([point]))
      break
    }
    const grew = best === null || perSecond >= leastGain * best.perSecond
    if (best === null || perSecond > best.perSecond) best = { users, perSecond }
    // Where the client was the limit more users tell nothing; what it got is still a place to begin.
    if (!grew || isClientBound(point.verdict)) break
  }
  return {
    facts: { runs, users: best?.users ?? 0, requests_per_s: best?.perSecond ?? null },
    fromPerSecond: best === null ? null : best.perSecond / 2,
    e2eMs,
    failed,
  }
}
