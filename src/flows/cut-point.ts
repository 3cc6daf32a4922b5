import type { SweepPoint } from '../report/documents.ts'

const prefix = 'cut short: '

/** Why a point ended before it was decided, in words that a resumed sweep knows again. */
export const cutShort: Readonly<Record<'byHand' | 'byTime' | 'byServer', string>> = {
  byHand: `${prefix}interrupted`,
  byTime: `${prefix}--max-duration was over`,
  byServer: `${prefix}the server went away`,
}

/** Whether a point was ended by something else than its load, before it was decided: it decides nothing, and a resumed sweep measures it anew. */
export function isCut({ stopped }: Pick<SweepPoint, 'stopped'>): boolean {
  return stopped?.startsWith(prefix) === true
}

/**
 * The last point before a server went away. Where requests of it failed, its load or the going away may have been the cause, which
 * nobody can tell: it is cut short.
 * @param undecided What stands in it for its decision then.
 */
export function cutByServer<T extends Pick<SweepPoint, 'stopped' | 'counts'>>(
  point: T,
  undecided: Partial<T>,
): T {
  if ((point.counts?.failed ?? 0) === 0) return point
  return { ...point, ...undecided, stopped: cutShort.byServer }
}
