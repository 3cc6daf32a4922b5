import { describe, expect, test } from 'vitest'
import type { RunDocument } from '../src/report/documents.ts'
import { exportRows, run, scratch, start, startEngine } from './fixtures/product.ts'

const stallMs = 600
const ratePerSecond = 50
const seconds = 12
/** Short answers: what is slow here is the stall. */
const load = [
  '--pacer',
  `constant ${ratePerSecond}/s`,
  '--duration',
  `${seconds}s`,
  '--prompt',
  '16',
  '--output',
  '2',
]

async function measured(
  argv: readonly string[],
): Promise<{ readonly document: RunDocument; readonly printed: string; readonly slow: number }> {
  const cwd = scratch()
  const engine = await startEngine(['--fault', `stall ${stallMs}ms at 6s`], cwd)
  const { document, folder } = await run(['--url', engine.url, ...load, ...argv], { cwd })
  await engine.stop()
  const rows = await exportRows(folder)
  expect(rows).toHaveLength(ratePerSecond * seconds)
  expect(rows.filter(({ ok }) => !ok)).toEqual([])
  const { stdout } = await start(['show', folder], { cwd }).ended
  const slow = rows.filter(({ e2e_ms, lag_ms }) => e2e_ms! - lag_ms! > stallMs / 2).length
  return { document, printed: stdout, slow }
}

/**
 * A stall of s in a constant load of r for d hits s × r requests, which wait for s, s − 1/r, s − 2/r, …: the P99 of r × d is that
 * of rank r × d ÷ 100 from above, s − (d ÷ 100 − 1/r). Here as in the long form (`bench/stall.mjs`): 0.8 of the stall. A client
 * that waits for each answer before it sends again, and counts from there, meets the stall once and sees the service time.
 */
describe('a stall of the server', () => {
  test('is in the percentiles of an open loop', { timeout: 120_000 }, async () => {
    const { document, slow } = await measured([])
    const p99 = document.metrics.e2e_ms!.p99!
    expect(p99 / stallMs).toBeGreaterThan(0.75)
    expect(p99 / stallMs).toBeLessThan(1.1)
    // Half of those that were hit waited for more than half of the stall; nothing waited in the client.
    expect(slow).toBeGreaterThanOrEqual((stallMs / 2 / 1000) * ratePerSecond - 2)
    expect(document.metrics.service_e2e_ms!.p99! / stallMs).toBeGreaterThan(0.7)
  })

  test(
    'is in those of a client that waits too, beside its service times that hide it',
    { timeout: 120_000 },
    async () => {
      const { document, printed, slow } = await measured(['--max-concurrency', '1'])
      expect(document.metrics.e2e_ms!.p99! / stallMs).toBeGreaterThan(0.75)
      // One request met the stall: the P99 from the actual sends is that of the service.
      expect(slow).toBe(1)
      expect(document.metrics.service_e2e_ms!.p99! / stallMs).toBeLessThan(0.5)
      // It waited for what was left of the stall when it came: 0.97 of it, less where the machine was busy just then.
      expect(document.metrics.service_e2e_ms!.max! / stallMs).toBeGreaterThan(0.6)
      // Both are printed, and the wait for the connection is lag, which no verdict calls valid.
      expect(printed).toMatch(/^ {2}E2E /m)
      expect(printed).toMatch(/^ {2}service E2E /m)
      expect(document.client.lag_ms.max! / stallMs).toBeGreaterThan(0.8)
      expect(document.verdict.status).toBe('INVALID')
    },
  )
})
