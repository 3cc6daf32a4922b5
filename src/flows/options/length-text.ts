import { PlimsollError } from '../../base/errors.ts'
import { formatCount } from '../../base/units.ts'
import { parseTokenNumber, parseTokens } from './load-limits.ts'
import type { LengthConfig } from './run-config.ts'

const forms = '900, "uniform 100..200", "normal 500 sd 50" or "lognormal median 900 p99 4096"'

/** A distribution of token lengths as it is written in flags and in plimsoll.yaml. */
export function parseLength(text: string, what: string): LengthConfig {
  // A million is a capital M in every count.
  const words = text
    .trim()
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/(?<=\d)m\b/g, 'M')
  if (/^(?!.*\.\.)[\d.,]+[kM]?$/.test(words)) return { kind: 'fixed', tokens: parseTokens(words, what) }
  const uniform = /^(?:uniform )?(\S+?) ?\.\. ?(\S+)$/.exec(words)
  if (uniform !== null)
    return uniformLength(parseTokens(uniform[1]!, what), parseTokens(uniform[2]!, what), what)
  const normal = /^normal (?:mean )?(\S+) sd (\S+)$/.exec(words)
  if (normal !== null)
    return normalLength(parseTokenNumber(normal[1]!, what), parseTokenNumber(normal[2]!, what), what)
  const lognormal = /^lognormal median (\S+) p99 (\S+)$/.exec(words)
  if (lognormal !== null) {
    return lognormalLength(parseTokenNumber(lognormal[1]!, what), parseTokenNumber(lognormal[2]!, what), what)
  }
  throw new PlimsollError('PLIM_USAGE', `${what} is not a length in tokens`, {
    expected: forms,
    received: `"${text}"`,
  })
}

export function uniformLength(low: number, high: number, what: string): LengthConfig {
  if (low > high) throw impossible(what, 'low..high', `${low}..${high}`)
  return low === high ? { kind: 'fixed', tokens: low } : { kind: 'uniform', low, high }
}

export function normalLength(mean: number, sd: number, what: string): LengthConfig {
  if (mean < 1) throw impossible(what, 'a mean of at least one token', String(mean))
  return sd === 0 && Number.isInteger(mean) ? { kind: 'fixed', tokens: mean } : { kind: 'normal', mean, sd }
}

export function lognormalLength(median: number, p99: number, what: string): LengthConfig {
  if (median < 1 || p99 <= median) {
    throw impossible(
      what,
      'a median of at least one token and a p99 above it',
      `median ${median}, p99 ${p99}`,
    )
  }
  return { kind: 'lognormal', median, p99 }
}

/**
 * vLLM's `--random-range-ratio r`: lengths spread evenly over [floor(n·(1 − r)), ceil(n·(1 + r))]. Only a fixed length can be
 * spread so.
 */
export function spreadLength(length: LengthConfig, ratio: number, what: string): LengthConfig {
  if (ratio < 0 || ratio >= 1) throw impossible(what, 'a ratio of at least 0 and under 1', String(ratio))
  if (ratio === 0) return length
  if (length.kind !== 'fixed') throw impossible(what, 'a fixed length to spread', describeLength(length))
  const low = Math.max(1, Math.floor(length.tokens * (1 - ratio)))
  return uniformLength(low, Math.ceil(length.tokens * (1 + ratio)), what)
}

/** The distribution in words; `parseLength` reads it back. */
export function describeLength(length: LengthConfig): string {
  if (length.kind === 'fixed') return formatCount(length.tokens)
  if (length.kind === 'uniform') return `uniform ${length.low}..${length.high}`
  if (length.kind === 'normal') return `normal ${length.mean} sd ${length.sd}`
  return `lognormal median ${length.median} p99 ${length.p99}`
}

function impossible(what: string, expected: string, received: string): PlimsollError {
  return new PlimsollError('PLIM_USAGE', `${what} cannot be drawn from`, { expected, received })
}
