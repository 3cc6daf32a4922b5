import { PlimsollError } from '../../base/errors.ts'
import { parseCount, parseNumber, parseRatePerSecond } from '../../base/units.ts'
import { checkPacer, type Pacer, type Spacing } from '../../measure/load/pacer.ts'
import { nearest } from '../../base/edit-distance.ts'
import { parseRequests, parseWaitMs } from './load-limits.ts'

/** How each kind of pacer is written. */
export const pacerForms: Readonly<Record<string, string>> = {
  constant: 'constant 6/s',
  poisson: 'poisson 6/s',
  gamma: 'gamma 6/s cv 2',
  ramp: 'ramp 1/s..10/s over 60s [poisson]',
  steps: 'steps 1/s for 30s, 2/s for 30s [poisson]',
  burst: 'burst 10 every 5s',
  users: 'users 8 [think [exponential] 1s] [stagger 5s]',
}

/** A pacer as it is written after `--pacer`: when requests are sent. `forms` are those that are offered to who is refused. */
export function parsePacer(
  text: string,
  what = '--pacer',
  forms: Readonly<Record<string, string>> = pacerForms,
): Pacer {
  const words = text.trim().toLowerCase().replaceAll(/\s+/g, ' ')
  const space = words.indexOf(' ')
  const kind = space < 0 ? words : words.slice(0, space)
  const rest = space < 0 ? '' : words.slice(space + 1)
  const read = readers[kind === 'concurrency' ? 'users' : kind]
  const pacer = read?.(rest, what) ?? null
  if (pacer !== null) return checkPacer(pacer)
  const form = forms[kind === 'concurrency' ? 'users' : kind]
  const near = form === undefined ? nearest(kind, Object.keys(forms)) : null
  const rate = form === undefined ? bareRate(words) : null
  const meant =
    rate !== null
      ? `"poisson ${rate}" (as users come) or "constant ${rate}" (evenly spaced)`
      : near === null
        ? null
        : `"${forms[near]!}"`
  throw new PlimsollError('PLIM_USAGE', `${what} is not a pacer`, {
    expected: form === undefined ? Object.values(forms).join(' | ') : `"${form}"`,
    received: `"${text}"`,
    ...(meant === null ? {} : { hint: `did you mean ${meant}?` }),
  })
}

/** A rate alone, as a pacer has it; null for anything else. */
function bareRate(text: string): string | null {
  try {
    return parseRatePerSecond(text) > 0 ? (/^[\d.,]+$/.test(text) ? `${text}/s` : text) : null
  } catch {
    return null
  }
}

const readers: Readonly<Record<string, (rest: string, what: string) => Pacer | null>> = {
  constant: (rest, what) => ({ kind: 'constant', ratePerSecond: positiveRate(rest, what) }),
  poisson: (rest, what) => ({ kind: 'poisson', ratePerSecond: positiveRate(rest, what) }),
  gamma(rest, what) {
    const match = /^(.+) cv (\S+)$/.exec(rest)
    return match && gammaPacer(positiveRate(match[1]!, what), parseNumber(match[2]!, what))
  },
  ramp(rest, what) {
    const match = /^(.+?) ?\.\. ?(.+?) over (.+?)( poisson)?$/.exec(rest)
    if (match === null) return null
    const [fromPerSecond, toPerSecond] = [
      parseRatePerSecond(match[1]!, what),
      parseRatePerSecond(match[2]!, what),
    ]
    if (fromPerSecond + toPerSecond === 0) return null
    const durationMs = positiveDuration(match[3]!, what)
    return { kind: 'ramp', fromPerSecond, toPerSecond, durationMs, ...spacing(match[4]) }
  },
  steps(rest, what) {
    const [, list = '', poisson] = /^(.+?)( poisson)?$/.exec(rest) ?? []
    const parts = list.split(',').map((part) => /^ ?(.+?) for (.+?) ?$/.exec(part))
    const steps = parts.flatMap((part) =>
      part === null
        ? []
        : [
            {
              ratePerSecond: parseRatePerSecond(part[1]!, what),
              durationMs: positiveDuration(part[2]!, what),
            },
          ],
    )
    if (steps.length < parts.length || steps.every((step) => step.ratePerSecond === 0)) return null
    return { kind: 'steps', steps, ...spacing(poisson) }
  },
  burst(rest, what) {
    const match = /^(\S+)(?: every (.+))?$/.exec(rest)
    if (match === null) return null
    const everyMs = match[2] === undefined ? null : positiveDuration(match[2], what)
    return { kind: 'burst', size: parseRequests(match[1]!, what), everyMs }
  },
  users(rest, what) {
    const match = /^(\S+)(?: think (exponential )?(.+?))?(?: stagger (.+))?$/.exec(rest)
    if (match === null) return null
    return {
      kind: 'concurrency',
      users: parseCount(match[1]!, what, 1),
      thinkTimeMs: match[3] === undefined ? 0 : parseWaitMs(match[3], what),
      ...(match[2] === undefined ? {} : { thinkTime: 'exponential' }),
      ...(match[4] === undefined ? {} : { staggerMs: parseWaitMs(match[4], what) }),
    }
  },
}

function spacing(poisson: string | undefined): { readonly spacing?: Spacing } {
  return poisson === undefined ? {} : { spacing: 'poisson' }
}

/** A gamma pacer, under its simpler name where it has one: cv 1 is Poisson, cv 0 constant. */
export function gammaPacer(ratePerSecond: number, cv: number): Pacer {
  if (cv === 1) return { kind: 'poisson', ratePerSecond }
  return cv === 0 ? { kind: 'constant', ratePerSecond } : { kind: 'gamma', ratePerSecond, cv }
}

/** vLLM's burstiness is the shape of the gamma gaps, so their coefficient of variation is 1 ÷ √shape. */
export function cvOfBurstiness(burstiness: number, what: string): number {
  if (burstiness <= 0) {
    throw new PlimsollError('PLIM_USAGE', `${what} must be above 0`, {
      expected: 'the shape of gamma gaps: 1 is Poisson, under 1 bursty, above 1 more even',
      received: String(burstiness),
    })
  }
  return 1 / Math.sqrt(burstiness)
}

/** A rate that sends something. */
export function positiveRate(text: string, what: string): number {
  const rate = parseRatePerSecond(text, what)
  if (rate > 0) return rate
  throw new PlimsollError('PLIM_USAGE', `${what} would send nothing`, {
    expected: 'a rate above 0',
    received: `"${text}"`,
  })
}

/** A time in which something can happen, ms. */
export function positiveDuration(text: string, what: string): number {
  const ms = parseWaitMs(text, what)
  if (ms > 0) return ms
  throw new PlimsollError('PLIM_USAGE', `${what} would last no time`, {
    expected: 'a time above 0',
    received: `"${text}"`,
  })
}
