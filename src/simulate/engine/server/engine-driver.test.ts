import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { monotonicClock, type Clock } from '../../../base/clock.ts'
import { randomStream } from '../../../base/random.ts'
import { defaultEngineConfig } from '../engine-config.ts'
import type { EngineEvent } from '../engine-interface.ts'
import { createEngine } from '../engine.ts'
import { EngineDriver } from './engine-driver.ts'

const real = monotonicClock(performance, () => process.hrtime.bigint())

/** A driver over steps of 2 ms, with the number of times that it read the clock. */
function driver(): { driver: EngineDriver; reads: () => number; events: EngineEvent[] } {
  let reads = 0
  const clock: Clock = {
    originMonotonicNs: real.originMonotonicNs,
    nowMs: () => {
      reads++
      return real.nowMs()
    },
  }
  const events: EngineEvent[] = []
  const config = {
    ...defaultEngineConfig,
    stepTime: { ...defaultEngineConfig.stepTime, baseMs: 2, perTokenMs: 0 },
  }
  const engine = createEngine(config, randomStream(1, 'driver'), { events: 'tokens' })
  return {
    driver: new EngineDriver(engine, clock, (event) => events.push(event)),
    reads: () => reads,
    events,
  }
}

function request(id: number, outputTokens: number): Parameters<EngineDriver['submit']>[0] {
  return { id, arrivalMs: real.nowMs(), promptTokenIds: { length: 10 }, outputTokens }
}

describe('EngineDriver', () => {
  it('tells each token at or after its time, steps reckoned from each other and not from the telling', async () => {
    const { driver: live } = driver()
    const atMs: number[] = []
    const lateMs: number[] = []
    await new Promise<void>((resolve) => {
      live.submit(request(1, 20), {
        onTokens: (_, at) => {
          atMs.push(at)
          lateMs.push(real.nowMs() - at)
        },
        onFinished: () => resolve(),
      })
    })
    expect(lateMs.every((late) => late >= 0)).toBe(true)
    expect(
      atMs.map((at, index) => at - (atMs[0] ?? 0) - 2 * index).every((drift) => Math.abs(drift) < 1e-9),
    ).toBe(true)
    live.stop()
  })

  it('sets no timer and turns no loop while there is nothing to do', async () => {
    const { driver: live, reads } = driver()
    await new Promise<void>((resolve) => {
      live.submit(request(1, 3), { onTokens: () => {}, onFinished: () => resolve() })
    })
    await sleep(5)
    const before = reads()
    await sleep(100)
    expect(reads()).toBe(before)
  })

  it('tells nothing more of a request that was aborted, also from within its own token', async () => {
    const { driver: live, events } = driver()
    let tokens = 0
    live.submit(request(1, 50), {
      onTokens: () => {
        tokens++
        if (tokens === 3) live.abort(1)
      },
      onFinished: () => expect.unreachable(),
    })
    await expect
      .poll(() => events.some((event) => event.kind === 'finished' && event.reason === 'abort'))
      .toBe(true)
    expect(tokens).toBe(3)
    live.stop()
  })

  it('tells nothing after it was stopped', async () => {
    const { driver: live, events } = driver()
    live.submit(request(1, 50), { onTokens: () => {}, onFinished: () => expect.unreachable() })
    live.stop()
    await sleep(20)
    expect(events).toEqual([])
  })
})
