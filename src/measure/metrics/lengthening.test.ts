import { expect, test } from 'vitest'
import { lengthening } from './lengthening.ts'

const count = { count: true, duration: false }
const duration = { count: false, duration: true }

test.each([
  ['a count ends it', count, 10_000, 200, 40_000, '--num-prompts 10000'],
  ['a duration ends it: 10,000 at 5 a second', duration, 10_000, 100, 20_000, '--duration 35m'],
  ['rounded up, never down: 41 s', duration, 410, 100, 10_000, '--duration 45s'],
  ['just over a minute', duration, 1000, 100, 6100, '--duration 1m10s'],
  ['hours', duration, 100_000, 3, 1000, '--duration 10h'],
  [
    'the first of both would end it',
    { count: true, duration: true },
    1000,
    100,
    3000,
    '--num-prompts 1000 --duration 30s',
  ],
  ['a window without length has no rate', duration, 1000, 1, 0, 'a longer --duration'],
  ['nobody knows what ended it', { count: false, duration: false }, 1000, 1, 5, '--num-prompts 1000'],
])('%s', (_, ends, needed, had, windowMs, flags) => {
  expect(lengthening(ends, needed, had, windowMs)).toBe(flags)
})
