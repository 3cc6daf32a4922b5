import { describe, expect, it } from 'vitest'
import { streamedRow, unsentRow } from '../measure/record/made-rows.ts'
import type { RequestRow } from '../measure/record/request-row.ts'
import type { RunManifest } from '../measure/record/manifest.ts'
import { onlyNew, traps, type TrapOptions } from './trap-run.ts'

type Manifest = Pick<RunManifest, 'pacer' | 'window'>

const window: RunManifest['window'] = {
  warmup_s: 0,
  measure_s: 1200,
  drain_s: 0,
  start_ms: 0,
  end_ms: 1_200_000,
  how: 'given',
}
const open: Manifest = { pacer: { kind: 'constant', ratePerSecond: 10 }, window }

/** 12,000 answers, ten a second for 20 minutes, 20 tokens each: enough for a P99, steady, on time. */
function calm(change: (i: number) => Partial<RequestRow> = () => ({}), count = 12_000): RequestRow[] {
  return Array.from({ length: count }, (_, i) => ({
    ...streamedRow({
      id: `r${i}`,
      plannedMs: i * 100,
      ttftMs: 100 + (i % 7),
      gapsMs: [20, 21, 20, 19],
    }),
    ...change(i),
  }))
}

const late = (i: number): Partial<RequestRow> => {
  const planned = i * 100
  return i % 50 === 0 ? { sent_ms: planned + 500, lag_ms: 500 } : {}
}
const failed: RequestRow = { ...unsentRow, outcome: 'failed', planned_ms: 1, sent_ms: 1, error_kind: 'x' }

describe('each trap fires on a run that has it, and no other', () => {
  const table: [
    sentence: string,
    rows: () => RequestRow[],
    manifest: Manifest,
    options: TrapOptions,
    kinds: string[],
  ][] = [
    ['a calm run', () => calm(), open, {}, []],
    ['a fiftieth sent half a second late', () => calm(late), open, {}, ['coordinated_omission']],
    [
      'late is measured by the wait for the first token, however long the answers are',
      () => calm((i) => ({ ...(i % 50 === 0 ? { sent_ms: i * 100 + 50, lag_ms: 50 } : {}), e2e_ms: 4000 })),
      open,
      {},
      ['coordinated_omission'],
    ],
    [
      'a closed loop used at a higher rate',
      () => calm(),
      { pacer: { kind: 'concurrency', users: 2, thinkTimeMs: 0 }, window },
      { targetRatePerSecond: 50 },
      ['closed_loop_overload'],
    ],
    [
      'the same at a rate that it reached',
      () => calm(),
      { pacer: { kind: 'concurrency', users: 2, thinkTimeMs: 0 }, window },
      { targetRatePerSecond: 5 },
      [],
    ],
    ['few requests', () => calm(undefined, 600), { ...open, window: null }, {}, ['few_samples']],
    [
      'few for a P99, enough for a P50',
      () => calm(undefined, 600),
      { ...open, window: null },
      { percentile: '50' },
      [],
    ],
    [
      'waits that grow',
      () =>
        calm((i) => ({
          ttft_ms: 100 + i,
          e2e_ms: 180 + i,
          done_ms: 180 + i,
          ttfb_ms: 100 + i,
        })),
      open,
      {},
      ['not_steady', 'saturated'],
    ],
    [
      'three tokens a message',
      () => calm(() => ({ completion_tokens: 15 })),
      open,
      {},
      ['messages_not_tokens'],
    ],
    [
      'a fiftieth fails',
      () => [...calm(), ...Array.from({ length: 250 }, (_, i) => ({ ...failed, id: `f${i}` }))],
      open,
      {},
      ['survivors_only'],
    ],
    [
      'events held back',
      () => calm(() => ({ gaps_ms: [0.1, 0.1, 0.1, 79.7] })),
      open,
      {},
      ['proxy_buffering'],
    ],
    [
      'repeated prompts that answer faster',
      () =>
        calm((i) => ({
          prompt_id: `p${i % 6000}`,
          ttft_ms: i < 6000 ? 280 : 31,
          ttfb_ms: 1,
          e2e_ms: 400,
          done_ms: 400,
        })),
      { ...open, pacer: { kind: 'concurrency', users: 2, thinkTimeMs: 0 } },
      {},
      ['prefix_cache'],
    ],
    [
      'a clock that was set back',
      () => calm((i) => (i === 7 ? { e2e_ms: 1 } : {})),
      open,
      {},
      ['number_disagrees'],
    ],
    ['nothing at all', () => [], open, {}, []],
    ['an import without a pacer', () => calm(), { pacer: null, window: null }, {}, []],
  ]
  it.each(table)('%s', (_, rows, manifest, options, kinds) => {
    const found = traps(rows(), manifest, options)
    expect(found.map(({ kind }) => kind)).toEqual(kinds)
    for (const warning of found) {
      expect(warning.cause).toBeTruthy()
      expect(warning.next).toBeTruthy()
      expect(JSON.stringify(warning)).not.toMatch(/NaN|Infinity|undefined/)
    }
  })

  it('what a summary said already is not said again', () => {
    const found = traps(calm(undefined, 600), { ...open, window: null })
    expect(onlyNew(found, found)).toEqual([])
    expect(onlyNew(found, [])).toEqual(found)
  })
})
