import { expect, test } from 'vitest'
import { cliRun } from '../../../test/fixtures/cli.ts'
import { pairedFive } from '../../../test/fixtures/compare.ts'
import { sixPerSecond, threeWalls } from '../../../test/fixtures/documents.ts'
import { fiveRuns } from '../../../test/fixtures/experiment.ts'
import { betweenTwoRates } from '../../../test/fixtures/find.ts'
import { measuredPrefill } from '../../../test/fixtures/prefill.ts'
import { smallModel, threePoints } from '../../../test/fixtures/simulation.ts'
import { PlimsollError } from '../../base/errors.ts'
import type { FlowDeps } from '../../flows/flow-deps.ts'
import type { Flows } from '../flows.ts'
import { exitCodes } from '../exit-codes.ts'

const full = new PlimsollError('PLIM_RUN_FOLDER', 'the run folder cannot be written')

/** A flow that measured, and whose disk was full where `isFull`. */
function answering<T>(result: T, isFull: boolean) {
  return (_config: unknown, deps: FlowDeps): Promise<T> => {
    if (isFull) deps.onUnsaved(full)
    return Promise.resolve(result)
  }
}

test.each<[string, string, (isFull: boolean) => Partial<Flows>]>([
  [
    'run -r 5',
    sixPerSecond.run,
    (f) => ({ runFlow: answering({ document: sixPerSecond, interrupted: false }, f) }),
  ],
  [
    'run -r 5 --repeat 5',
    fiveRuns.experiment,
    (f) => ({ experimentFlow: answering({ document: fiveRuns, interrupted: false }, f) }),
  ],
  [
    'sweep',
    threeWalls.sweep,
    (f) => ({ sweepFlow: answering({ document: threeWalls, interrupted: false }, f) }),
  ],
  [
    "find --slo 'p90 tpot <= 10ms'",
    betweenTwoRates.find,
    (f) => ({ findFlow: answering({ document: betweenTwoRates, interrupted: false }, f) }),
  ],
  [
    'prefill',
    measuredPrefill.folder!,
    (f) => ({ prefillFlow: answering({ document: measuredPrefill, interrupted: false }, f) }),
  ],
  [
    'model measure',
    threePoints.model!,
    (f) => ({ measureModel: answering({ document: threePoints, model: smallModel }, f) }),
  ],
  [
    'compare --run http://a http://b -r 5',
    'runs/c',
    (f) => ({
      compareFlow: answering(
        { kind: 'compared', document: pairedFive, interrupted: false, folder: 'runs/c' } as const,
        f,
      ),
    }),
  ],
  [
    'watch --url http://a --count 1 --record',
    'runs/w',
    (f) => ({ watchFlow: answering({ looks: 1, folder: 'runs/w', last: null }, f) }),
  ],
])('plimsoll %s: saved where it is, and NOT where the disk was full', async (line, folder, flows) => {
  const argv = line.match(/'[^']*'|\S+/g)!.map((word) => word.replaceAll("'", ''))
  const kept = await cliRun(argv, { flows: flows(false) })
  expect(kept.stdout + kept.stderr).toContain(`saved ${folder}`)
  expect(kept.stdout + kept.stderr).not.toContain('NOT stored')
  const lost = await cliRun(argv, { flows: flows(true) })
  expect(lost.stdout + lost.stderr).toContain(`NOT stored, or not whole: ${folder}`)
  expect(lost.stdout + lost.stderr).not.toContain('saved')
  expect(lost.stderr).toContain('what is printed above is not stored')
  expect(lost.exitCode).toBe(exitCodes.usage)
})

test('a verb that fails after its disk was full tells both', async () => {
  const stopped = new PlimsollError('PLIM_STOPPED', 'no run of A can be compared')
  const { stderr, exitCode } = await cliRun(['compare', '--run', 'http://a', 'http://b', '-r', '5'], {
    flows: {
      compareFlow(_, deps) {
        deps.onUnsaved(full)
        return Promise.reject(stopped)
      },
    },
  })
  expect(stderr).toMatch(/PLIM_RUN_FOLDER .*cannot be written\n[^]*PLIM_STOPPED .*no run of A/)
  expect(exitCode).toBe(exitCodes.invalid)
})
