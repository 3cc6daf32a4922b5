import { PlimsollError } from '../../base/errors.ts'

/** A percentile as percent text: `99`, `99.9`, `p95`. */
export function parsePercentileLevel(text: string, flag: string): string {
  const level = text.trim().replace(/^p/i, '')
  if (/^\d{1,2}(\.\d+)?$/.test(level) && Number(level) > 0) return level
  throw new PlimsollError('PLIM_USAGE', `${flag} is not a percentile`, {
    expected: 'a number between 0 and 100, such as 99 or 99.9',
    received: text,
  })
}
