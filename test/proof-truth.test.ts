import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { RequestRow } from '../src/measure/record/request-row.ts'
import { percentile } from '../src/stats/percentile.ts'
import { exportRows, readTruth, run, scratch, shown, startEngine, type Truth } from './fixtures/product.ts'

/** Our stamp of each output event − the engine's stamp before its write, ms. */
function stampErrors(row: RequestRow, truth: Truth, originNs: number): readonly number[] {
  let atMs = (row.planned_ms ?? Number.NaN) + (row.ttft_ms ?? Number.NaN)
  return truth.writes_ns.map((writeNs, event) => {
    if (event > 0) atMs += row.gaps_ms[event - 1] ?? Number.NaN
    return atMs - (writeNs - originNs) / 1e6
  })
}

const share = (part: number, of: number): number => (of === 0 ? 0 : part / of)

/** Everything that is asked of one measured run, in one run: it takes ten seconds. */
describe('a run against an engine that wrote down what happened', () => {
  test('has its stamps, its counts and its goodput', { timeout: 120_000 }, async () => {
    const cwd = scratch()
    const engine = await startEngine(['--truth', 't.ndjson'], cwd)
    const measured = await run(
      [
        '--url',
        engine.url,
        '--request-rate',
        '20',
        '--num-prompts',
        '200',
        '--goodput',
        'ttft:500',
        'tpot:30',
      ],
      { cwd },
    )
    await engine.stop()
    const { document, folder } = measured
    const rows = await exportRows(folder)
    const truths = readTruth(join(cwd, 't.ndjson'))

    // Each planned request has one row, and each row one line of the truth.
    expect(rows).toHaveLength(200)
    expect(new Set(rows.map(({ id }) => id)).size).toBe(200)
    const pairs = rows.map((row) => ({ row, truth: truths.get(row.id) }))
    expect(pairs.filter(({ truth }) => truth === undefined)).toEqual([])

    // Each write is an event of ours, and each stamp of ours comes after the write.
    const errors: number[] = []
    for (const { row, truth } of pairs) {
      expect(row.n_output_chunks).toBe(truth!.writes_ns.length)
      expect(row.completion_tokens).toBe(truth!.write_tokens.reduce((sum, tokens) => sum + tokens, 0))
      expect(row.ok).toBe(truth!.outcome === 'ok')
      errors.push(...stampErrors(row, truth!, document.clock.origin_monotonic_ns))
    }
    const sorted = errors.toSorted((a, b) => a - b)
    // The two clocks are one: nothing is read before it was written, but for the resolution of the stamps.
    expect(sorted[0]).toBeGreaterThan(-0.05)
    // How late a stamp is depends on who else has the cores; the median is free of that, the tail is `bench/truth.mjs`'s.
    const own = document.client.own_error_ms
    expect(percentile(sorted, '50')).toBeLessThan(Math.max(1, 10 * (own.p50 ?? 0)))
    expect(own.p99).toBeGreaterThan(0)

    // The counts add up, by the document, the rows and the folder read again.
    const { counts, goodput } = document
    expect(counts.planned).toBe(counts.ok + counts.failed + counts.shed + counts.censored + counts.unsent)
    expect(counts).toMatchObject({ planned: 200, sent: 200 })
    expect(counts.ok).toBe(rows.filter(({ outcome }) => outcome === 'ok').length)

    // The goodput is that of the rows, counted here anew: ok, TTFT <= 500 ms and TPOT <= 30 ms, as vLLM's form has it.
    const good = rows.filter(({ ok, ttft_ms, tpot_ms }) => ok && ttft_ms! <= 500 && tpot_ms! <= 30).length
    expect(goodput).toMatchObject({ good, attempts: 200, share: share(good, 200) })
    expect(goodput!.good).toBeLessThanOrEqual(counts.ok)

    // The lag is sent - intended on each row, and its distribution that of the report.
    for (const row of rows) expect(row.lag_ms).toBeCloseTo(row.sent_ms! - row.planned_ms!, 6)
    const lags = rows.map(({ lag_ms }) => lag_ms!).toSorted((a, b) => a - b)
    expect(document.client.lag_ms.p99).toBeCloseTo(percentile(lags, '99')!, 6)

    // What was received was sent before.
    for (const { row, truth } of pairs) {
      const receivedMs = (truth!.received_ns - document.clock.origin_monotonic_ns) / 1e6
      expect(receivedMs).toBeGreaterThan(row.sent_ms! - 0.05)
      expect(receivedMs).toBeLessThan(row.planned_ms! + row.ttft_ms!)
    }

    // Read again, it is the same document.
    const again = await shown(folder)
    expect({ ...again, run: '' }).toEqual({ ...document, run: '' })
  })
})
