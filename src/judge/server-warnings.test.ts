import { describe, expect, it } from 'vitest'
import { unsentRow } from '../measure/record/made-rows.ts'
import { unknownSample, type ServerSample } from '../measure/record/server-samples.ts'
import { serverWarnings } from './server-warnings.ts'

const window = { startMs: 0, endMs: 10_000 }
const rows = [{ ...unsentRow, planned_ms: 1000, done_ms: 500, ok: true, outcome: 'ok' as const }]

function looks(of: (index: number) => Partial<ServerSample>, replica = 'a'): ServerSample[] {
  return Array.from({ length: 10 }, (_, index) => ({
    ...unknownSample,
    at_ms: index * 1000,
    replica,
    up: true,
    ...of(index),
  }))
}

describe('the metrics of the server judged', () => {
  it.each([
    ['a counter that grows is alive', looks((generation_tokens) => ({ generation_tokens })), rows, []],
    [
      'all figures the same while answers came',
      looks(() => ({ running: 3, generation_tokens: 7 })),
      rows,
      ['metrics_frozen'],
    ],
    ['all the same and nothing answered is an idle server', looks(() => ({ running: 0 })), [], []],
    [
      'one of two replicas may be idle',
      [...looks(() => ({ running: 0 })), ...looks((running) => ({ running }), 'b')],
      rows,
      [],
    ],
    ['three looks are too few to call it', looks(() => ({ running: 3 })).slice(0, 3), rows, []],
    [
      'one look of ten that failed is a hole',
      looks((i) => ({ up: i !== 4, running: i })),
      rows,
      ['metrics_unavailable'],
    ],
    ['nobody looked', [], rows, []],
  ] as const)('%s', (_, samples, answered, kinds) => {
    expect(serverWarnings(samples, window, answered).map(({ kind }) => kind)).toEqual(kinds)
  })
})
