import { execFileSync } from 'node:child_process'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { shellLine, shellWord } from './shell-words.ts'

test.each([
  ['a plain word', 'runs/1129-1436-run', 'runs/1129-1436-run'],
  ['an address', 'http://localhost:8000/v1', 'http://localhost:8000/v1'],
  ['an address with a query', 'http://a/v1?x=1&y=2', "'http://a/v1?x=1&y=2'"],
  ['IPv6, which zsh would take for a pattern', 'http://[::1]:8000', "'http://[::1]:8000'"],
  ['an objective', 'p99 tpot <= 10ms', "'p99 tpot <= 10ms'"],
  ['a quote', "it's", "'it'\\''s'"],
  ['nothing', '', "''"],
  ['what zsh would look up', '=ls', "'=ls'"],
  ['a home', '~/x', "'~/x'"],
  ['letters of other scripts', 'läuft', "'läuft'"],
])('%s', (_, word, quoted) => expect(shellWord(word)).toBe(quoted))

test('a shell reads every word back as it was', () => {
  const word = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => !text.includes('\0'))
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 20 }), (words) => {
      const read = execFileSync('sh', ['-c', `printf '%s\\0' ${shellLine(words)}`], { encoding: 'utf8' })
      expect(read.split('\0').slice(0, -1)).toEqual(words)
    }),
    { numRuns: 30 },
  )
})
