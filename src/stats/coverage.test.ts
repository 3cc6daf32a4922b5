import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { coverageAt, leastCoverage, measuredCoverage } from './coverage.ts'
import { effectiveInterval, tailClustersForInterval } from './effective-interval.ts'

const page = readFileSync(new URL('../../docs/calibration.md', import.meta.url), 'utf8')

describe('measured coverage', () => {
  it('is what docs/calibration.md says', () => {
    const rows = [...page.matchAll(/^\| (\d+)(?:–\d+| and more) \| [\d,]+ \| (\d+) % \| (\d+) %/gm)].map(
      ([, from, share, worst]) => ({
        fromTailEvents: Number(from),
        share: Number(share) / 100,
        worst: Number(worst) / 100,
      }),
    )
    expect(rows).toEqual(measuredCoverage)
  })

  it('an interval is given only where it was measured to hold at least 80 %', () => {
    const given = measuredCoverage.filter(({ fromTailEvents }) => fromTailEvents >= tailClustersForInterval)
    expect(given.length).toBeGreaterThan(3)
    expect(given.every(({ share }) => share >= leastCoverage)).toBe(true)
    expect(coverageAt(0.1)).toBeNull()
    expect(coverageAt(1e9)?.share).toBe(measuredCoverage.at(-1)?.share)
  })

  it('no regime with at least 30 shown intervals holds under 80 %', () => {
    const cells = [...page.matchAll(/\| (\d+(?:\.\d+)?) % \| \*\*(\d+(?:\.\d+)?) %\*\* \|/g)]
    expect(cells.length).toBeGreaterThan(80)
    expect(page).toContain('No regime in which at least 30 runs get an interval holds under 80 %.')
  })

  it('stands beside the interval, and nowhere else', () => {
    const values = Float64Array.from({ length: 5000 }, (_, i) => (i * 7919) % 5003)
    expect(effectiveInterval(values, '95', '0.95').measuredCoverage?.share).toBeGreaterThan(0.8)
    expect(effectiveInterval(values.subarray(0, 50), '99', '0.95').measuredCoverage).toBeNull()
  })
})
