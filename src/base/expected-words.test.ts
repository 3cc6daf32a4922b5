import { expect, test } from 'vitest'
import { expectedWords, quotedValue } from './expected-words.ts'

test.each([
  ['one kind', 'string', 'text'],
  ['several, each once', '(string | Object | string)', 'text or a map'],
  ['words of the schema’s own', '("chat" | "completions")', '"chat" or "completions"'],
  ['nothing that it could say', null, 'something else'],
])('%s', (_, expected, words) => expect(expectedWords(expected, 'a map')).toBe(words))

test.each([
  ['a short value whole', [1, 'x'], '[1,"x"]'],
  ['what JSON has no word for', undefined, 'undefined'],
  ['a long one cut, and seen to be', 'y'.repeat(99), `"${'y'.repeat(56)}...`],
])('%s', (_, value, text) => expect(quotedValue(value)).toBe(text))
