import {
  describeLimit,
  describeRunLimit,
  withinLimit,
  type Limit,
  type Objective,
} from '../../measure/metrics/objective.ts'
import { compare, rational, toRational } from '../../stats/rational.ts'
import type { FleetResult } from './fleet-run.ts'

/** Limits that a share of the requests must meet, all of them at once. A P99 within a limit is 99 % of the requests within it. */
export interface ShareLimit {
  /** As in the grammar of objectives. */
  readonly text: string
  readonly limits: readonly Limit[]
  /** "99%" */
  readonly good: string
}

/** What of objectives a simulation can judge by shares of requests, and the limits that it cannot: it keeps no single gap. */
export function shareLimits(objectives: readonly Objective[]): {
  readonly judged: readonly ShareLimit[]
  readonly unjudged: readonly string[]
} {
  const judged: ShareLimit[] = []
  const unjudged: string[] = []
  for (const { each, run, good } of objectives) {
    const known = each.filter(({ metric }) => metric !== 'gap')
    unjudged.push(...each.filter(({ metric }) => metric === 'gap').map(describeLimit))
    if (known.length > 0) {
      const share = good ?? '100%'
      judged.push({
        text: `${known.map(describeLimit).join(' and ')}, good ${share}`,
        limits: known,
        good: share,
      })
    }
    for (const limit of run) {
      if (limit.metric === 'gap') unjudged.push(describeRunLimit(limit))
      else judged.push({ text: describeRunLimit(limit), limits: [limit], good: `${limit.percentile}%` })
    }
  }
  return { judged, unjudged }
}

/** Requests that came in a stretch of time, and those of them that met everything. */
export interface ShareCount {
  readonly all: number
  readonly good: number
}

export interface JudgedShare {
  readonly limit: ShareLimit
  readonly day: ShareCount
  /** Of the stretch that was watched. */
  readonly hour: ShareCount
  /** In both of them. */
  readonly met: boolean
}

/** Counts, for each limit, the requests that met it; what was lost or refused met none. */
export class ShareJudge {
  private readonly limits: readonly ShareLimit[]
  private readonly hour: { readonly fromMs: number; readonly untilMs: number }
  private readonly good: { day: number; hour: number }[]
  private day = 0
  private inHour = 0

  /** `hour`: the stretch of sending times that is judged by itself too. */
  constructor(limits: readonly ShareLimit[], hour: { readonly fromMs: number; readonly untilMs: number }) {
    this.limits = limits
    this.hour = hour
    this.good = limits.map(() => ({ day: 0, hour: 0 }))
  }

  hear({ outcome, sentMs, facts }: FleetResult): void {
    const inHour = sentMs >= this.hour.fromMs && sentMs < this.hour.untilMs
    this.day += 1
    if (inHour) this.inHour += 1
    if (outcome !== 'ok' || facts === null) return
    const e2eMs = facts.lastTokenMs - sentMs
    const ttftMs = facts.firstTokenMs - sentMs
    const gaps = facts.outputTokens - 1
    for (let i = 0; i < this.limits.length; i++) {
      if (!meets((this.limits[i] as ShareLimit).limits, ttftMs, e2eMs, gaps)) continue
      const count = this.good[i] as { day: number; hour: number }
      count.day += 1
      if (inHour) count.hour += 1
    }
  }

  judge(): JudgedShare[] {
    return this.limits.map((limit, i) => {
      const good = this.good[i] as { day: number; hour: number }
      const day = { all: this.day, good: good.day }
      const hour = { all: this.inHour, good: good.hour }
      return { limit, day, hour, met: isEnough(day, limit.good) && isEnough(hour, limit.good) }
    })
  }
}

/** An answer of one token has no TPOT: such a limit does not hold it. */
function meets(limits: readonly Limit[], ttftMs: number, e2eMs: number, gaps: number): boolean {
  for (const limit of limits) {
    if (limit.metric === 'tpot') {
      if (gaps > 0 && !withinLimit(limit, (e2eMs - ttftMs) / gaps)) return false
    } else if (!withinLimit(limit, limit.metric === 'e2e' ? e2eMs : ttftMs)) return false
  }
  return true
}

/** good ÷ all ≥ the share, exactly; of nothing everything is enough. */
function isEnough({ all, good }: ShareCount, share: string): boolean {
  return all === 0 || compare(rational(good, all), toRational(share)) >= 0
}
