import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { effectiveInterval, tailClustersForInterval } from './autocorrelation.ts'
import { coverageAt, leastCoverage, measuredCoverage } from './coverage.ts'

const page = readFileSync(new URL('../../docs/calibration.md', import.meta.url), 'utf8')

describe('measured coverage', () => {
  it('is what docs/calibration.md says', () => {
    const rows = [...page.matchAll(/^\| (\d+)(?:–\d+| and more) \| [\d,]+ \| (\d+) % \|/gm)].map(
      ([, from, percent]) => ({ fromTailEvents: Number(from), share: Number(percent) / 100 }),
    )
    expect(rows).toEqual(measuredCoverage)
  })

  it('an interval is given only where it was measured to hold at least 80 %', () => {
    expect(
      measuredCoverage
        .filter(({ fromTailEvents }) => fromTailEvents >= tailClustersForInterval)
        .every(({ share }) => share >= leastCoverage),
    ).toBe(true)
    expect(coverageAt(2)).toBeNull()
    expect(coverageAt(4)).toBe(measuredCoverage[0]?.share)
    expect(coverageAt(1e9)).toBe(measuredCoverage.at(-1)?.share)
  })

  it('stands beside the interval, and nowhere else', () => {
    const values = Float64Array.from({ length: 5000 }, (_, i) => (i * 7919) % 5003)
    expect(effectiveInterval(values, '95', '0.95').measuredCoverage).toBeGreaterThan(0.8)
    expect(effectiveInterval(values.subarray(0, 50), '99', '0.95').measuredCoverage).toBeNull()
  })
})
