import { describe, expect, it } from 'vitest'
import { streamedRow } from '../measure/record/made-rows.ts'
import type { RequestRow } from '../measure/record/request-row.ts'
import { runWarnings, type RunToWarnOf } from './run-warnings.ts'

const client: RunToWarnOf['client'] = {
  lag_ms: { p50: 0, p99: 0, max: 0 },
  loop_delay_ms: { p50: 0, p99: 0, max: 0 },
  cpu: { worker_max: 0.1, workers: [0.1], process: 0.1, machine: 0.5 },
  workers: 1,
  own_error_ms: { p50: 0, p99: 0 },
  capacity_events_per_s: null,
  events: 0,
  same_machine: false,
}

/** 10 requests a second for 30 s; each takes `e2eMs(t)`, and was sent `lagMs` late. */
function run(e2eMs: (ms: number) => number, lagMs = 0): RequestRow[] {
  return Array.from({ length: 300 }, (_, i) => {
    const plannedMs = i * 100
    return streamedRow({
      id: `r${i}`,
      plannedMs,
      sentMs: plannedMs + lagMs,
      ttftMs: e2eMs(plannedMs) / 2,
      gapsMs: [e2eMs(plannedMs) / 2],
    })
  })
}

function everyFifthRefused(row: RequestRow, i: number): RequestRow {
  return i % 5 === 0 ? { ...row, ok: false, outcome: 'shed', http_status: 429 } : row
}

const open: RunToWarnOf = {
  rows: run(() => 200),
  window: { startMs: 0, endMs: 30_000 },
  pacer: { kind: 'constant', ratePerSecond: 10 },
  client,
  embedded: false,
  medianTtftMs: 200,
}

describe('runWarnings', () => {
  const table: [sentence: string, change: Partial<RunToWarnOf>, kinds: string[]][] = [
    ['a run that keeps up says nothing', {}, []],
    [
      'a closed loop cannot show overload',
      { pacer: { kind: 'concurrency', users: 4, thinkTimeMs: 0 } },
      ['closed_loop_cannot_show_overload'],
    ],
    ['waits that grow with the run are saturation', { rows: run((ms) => 200 + ms) }, ['saturated']],
    ['refusals are no completions', { rows: run(() => 200).map(everyFifthRefused) }, ['saturated']],
    ['sends behind their time', { rows: run(() => 200, 50) }, ['coordinated_omission']],
    [
      'an own error that grew over the run',
      {
        client: {
          ...client,
          own_error_before_ms: { p50: 0.1, p99: 0.4 },
          own_error_after_ms: { p50: 1, p99: 9 },
        },
      },
      ['client_bound'],
    ],
    [
      'an own error that grew unnoticeably',
      {
        client: {
          ...client,
          own_error_before_ms: { p50: 0, p99: 0.1 },
          own_error_after_ms: { p50: 0, p99: 1.9 },
        },
      },
      [],
    ],
    [
      'an own error that was not measured again',
      { client: { ...client, own_error_before_ms: { p50: 0, p99: 0.1 }, own_error_after_ms: null } },
      [],
    ],
    ['a server on the client’s machine', { client: { ...client, same_machine: true } }, ['same_machine']],
    [
      'the embedded engine is said elsewhere',
      { client: { ...client, same_machine: true }, embedded: true },
      [],
    ],
    ['an import has no loop to speak of', { pacer: null }, []],
  ]
  it.each(table)('%s', (_sentence, change, kinds) => {
    expect(runWarnings({ ...open, ...change }).map(({ kind }) => kind)).toEqual(kinds)
  })
})
