import { describe, expect, it } from 'vitest'
import type { PlannedRequest } from '../workload/planned-request.ts'
import { phaseOf, sendEndMs, windowEndMs } from './load-window.ts'

const window = { warmupMs: 100, measureMs: 200, cooldownMs: 50, drainMs: 1000 }
const until = (times: readonly number[]) =>
  ({ kind: 'open', requests: times.map((plannedMs) => ({ plannedMs }) as PlannedRequest) }) as const
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
  ] as const)('%s', (_, window, plan, end) => expect(windowEndMs(window, plan, 777)).toBe(end))

  it('a stop ends the window, but not before the warm-up is over', () => {
    expect(windowEndMs(window, until([0, 500]), 777, 250)).toBe(250)
    expect(windowEndMs(window, until([0, 500]), 777, 50)).toBe(100)
    expect(windowEndMs(window, until([0, 500]), 777, 900)).toBe(300)
  })
})
