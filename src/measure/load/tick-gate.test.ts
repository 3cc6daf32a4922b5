import { expect, it } from 'vitest'
import { tickGate } from './tick-gate.ts'

it('lets the next message through once the loop has gone round, and looks again for what came due before', () => {
  const signals = Int32Array.of(0, 1)
  const later: (() => void)[] = []
  const seen: number[] = []
  const onMessage = tickGate(
    { signals, cell: 1 },
    () => seen.push(signals[1]!),
    (callback) => later.push(callback),
  )
  onMessage()
  expect(seen).toEqual([1])
  expect(signals[1]).toBe(1)
  later.shift()!()
  expect(seen).toEqual([1, 0])
  expect([...signals]).toEqual([0, 0])
  expect(later).toEqual([])
})
