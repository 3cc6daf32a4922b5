import { describe, expect, it } from 'vitest'
import {
  averagedPercentiles,
  closedLoopOverload,
  coordinatedOmission,
  fewSamples,
  lengthConfounded,
  messagesNotTokens,
  mixShift,
  notSteady,
  prefixCache,
  proxyBuffering,
  pseudoReplication,
  saturatedInFlight,
  survivorsOnly,
  type TrapFinding,
} from './traps.ts'

const growing = Array.from({ length: 60 }, (_, i) => 10 + 2 * i)
const trend = Array.from({ length: 300 }, (_, i) => 100 + i)
const long = { ttftMs: 300, tpotMs: 20, outputTokens: 400 }
const short = { ttftMs: 300, tpotMs: 20, outputTokens: 85 }

describe('each trap that fires has a whole footnote', () => {
  const rows: readonly (readonly [kind: string, finding: TrapFinding])[] = [
    ['coordinated_omission', coordinatedOmission([0, 1], [0, 500], 20)],
    ['closed_loop_overload', closedLoopOverload(32, 4, 10)],
    ['few_samples', fewSamples(200, '99')],
    ['averaged_percentiles', averagedPercentiles([0.6, 3])],
    ['mix_shift', mixShift([0.99, 0.01], [0.9, 0.1], [0, 0], 0.5)],
    ['not_steady', notSteady(trend)],
    ['saturated', saturatedInFlight(growing)],
    ['messages_not_tokens', messagesNotTokens(10, 30)],
    ['length_confounded', lengthConfounded(long, short)],
    ['survivors_only', survivorsOnly(100, 5, '99')],
    ['proxy_buffering', proxyBuffering([0.1, 0.1, 200])],
    [
      'pseudo_replication',
      pseudoReplication([
        [1, 1.1, 0.9],
        [5, 5.1, 4.9],
      ]),
    ],
    ['prefix_cache', prefixCache([280], [30])],
  ]
  it.each(rows)('%s', (kind, { fires, warning }) => {
    expect(fires).toBe(true)
    expect(warning?.kind).toBe(kind)
    expect(warning?.cause).toBeTruthy()
    expect(warning?.next).toBeTruthy()
    expect(JSON.stringify(warning)).not.toMatch(/NaN|Infinity|undefined/)
  })
})

describe('nothing to judge is not a finding', () => {
  it.each([
    ['no requests', coordinatedOmission([], [], 20)],
    ['no cycle', closedLoopOverload(0, 0, 1)],
    ['one percentile', averagedPercentiles([1])],
    ['a percentile of 0', averagedPercentiles([0, 1])],
    ['too short a series', saturatedInFlight([1, 2])],
    ['no messages', messagesNotTokens(0, 5)],
    ['no attempts', survivorsOnly(0, 0, '99')],
    ['no gaps', proxyBuffering([])],
    ['one run', pseudoReplication([[1, 2]])],
    ['no repeats', prefixCache([280], [])],
  ])('%s', (_, finding) => expect(finding).toEqual({ fires: false, stat: null, warning: null }))
})

describe('the edges of the rules', () => {
  it('between 10 and 100 values beyond: shown, with a footnote', () => {
    expect(fewSamples(1000, '99')).toMatchObject({ fires: false, stat: 10, warning: { kind: 'few_samples' } })
    expect(fewSamples(999, '99').fires).toBe(true)
    expect(fewSamples(10_000, '99').warning).toBeNull()
  })
  it('lags of exactly 10 ms are allowed, and half of a slow median', () => {
    expect(coordinatedOmission([0], [10], 20).fires).toBe(false)
    expect(coordinatedOmission([0], [49], 1000).fires).toBe(false)
    expect(coordinatedOmission([0], [51], 1000).fires).toBe(true)
  })
  it('no failure cannot own a percentile', () => {
    expect(survivorsOnly(10, 0, '100')).toMatchObject({ fires: false, stat: 'finite' })
    expect(survivorsOnly(10, 10, '50').stat).toBe('Infinity')
  })
  it('a warm-up is no missing steady state', () => {
    expect(notSteady(Array.from({ length: 300 }, (_, i) => 100 + 60 * Math.exp(-i / 15))).fires).toBe(false)
  })
  it('equal requests are not confounded', () => {
    expect(lengthConfounded(long, long)).toMatchObject({ fires: false, stat: 0 })
  })
})
