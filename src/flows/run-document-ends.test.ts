import { expect, test } from 'vitest'
import { plainManifest } from '../../test/fixtures/manifest.ts'
import { streamedRow } from '../measure/record/made-rows.ts'
import { runDocument } from './run-document.ts'

const rows = Array.from({ length: 40 }, (_, i) =>
  streamedRow({ id: `r${i}`, plannedMs: i * 1000, ttftMs: 100, gapsMs: [20, 21] }),
)

test.each([
  ['a duration', 'given', null, '--duration 3h'],
  ['a count', 'count', 40, '--num-prompts 10000'],
  ['the first of both', 'given', 40, '--num-prompts 10000 --duration 3h'],
] as const)('a run that was ended by %s is lengthened by it', (_, how, count, flags) => {
  const manifest = plainManifest({
    config: { count },
    pacer: { kind: 'constant', ratePerSecond: 1 },
    workload: { text: 'made', digest: 'd' },
    target: { url: 'http://x', api: 'chat', model: 'm' },
    clock: { origin_monotonic_ns: 0, started_at: '2026-11-30T00:00:00.000Z' },
    planned: 40,
    window: { warmup_s: 0, measure_s: 40, drain_s: 10, start_ms: 0, end_ms: 40_000, how },
  })
  const run = { path: 'runs/made', manifest, rows, server: [], complete: true, missing: [] }
  const { warnings } = runDocument(run, { objectives: [] })
  expect(warnings.find(({ kind }) => kind === 'few_samples')?.next).toBe(
    `${flags}, or judge a lower percentile`,
  )
})
