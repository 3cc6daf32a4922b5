import { describe, expect, it } from 'vitest'
import { summarizeValues } from '../measure/metrics/summarize-values.ts'
import type { IntervalCoverage, MetricSummary } from '../measure/metrics/run-summary.ts'
import { coverageNote } from './coverage-note.ts'

const summary = (coverage: Readonly<Record<string, IntervalCoverage>>): MetricSummary => ({
  ...summarizeValues(
    { values: Float64Array.of(1, 2, 3), failures: null },
    { percentiles: [], percentileType: '1' },
  ),
  ci: { p99: [1, 2] },
  ci_coverage: coverage,
})
const held = (measured: number, worst: number): IntervalCoverage => ({ nominal: 0.95, measured, worst })

describe('what intervals are worth', () => {
  it.each([
    ['one', [summary({ p99: held(0.94, 0.85) })], 'measured 94 % where'],
    [
      'several that differ',
      [summary({ p99: held(0.94, 0.85) }), summary({ p99: held(0.97, 0.81) })],
      '94 % to 97 %',
    ],
    [
      'and the worst of them',
      [summary({ p99: held(0.94, 0.85) }), summary({ p99: held(0.97, 0.81) })],
      '(81 % in the',
    ],
    ['beside what is nominal', [summary({ p99: held(0.94, 0.85) })], 'nominal 95 %'],
  ])('%s', (_, summaries, text) => expect(coverageNote(summaries, ['p99'])).toContain(text))

  it.each([
    ['no interval is shown', [{ ...summary({ p99: held(0.9, 0.8) }), ci: {} }]],
    ['another percentile has one', [summary({ p50: held(0.9, 0.8) })]],
    ['nothing was measured', [undefined]],
    ['a sweep of an older version', [{ ...summary({}), ci_coverage: undefined } as unknown as MetricSummary]],
  ])('%s: no note', (_, summaries) => expect(coverageNote(summaries, ['p99'])).toBeNull())
})
