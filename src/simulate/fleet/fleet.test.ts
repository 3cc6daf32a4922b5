import { describe, expect, test } from 'vitest'
import { fleet, resultsOf, tokenServer, traffic } from '../../../test/fixtures/fleet.ts'
import { randomStream } from '../../base/random.ts'
import { arrivalTimes } from '../../measure/load/arrivals.ts'
import { createEngine } from '../engine/engine.ts'
import { defaultEngineConfig, type EngineConfig } from '../engine/engine-config.ts'
import { parseFault } from '../engine/fault-grammar.ts'
import { runVirtual } from '../engine/run-virtual.ts'
import { kubernetesDefaults } from './fleet-spec.ts'
import { simulateFleet, type FleetResult } from './simulate-fleet.ts'

const ttft = (result: FleetResult): number => (result.facts?.firstTokenMs ?? Number.NaN) - result.sentMs

describe('a fleet of one', () => {
  test('gives what its engine gives alone, to the last bit', () => {
    const engine: EngineConfig = {
      ...defaultEngineConfig,
      numGpuBlocks: 400,
      jitterSigma: 0.05,
      frontEndMs: 3,
    }
    const made = traffic(20, {
      arrivals: { kind: 'poisson', ratePerSecond: 20 },
      promptTokens: { kind: 'uniform', low: 50, high: 1500 },
      outputTokens: { kind: 'uniform', low: 2, high: 300 },
    })
    const spec = fleet({ traffic: made }, 1, engine)
    const inFleet = resultsOf(spec)
    const times = arrivalTimes({ kind: 'poisson', ratePerSecond: 20 }, randomStream('1', 'arrivals'))
    const alone = runVirtual(createEngine(engine, randomStream('1', 'engine', 0), { events: 'requests' }), {
      arrivals: inFleet.map((result) => ({
        id: result.number,
        arrivalMs: times.next().value as number,
        promptTokenIds: { length: result.promptTokens, seed: null },
        outputTokens: result.outputTokens,
      })),
    }).sort((a, b) => (a.id as number) - (b.id as number))
    expect(inFleet.length).toBeGreaterThan(150)
    expect(inFleet.map((one) => [one.facts?.firstTokenMs, one.facts?.lastTokenMs])).toEqual(
      alone.map((one) => [one.facts?.firstTokenMs, one.facts?.lastTokenMs]),
    )
  })

  test('an arrival every 8 ms at a server of 10 ms: request k waits 2k ms', () => {
    const results = resultsOf(fleet({ traffic: traffic(125), durationMs: 2000 }))
    expect(results).toHaveLength(250)
    results.forEach((result, k) => expect(ttft(result)).toBeCloseTo(10 + 2 * k, 6))
  })

  test('down for 5 s at 80/s of 100/s: 400 wait, gone 20 s after it is back', () => {
    const spec = fleet({
      traffic: traffic(80),
      durationMs: 60_000,
      faults: [{ kind: 'engine', replica: 0, fault: parseFault('stall 5s at 10s') }],
    })
    const results = resultsOf(spec)
    const blocked = results.filter((result) => result.sentMs >= 10_000)
    expect(ttft(blocked[0] as FleetResult)).toBeCloseTo(5010, -1)
    const atRestart = results.find((result) => result.sentMs >= 15_000) as FleetResult
    expect(ttft(atRestart)).toBeCloseTo(4000, -1.5)
    const calm = blocked.find((result) => result.sentMs > 15_000 && ttft(result) < 15) as FleetResult
    expect(calm.sentMs / 1000).toBeCloseTo(35, 0)
    const { windows } = simulateFleet(spec)
    expect(Math.max(...windows.map((window) => window.mostWaiting))).toBeGreaterThanOrEqual(390)
    expect(Math.max(...windows.map((window) => window.mostWaiting))).toBeLessThanOrEqual(401)
  })
})

describe('routers', () => {
  test('random over two is two servers of half the load: M/D/1 with a wait of ρD/2(1 − ρ)', () => {
    const spec = fleet(
      {
        traffic: traffic(0, { arrivals: { kind: 'poisson', ratePerSecond: 160 } }),
        router: { kind: 'random', signalEveryMs: 0 },
        durationMs: 600_000,
      },
      2,
    )
    const { account } = simulateFleet(spec)
    // ρ = 0.8, D = 10 ms: 20 ms of waiting and 10 of service.
    expect(account.ttft.mean()).toBeGreaterThan(28)
    expect(account.ttft.mean()).toBeLessThan(32)
  })

  test('the least loaded waits less than random, and stale signals take that back', () => {
    const mean = (kind: 'random' | 'least-loaded', signalEveryMs: number): number => {
      const spec = fleet(
        {
          traffic: traffic(0, { arrivals: { kind: 'poisson', ratePerSecond: 640 } }),
          router: { kind, signalEveryMs },
          durationMs: 60_000,
        },
        8,
      )
      return simulateFleet(spec).account.ttft.mean() as number
    }
    expect(mean('least-loaded', 0)).toBeLessThan(0.6 * mean('random', 0))
    expect(mean('least-loaded', 500)).toBeGreaterThan(2 * mean('least-loaded', 0))
  })

  test('what begins alike goes where it is cached', () => {
    const engine = { ...tokenServer, enablePrefixCaching: true, maxNumSeqs: 8, numGpuBlocks: 400 }
    const mean = (kind: 'prefix-aware' | 'round-robin'): number => {
      const spec = fleet(
        {
          traffic: traffic(100, { sharing: { groups: 16, tokens: 960 } }),
          router: { kind, signalEveryMs: 0 },
        },
        4,
        engine,
      )
      return simulateFleet(spec).account.ttft.mean() as number
    }
    expect(mean('prefix-aware')).toBeLessThan(0.7 * mean('round-robin'))
  })
})

describe('faults', () => {
  test('a kill loses what the replica had, running and waiting, and nothing else', () => {
    const spec = fleet(
      {
        traffic: traffic(300),
        faults: [{ kind: 'kill', replica: 1, atMs: 4000, restartMs: null }],
      },
      2,
    )
    const results = resultsOf(spec)
    const lost = results.filter((result) => result.outcome === 'replica_lost')
    // 150/s at 100/s: after 4 s it has 4 · 50 in line and in service.
    expect(lost.length).toBeGreaterThanOrEqual(199)
    expect(lost.length).toBeLessThanOrEqual(201)
    expect(lost.every((result) => result.replica === 1 && result.endMs === 4000)).toBe(true)
    expect(results.filter((result) => result.sentMs > 4000).every((result) => result.replica === 0)).toBe(
      true,
    )
  })

  test('without a replica they wait in front, and a new one takes them in order', () => {
    const spec = fleet({
      faults: [{ kind: 'kill', replica: 0, atMs: 1005, restartMs: 3000 }],
      traffic: traffic(20),
    })
    const results = resultsOf(spec)
    const held = results.filter((result) => result.sentMs > 1005 && result.sentMs < 4005)
    expect(held.length).toBe(60)
    expect(held.every((result) => (result.facts?.firstScheduledMs ?? 0) >= 4005)).toBe(true)
    const firsts = held.map((result) => result.facts?.firstTokenMs ?? 0)
    expect(firsts).toEqual(firsts.toSorted((a, b) => a - b))
  })
})

describe('admission and clients', () => {
  test('what does not fit the line is answered 429, what waits too long 503', () => {
    const spec = fleet({
      traffic: traffic(0, { arrivals: { kind: 'poisson', ratePerSecond: 150 } }),
      admission: { maxInFlightPerReplica: 1, maxQueue: 4, queueTimeoutMs: 30 },
    })
    const { account } = simulateFleet(spec)
    expect(account.lost.shed + account.lost.queue_timeout + account.answered).toBe(account.arrived)
    expect(account.lost.shed).toBeGreaterThan(0)
    expect(account.lost.queue_timeout).toBeGreaterThan(0)
    expect(account.queue.max()).toBeLessThanOrEqual(30)
  })

  test('clients that come again make more load, and each request still has one end', () => {
    const clients = { timeoutMs: 100, retries: 3, backoffMs: 200 }
    const calm = simulateFleet(fleet({ traffic: traffic(150) })).account
    const storm = simulateFleet(fleet({ traffic: traffic(150), clients })).account
    expect(storm.arrived).toBe(calm.arrived)
    expect(storm.attempts).toBeGreaterThan(1.5 * storm.arrived)
    expect(storm.answered + storm.lost.client_timeout).toBe(storm.arrived)
  })
})

describe('the autoscaler', () => {
  const scaler = {
    ...kubernetesDefaults,
    metric: 'in_flight' as const,
    target: '2',
    minReplicas: 1,
    maxReplicas: 10,
    coldStart: { kind: 'fixed' as const, ms: 20_000 },
  }

  test('capacity appears a cold start after the order, and not before', () => {
    const spec = fleet({ traffic: traffic(150), durationMs: 120_000, scaler })
    const { scaleEvents, windows } = simulateFleet(spec)
    const firstUp = scaleEvents[0]?.atMs as number
    expect(firstUp).toBe(15_000)
    const more = windows.find((window) => window.readyReplicas > 1)
    expect(more?.startMs).toBe(firstUp + 20_000)
  })

  test('on the CPU of a pod it never scales, however many wait', () => {
    const spec = fleet({
      traffic: traffic(150),
      durationMs: 120_000,
      scaler: { ...scaler, metric: 'cpu', target: '0.8' },
    })
    const { scaleEvents, windows } = simulateFleet(spec)
    expect(scaleEvents).toEqual([])
    expect(windows.at(-1)?.mostWaiting).toBeGreaterThan(5000)
  })

  test('metrics that are gone keep the replicas that there are', () => {
    const spec = fleet({
      traffic: traffic(150),
      durationMs: 60_000,
      scaler,
      faults: [{ kind: 'metrics', mode: 'dropped', fromMs: 0, untilMs: 1e9 }],
    })
    expect(simulateFleet(spec).scaleEvents).toEqual([])
  })

  test('a warm replica serves at once', () => {
    const spec = fleet({
      traffic: traffic(150),
      durationMs: 60_000,
      scaler: { ...scaler, warmPool: { replicas: 2, readyMs: 1000 } },
    })
    const more = simulateFleet(spec).windows.find((window) => window.readyReplicas > 1)
    expect(more?.startMs).toBe(16_000)
  })
})
