import { describe, expect, test } from 'vitest'
import { percentile } from '../src/stats/percentile.ts'
import { exportRows, run, scratch, startEngine } from './fixtures/product.ts'

const stallMs = 600
const ratePerSecond = 50
const seconds = 12
/** Short answers: what is slow here is the stall. */
const short = ['--prompt', '16', '--output', '2', '--timeout-first-token', 'none']

async function measured(
  argv: readonly string[],
): Promise<{ readonly fromIntended: readonly number[]; readonly fromSent: readonly number[] }> {
  const cwd = scratch()
  const engine = await startEngine(['--fault', `stall ${stallMs}ms at 6s`], cwd)
  const { folder } = await run(['--url', engine.url, ...short, ...argv], { cwd })
  await engine.stop()
  const rows = await exportRows(folder)
  // The user of a closed loop may be thinking when the window ends: a request that was never sent.
  const done = rows.filter(({ ok }) => ok)
  expect(rows.filter(({ outcome }) => outcome !== 'ok' && outcome !== 'unsent')).toEqual([])
  const sorted = (values: readonly number[]): readonly number[] => values.toSorted((a, b) => a - b)
  return {
    fromIntended: sorted(done.map(({ e2e_ms }) => e2e_ms!)),
    fromSent: sorted(done.map(({ e2e_ms, lag_ms }) => e2e_ms! - lag_ms!)),
  }
}

const over = (values: readonly number[], limitMs: number): number =>
  values.filter((value) => value > limitMs).length

/**
 * A stall of s in a constant load of r for d hits s x r requests, which wait for s, s - 1/r, s - 2/r, ...: the P99 of r x d is that
 * of rank r x d / 100 from above, s - (d / 100 - 1/r). Here as in the long form (`bench/stall.mjs`): 0.8 of the stall.
 */
describe('a stall of the server', () => {
  test('is in the percentiles of an open loop, and hidden from a client that waits', { timeout: 120_000 }, async () => {
    const open = await measured(['--pacer', `constant ${ratePerSecond}/s`, '--duration', `${seconds}s`])
    expect(open.fromIntended).toHaveLength(ratePerSecond * seconds)
    const p99 = percentile(open.fromIntended, '99')!
    expect(p99 / stallMs).toBeGreaterThan(0.75)
    expect(p99 / stallMs).toBeLessThan(1.05)
    // Half of those that were hit waited for more than half of the stall.
    const half = (stallMs / 2 / 1000) * ratePerSecond
    expect(over(open.fromIntended, stallMs / 2)).toBeGreaterThanOrEqual(half - 2)

    const waiting = await measured(['--pacer', 'users 1 think 20ms', '--duration', `${seconds}s`])
    expect(waiting.fromSent.length).toBeGreaterThan(100)
    // One user met the stall once: the P99 is that of the service.
    expect(over(waiting.fromSent, stallMs / 2)).toBe(1)
    expect(percentile(waiting.fromSent, '99')! / stallMs).toBeLessThan(0.5)
    expect(waiting.fromSent.at(-1)! / stallMs).toBeGreaterThan(0.9)
  })
})
