import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sixPerSecond, summary } from '../../test/fixtures/documents.ts'
import type { Warning, WarningKind } from '../base/warnings.ts'
import type { Verdict } from '../judge/verdict.ts'
import { rankOf } from './explain.ts'
import { footnoteMark, footnotes } from './footnotes.ts'
import { runPage } from './html-run.ts'
import { figure, figureFormat, intervalText } from './metric-rows.ts'
import { printable } from './printable.ts'
import type { RunProgress } from './progress.ts'
import { bar, renderProgress, renderProgressLine } from './render-progress.ts'
import { renderRun } from './render-run.ts'
import { countsLine, instrumentLine, throughputLine } from './run-lines.ts'
import { warningLine, warningTexts } from './warning-text.ts'

const plain = { color: false, explain: false }

function reason(rule: string, message: string): Verdict['reasons'][number] {
  return { rule, status: 'DEGRADED', message, value: null, limit: null }
}

describe('warnings', () => {
  const kinds = [
    ...readFileSync(new URL('../base/warnings.ts', import.meta.url), 'utf8').matchAll(/^ {2}\| '(\w+)'/gm),
  ].map((match) => match[1] as WarningKind)

  test('each kind has a text, and no text is without a kind', () => {
    expect(kinds.length).toBeGreaterThan(30)
    expect(Object.keys(warningTexts).sort()).toEqual([...kinds].sort())
    for (const { why } of Object.values(warningTexts)) expect(why.length).toBeGreaterThan(10)
  })

  test.each(kinds)('%s is printed as a footnote with its evidence, in every kind of report', (kind) => {
    const warning: Warning = { kind, message: `evidence of ${kind}`, cause: null, next: null, evidence: {} }
    for (const document of [
      sixPerSecond,
      {
        ...sixPerSecond,
        metrics: {},
        weighting: { per_request: null, per_token: null },
        little: null,
        goodput: null,
      },
    ]) {
      const text = renderRun({ ...document, warnings: [warning] }, plain)
      const line = text.split('\n').find((one) => one.includes(`evidence of ${kind}`))
      expect(line).toMatch(/^[⁰¹²³⁴-⁹]+ evidence of/)
      // Its mark stands somewhere above.
      expect(text.slice(0, text.indexOf(line!))).toContain(line!.split(' ')[0]!)
    }
  })

  test.each<[string, Verdict['reasons'], readonly string[]]>([
    ['no reason says it', [], ['broken at 1', 'broken at 2', 'drift']],
    [
      'a reason says the first, in words of its own',
      [reason('file_broken', 'a part of the file is not there')],
      ['broken at 2', 'drift'],
    ],
    [
      'a reason of another rule says none, though it begins with the same words',
      [reason('not_steady', 'broken at 1, and drift')],
      ['broken at 1', 'broken at 2', 'drift'],
    ],
  ])('what a reason of the verdict says in full is no footnote too: %s', (_, reasons, left) => {
    const warning = (kind: WarningKind, message: string): Warning => {
      return { kind, message, cause: null, next: null, evidence: {} }
    }
    const warnings = [
      warning('file_truncated', 'broken at 1'),
      warning('file_truncated', 'broken at 2'),
      warning('not_steady', 'drift'),
    ]
    const document = { ...sixPerSecond, verdict: { status: 'DEGRADED' as const, reasons }, warnings }
    const notes = renderRun(document, plain).match(/^[¹²³⁴-⁹]+ (?:broken at \d|drift)/gm) ?? []
    expect(notes.map((line) => line.replace(/^\S+ /, '')).sort()).toEqual(left)
  })

  test('the warning’s own cause and advice come before those of its kind', () => {
    const warning: Warning = { kind: 'few_samples', message: 'm', cause: 'c', next: '--n', evidence: {} }
    expect(warningLine(warning)).toBe('m: c → --n')
    expect(warningLine({ ...warning, cause: null, next: null })).toBe(
      `m: ${warningTexts.few_samples.why} → --duration`,
    )
  })
})

describe('footnotes', () => {
  test('are numbered as they are met; the same text is one', () => {
    const notes = footnotes()
    expect([notes.mark('a'), notes.mark('b'), notes.mark('a')]).toEqual(['¹', '²', '¹'])
    expect(notes.lines()).toEqual(['¹ a', '² b'])
    expect(footnoteMark(120)).toBe('¹²⁰')
  })
})

describe('figures', () => {
  test.each([
    [
      'an interval of ± 57 ms leaves whole ms',
      { p50: 212, ci: { p99: [790, 904] } },
      836.4,
      '836 ms',
      '[790, 904]',
    ],
    [
      'one of ± 1.6 ms leaves a tenth',
      { p50: 19.8, ci: { p99: [37.06, 40.21] } },
      38.41,
      '38.4 ms',
      '[37.1, 40.2]',
    ],
    [
      'over 2 s it is seconds',
      { p50: 4121, ci: { p99: [14_103, 16_010] } },
      14_893,
      '14.9 s',
      '[14.1, 16.0]',
    ],
    [
      'a median of 0.4 ms is not 0 ms, however wide the tail',
      { p50: 0.42, ci: { p99: [9.2, 28.4] } },
      0.42,
      '0.4 ms',
      '[9.2, 28.4]',
    ],
    ['no interval: three figures', { p50: 16.93 }, 71.04, '71.0 ms', '[?, ?]'],
    ['an end that the sample cannot give', { p50: 212, ci: { p99: [790, null] } }, 836, '836 ms', '[790, ?]'],
  ] as const)('%s', (_, over, ms, printed, interval) => {
    const one = summary({ n: 100, ...(over as object) })
    const format = figureFormat(one)
    expect(figure(ms, format)).toBe(printed)
    expect(intervalText(one.ci['p99'] ?? [null, null], format)).toBe(interval)
  })

  test('ranks are exact', () => {
    expect(rankOf(1000, 'p99_9')).toBe(999n)
    expect(rankOf(100, 'p55')).toBe(55n)
    expect(rankOf(1, 'p50')).toBe(1n)
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 ** 9 }),
        fc.integer({ min: 1, max: 99_999 }),
        (n, thousandths) => {
          const key = `p${Math.floor(thousandths / 1000)}_${String(thousandths % 1000).padStart(3, '0')}`
          const rank = rankOf(n, key)
          // The least rank whose share of n is at least p.
          expect(rank * 100_000n >= BigInt(n) * BigInt(thousandths)).toBe(true)
          expect(rank === 1n || (rank - 1n) * 100_000n < BigInt(n) * BigInt(thousandths)).toBe(true)
        },
      ),
    )
  })

  test.each([
    ['answers in the window', 6, 3, 5, 'throughput 6 req/s, 20 tok/s out, – tok/s in over the window of 10s'],
    [
      'none of them: not a rate of 0',
      0,
      3,
      null,
      'throughput 20 tok/s out, – tok/s in over the window of 10s; – req/s: every answer ended after it',
    ],
    ['nothing succeeded: 0 it is', 0, 0, null, 'throughput 0 req/s, 20 tok/s out over the window of 10s'],
    [
      'goodput above it',
      5.13,
      3,
      5.6,
      'throughput 5.13 req/s, 20 tok/s out, – tok/s in over the window of 10s (what ended in it; goodput: what was sent in it)',
    ],
  ])('throughput: %s', (_, rate, ok, good, line) => {
    const document = {
      ...sixPerSecond,
      window_counts: { ...sixPerSecond.window_counts, ok },
      throughput: {
        window_s: 10,
        requests_per_s: rate,
        output_tokens_per_s: 20,
        input_tokens_per_s: null,
      },
      goodput: good === null ? null : { ...sixPerSecond.goodput!, per_s: good },
    }
    expect(throughputLine(document)).toBe(line)
    expect(renderRun(document, plain).split('\n')[0]).not.toMatch(ok > 0 ? / 0 req/ : /–/)
  })

  test.each<[string, number | null, number, string]>([
    ['of one thread', 0.31, 1, 'its core at 31 %'],
    ['of the busiest of several', 0.31, 4, 'its busiest core at 31 %'],
    ['so little that it is under a per cent', 0.0032, 1, 'its core at 0.3 %'],
    ['that cannot be read', null, 1, 'CPU unknown'],
    ['that an earlier version wrote as 0 where it could not be read', 0, 1, 'CPU unknown'],
  ])('the CPU of the client, %s', (_, share, workers, words) => {
    const client = { ...sixPerSecond.client, workers }
    const document = { ...sixPerSecond, client: { ...client, cpu: { ...client.cpu, worker_max: share } } }
    expect(instrumentLine(document).split(/[,;] /)).toContain(words)
    expect(instrumentLine(document)).not.toMatch(/ 0 %/)
    expect(runPage(document, [])).toContain(words)
  })

  test('counts that do not add up are shouted about', () => {
    expect(countsLine(sixPerSecond)).not.toContain('ADD UP')
    expect(countsLine({ ...sixPerSecond, counts: { ...sixPerSecond.counts, ok: 3420 } })).toContain(
      'THIS DOES NOT ADD UP (3,599)',
    )
  })

  test('a server cannot write to the terminal', () => {
    expect(printable('a\u001B[2Jb\r\nc\u202Ed')).toBe('a [2Jb  c d')
    const evil = {
      ...sixPerSecond,
      target: { ...sixPerSecond.target, model: '\u001B[2J' },
      stopped: { kind: 'early', why: '\u0007' },
    } as const
    // eslint-disable-next-line no-control-regex
    expect(renderRun(evil, plain)).not.toMatch(/[\u0000-\u0009\u000B-\u001F]/)
  })
})

const progress: RunProgress = {
  label: 'measuring',
  elapsedMs: 372_000,
  totalMs: 600_000,
  planned: 3600,
  sent: 2240,
  done: 2238,
  ok: 2126,
  failed: 0,
  shed: 112,
  askedPerSecond: 6,
  sentPerSecond: 6.02,
  ttftP50Ms: 212.4,
  tpotP50Ms: 19.83,
  lagP99Ms: 0.42,
  leftMs: 228_000,
}

describe('progress', () => {
  test('on a terminal', () => {
    expect(renderProgress(progress, 250)).toBe(
      '  6m12s / 10m   ███████████▏         measuring   2,238 of 3,600   6 req/s asked, 6.02 sent   TTFT p50 212 ms   TPOT p50 19.8 ms   5.0 % refused   client lag p99 0.420 ms   3m48s left',
    )
  })

  test('in a log', () => {
    expect(renderProgressLine(progress)).toBe(
      '6m12s of 10m, measuring, 2,238 of 3,600, 6 req/s asked, 6.02 sent, TTFT p50 212 ms, TPOT p50 19.8 ms, 5.0 % refused, client lag p99 0.420 ms, 3m48s left',
    )
  })

  test('what is not known is left out', () => {
    const early = {
      ...progress,
      totalMs: null,
      planned: null,
      done: 0,
      shed: 0,
      ttftP50Ms: null,
      tpotP50Ms: null,
      lagP99Ms: null,
      leftMs: null,
      askedPerSecond: null,
      sentPerSecond: null,
      elapsedMs: 0,
    }
    expect(renderProgressLine(early)).toBe('0s, measuring, 0 done')
  })

  test('law: never as wide as the terminal', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), (columns) => {
        expect(Array.from(renderProgress(progress, columns)).length).toBeLessThan(Math.max(columns, 1))
      }),
    )
  })

  /** Eighths that are black: █ is 8, ▏ is 1. */
  const filled = (text: string): number =>
    Array.from(text).reduce((sum, sign) => sum + (sign === ' ' ? 0 : 0x2590 - (sign.codePointAt(0) ?? 0)), 0)

  test('law: a bar has its width, and grows with its share', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -1, max: 2, noNaN: true }),
        fc.integer({ min: 1, max: 40 }),
        (share, width) => {
          expect(Array.from(bar(share, width))).toHaveLength(width)
          expect(filled(bar(share, width))).toBeLessThanOrEqual(filled(bar(share + 0.3, width)))
        },
      ),
    )
    expect([bar(0, 4), bar(0.5, 4), bar(1, 4)]).toEqual(['    ', '██  ', '████'])
  })
})
