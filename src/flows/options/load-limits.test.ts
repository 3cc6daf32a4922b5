import { describe, expect, it } from 'vitest'
import { PlimsollError } from '../../base/errors.ts'
import { parseLength } from './length-text.ts'
import { parsePrefixTokens, parseRequests, parseTurns, parseWaitMs } from './load-limits.ts'
import { parsePacer, positiveDuration } from './pacer-text.ts'
import { parseScenario } from './traffic-text.ts'

const refusal = (read: () => unknown): PlimsollError => {
  try {
    read()
  } catch (error) {
    if (error instanceof PlimsollError) return error
    throw error
  }
  throw new Error('it was read')
}

describe('what no load asks in earnest is refused where it is read, with the limit', () => {
  it.each([
    ['a prompt longer than any context', () => parseLength('99999999', '--prompt'), 'at most 10,000,000'],
    ['a range that ends there', () => parseLength('1..1000M', '--prompt'), 'at most 10,000,000'],
    ['a median there', () => parseLength('lognormal median 1e9 p99 1e10', '--prompt'), 'at most 10,000,000'],
    ['a scenario', () => parseScenario('D(900,1000000000)'), 'at most 10,000,000'],
    ['a prefix', () => parsePrefixTokens('1000000000', '--shared-prefix'), 'at most 1,000,000'],
    ['requests', () => parseRequests('1000000000000', '--num-prompts'), 'at most 5,000,000'],
    ['a burst', () => parsePacer('burst 1000000000 every 5s'), 'at most 5,000,000'],
    ['turns', () => parseTurns('1000000000', '--turns'), 'at most 100,000'],
    ['a test of years', () => positiveDuration('100000000s', '--duration'), 'at most 24d'],
    ['a drain of months', () => parseWaitMs('90d', '--drain'), 'at most 24d'],
  ])('%s', (_, read, expected) => expect(refusal(read)).toMatchObject({ code: 'PLIM_NUMBER', expected }))

  it('the longest contexts that are served are not', () =>
    expect(parseLength('10M', '--prompt')).toEqual({ kind: 'fixed', tokens: 10_000_000 }))
})
