import { noun } from '../base/noun.ts'
import { formatDuration } from '../base/units.ts'
import type { Warning } from '../base/warnings.ts'
import type { ClientHealth } from '../measure/load/client-health.ts'
import { isOpenLoop, type Pacer } from '../measure/load/pacer.ts'
import { rowValues } from '../measure/record/row-values.ts'
import type { Rows } from '../measure/record/rows.ts'
import { flowBalance } from '../stats/saturation.ts'
import { inFlightSeries } from './steadiness.ts'
import { coordinatedOmission, saturatedInFlight } from './traps.ts'

/** What a whole run shows beside its figures. */
export interface RunToWarnOf {
  readonly rows: Rows
  readonly window: { readonly startMs: number; readonly endMs: number }
  /** Null where nobody's plan is known. */
  readonly pacer: Pacer | null
  readonly client: ClientHealth
  readonly embedded: boolean
  readonly medianTtftMs: number | null
}

/** Findings about the run itself: its loop, its saturation, its surroundings. */
export function runWarnings(run: RunToWarnOf): readonly Warning[] {
  return [closedLoop(run), saturated(run), lateSends(run), sameMachine(run), slowedClient(run)].filter(
    (found) => found !== null,
  )
}

function closedLoop({ pacer }: RunToWarnOf): Warning | null {
  if (pacer === null || isOpenLoop(pacer)) return null
  return {
    kind: 'closed_loop_cannot_show_overload',
    message: `${pacer.users} ${noun(pacer.users, 'user waits for its answers', 'users wait for their answers')}: this run cannot show overload`,
    cause: null,
    next: null,
    evidence: { users: pacer.users },
  }
}

/**
 * Saturated, in an open loop (statistics reference §5): in-flight grows, and completions fall behind arrivals; one of the two alone is
 * said to be suspect. A refusal (429, 503, 529) completes nothing: a server that sheds what it cannot take is not stable by it.
 */
function saturated({ rows, window, pacer }: RunToWarnOf): Warning | null {
  if (pacer === null || !isOpenLoop(pacer)) return null
  const seconds = Math.floor((window.endMs - window.startMs) / 1000)
  if (seconds < 10) return null
  const growth = saturatedInFlight(inFlightSeries(rows, window.startMs, seconds))
  const isInside = (ms: number): boolean => ms >= window.startMs && ms < window.endMs
  let arrivals = 0
  let completions = 0
  for (const row of rows) {
    if (row.planned_ms === null) continue
    if (isInside(row.planned_ms)) arrivals++
    if (row.outcome !== 'shed' && row.done_ms !== null && isInside(row.planned_ms + row.done_ms))
      completions++
  }
  const balance = flowBalance(arrivals, completions)
  if (!growth.fires && !balance.saturated) return null
  const both = growth.fires && balance.saturated
  const slope = growth.warning?.message ?? 'requests in flight do not grow'
  return {
    kind: 'saturated',
    message: `${both ? 'saturated' : 'suspect of saturation'}: ${slope}; ${completions} of ${arrivals} arrivals were completed in the window`,
    cause: both
      ? null
      : 'only one of the two signs is there: growth of requests in flight, or arrivals that outrun completions',
    next: null,
    evidence: { arrivals, completions, growing: growth.fires },
  }
}

function lateSends({ rows, medianTtftMs }: RunToWarnOf): Warning | null {
  const sent = rows.filter((row) => row.planned_ms !== null && row.sent_ms !== null)
  const scheduledMs = rowValues(sent, (row) => row.planned_ms)
  const sentMs = rowValues(sent, (row) => row.sent_ms)
  return coordinatedOmission(scheduledMs, sentMs, medianTtftMs).warning
}

/** Where the instrument's own error grew so many times over the run, beyond what no figure notices, its machine became busy. */
const slowedTimes = 4
const unnoticedErrorMs = 2

function slowedClient({ client }: RunToWarnOf): Warning | null {
  const before = client.own_error_before_ms?.p99 ?? null
  const after = client.own_error_after_ms?.p99 ?? null
  if (before === null || after === null) return null
  if (after <= unnoticedErrorMs || after <= slowedTimes * before) return null
  return {
    kind: 'client_bound',
    message: `the client’s own error at p99 was ${formatDuration(before)} before the run and ${formatDuration(after)} after it`,
    cause: 'its machine became busy with something else: the run’s figures may hold that error too',
    next: 'a machine of its own for the client, then run again',
    evidence: { before_ms: before, after_ms: after },
  }
}

function sameMachine({ client, embedded }: RunToWarnOf): Warning | null {
  if (!client.same_machine || embedded) return null
  const busy = client.cpu.machine
  return {
    kind: 'same_machine',
    message: `the server runs on the client's machine${busy === null ? '' : `, which was ${(busy * 100).toFixed(0)} % busy`}`,
    cause: null,
    next: null,
    evidence: { machine_busy: busy },
  }
}
