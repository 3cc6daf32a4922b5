import { PlimsollError } from '../../base/errors.ts'
import { parseCount, parsePercent } from '../../base/units.ts'
import { positiveDuration, positiveRate } from '../../flows/options/pacer-text.ts'
import type { SweepOptions } from '../../flows/options/run-options.ts'
import type { FlagValues } from '../verb.ts'
import { text } from './flag-values.ts'
import { readRunFlags } from './read-flags.ts'

/** What the flags of `find` say. Every error names its flag. */
export function readFindFlags(flags: FlagValues): SweepOptions {
  const from = text(flags, 'rate-from')
  const resolution = text(flags, 'resolution')
  const points = text(flags, 'points')
  const perPoint = text(flags, 'duration-per-point')
  return {
    ...readRunFlags(flags),
    ...(from === undefined ? {} : { rateFrom: positiveRate(from, '--rate-from') }),
    ...(resolution === undefined ? {} : { resolution: readResolution(resolution) }),
    ...(points === undefined ? {} : { maxPoints: parseCount(points, '--points', 2, 1000) }),
    ...(perPoint === undefined
      ? {}
      : { pointDurationMs: positiveDuration(perPoint, '--duration-per-point') }),
  }
}

/** Below a thousandth no number of requests tells two rates apart. */
const finest = 0.001

function readResolution(value: string): number {
  const share = parsePercent(value, '--resolution')
  if (share >= finest) return share
  throw new PlimsollError('PLIM_USAGE', '--resolution is too fine', {
    expected: 'a share of at least 0.1%, such as 5%',
    received: value,
  })
}
