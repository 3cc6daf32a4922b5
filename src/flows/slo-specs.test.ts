import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { groupsOf, promNumber, rulesOf, undefinedInGroups } from '../operate/slo/rules.ts'
import { edgesAround, lePattern } from '../operate/slo/sli.ts'
import { sloSources } from '../operate/slo/sources.ts'
import { catalogues, metricOfSeries } from '../operate/catalogue/engines.ts'
import type { EngineId } from '../operate/catalogue/catalogue.ts'
import type { PlimsollError } from '../base/errors.ts'
import { promtoolTests } from '../operate/slo/promtool-tests.ts'
import { untestedSlis } from './slo-rules.ts'
import { openSloText } from '../report/slo-openslo.ts'
import { parseRational, rational, toDecimalText } from '../stats/rational.ts'
import { readSloSpecs, type TextFile } from './slo-specs.ts'
import { percentOf } from './slo-shared.ts'

const yaml = (objective: string, slo = ''): { path: string; text: string } => ({
  path: 'f.yaml',
  text: `objectives: { chat: ${objective} }\nslo: { service: s, engine: plimsoll${slo} }\n`,
})

function refusal(read: () => unknown): PlimsollError {
  try {
    read()
  } catch (error) {
    return error as PlimsollError
  }
  throw new Error('nothing was refused')
}

describe('objectives of a file', () => {
  it('limits, share, time, and what a refusal counts as', () => {
    const [spec] = readSloSpecs([
      yaml('{ each: ttft < 500ms and tpot < 30ms, good: 99.5%, over: 28d, shed: ignore }'),
    ])
    expect(spec).toMatchObject({
      service: 's',
      name: 'chat',
      objectiveText: '99.5%',
      period: '28d',
      shed: 'ignore',
      minBad: 3,
    })
    expect(spec?.objective).toEqual(rational(199, 200))
  })

  it.each([
    ['a share without a percent sign', '{ good: 99.5 }', 'did you mean 99.5%?'],
    ['nothing left to spend', '{ good: 100% }', 'leaves no budget'],
    ['a period of another language', '{ over: 1mo }', 'not a duration of Prometheus'],
    ['a percentile', '{ each: p99 ttft < 1s }', 'a limit on a percentile'],
    ['an unknown limit', '{ each: tttft < 1s }', 'cannot be read'],
  ])('refuses %s, with its place', (_, objective, why) => {
    let said = ''
    try {
      readSloSpecs([yaml(objective)])
    } catch (error) {
      const { message, hint, where } = error as { message: string; hint?: string; where?: { line?: number } }
      said = `${message} ${hint ?? ''} line ${where?.line ?? 'none'}`
    }
    expect(said).toContain(why)
    expect(said).toContain('line 1')
  })

  it.each([
    ['0.995', '99.5%'],
    ['0.9', '90%'],
    ['0.9995', '99.95%'],
    ['0.999999', '99.9999%'],
  ])('%s is %s', (share, percent) => expect(percentOf(share)).toBe(percent))
})

describe('rules', () => {
  it('thresholds are exact decimals, and fractions where no decimal ends', () => {
    const numbers = ['0.072', '14/1500', '1/3'].map((text) => promNumber(parseRational(text)))
    expect(numbers).toEqual(['0.072', '(7 / 750)', '(1 / 3)'])
    const [spec] = readSloSpecs([yaml('{ good: 99.9%, over: 28d }')])
    const text = groupsOf(rulesOf(spec!))
      .flatMap(({ rules }) => rules.map(({ expr }) => expr))
      .join('\n')
    expect(text).toContain('> 0.01344\n')
    expect(text).not.toMatch(/\d\.\d{13,}/)
  })

  it.each(Object.keys(sloSources) as EngineId[])(
    '%s: what an objective reads is in the catalogue',
    (engine) => {
      const { latency, answered, joint } = sloSources[engine]
      const names = [
        ...Object.values(latency).map(({ metric }) => `${metric}_bucket`),
        ...(answered === null
          ? []
          : [...answered.total, ...answered.failed, ...(answered.shed ?? [])].map(({ metric }) => metric)),
        ...(joint === null ? [] : [joint.total, joint.good]),
      ]
      expect(names.filter((name) => metricOfSeries(catalogues[engine], name) === null)).toEqual([])
    },
  )

  it('every record that is read is made', () => {
    const specs = readSloSpecs([yaml('{ good: 99.9% }')])
    expect(undefinedInGroups(specs.flatMap((spec) => groupsOf(rulesOf(spec))))).toEqual([])
  })

  it.each([
    ['2', '2|2[.]0', ['2', '2.0'], ['2.5', '20', '12']],
    ['0.5', '0[.]5', ['0.5'], ['0.25', '005']],
    ['0.00005', '0[.]00005|0[.]00005', [], []],
  ])('le %s', (edge, pattern, yes, no) => {
    const made = lePattern(edge)
    const matches = new RegExp(`^(?:${made})$`)
    expect(yes.every((text) => matches.test(text))).toBe(true)
    expect(no.some((text) => matches.test(text))).toBe(false)
    expect(made === pattern || edge === '0.00005').toBe(true)
  })

  // Which limits are a bucket, and between which bounds the others lie (seconds).
  it.each([
    ['vllm', 'vllm:time_to_first_token_seconds', '0.2', '0.1/0.25'],
    ['vllm', 'vllm:time_to_first_token_seconds', '0.5', '='],
    ['vllm', 'vllm:time_to_first_token_seconds', '2', '1/2.5'],
    ['vllm', 'vllm:request_time_per_output_token_seconds', '0.03', '0.025/0.05'],
    ['vllm', 'vllm:request_time_per_output_token_seconds', '0.025', '='],
    ['sglang', 'sglang:time_to_first_token_seconds', '0.5', '0.4/0.6'],
    ['sglang', 'sglang:inter_token_latency_seconds', '0.03', '='],
    ['dynamo', 'dynamo_frontend_time_to_first_token_seconds', '2', '1/2.2'],
    ['dynamo', 'dynamo_frontend_inter_token_latency_seconds', '0.05', '0.045/0.084'],
    ['llm-d', 'llm_d_epp_request_ttft_seconds', '3', '='],
    ['otel', 'gen_ai_server_time_to_first_token_seconds', '3', '2.5/5'],
  ] as const)('%s %s at %s s: %s', (engine, metric, seconds, wanted) => {
    const bounds = catalogues[engine].metrics.find(({ name }) => name === metric)?.buckets ?? null
    const { at, below, above } = edgesAround(bounds, parseRational(seconds))
    expect(at === null ? `${below}/${above}` : '=').toBe(wanted)
  })
})

describe('limits that are no bound', () => {
  const sglang = (slo: string) =>
    readSloSpecs([yaml('{ each: ttft < 500ms, good: 99% }', `, ${slo}`)], {
      engine: 'sglang',
      unreachable: 'refit',
    })
  const refusal = (engine: EngineId, each: string): string => {
    try {
      readSloSpecs([yaml(`{ each: ${each}, good: 99% }`)], { engine, unreachable: 'refit' }).map(rulesOf)
      return ''
    } catch (error) {
      return (error as PlimsollError).hint ?? ''
    }
  }
  it.each<[EngineId, string, string]>([
    ['sglang', 'ttft < 500ms', '--bucket-time-to-first-token 0.1 0.2 0.4 0.5 0.6'],
    [
      'dynamo',
      'ttft < 500ms',
      'DYN_METRICS_TTFT_MIN=0.005 DYN_METRICS_TTFT_MAX=50 DYN_METRICS_TTFT_COUNT=21',
    ],
    ['dynamo', 'ttft < 525ms', 'only for a limit of two significant figures'],
    ['vllm', 'ttft < 600ms', 'has no setting for its buckets'],
    ['sglang', 'ttft < 500ms', 'slo: buckets: { ttft: [0.5, …] }'],
  ])('%s, %s: %s', (engine, each, said) => expect(refusal(engine, each)).toContain(said))
  it('bounds that the engine was told are believed', () => {
    const [spec] = sglang('buckets: { ttft: [0.25, 0.5, 1] }')
    const [ttft] = rulesOf(spec!).watched
    expect(ttft?.sli.between).toBeNull()
    expect(ttft?.sli.bad('5m')).toContain('le=~"0[.]5"')
  })
  it.each(['[0.5, 0.25]', '[0.5, 0.5]', '[0, 1]'])(
    'bounds that do not rise from above 0 are refused: %s',
    (bounds) => expect(() => sglang(`buckets: { ttft: ${bounds} }`)).toThrow('do not rise'),
  )
  it('a native histogram needs none, says how exact it is, and has no tests', () => {
    const [spec] = sglang('histograms: native')
    const rules = rulesOf(spec!)
    const [ttft, answered] = rules.watched
    expect(ttft?.sli.total('5m')).toBe(
      'histogram_count(sum(increase(sglang:time_to_first_token_seconds[5m])))',
    )
    expect(ttft?.sli.bad('5m')).toBe(
      'clamp_min(histogram_count(sum(increase(sglang:time_to_first_token_seconds[5m]))) - (histogram_fraction(-Inf, 0.5, sum(increase(sglang:time_to_first_token_seconds[5m]))) * histogram_count(sum(increase(sglang:time_to_first_token_seconds[5m]))) >= 0 or 0 * histogram_count(sum(increase(sglang:time_to_first_token_seconds[5m])))), 0)',
    )
    expect(ttft?.sli.notes.join(' ')).toContain('9 %')
    expect(untestedSlis(rules)).toEqual([ttft!.sli.id])
    const tests = promtoolTests(rules, 'x.yaml').tests.map(({ name }) => name)
    expect(tests.some((name) => name.startsWith(`${answered!.sli.id}:`))).toBe(true)
    expect(tests.some((name) => name.startsWith(`${ttft!.sli.id}:`))).toBe(false)
    expect(undefinedInGroups(groupsOf(rules))).toEqual([])
  })
  it('the flag does the same', () => {
    const [spec] = readSloSpecs([yaml('{ each: ttft < 470ms, good: 99% }')], {
      engine: 'vllm',
      histograms: 'native',
    })
    expect(spec?.histograms).toBe('native')
  })
})

describe('OpenSLO', () => {
  const own = yaml('{ good: 99.9% }')
    .text.replace('}\n', '}\n')
    .replace('engine: plimsoll', 'counters: { chat: { total: "a_total", bad: "a_total{code=~\\"5..\\"}" } }')
  it('own counters go out and come back the same', () => {
    const [spec] = readSloSpecs([{ path: 'f.yaml', text: own }])
    const text = openSloText(rulesOf(spec!))
    const [back] = readSloSpecs([{ path: 'o.yaml', text }])
    expect(back).toMatchObject({
      own: spec!.own,
      objective: spec!.objective,
      period: '30d',
      service: 's',
      name: 'chat',
    })
  })

  it.each(['sre-workbook', 'lesson'])('the alerts of %s go out and come back the same', (policy) => {
    const [spec] = readSloSpecs([{ path: 'f.yaml', text: own }], { policy })
    const rules = rulesOf(spec!)
    const text = openSloText(rules)
    const kinds = [...text.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind)
    const alerts = rules.policy.tiers.length
    expect(kinds.filter((kind) => kind === 'AlertPolicy')).toHaveLength(alerts)
    expect(kinds.filter((kind) => kind === 'AlertCondition')).toHaveLength(alerts)
    expect(new Set(kinds)).toEqual(
      new Set(['SLO', 'AlertPolicy', 'AlertCondition', 'AlertNotificationTarget']),
    )
    const [back] = readSloSpecs([{ path: 'o.yaml', text }])
    const again = rulesOf(back!)
    expect(again.policy.tiers).toEqual(rules.policy.tiers)
    expect(again.policy.comparator).toBe(rules.policy.comparator)
    expect(again.watched.map(({ group }) => group)).toEqual(rules.watched.map(({ group }) => group))
  })

  const condition = 'kind: AlertCondition\nmetadata: { name: fast }\nspec:\n  severity: sev1\n  condition: '
  const withAlert = (inside: string, slo = 'alertPolicies: [{ alertPolicyRef: p }]'): readonly TextFile[] => {
    const [spec] = readSloSpecs([{ path: 'f.yaml', text: own }])
    const text = openSloText(rulesOf(spec!)).split('---\n')[0]!
    return [
      { path: 'o.yaml', text: `${text.replace(/ {2}alertPolicies:\n( {4}.*\n)*/, '')}  ${slo}\n` },
      {
        path: 'alerts.yaml',
        text: `apiVersion: openslo/v1\nkind: AlertPolicy\nmetadata: { name: p }\nspec: { conditions: [{ conditionRef: fast }] }\n---\napiVersion: openslo/v1\n${condition}${inside}\n`,
      },
    ]
  }
  it.each([
    [
      'a word for a page, and what is met alerts',
      '{ kind: burnrate, threshold: 6, lookbackWindow: 1h }',
      ['page', '1h', '5m', '6', '>='],
    ],
    [
      'how long it has to hold is the short window',
      '{ threshold: 2, op: gt, lookbackWindow: 6h, alertAfter: 45m }',
      ['page', '6h', '45m', '2', '>'],
    ],
    [
      'nothing to wait for',
      '{ threshold: 2, lookbackWindow: 6h, alertAfter: 0m }',
      ['page', '6h', '30m', '2', '>='],
    ],
  ])('in another file: %s', (_, inside, wanted) => {
    const [spec] = readSloSpecs(withAlert(inside))
    const { policy } = rulesOf(spec!)
    const [tier] = policy.tiers
    expect([tier?.severity, tier?.long, tier?.short, toDecimalText(tier!.factor), policy.comparator]).toEqual(
      wanted,
    )
  })
  it('the command line’s policy goes first, and one that does not alert counts for nothing', () => {
    const files = withAlert('{ threshold: 6, lookbackWindow: 1h }')
    const [named] = readSloSpecs(files, { policy: 'lesson' })
    expect(named?.policy).toBe('lesson')
    const quiet = files.map(({ path, text }) => ({
      path,
      text: text.replace('conditions:', 'alertWhenBreaching: false, conditions:'),
    }))
    expect(readSloSpecs(quiet)[0]?.policy).toBe('sre-workbook')
  })
  it.each([
    [
      'a condition that is not there',
      '{ threshold: 6, lookbackWindow: 1h }',
      'alertPolicies: [{ alertPolicyRef: q }]',
      'names q, which is not there',
    ],
    [
      'another kind',
      '{ kind: budget, threshold: 6, lookbackWindow: 1h }',
      undefined,
      'is no burn rate',
      '11:14',
    ],
    [
      'below',
      '{ op: lt, threshold: 6, lookbackWindow: 1h }',
      undefined,
      'fires below its threshold',
      '11:20',
    ],
    ['no threshold', '{ lookbackWindow: 1h }', undefined, 'has no threshold', '11:14'],
    ['no window', '{ threshold: 6, lookbackWindow: 1mo }', undefined, 'not a duration', '11:46'],
  ])('refuses %s, with its place', (_, inside, slo, why, place = '33:19') => {
    const error = refusal(() => readSloSpecs(withAlert(inside, slo)))
    expect(error.message).toContain(why)
    expect(`${error.where?.line}:${error.where?.column}`).toBe(place)
  })

  it.each([
    ['a calendar', 'isRolling: true', 'isRolling: false', 'no rolling window'],
    ['slices of time', 'Occurrences', 'Timeslices', 'budgeting method'],
    ['another version', 'openslo/v1', 'openslo/v2alpha', 'is not openslo/v1'],
    ['a target of 1', 'target: 0.999', 'target: 1', 'cannot be kept'],
    ['a fraction for a percentage', 'target: 0.999', 'targetPercent: 0.999', 'looks like a fraction'],
    ['a gauge', 'counter: true', 'counter: false', 'not made of counters'],
    ['an expression', 'query: a_total{', 'query: rate(a_total{', 'a plain selector'],
  ])('refuses %s', (_, from, to, why) => {
    const [spec] = readSloSpecs([{ path: 'f.yaml', text: own }])
    const text = openSloText(rulesOf(spec!))
    expect(text).toContain(from)
    const error = refusal(() => readSloSpecs([{ path: 'o.yaml', text: text.replace(from, to) }]).map(rulesOf))
    expect(error.message).toContain(why)
    // What only the rules refuse is of no file any more.
    if (why === 'a plain selector') return
    const at = text.indexOf(from) + (from.indexOf(': ') < 0 ? 0 : from.indexOf(': ') + 2)
    expect(error.where).toMatchObject({ file: 'o.yaml', line: text.slice(0, at).split('\n').length })
  })
})

it('a folder that is nothing is no run', async () => {
  const { runBudget } = await import('./slo-budget.ts')
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-norun-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  await expect(runBudget(folder, [{ text: 'ttft < 1s' }], '30d')).rejects.toThrow('holds no run')
})

it.each([
  ['one that was written by init and left as it is', '# objectives:\n#   chat:\n', /commented out/],
  ['an empty one', '', /plimsoll init example.yaml/],
  [
    'one that is about something else',
    'target:\n  url: http://localhost:8000\n',
    /plimsoll init example.yaml/,
  ],
])('a file without objectives is refused with what to do: %s', (_, text, hint) => {
  const error = refusal(() => readSloSpecs([{ path: 'plimsoll.yaml', text }]))
  expect(error).toMatchObject({ code: 'PLIM_CONFIG', hint: expect.stringMatching(hint) })
})
