import { expect, it } from 'vitest'
import type { PlannedRequest } from '../workload/planned-request.ts'
import type { LoadPlan } from './load-options.ts'
import { loadPlanFacts } from './plan-facts.ts'

const every = (ms: number, count: number, askedOutputTokens: number | null): LoadPlan => ({
  kind: 'open',
  requests: Array.from(
    { length: count },
    (_, i) => ({ plannedMs: i * ms, askedOutputTokens }) as PlannedRequest,
  ),
})
const closed = (users: number, count: number | null): LoadPlan => ({
  kind: 'closed',
  users,
  count,
  staggerMs: 0,
  requestAt: () => ({}) as PlannedRequest,
})
const window = { warmupMs: 0, measureMs: null, drainMs: 0 }

it('20 requests a second of 128 tokens need 2,560 events a second', () => {
  const facts = loadPlanFacts(every(50, 1200, 128), window, { capacityEventsPerSecond: 160_000 })
  expect(facts).toEqual({
    requests: 1200,
    durationMs: 59_950,
    peakRequestsPerSecond: 20,
    peakEventsPerSecond: 2560,
    capacityEventsPerSecond: 160_000,
    enough: true,
  })
})

it('a million events a second are too many for a client that can do 160,000', () => {
  const facts = loadPlanFacts(every(1, 20_000, 1000), window, { capacityEventsPerSecond: 160_000 })
  expect(facts).toMatchObject({ peakEventsPerSecond: 1_000_000, enough: false })
})

it('the busiest seconds count, not the mean', () => {
  const quiet = every(1000, 60, 10)
  const busy = every(1, 1000, 10)
  if (quiet.kind !== 'open' || busy.kind !== 'open') throw new Error('both are open')
  const shifted = busy.requests.map((one) => ({ ...one, plannedMs: one.plannedMs! + 60_000 }))
  const facts = loadPlanFacts({ kind: 'open', requests: [...quiet.requests, ...shifted] }, window, null)
  expect(facts.peakRequestsPerSecond).toBe(1000)
  expect(facts.peakEventsPerSecond).toBeCloseTo(1009, -1)
  expect(facts.enough).toBe(null)
})

it('what is not known is null: asked lengths, a closed loop without the speed of a stream', () => {
  expect(loadPlanFacts(every(10, 10, null), window, null).peakEventsPerSecond).toBe(null)
  expect(loadPlanFacts(closed(64, null), { ...window, measureMs: 30_000 }, null)).toMatchObject({
    requests: null,
    durationMs: 30_000,
    peakRequestsPerSecond: null,
    peakEventsPerSecond: null,
    enough: null,
  })
  expect(loadPlanFacts(closed(64, 500), window, { capacityEventsPerSecond: 3000 }, 50)).toMatchObject({
    requests: 500,
    durationMs: null,
    peakEventsPerSecond: 3200,
    enough: false,
  })
})
