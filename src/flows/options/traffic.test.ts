import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readConfig } from './read-config.ts'
import { resolveRunConfig } from './resolve.ts'
import { mergeOptions, type RunOptions } from './run-options.ts'
import { parseClass, parseModels, parseScenario, parseSpeed } from './traffic-text.ts'

const fixed = (tokens: number): { kind: 'fixed'; tokens: number } => ({ kind: 'fixed', tokens })

describe('scenarios', () => {
  test.each([
    ['D(900,200)', { prompt: fixed(900), output: fixed(200) }],
    [' d( 1k , 20 ) ', { prompt: fixed(1000), output: fixed(20) }],
    ['N(900,100)/(200,0)', { prompt: { kind: 'normal', mean: 900, sd: 100 }, output: fixed(200) }],
    [
      'U(100,900)/(50,200)',
      { prompt: { kind: 'uniform', low: 100, high: 900 }, output: { kind: 'uniform', low: 50, high: 200 } },
    ],
  ])('%s', (text, lengths) => expect(parseScenario(text)).toEqual(lengths))

  test.each(['D(900)', 'D(0,5)', 'N(900,100)', 'U(9,1)/(1,2)', 'E(1024)', ''])('"%s" is refused', (text) => {
    expect(() => parseScenario(text)).toThrow('--scenario')
  })
})

describe('models', () => {
  test.each([
    [
      'a:3,b:1',
      [
        { name: 'a', weight: 3 },
        { name: 'b', weight: 1 },
      ],
    ],
    [
      'meta/llama:8b:2, base',
      [
        { name: 'meta/llama:8b', weight: 2 },
        { name: 'base', weight: 1 },
      ],
    ],
    ['llama3:8', null],
  ])('%s', (text, models) => expect(parseModels(text)).toEqual(models))

  test('none to ask is refused', () => expect(() => parseModels('a:0,b:0')).toThrow('--model'))

  test('the first is asked before the run', () => {
    expect(resolveRunConfig({ model: 'a:1,b:2' })).toMatchObject({
      model: 'a',
      models: [{ name: 'a' }, { name: 'b' }],
    })
    expect(resolveRunConfig({ model: 'a' })).toMatchObject({ model: 'a', models: [] })
  })
})

test('law: a speed is read with or without its sign', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100_000 }), (hundredths) => {
      const speed = hundredths / 100
      expect(parseSpeed(`${speed}x`)).toBe(speed)
      expect(parseSpeed(String(speed))).toBe(speed)
    }),
  )
  expect(() => parseSpeed('0x')).toThrow('--trace-speed')
})

describe('what is asked', () => {
  test.each<[string, RunOptions, object]>([
    [
      'a trace brings its own times and end',
      { workload: 'trace', workloadPath: 'a.csv', traceSpeed: 2 },
      {
        workload: { kind: 'trace', path: 'a.csv', speed: 2 },
        pacer: { kind: 'schedule', timesMs: [] },
        count: null,
        durationMs: null,
        ignoreEos: true,
      },
    ],
    [
      'a trace at a rate is asked at that rate',
      { workload: 'trace', workloadPath: 'a.csv', rate: 3 },
      { pacer: { kind: 'poisson', ratePerSecond: 3 }, durationMs: 60_000 },
    ],
    ['a shared prefix', { prefixHitRate: 0.6 }, { workload: { kind: 'random', sharedPrefixShare: 0.6 } }],
    [
      'sessions',
      { turns: 4, turnThink: { ms: 2000, kind: 'exponential' } },
      { workload: { kind: 'sessions', turns: 4, thinkTimeMs: 2000, thinkTime: 'exponential' } },
    ],
    [
      'a client that hangs up',
      { cancelShare: 0.1, cancelAfterMs: 500 },
      { cancel: { share: 0.1, afterMs: 500 } },
    ],
    [
      'classes of a mix',
      { classes: [parseClass('chat=3:D(900,200)'), parseClass('code=1:batch:a:b.jsonl')] },
      {
        workload: {
          kind: 'mix',
          classes: [
            { name: 'chat', weight: 3, workload: { kind: 'random', prompt: fixed(900), output: fixed(200) } },
            { name: 'code', weight: 1, workload: { kind: 'batch', path: 'a:b.jsonl', output: null } },
          ],
        },
      },
    ],
  ])('%s', (_sentence, options, config) => expect(resolveRunConfig(options)).toMatchObject(config))

  test.each<[string, RunOptions]>([
    ['a trace without its file', { workload: 'trace' }],
    ['a pause without turns', { turnThink: { ms: 5, kind: 'fixed' } }],
    ['turns of a file', { workload: 'jsonl', workloadPath: 'a', turns: 2 }],
    ['turns that share a prefix', { prefixHitRate: 0.5, turns: 2 }],
    ['a moment to hang up, and nobody who does', { cancelAfterMs: 500 }],
    ['a trace with lengths', { workload: 'trace', workloadPath: 'a', output: fixed(5) }],
    ['a speed of what was not recorded', { traceSpeed: 2 }],
    ['a scenario and a length', { scenario: parseScenario('D(5,5)'), prompt: fixed(5) }],
    ['two shared prefixes', { prefixHitRate: 0.5, sharedPrefixTokens: 100 }],
    ['a shared prefix of a file', { workload: 'jsonl', workloadPath: 'a', prefixHitRate: 0.5 }],
    ['a mix without classes', { workload: 'mix' }],
    ['two classes of one name', { classes: [parseClass('a=1:D(5,5)'), parseClass('a=1:D(6,5)')] }],
    ['classes without weight', { classes: [parseClass('a=0:D(5,5)')] }],
  ])('%s is refused', (_sentence, options) => {
    expect(() => resolveRunConfig(options)).toThrow(expect.objectContaining({ code: 'PLIM_USAGE' }))
  })

  test('the file says the same as the flags', () => {
    const file = readConfig(
      `target: { models: { a: 3, b: 1 } }
workload:
  kind: mix
  classes:
    chat: { weight: 3, scenario: 'D(900,200)', prefix_hit_rate: 60% }
    code: { weight: 1, kind: jsonl, path: code.jsonl }
`,
      'plimsoll.yaml',
    )
    expect(resolveRunConfig(file)).toMatchObject({
      model: 'a',
      models: [
        { name: 'a', weight: 3 },
        { name: 'b', weight: 1 },
      ],
      workload: {
        kind: 'mix',
        classes: [
          { name: 'chat', workload: { kind: 'random', prompt: fixed(900), sharedPrefixShare: 0.6 } },
          { name: 'code', workload: { kind: 'jsonl', path: 'code.jsonl' } },
        ],
      },
    })
    expect(
      resolveRunConfig(mergeOptions(file, { scenario: parseScenario('D(5,6)'), workload: 'random' })),
    ).toMatchObject({
      workload: { kind: 'random', prompt: fixed(5), output: fixed(6) },
    })
    expect(resolveRunConfig(mergeOptions(file, { model: 'c' }))).toMatchObject({ model: 'c', models: [] })
  })

  test('a mistake in a class is told where it stands', () => {
    expect(() =>
      readConfig('workload:\n  kind: mix\n  classes:\n    chat: { weight: 1, scenario: D(9) }\n', 'p.yaml'),
    ).toThrow(
      expect.objectContaining({ code: 'PLIM_CONFIG', where: { file: 'p.yaml', line: 4, column: 34 } }),
    )
  })
})
