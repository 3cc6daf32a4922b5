import { noun } from '../base/noun.ts'
import { formatSpan } from '../base/units.ts'
import type { SweepDocument } from '../report/documents.ts'

/** What ends a sweep or a search before its plan, and how far it was then. */
interface Stopped {
  /** By its user. */
  readonly aborted: boolean
  readonly timeOver: boolean
  /** A further point could not be written. */
  readonly isFull: boolean
  /** It answered before, and now takes no connection. */
  readonly isServerGone: boolean
  readonly points: number
  readonly maxDurationMs: number | null
}

/**
 * Why a sweep or a search is not complete. While it goes on that is what stays in the file when the process is killed: nobody is left
 * to say it then.
 */
export function stoppedWhy({
  aborted,
  timeOver,
  isFull,
  isServerGone,
  points,
  maxDurationMs,
}: Stopped): NonNullable<SweepDocument['stopped']> {
  const count = `${points} ${noun(points, 'point')}`
  if (aborted) return { kind: 'interrupted', why: `interrupted after ${count}` }
  if (timeOver)
    return { kind: 'early', why: `--max-duration ${formatSpan(maxDurationMs ?? 0)} was over after ${count}` }
  if (isFull) return { kind: 'early', why: `nothing more could be written after ${count}` }
  if (isServerGone) return { kind: 'early', why: `the server went away after ${count}` }
  return { kind: 'killed', why: `cut off after ${count}, unless it still runs` }
}
