import { expect, it } from 'vitest'
import { describePlanFacts } from './approve-plan.ts'

const facts = {
  requests: 3600,
  durationMs: 600_000,
  peakRequestsPerSecond: 12,
  peakEventsPerSecond: 1_000_000,
  capacityEventsPerSecond: 160_000,
  enough: false,
}

it('says what is needed and what this client can do', () => {
  expect(describePlanFacts('gpu:8000', facts)).toMatchInlineSnapshot(
    `"loads gpu:8000 with 3,600 requests over 10.0 min; needs 1,000,000 events/s at its peak, this client does 160,000, which is NOT enough: the run would be INVALID"`,
  )
})

it('leaves out what is not known', () => {
  const unknown = {
    requests: null,
    durationMs: null,
    peakRequestsPerSecond: null,
    peakEventsPerSecond: null,
    capacityEventsPerSecond: null,
    enough: null,
  }
  expect(describePlanFacts('gpu:8000', unknown)).toMatchInlineSnapshot(
    `"loads gpu:8000 with as many requests as its users send"`,
  )
})
