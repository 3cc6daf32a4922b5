import { expect, test } from 'vitest'
import { cpuShare, threadCpuReader } from './thread-cpu.ts'

test('CPU time is that of the scheduler, in ms', () => {
  expect(
    threadCpuReader(
      () => '2500000 7 9',
      () => 1,
    )(),
  ).toBe(2.5)
})

test.each([
  ['counts nothing', '0 0 0\n'],
  ['has nothing to tell', ''],
  ['tells something else', 'unknown'],
])('a kernel that %s is no kernel on which the thread used no CPU: the event loop stands in', (_, text) => {
  expect(
    threadCpuReader(
      () => text,
      () => 7,
    )(),
  ).toBe(7)
})

test('without scheduler statistics the event loop stands in', () => {
  const absent = (): string => {
    throw new Error('ENOENT')
  }
  expect(threadCpuReader(absent, () => 7)()).toBe(7)
})

test('a look that fails for want of files does not end the thread: the next one tells the whole time', () => {
  let ns: number | null = 1e6
  const read = threadCpuReader(
    () => {
      if (ns === null) throw new Error('EMFILE: too many open files')
      return `${ns} 0 0`
    },
    () => 7,
  )
  expect(read()).toBe(1)
  ns = null
  // Not the time of the look before: the difference would be a thread that used no CPU.
  expect(read()).toBeNull()
  ns = 5e6
  expect(read()).toBe(5)
})

test.each<[string, number | null, number | null, number, number | null]>([
  ['half of the time', 10, 510, 1000, 0.5],
  ['the first reading failed', null, 510, 1000, null],
  ['the last reading failed', 10, null, 1000, null],
  ['it is not over yet', 10, 510, 0, null],
  ['the gauge stood still: not 0 %', 10, 10, 1000, null],
])('the share of a core: %s', (_, beganMs, nowMs, elapsedMs, share) => {
  expect(cpuShare(beganMs, nowMs, elapsedMs)).toBe(share)
})
