import { describe, expect, test } from 'vitest'
import { describeError, PlimsollError } from '../../base/errors.ts'
import { configTemplate } from './config-template.ts'
import { readConfig } from './read-config.ts'
import { resolveRunConfig, resolveSweepConfig } from './resolve.ts'

function refusal(yaml: string): string {
  try {
    readConfig(yaml, 'plimsoll.yaml')
  } catch (error) {
    if (error instanceof PlimsollError) return describeError(error)
    throw error
  }
  throw new Error('nothing was refused')
}

describe('plimsoll.yaml', () => {
  test('every setting is read', () => {
    const options = readConfig(
      `
target:
  url: http://localhost:8000
  api: completions
  model: auto
  key: { env: MY_KEY }
  headers: { x-team: search, x-try: 2 }
  metrics: [http://a/metrics]
  replica_header: X-Pod
  kv_tokens: 450k
workload:
  kind: random
  prompt: { lognormal: { median: 900, p99: 4096 } }
  output: { mean: 256 }
  ignore_eos: false
  extra_body: { temperature: 0 }
arrivals: { kind: gamma, rate: 90/min, cv: 2, max_connections: 8 }
window: { warmup: auto, measure: 10m, requests: 1000, drain: 60s }
seed: 7
objectives:
  chat: { each: ttft < 500ms and tpot < 30ms, good: 99.5%, over: 30d, shed: ignore }
capacity: { at: p99 tpot <= 10ms, margin: derate:20%, survive: 1, peak: 40/s }
sweep: { rates: [1, 90/min], points: 6, duration_per_point: 1m, confirm: false }
client: { workers: 2, timeouts: { connect: 3s, total: none }, keep_text: true }
output: { name: x, runs_dir: r, percentiles: [50, 99.9], percentile_type: "7", metadata: { a: 1 } }
engine: { max_num_seqs: 64, prefix_caching: false, chunked_prefill: true }
faults: [stall 3s at 10s]
`,
      'plimsoll.yaml',
    )
    expect(options).toEqual({
      url: 'http://localhost:8000',
      api: 'completions',
      model: 'auto',
      keyEnv: 'MY_KEY',
      headers: { 'x-team': 'search', 'x-try': '2' },
      metricsUrls: ['http://a/metrics'],
      replicaHeader: 'x-pod',
      kvTokens: 450_000,
      workload: 'random',
      prompt: { kind: 'lognormal', median: 900, p99: 4096 },
      output: { kind: 'fixed', tokens: 256 },
      ignoreEos: false,
      extraBody: { temperature: 0 },
      pacer: { kind: 'gamma', ratePerSecond: 1.5, cv: 2 },
      concurrency: 8,
      warmupMs: 'detect',
      durationMs: 600_000,
      count: 1000,
      drainMs: 60_000,
      seed: '7',
      objectives: [
        {
          name: 'chat',
          text: 'ttft < 500ms and tpot < 30ms',
          good: '99.5%',
          form: 'plimsoll',
          shedIsBad: false,
        },
      ],
      capacityObjective: 'p99 tpot <= 10ms',
      axis: 'rate',
      loads: [1, 1.5],
      maxPoints: 6,
      pointDurationMs: 60_000,
      confirm: false,
      workers: 2,
      connectTimeoutMs: 3000,
      totalTimeoutMs: null,
      keepText: true,
      name: 'x',
      runsDir: 'r',
      percentiles: ['50', '99.9'],
      percentileType: '7',
      metadata: { a: '1' },
      engineSettings: { 'max-num-seqs': '64', 'no-prefix-caching': true, 'chunked-prefill': true },
      faults: ['stall 3s at 10s'],
    })
  })

  test.each([
    ['constant', '{ kind: constant, rate: 6 }', { kind: 'constant', ratePerSecond: 6 }],
    ['poisson', '{ kind: poisson, rate: 6/s }', { kind: 'poisson', ratePerSecond: 6 }],
    [
      'a ramp from nothing',
      '{ kind: ramp, from: 0, to: 10/s, over: 5m, spacing: poisson }',
      { kind: 'ramp', fromPerSecond: 0, toPerSecond: 10, durationMs: 300_000, spacing: 'poisson' },
    ],
    [
      'steps',
      '{ kind: steps, steps: [{ rate: 1/s, for: 30s }, { rate: 0, for: 10s }] }',
      {
        kind: 'steps',
        steps: [
          { ratePerSecond: 1, durationMs: 30_000 },
          { ratePerSecond: 0, durationMs: 10_000 },
        ],
      },
    ],
    ['bursts', '{ kind: burst, size: 10, every: 5s }', { kind: 'burst', size: 10, everyMs: 5000 }],
    [
      'users',
      '{ kind: users, users: 32, think: 1s, think_time: exponential, stagger: 2s }',
      { kind: 'concurrency', users: 32, thinkTimeMs: 1000, thinkTime: 'exponential', staggerMs: 2000 },
    ],
  ])('arrivals: %s', (_, arrivals, pacer) => {
    expect(readConfig(`arrivals: ${arrivals}`, 'plimsoll.yaml').pacer).toEqual(pacer)
  })

  test.each([
    [
      'a misspelt key',
      'target:\n  ulr: x\n',
      ['PLIM_CONFIG  unknown key target.ulr', 'at plimsoll.yaml:2:3', 'did you mean url?'],
    ],
    [
      'at the top',
      'seed: 1\ntargt: {}\n',
      ['unknown key targt', 'plimsoll.yaml:2:1', 'did you mean target?'],
    ],
    [
      'within one kind of arrivals',
      'arrivals: { kind: gamma, rate: 6/s, vc: 2 }\n',
      ['unknown key arrivals.vc', 'plimsoll.yaml:1:37', 'did you mean cv?'],
    ],
    [
      'in a form of lengths',
      'workload:\n  prompt: { lognorml: { median: 9, p99: 40 } }\n',
      ['unknown key workload.prompt.lognorml', 'plimsoll.yaml:2:13', 'did you mean lognormal?'],
    ],
    [
      'a word that is none',
      'target: { api: chta }\n',
      [
        'target.api cannot be this',
        'plimsoll.yaml:1:16',
        'expected "chat" or "completions"',
        'received "chta"',
        'did you mean chat?',
      ],
    ],
    [
      'a kind that is none',
      'arrivals:\n  kind: poison\n  rate: 6/s\n',
      ['arrivals.kind cannot be this', 'plimsoll.yaml:2:9', 'did you mean poisson?'],
    ],
    [
      'something missing',
      'workload:\n  prompt: { normal: { mean: 900 } }\n',
      ['workload.prompt.normal.sd is missing', 'plimsoll.yaml:2:13'],
    ],
    [
      'a list where a map belongs',
      'target: [a]\n',
      ['target cannot be this', 'plimsoll.yaml:1:9', 'expected a map', 'received ["a"]'],
    ],
    [
      'a text that cannot be read',
      'arrivals: { kind: poisson, rate: six }\n',
      ['arrivals.rate cannot be read', 'plimsoll.yaml:1:34', 'received "six"'],
    ],
    [
      'a time without unit',
      'window: { measure: 10 }\n',
      ['window.measure cannot be read', 'plimsoll.yaml:1:20', 'say 10s or 10ms'],
    ],
    [
      'a share over all',
      'objectives:\n  chat: { each: a, good: 150% }\n',
      ['objectives.chat.good cannot be read', 'plimsoll.yaml:2:26'],
    ],
    [
      'a pacer that cannot run',
      'arrivals: { kind: gamma, rate: 6/s, cv: -1 }\n',
      ['gamma pacer cannot run', 'plimsoll.yaml:1:11'],
    ],
    ['no map at all', '- a\n', ['is not a map of settings', 'plimsoll.yaml:1:1']],
    ['no YAML', 'seed: [1\n', ['this is not YAML', 'plimsoll.yaml:2:1']],
    ['a key twice', 'seed: 1\nseed: 2\n', ['this is not YAML', 'plimsoll.yaml:2:1', 'each key once']],
  ])('%s is told with its place', (_, yaml, said) => {
    const text = refusal(yaml)
    for (const part of said) expect(text).toContain(part)
  })

  test.each([
    ['a folder further down', 'bench/plimsoll.yaml', 'bench/'],
    ['here', 'plimsoll.yaml', ''],
    ['elsewhere', '/etc/plimsoll.yaml', '/etc/'],
  ])('files that it names stand beside it: %s', (_, file, folder) => {
    const text = `
target: { ca: own.pem }
workload:
  kind: mix
  body_template: body.json
  tokenizer: /models/tokenizer.json
  classes: { code: { weight: 1, kind: jsonl, path: code.jsonl } }
`
    expect(readConfig(text, file)).toMatchObject({
      caFile: `${folder}own.pem`,
      bodyTemplatePath: `${folder}body.json`,
      tokenizerPath: '/models/tokenizer.json',
      classes: [{ workloadPath: `${folder}code.jsonl` }],
    })
    expect(readConfig('workload: { kind: trace, path: t.csv }', file).workloadPath).toBe(`${folder}t.csv`)
  })

  test('a file that says nothing is refused; an empty map says the defaults', () => {
    for (const [text, received] of [
      ['', 'an empty file'],
      ['# nothing\n', 'nothing beside comments'],
    ] as const) {
      const told = refusal(text)
      expect(told).toContain('the file holds no settings')
      expect(told).toContain(received)
      expect(told).toContain('plimsoll init example.yaml')
    }
    expect(readConfig('{}', 'plimsoll.yaml')).toEqual({})
  })

  test('what init writes changes nothing, and each of its examples can be used', () => {
    expect(configTemplate.split('\n')[0]).toBe(
      '# yaml-language-server: $schema=./node_modules/plimsoll/schema/config.schema.json',
    )
    const written = readConfig(configTemplate, 'plimsoll.yaml')
    const { drainMs, ...run } = resolveRunConfig(written)
    expect({ ...run, drainMs }).toEqual(resolveRunConfig({}))
    expect(resolveSweepConfig(written).run.objectives).toEqual(resolveSweepConfig({}).run.objectives)
  })

  test('each commented example of what init writes can be used', () => {
    const lines = configTemplate.split('\n')
    const example = /^( *)# ( *)([a-z_]+): /
    for (const [index, line] of lines.entries()) {
      const [, outer, inner, key] = example.exec(line) ?? []
      if (outer === undefined || key === undefined) continue
      // The example stands where it is written, without the setting that it replaces; of a commented group the head comes along.
      const head = inner === '' ? null : lines.slice(0, index).findLast((one) => /^# [a-z]+:$/.test(one))
      const kept = lines.filter((one) => !one.startsWith('#') && !(outer === '' && one.startsWith(`${key}:`)))
      const after = kept.indexOf(lines.slice(0, index).findLast((one) => kept.includes(one)) ?? '')
      const put = [
        ...(head === null || head === undefined ? [] : [head.slice(2)]),
        line.replace(/^( *)# /, '$1'),
      ]
      const yaml = [...kept.slice(0, after + 1), ...put, ...kept.slice(after + 1)].join('\n')
      expect(() => readConfig(yaml, `line ${index + 1} of the template`)).not.toThrow()
    }
  })
})
