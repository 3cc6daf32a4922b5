import { expect, test } from 'vitest'
import { threadCpuReader } from './thread-cpu.ts'

test('CPU time is that of the scheduler, in ms', () => {
  expect(
    threadCpuReader(
      () => '2500000 7 9',
      () => 1,
    )(),
  ).toBe(2.5)
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
  expect(read()).toBe(1)
  ns = 5e6
  expect(read()).toBe(5)
})
