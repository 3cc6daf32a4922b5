import { PlimsollError } from '../../base/errors.ts'

/** Seconds in each unit of Prometheus' durations (`prometheus/common` model.ParseDuration); milliseconds come behind them. */
const unitSeconds: readonly (readonly [unit: string, seconds: number])[] = [
  ['y', 31_536_000],
  ['w', 604_800],
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
]
const form = /^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/

/**
 * Seconds of a duration as Prometheus reads it: whole numbers, units `y w d h m s ms` from the largest down, no spaces. Null for
 * everything else, and for 0, which is no window: `5min`, `30M`, `1.5h`, `1mo` and a bare `30` are all mistakes that some tool lets pass.
 */
export function promSeconds(text: string): number | null {
  const match = form.exec(text)
  if (match === null || text === '') return null
  const seconds = unitSeconds.reduce((sum, [, size], index) => sum + Number(match[index + 1] ?? 0) * size, 0)
  const milliseconds = seconds * 1000 + Number(match[unitSeconds.length + 1] ?? 0)
  return milliseconds > 0 && Number.isSafeInteger(milliseconds) ? milliseconds / 1000 : null
}

/** The same, or PLIM_CONFIG that names `what`. */
export function readPromSeconds(text: string, what: string): number {
  const seconds = promSeconds(text)
  if (seconds !== null) return seconds
  throw new PlimsollError('PLIM_CONFIG', `${what} is not a duration of Prometheus`, {
    expected: 'whole numbers with y, w, d, h, m or s from the largest down, such as 30d, 1h or 1h30m',
    received: text === '' ? 'nothing' : `"${text}"`,
    ...(/^\d+\s*min$/.test(text)
      ? { hint: `did you mean ${text.replace(/\s*min$/, 'm')}?` }
      : /^\d+M$/.test(text)
        ? { hint: `did you mean ${text.replace('M', 'm')}?` }
        : {}),
  })
}

/** The shortest text: 5400 is `1h30m`, 259200 is `3d`. Weeks and years are told in days. */
export function promText(seconds: number): string {
  const milliseconds = Math.round(seconds * 1000)
  let rest = Math.floor(milliseconds / 1000)
  let text = ''
  for (const [unit, size] of unitSeconds.slice(2)) {
    const count = Math.floor(rest / size)
    if (count > 0) text += `${count}${unit}`
    rest -= count * size
  }
  if (milliseconds % 1000 > 0) text += `${milliseconds % 1000}ms`
  return text === '' ? '0s' : text
}
