import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  backlog,
  closedThroughput,
  closedUsers,
  drainTime,
  erlangC,
  fifoWait,
  growthFactor,
  littleDiscrepancy,
  mm1,
  multiServer,
  pollaczekKhinchine,
  throughputBound,
} from './queueing.ts'
import {
  elasticity,
  fitScalability,
  flowBalance,
  kleinrockKnee,
  kneedle,
  scalabilityAt,
} from './saturation.ts'
import { backfillOmitted, scheduledClient, stallPercentile, waitingClient } from './stall.ts'
import { windowCounts } from './window.ts'

describe('queues', () => {
  const load = fc.double({ min: 0, max: 0.999, noNaN: true })
  it('one server is M/M/1, more servers wait less, and M/G/1 with c² 1 is M/M/1', () => {
    fc.assert(
      fc.property(load, fc.integer({ min: 1, max: 200 }), (rho, servers) => {
        expect(mm1(rho)?.timeOverService).toBeCloseTo(1 / (1 - rho), 6)
        const few = multiServer(servers, rho)
        const more = multiServer(servers + 1, rho)
        expect(few?.waitProbability).toBeLessThanOrEqual(1)
        expect((more?.waitProbability as number) <= (few?.waitProbability as number) + 1e-12).toBe(true)
        expect(pollaczekKhinchine(rho, 1)).toBeCloseTo(1 / (1 - rho), 6)
      }),
    )
  })
  it('at and above ρ = 1 nothing is steady: null, not Infinity', () => {
    expect([mm1(1), erlangC(4, 1.2), pollaczekKhinchine(1, 1), growthFactor(1, 0.7, 1.43)]).toEqual([
      null,
      null,
      null,
      null,
    ])
    expect(() => mm1(-0.1)).toThrow('utilisation')
    expect(() => multiServer(0, 0.5)).toThrow('servers')
  })
  it('a closed loop and its users are each other', () => {
    expect(closedUsers(closedThroughput(32, 4, 1) as number, 4, 1)).toBe(32)
    expect(closedThroughput(3, 0)).toBeNull()
    expect(littleDiscrepancy(0, 1, 1)).toBeNull()
    expect(littleDiscrepancy(40, 10, 4)).toBe(0)
    expect(throughputBound(1000, 4, 0.1, 1)).toBe(10)
  })
  it('a backlog grows only in overload and drains only below it', () => {
    expect(backlog(5, 8, 60)).toBe(0)
    expect(drainTime(120, 8, 8)).toBeNull()
    expect(drainTime(0, 8, 9)).toBe(0)
    expect(fifoWait(3, 0)).toBeNull()
  })
})

describe('saturation', () => {
  it('a law is found again from its own points', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1, max: 1000, noNaN: true }),
        fc.double({ min: 0.001, max: 0.3, noNaN: true }),
        fc.double({ min: 1e-6, max: 1e-3, noNaN: true }),
        (lambda, sigma, kappa) => {
          const law = { lambda, sigma, kappa, peakLoad: null }
          const found = fitScalability(
            [1, 4, 16, 64, 256].map((n) => ({ load: n, throughput: scalabilityAt(law, n) })),
          )
          expect((found?.lambda as number) / lambda).toBeCloseTo(1, 5)
          expect((found?.sigma as number) / sigma).toBeCloseTo(1, 3)
          expect((found?.kappa as number) / kappa).toBeCloseTo(1, 3)
        },
      ),
    )
    expect(
      fitScalability([
        { load: 1, throughput: 1 },
        { load: 2, throughput: 2 },
      ]),
    ).toBeNull()
  })
  it('no arrivals, no points, no rise', () => {
    expect(flowBalance(0, 0)).toEqual({ ratio: null, z: null, saturated: false })
    expect(flowBalance(20, 15).saturated).toBe(false)
    expect(elasticity(8, 10, 8, 12)).toBeNull()
    expect(kneedle([{ load: 1, throughput: 1 }])).toBeNull()
    expect(kleinrockKnee([])).toBeNull()
  })
})

describe('stalls', () => {
  const experiment = fc.record({
    intervalMs: fc.integer({ min: 1, max: 300 }),
    requests: fc.integer({ min: 1, max: 200 }),
    stallStartMs: fc.integer({ min: 0, max: 10_000 }),
    stallMs: fc.integer({ min: 0, max: 5000 }),
    serviceMs: fc.integer({ min: 0, max: 200 }),
  })
  it('a waiting client never sees more than the scheduled one, and skipping loses requests', () => {
    fc.assert(
      fc.property(experiment, (e) => {
        const open = scheduledClient(e)
        const catching = waitingClient(e, 'catch_up')
        const skipping = waitingClient(e, 'skip')
        expect(open.latenciesMs).toHaveLength(e.requests)
        expect(catching.latenciesMs).toHaveLength(e.requests)
        expect(skipping.latenciesMs.length).toBeLessThanOrEqual(e.requests)
        expect(catching.slow).toBeLessThanOrEqual(1)
        expect(skipping.slow).toBeLessThanOrEqual(1)
        for (const latency of open.latenciesMs) expect(latency).toBeGreaterThanOrEqual(e.serviceMs)
        expect(Math.max(...open.latenciesMs)).toBeLessThanOrEqual(e.serviceMs + e.stallMs)
        expect(scheduledClient({ ...e, stallMs: 0 }).slow).toBe(0)
      }),
    )
  })
  it('a request in service when the server freezes waits it out', () => {
    const one = { intervalMs: 100, requests: 1, stallStartMs: 10, stallMs: 3000, serviceMs: 20 }
    expect(scheduledClient(one).latenciesMs).toEqual([3020])
    expect(scheduledClient({ ...one, stallStartMs: 20 }).latenciesMs).toEqual([20])
  })
  it('back-filling adds what a waiting client left out, and nothing at no interval', () => {
    expect(backfillOmitted([1000], 200)).toEqual([1000, 800, 600, 400, 200])
    expect(backfillOmitted([1000], 0)).toEqual([1000])
    expect(stallPercentile(3, 0.05, 0.9)).toBe(0)
    expect(stallPercentile(3, 0, 0.99)).toBe(0)
  })
  it('a window that is shorter than a request finishes none', () => {
    expect(windowCounts(10, 20, 1)).toEqual({ finishedInside: 0, arrived: 10 })
  })
})
