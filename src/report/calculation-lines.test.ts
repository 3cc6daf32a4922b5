import { describe, expect, it } from 'vitest'
import {
  closedLoop,
  noCapacity,
  nothingAnswered,
  sixPerSecond,
  threeWalls,
} from '../../test/fixtures/documents.ts'
import { cliRun } from '../../test/fixtures/cli.ts'
import { runCalculations, sweepCalculations } from './calculation-lines.ts'

const lines = [
  ...[sixPerSecond, closedLoop].flatMap(runCalculations),
  ...[threeWalls, noCapacity].flatMap(sweepCalculations),
]

describe('the lines by hand below the working', () => {
  it('are there for a run and for a sweep, and none where nothing was measured', () => {
    expect(runCalculations(sixPerSecond).length).toBeGreaterThan(2)
    expect(sweepCalculations(threeWalls).length).toBe(2)
    expect(runCalculations(nothingAnswered)).toEqual([])
  })

  it.each(lines)('%s runs', async (line) => {
    const { exitCode, stderr } = await cliRun(line.split(' ').slice(1))
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  })

  it('give the figures of the documents', async () => {
    const { worked } = sixPerSecond
    const [tpot] = runCalculations(sixPerSecond)
    const { stdout } = await cliRun([...tpot!.split(' ').slice(1), '--json'])
    const { results } = JSON.parse(stdout) as { results: { tpot: { value: number } } }
    expect(results.tpot.value).toBeCloseTo(worked!.tpot_ms, 3)
  })
})
