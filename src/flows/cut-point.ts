import type { SweepPoint } from '../report/documents.ts'

const prefix = 'cut short: '

/** Why a point ended before it was decided, in words that a resumed sweep knows again. */
export const cutShort: Readonly<Record<'byHand' | 'byTime', string>> = {
  byHand: `${prefix}interrupted`,
  byTime: `${prefix}--max-duration was over`,
}

/** Whether a point was ended by hand or by the time of the whole, before it was decided: a resumed sweep measures it anew. */
export function isCut({ stopped }: Pick<SweepPoint, 'stopped'>): boolean {
  return stopped?.startsWith(prefix) === true
}
