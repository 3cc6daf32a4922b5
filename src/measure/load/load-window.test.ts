import { describe, expect, it } from 'vitest'
import type { PlannedRequest } from '../workload/planned-request.ts'
import { phaseOf, sendEndMs, windowEndMs } from './load-window.ts'

const window = { warmupMs: 100, measureMs: 200, cooldownMs: 50, drainMs: 1000 }
const until = (times: readonly number[]) =>
  ({ kind: 'open', requests: times.map((plannedMs) => ({ plannedMs }) as PlannedRequest) }) as const
const usedUp = (times: readonly number[]) => ({ ...until(times), usedUp: true }) as const
const ended = { lastDoneMs: 777, sent: 9, stoppedAtMs: Number.POSITIVE_INFINITY }
const closed = {
  kind: 'closed',
  users: 1,
  count: 9,
  staggerMs: 0,
  requestAt: () => ({}) as PlannedRequest,
} as const

describe('phaseOf', () => {
  it.each([
    ['the start is warm-up', 0, 'warmup'],
    ['the last moment of the warm-up', 99.999, 'warmup'],
    ['its end is already measured', 100, 'measure'],
    ['the end of the window is outside it', 300, 'drain'],
    ['what was never meant for a time is outside', null, 'drain'],
  ] as const)('%s', (_, plannedMs, phase) => expect(phaseOf(plannedMs, window)).toBe(phase))

  it('without a length everything behind the warm-up is measured', () => {
    expect(phaseOf(1e9, { ...window, measureMs: null })).toBe('measure')
  })
})

describe('the ends', () => {
  it('nothing is sent behind warm-up, window and cool-down', () => {
    expect(sendEndMs(window)).toBe(350)
    expect(sendEndMs({ ...window, measureMs: null })).toBe(null)
  })

  it.each([
    ['a given length decides', window, until([0, 500]), 300],
    [
      'n sends at a constant rate take n gaps',
      { ...window, warmupMs: 0, measureMs: null },
      until([0, 50, 100, 150]),
      200,
    ],
    [
      'a burst lasts until its last answer',
      { ...window, warmupMs: 0, measureMs: null },
      until([0, 0, 0]),
      777,
    ],
    ['so does a single request', { ...window, warmupMs: 0, measureMs: null }, until([5]), 777],
    ['so does a closed loop', { ...window, warmupMs: 0, measureMs: null }, closed, 777],
    ['never before the warm-up is over', { ...window, warmupMs: 2000, measureMs: null }, closed, 2000],
    ['nothing left to send ends it earlier', { ...window, measureMs: 900 }, usedUp([0, 150, 300]), 450],
    ['but never later than the length that was given', window, usedUp([0, 150, 300]), 300],
    ['a closed loop that has sent its last', { ...window, measureMs: 900 }, closed, 777],
    ['a closed loop that goes on', { ...window, measureMs: 900 }, { ...closed, count: 10 }, 1000],
  ] as const)('%s', (_, window, plan, end) => expect(windowEndMs(window, plan, ended)).toBe(end))

  it('a stop ends the window, but not before the warm-up is over', () => {
    const stopped = (stoppedAtMs: number): number =>
      windowEndMs(window, until([0, 500]), { ...ended, stoppedAtMs })
    expect(stopped(250)).toBe(250)
    expect(stopped(50)).toBe(100)
    expect(stopped(900)).toBe(300)
  })
})
