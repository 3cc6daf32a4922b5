import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { dynamoDefaults, logBuckets, logBucketsAt } from './dynamo-buckets.ts'
import { dynamoCatalogue } from './other-engines.ts'

it.each([
  [
    'ttft',
    '0 .0022 .0047 .01 .022 .047 .1 .22 .47 1 2.2 4.7 10 22 48 100 220 480',
    'time_to_first_token_seconds',
  ],
  ['gap', '0 .0019 .0035 .0067 .013 .024 .045 .084 .16 .3 .56 1.1 2', 'inter_token_latency_seconds'],
  ['e2e', '0 2 4 8 16 32 64 130 260 510', 'request_duration_seconds'],
] as const)('%s: the defaults, as the catalogue has them', (which, bounds, metric) => {
  const made = logBuckets(dynamoDefaults[which])
  expect(made).toEqual(bounds.split(' ').map(Number))
  const known = dynamoCatalogue.metrics.find(({ name }) => name === `dynamo_frontend_${metric}`)
  expect(known?.buckets?.map(Number)).toEqual(made)
})

it('more bounds than two figures can tell apart fall together', () => {
  expect(logBuckets({ min: 1, max: 1.2, count: 50 })).toEqual([0, 1, 1.1, 1.2])
  expect(logBuckets({ min: 1, max: 10, count: 1 })).toEqual([0])
  expect(logBuckets({ min: 1, max: 10, count: 0 })).toEqual([])
})

it('any limit of two figures can be asked for, none of three', () => {
  const figures = fc.record({
    mantissa: fc.integer({ min: 10, max: 99 }),
    power: fc.integer({ min: -5, max: 2 }),
  })
  fc.assert(
    fc.property(figures, ({ mantissa, power }) => {
      const limit = Number(`${mantissa}e${power}`)
      const settings = logBucketsAt(limit)
      expect(settings).not.toBeNull()
      expect(logBuckets(settings!)).toContain(limit)
    }),
  )
  expect(logBucketsAt(0.125)).toBeNull()
  expect(logBucketsAt(0)).toBeNull()
})
