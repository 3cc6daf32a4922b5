import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { choices } from '../../../test/fixtures/engine-loads.ts'
import { fleet, resultsOf, tokenServer, traffic } from '../../../test/fixtures/fleet.ts'
import { parseObjective } from '../../measure/metrics/parse-objective.ts'
import { defaultEngineConfig, type EngineConfig } from '../engine/engine-config.ts'
import type { FleetSpec } from './fleet-spec.ts'
import { simulateFleet, type FleetResult } from './simulate-fleet.ts'

const ttft = (result: FleetResult): number => (result.facts?.firstTokenMs ?? Number.NaN) - result.sentMs

const anyFleet = fc
  .record({
    seed: fc.string({ maxLength: 4 }),
    replicas: fc.integer({ min: 1, max: 4 }),
    perSecond: fc.integer({ min: 1, max: 80 }),
    router: fc.constantFrom('random', 'round-robin', 'least-loaded', 'prefix-aware'),
    signalEveryMs: fc.constantFrom(0, 100),
    cap: fc.constantFrom(null, 1, 4),
    maxQueue: fc.constantFrom(null, 0, 5),
    timeoutMs: fc.constantFrom(null, 300, 2000),
    retries: fc.integer({ min: 0, max: 2 }),
    kill: fc.boolean(),
    drainMs: fc.constantFrom(0, 500, 1e8),
    sharing: fc.constantFrom(null, { groups: 3, tokens: 200 }),
    choice: choices,
  })
  .map((draw): FleetSpec => {
    const engine = {
      ...defaultEngineConfig,
      numGpuBlocks: 120,
      maxNumSeqs: 4,
      maxModelLen: 1000,
      ...draw.choice,
    }
    return fleet(
      {
        seed: draw.seed,
        durationMs: 3000,
        drainMs: draw.drainMs,
        router: { kind: draw.router, signalEveryMs: draw.signalEveryMs },
        traffic: traffic(0, {
          arrivals: { kind: 'poisson', ratePerSecond: draw.perSecond },
          promptTokens: { kind: 'uniform', low: 1, high: 1100 },
          outputTokens: { kind: 'uniform', low: 1, high: 80 },
          sharing: draw.sharing,
        }),
        admission: { maxInFlightPerReplica: draw.cap, maxQueue: draw.maxQueue, queueTimeoutMs: 400 },
        clients: { timeoutMs: draw.timeoutMs, retries: draw.retries, backoffMs: 100 },
        faults: draw.kill ? [{ kind: 'kill', replica: 0, atMs: 1500, restartMs: 700 }] : [],
        objective: parseObjective('ttft < 200ms and tpot < 20ms'),
      },
      draw.replicas,
      engine,
    )
  })

describe('laws', () => {
  test('every request has exactly one end, whatever happens', () => {
    fc.assert(
      fc.property(anyFleet, (spec) => {
        const results: FleetResult[] = []
        const { account, windows } = simulateFleet(spec, { onResult: (result) => results.push(result) })
        const lost = Object.values(account.lost).reduce((sum, count) => sum + count, 0)
        expect(account.answered + lost + account.censored).toBe(account.arrived)
        expect(new Set(results.map((result) => result.number)).size).toBe(account.arrived)
        expect(results).toHaveLength(account.arrived)
        const ends = windows.reduce((sum, window) => sum + window.good + window.bad, 0)
        expect(ends).toBe(account.arrived)
        expect(results.every((result) => result.endMs >= result.sentMs)).toBe(true)
      }),
      { numRuns: 150 },
    )
  })

  test('the same seed gives the same bytes; another order of looking changes nothing', () => {
    fc.assert(
      fc.property(anyFleet, (spec) => {
        const text = (): string => JSON.stringify([simulateFleet(spec).windows, resultsOf(spec)])
        expect(text()).toBe(text())
      }),
      { numRuns: 30 },
    )
  })

  test('whether anybody keeps what became of each request changes no figure, though memory is used again where nobody does', () => {
    fc.assert(
      fc.property(anyFleet, (spec) => {
        const text = (onResult?: () => void): string => {
          const { account, windows, steps } = simulateFleet(spec, onResult === undefined ? {} : { onResult })
          return JSON.stringify([account, windows, steps])
        }
        expect(text()).toBe(text(() => {}))
      }),
      { numRuns: 150 },
    )
  })

  test('lengths do not move when the router draws or jitter is taken away', () => {
    const shape = (change: Partial<FleetSpec>, engine: EngineConfig): Array<[number, number]> =>
      resultsOf(
        fleet(
          {
            traffic: traffic(0, {
              arrivals: { kind: 'poisson', ratePerSecond: 30 },
              promptTokens: { kind: 'uniform', low: 1, high: 900 },
            }),
            ...change,
          },
          3,
          engine,
        ),
      ).map((result) => [result.sentMs, result.promptTokens])
    const plain = shape({}, tokenServer)
    expect(shape({ router: { kind: 'random', signalEveryMs: 0 } }, tokenServer)).toEqual(plain)
    expect(shape({}, { ...tokenServer, jitterSigma: 0.2 })).toEqual(plain)
  })

  test('a replica more never lowers the goodput of the least loaded router', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 20, max: 500 }),
        (replicas, perSecond) => {
          const good = (count: number): number =>
            simulateFleet(
              fleet(
                {
                  traffic: traffic(perSecond),
                  router: { kind: 'least-loaded', signalEveryMs: 0 },
                  objective: parseObjective('ttft < 100ms'),
                },
                count,
              ),
            ).account.good
          expect(good(replicas + 1)).toBeGreaterThanOrEqual(good(replicas))
        },
      ),
      { numRuns: 20 },
    )
  })

  test('G19: a replica that nobody needs changes nothing at all', () => {
    fc.assert(
      fc.property(choices, fc.integer({ min: 1, max: 3 }), (choice, more) => {
        // An arrival every 50 ms, gone after 10: the least loaded, and of equals the first, is always the same one.
        const of = (replicas: number): string =>
          JSON.stringify(
            resultsOf(
              fleet({ traffic: traffic(20), router: { kind: 'least-loaded', signalEveryMs: 0 } }, replicas, {
                ...tokenServer,
                ...choice,
              }),
            ),
          )
        expect(of(1 + more)).toBe(of(1))
      }),
      { numRuns: 20 },
    )
  })

  test('G17: taking the chance out of the drafts moves no arrival, length or route', () => {
    const shape = (acceptRates: readonly number[]): unknown =>
      resultsOf(
        fleet(
          {
            traffic: traffic(0, {
              arrivals: { kind: 'poisson', ratePerSecond: 30 },
              promptTokens: { kind: 'uniform', low: 1, high: 900 },
              outputTokens: { kind: 'uniform', low: 1, high: 30 },
            }),
            router: { kind: 'random', signalEveryMs: 0 },
          },
          3,
          {
            ...tokenServer,
            jitterSigma: 0.2,
            speculative: { draftTokens: acceptRates.length, acceptRates },
          },
        ),
      ).map((result) => [result.sentMs, result.promptTokens, result.outputTokens, result.replica])
    expect(shape([0.5, 0.5])).toEqual(shape([1, 1]))
  })

  test('twice the step time at half the arrivals is the same film at half the speed', () => {
    const film = (factor: number): number[] =>
      resultsOf(
        fleet({ traffic: traffic(90 / factor), durationMs: 10_000 * factor }, 2, {
          ...tokenServer,
          stepTime: { ...tokenServer.stepTime, perTokenMs: 0.01 * factor },
        }),
      ).map((result) => ttft(result) / factor)
    const slow = film(2)
    film(1).forEach((ms, i) => expect(slow[i]).toBeCloseTo(ms, 6))
  })
})
