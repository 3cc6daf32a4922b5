import { expect, it } from 'vitest'
import { noun } from './noun.ts'

it.each([
  ['one is one', 1, 'look'],
  ['none are many', 0, 'looks'],
  ['two are many', 2, 'looks'],
  ['a part of one is many, as it is said', 0.5, 'looks'],
  ['a whole number of any kind', 1n, 'look'],
])('%s', (_, count, word) => {
  expect(noun(count, 'look')).toBe(word)
})

it('takes the plural that is no -s', () => {
  expect([1, 2].map((count) => noun(count, 'query', 'queries'))).toEqual(['query', 'queries'])
})
