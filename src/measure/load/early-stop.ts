import type { RequestRow } from '../record/request-row.ts'
import type { Rows } from '../record/rows.ts'
import type { EarlyStop, LoadStop } from './load-options.ts'

/** Nineteen of the last twenty: a server that sheds half its load is measured, one that answers nothing is not. */
export const defaultEarlyStop: EarlyStop = { of: 60, share: 0.95 }

/** Watches the rows for a server that answers nothing. Returns the stop once, with its share and counts. */
export function earlyStopWatch(rule: EarlyStop | null): (row: RequestRow) => LoadStop | null {
  if (rule === null) return () => null
  const recent: RequestRow[] = []
  let bad = 0
  let stopped = false
  return (row) => {
    if (stopped || row.outcome === 'unsent' || row.outcome === 'censored') return null
    recent.push(row)
    if (row.outcome !== 'ok') bad++
    if (recent.length > rule.of && recent.shift()!.outcome !== 'ok') bad--
    if (recent.length < rule.of || bad < rule.share * rule.of) return null
    stopped = true
    return describeStop(recent, bad)
  }
}

function describeStop(recent: Rows, bad: number): LoadStop {
  const kinds = new Map<string, number>()
  for (const row of recent) {
    if (row.outcome === 'ok') continue
    const kind = row.error_kind ?? row.outcome
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  }
  const [commonest, times] = [...kinds].sort((a, b) => b[1] - a[1])[0]!
  const percent = Math.round((1000 * bad) / recent.length) / 10
  return {
    why: 'nearly_everything_failed',
    message: `${bad} of the last ${recent.length} requests (${percent} %) failed, ${times} of them with ${commonest}: stopped early`,
    evidence: { failed: bad, of: recent.length, share: bad / recent.length, commonest, times },
  }
}
