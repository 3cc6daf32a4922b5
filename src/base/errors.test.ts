import { describe, expect, test } from 'vitest'
import { describeError, errorFacts, PlimsollError, restated } from './errors.ts'

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

describe('an error in other words', () => {
  const facts = {
    code: 'PLIM_NUMBER',
    message: 'no number',
    expected: 'a count',
    received: '"five"',
    where: { file: 'a.yaml', line: 2, column: 3 },
    hint: 'say 5',
  } as const
  const error = new PlimsollError(facts.code, facts.message, facts)

  test.each([
    ['nothing is changed', {}, facts],
    [
      'what is changed stands instead',
      { expected: 'a count, or none' },
      { ...facts, expected: 'a count, or none' },
    ],
    [
      'another code and place',
      { code: 'PLIM_CONFIG', where: { file: 'b.yaml' } },
      { ...facts, code: 'PLIM_CONFIG', where: { file: 'b.yaml' } },
    ],
    ['a fact may be taken out', { hint: undefined }, { ...facts, hint: undefined }],
  ] as const)('%s', (_, changes, said) => {
    const other = restated(error, changes)
    expect(errorFacts(other)).toEqual(said)
    expect(other.cause).toBe(error)
  })

  test('the first one can be left behind, with what it says', () => {
    expect(restated(error, { cause: undefined }).cause).toBeUndefined()
  })

  test('it crosses to another process and is the same there', () => {
    const { code, message, ...options } = JSON.parse(JSON.stringify(errorFacts(error))) as typeof facts
    expect(errorFacts(new PlimsollError(code, message, options))).toEqual(facts)
  })

  test('an error of no kind that is known is a fault of plimsoll, and says where it was', () => {
    expect(errorFacts(new TypeError('x is not a function'))).toMatchObject({
      code: 'PLIM_INTERNAL',
      message: expect.stringMatching(/^TypeError: x is not a function\n.*errors\.test/s) as string,
    })
    expect(errorFacts('no')).toEqual({ code: 'PLIM_INTERNAL', message: 'no' })
  })
})
