import { expect, test } from 'vitest'
import { deathHelp } from './load-worker.ts'

test.each([
  [
    'for want of open files',
    "Error: EMFILE: too many open files, open '/proc/x'\n    at read",
    /--concurrency.*ulimit -n/,
  ],
  ['of the machine', 'Error: ENFILE: file table overflow', /ulimit -n/],
])('a thread that died %s says what to lower or raise', (_, reason, words) => {
  expect(deathHelp(reason)).toMatch(words)
})

test('of any other death nothing is guessed', () => {
  expect(deathHelp('TypeError: x is not a function')).toBeNull()
  expect(deathHelp('it exited')).toBeNull()
})
