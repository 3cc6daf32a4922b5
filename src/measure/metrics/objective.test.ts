import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PlimsollError } from '../../base/errors.ts'
import { streamedRow, unsentRow } from '../record/made-rows.ts'
import type { RequestRow } from '../record/request-row.ts'
import { evaluateRequest } from './evaluate-request.ts'
import { describeObjective, type Objective } from './objective.ts'
import { parseObjective } from './parse-objective.ts'

describe('the grammar reads', () => {
  test.each<[string, string, Partial<Objective>]>([
    [
      'two limits on each request, a share of 99 % by default',
      'ttft < 500ms and tpot < 30ms',
      {
        kind: 'slo',
        good: '99%',
        each: [
          { metric: 'ttft', operator: '<', limitMs: 500, limitText: '500ms' },
          { metric: 'tpot', operator: '<', limitMs: 30, limitText: '30ms' },
        ],
      },
    ],
    ['the share in words of percent', 'ttft<=0.5s, good 99.5%', { good: '99.5%' }],
    ['the share first', 'good 95% and e2e < 8.3s', { good: '95%' }],
    [
      'seconds exactly',
      'e2e < 8.3s',
      { each: [{ metric: 'e2e', operator: '<', limitMs: 8300, limitText: '8.3s' }] },
    ],
    [
      'microseconds exactly, a unit apart, any case',
      'TPOT ≤ 150 US',
      { each: [{ metric: 'tpot', operator: '<=', limitMs: 0.15, limitText: '150us' }] },
    ],
    [
      'a limit on the run, which has no share',
      'p99 tpot <= 10ms',
      {
        good: null,
        each: [],
        run: [{ percentile: '99', metric: 'tpot', operator: '<=', limitMs: 10, limitText: '10ms' }],
      },
    ],
    [
      'both kinds at once',
      'ttft < 1s && p99.9 itl <= 250ms',
      {
        good: '99%',
        run: [{ percentile: '99.9', metric: 'gap', operator: '<=', limitMs: 250, limitText: '250ms' }],
      },
    ],
    [
      "vLLM's form: at most, in ms, never failing a run",
      'ttft:500 tpot:30 e2el:3000',
      {
        kind: 'vllm',
        good: null,
        each: [
          { metric: 'ttft', operator: '<=', limitMs: 500, limitText: '500ms' },
          { metric: 'tpot', operator: '<=', limitMs: 30, limitText: '30ms' },
          { metric: 'e2e', operator: '<=', limitMs: 3000, limitText: '3000ms' },
        ],
      },
    ],
    ['other words for the same figures', 'e2el < 3s and ttfc < 2s and ttfb < 1s and latency < 4s', {}],
    ['names of columns', 'ttft_ms < 1s', {}],
  ])('%s: %s', (_, text, wanted) => expect(parseObjective(text)).toMatchObject(wanted))
})

describe('the grammar refuses', () => {
  test.each<[string, string, RegExp, number]>([
    ['a bare number, which could be s or ms', 'ttft < 500', /unit.*500ms or 500s/, 8],
    ['a misspelt figure', 'tppt < 30ms', /tpot/, 1],
    ['a lower limit', 'ttft > 500ms', /upper/, 6],
    ['an unknown unit', 'ttft < 5min', /us, ms or s/, 8],
    ['nothing after the operator', 'ttft <', /time with its unit/, 7],
    ['no operator', 'ttft 500ms', /< or <=/, 6],
    ['an or', 'ttft < 1s or tpot < 3ms', /there is no or/, 11],
    ['a missing and', 'ttft < 1s tpot < 3ms', /put 'and' before tpot/, 11],
    ['a share without its comma', 'ttft < 1s good 95%', /put a comma before good/, 11],
    ['a limit on the run without its comma', 'ttft < 1s p99 tpot < 3ms', /comma, or 'and', before p99/, 11],
    ['a share without a percent sign', 'ttft < 1s, good 99', /good 99%/, 17],
    ['a share as a fraction', 'ttft < 1s, good 0.99', /good 99%/, 17],
    ['a share over 100 %', 'ttft < 1s, good 101%', /100%/, 17],
    ['a share alone', 'good 99%', /limit for each request/, 9],
    ['a mean', 'mean tpot < 3ms', /percentile/, 1],
    ['a percentile of 100', 'p100 tpot < 3ms', /p99.9/, 1],
    ['a limit of nothing', 'ttft < 0ms', /above 0/, 8],
    ['a unit in vLLM’s form', 'ttft:500ms', /unit is ms/, 6],
    ['a figure that vLLM does not have', 'itl:500', /e2el/, 1],
    ['the two forms in one', 'ttft:500 tpot < 30ms', /do not mix/, 15],
    ['one figure twice in vLLM’s form', 'ttft:500 ttft:300', /twice/, 10],
    ['nothing', '  ', /empty|limits such as/, 0],
    ['an and at the end', 'ttft < 1s and', /ttft, ttfc/, 14],
  ])('%s: %s', (_, text, message, column) => {
    let error: unknown
    try {
      parseObjective(text, '--slo')
    } catch (caught) {
      error = caught
    }
    if (!(error instanceof PlimsollError)) throw new Error('it was accepted')
    expect(error.code).toBe('PLIM_OBJECTIVE')
    expect([error.message, error.expected, error.hint].join(' ')).toMatch(message)
    expect(error.where?.column ?? 0).toBe(column)
  })

  test('no text makes it do anything but read or refuse', () => {
    const word = fc.constantFrom(
      'ttft',
      'p99',
      'good',
      '99%',
      '<',
      '<=',
      ':',
      'and',
      ',',
      '500',
      '30ms',
      '.',
      'é',
    )
    const text = fc.oneof(
      fc.string(),
      fc.array(word, { maxLength: 9 }).map((words) => words.join(' ')),
    )
    fc.assert(
      fc.property(text, (given) => {
        let objective: Objective
        try {
          objective = parseObjective(given)
        } catch (error) {
          return error instanceof PlimsollError && error.code === 'PLIM_OBJECTIVE'
        }
        expect(parseObjective(describeObjective(objective))).toEqual(objective)
        return true
      }),
      { numRuns: 2000 },
    )
  })
})

test('what is described reads back as the same', () => {
  const metric = fc.constantFrom('ttft', 'ttfc', 'ttfb', 'tpot', 'e2e', 'gap')
  const operator = fc.constantFrom('<', '<=')
  const duration = fc.tuple(
    fc.integer({ min: 1, max: 99_999 }),
    fc.constantFrom('', '.5', '.125'),
    fc.constantFrom('us', 'ms', 's'),
  )
  const limit = fc.tuple(metric, operator, duration).map(([m, o, [n, f, u]]) => `${m} ${o} ${n}${f}${u}`)
  const runLimit = fc.tuple(fc.constantFrom('50', '90', '99.9'), limit).map(([p, text]) => `p${p} ${text}`)
  const objective = fc
    .tuple(
      fc.array(limit, { maxLength: 4 }),
      fc.array(runLimit, { maxLength: 3 }),
      fc.option(fc.constantFrom('95%', '99.95%')),
    )
    .filter(([each, run]) => each.length + run.length > 0)
    .map(
      ([each, run, good]) =>
        [...each, ...run].join(' and ') + (good !== null && each.length > 0 ? `, good ${good}` : ''),
    )
  fc.assert(
    fc.property(objective, (text) => {
      const parsed = parseObjective(text)
      const described = describeObjective(parsed)
      expect(parseObjective(described)).toEqual(parsed)
      expect(describeObjective(parseObjective(described))).toBe(described)
    }),
  )
  const vllm = parseObjective('tpot:30.5 ttft:500')
  expect(parseObjective(describeObjective(vllm))).toEqual(vllm)
})

describe('one request against its limits', () => {
  const objective = parseObjective('ttft < 500ms and tpot < 30ms')
  const row = (ttft: number, tpot: number | null, also: Partial<RequestRow> = {}): RequestRow => ({
    ...streamedRow({ id: 'a', plannedMs: 0, ttftMs: ttft, gapsMs: tpot === null ? [] : [tpot, tpot] }),
    ...also,
  })
  test.each<[string, RequestRow, string, readonly string[]]>([
    ['within both', row(300, 20), 'good', []],
    ['exactly on a strict limit', row(500, 20), 'bad', ['ttft < 500ms']],
    ['over one', row(499, 31), 'bad', ['tpot < 30ms']],
    ['over both', row(700, 40), 'bad', ['ttft < 500ms', 'tpot < 30ms']],
    ['one token passes TPOT vacuously', row(200, null), 'good', []],
    ['a refusal', { ...unsentRow, outcome: 'shed', http_status: 429 }, 'bad', ['shed']],
    ['a failure, however fast it was', row(10, 1, { ok: false, outcome: 'failed' }), 'bad', ['failed']],
    ['one cut at the end', row(10, 1, { ok: false, outcome: 'censored' }), 'bad', ['censored']],
    [
      'one that was not streamed is unknown, not good',
      row(10, 1, { ttft_ms: null, tpot_ms: null, flags: ['not_streamed'] }),
      'unknown',
      [],
    ],
    [
      'one of an unknown number of tokens',
      row(10, 1, { tpot_ms: null, completion_tokens: null }),
      'unknown',
      [],
    ],
  ])('%s', (_, given, good, reasons) => {
    expect(evaluateRequest(given, objective)).toMatchObject({ good, reasons })
  })

  test('a whole answer over a limit that it can be held to is bad', () => {
    const e2e = parseObjective('e2e < 1s and ttft < 500ms')
    const whole = row(10, 1, { ttft_ms: null, e2e_ms: 1500, flags: ['not_streamed'] })
    expect(evaluateRequest(whole, e2e)).toMatchObject({ good: 'bad', reasons: ['e2e < 1s'] })
  })

  test('the worst gap decides a limit on gaps', () => {
    const gap = parseObjective('itl < 100ms')
    const stalled = streamedRow({ id: 'a', plannedMs: 0, ttftMs: 1, gapsMs: [10, 100, 10] })
    expect(evaluateRequest(stalled, gap).reasons).toEqual(['gap < 100ms'])
  })

  test("vLLM's count is at most, not under", () => {
    expect(evaluateRequest(row(500, 30), parseObjective('ttft:500 tpot:30')).good).toBe('good')
  })
})
