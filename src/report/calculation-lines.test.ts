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

  it.each([
    ['the 99th, of nothing said', null, '8:1256:6.7ms', ''],
    ['the 99th', 'p99 tpot <= 10ms', '8:1256:6.7ms', ' --tpot 10ms'],
    ['the 90th, where that is judged', 'p90 tpot <= 9ms', '8:1256:6.1ms', ' --tpot 9ms'],
    ['a limit that it must stay under', 'p90 tpot < 9ms', '8:1256:6.1ms', " --tpot '<9ms'"],
    [
      'each metric its own',
      'p99 tpot <= 9ms and p90 ttft <= 80ms',
      '8:1256:6.7ms:70ms',
      ' --tpot 9ms --ttft 80ms',
    ],
    ['TTFT alone', 'p90 ttft <= 80ms', '8:1256:6.1ms:70ms', ' --ttft 80ms'],
    [
      'a share of requests: no percentile keeps it',
      'ttft < 500ms and tpot < 30ms, good 99%',
      '8:1256:6.7ms',
      '',
    ],
  ])('take the percentile that the objective judges: %s', (_, objective, second, flags) => {
    const points = threeWalls.points.map((point) => {
      const { tpot_ms: tpot, ttft_ms: ttft } = point.metrics
      return {
        ...point,
        metrics: { ...point.metrics, tpot_ms: { ...tpot!, p90: 6.1 }, ttft_ms: { ...ttft!, p90: 70 } },
      }
    })
    const [walls] = sweepCalculations({ ...threeWalls, objective, points })
    expect(walls!.split(' ')[4]).toBe(second)
    expect(/(?: --t[pt][^ ]+ [^ ]+)*(?= --kv)/.exec(walls!)![0]).toBe(flags)
  })

  it('give the figures of the documents', async () => {
    const { worked } = sixPerSecond
    const [tpot] = runCalculations(sixPerSecond)
    const { stdout } = await cliRun([...tpot!.split(' ').slice(1), '--json'])
    const { results } = JSON.parse(stdout) as { results: { tpot: { value: number } } }
    expect(results.tpot.value).toBeCloseTo(worked!.tpot_ms, 3)
  })
})
