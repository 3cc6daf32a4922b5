import { describe, expect, test } from 'vitest'
import type { RequestRow } from '../src/measure/record/request-row.ts'
import { exportRows, run, scratch, startEngine } from './fixtures/product.ts'

const number = ({ id }: RequestRow): number => Number(/-(\d+)$/.exec(id)?.[1])

/** What the plan asked for, request by request. */
function asked(rows: readonly RequestRow[], withTimes: boolean): readonly unknown[] {
  return rows
    .toSorted((a, b) => number(a) - number(b))
    .map((row) => [
      number(row),
      row.prompt_tokens,
      row.asked_output_tokens,
      row.completion_tokens,
      withTimes ? row.planned_ms : null,
    ])
}

const lengths = ['-n', '60', '--prompt', 'uniform 20..200', '--output', 'uniform 2..8']

describe('the same seed', () => {
  test.each([
    ['Poisson', ['--request-rate', '50'], true],
    ['bursts', ['--pacer', 'gamma 50/s cv 2'], true],
    ['users who wait', ['--concurrency', '6'], false],
  ] as const)(
    'gives the same plan to one thread and to three: %s',
    { timeout: 120_000 },
    async (_, load, withTimes) => {
      const engine = await startEngine([], scratch())
      const plan = async (seed: string, workers: string): Promise<readonly unknown[]> => {
        const { folder } = await run(
          ['--url', engine.url, ...load, ...lengths, '--seed', seed, '--workers', workers],
          { cwd: scratch() },
        )
        return asked(await exportRows(folder), withTimes)
      }
      const first = await plan('7', '1')
      expect(first).toHaveLength(60)
      expect(await plan('7', '3')).toEqual(first)
      expect(await plan('8', '1')).not.toEqual(first)
      await engine.stop()
    },
  )
})
