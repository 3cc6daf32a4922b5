import { expect, test } from 'vitest'
import { describeError, PlimsollError } from './errors.ts'

test('what was received is one line of bounded length, whatever a file or a library said', () => {
  const received = `${'x'.repeat(5000)}\nand more`
  const lines = describeError(new PlimsollError('PLIM_CONFIG', 'this is not YAML', { received })).split('\n')
  expect(lines).toHaveLength(2)
  expect(lines[1]).toMatch(/^ {2}received x+…$/)
  expect(lines[1]!.length).toBeLessThan(320)
})

test('what is short stands as it is', () => {
  const error = new PlimsollError('PLIM_NUMBER', 'no number', { received: '"five"', hint: 'say 5' })
  expect(describeError(error)).toBe('PLIM_NUMBER  no number\n  received "five"\n  say 5')
})
