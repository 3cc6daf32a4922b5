import { PlimsollError } from '../../base/errors.ts'
import type { RunDocument } from '../../flows/documents.ts'
import type { ExperimentOutcome } from '../../flows/experiment.ts'
import type { ExperimentDocument } from '../../report/experiment-document.ts'
import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { checkCiFlags, writeCi } from '../ci-output.ts'
import { ciFlags } from '../flags/ci-flags.ts'
import { clientFlags } from '../flags/client-flags.ts'
import { enginePassFlags } from '../flags/engine-pass-flags.ts'
import { judgeFlags } from '../flags/judge-flags.ts'
import { loadFlags } from '../flags/load-flags.ts'
import { configFlags, folderFlags, outputFlags } from '../flags/output-flags.ts'
import { foreignFlags } from '../flags/foreign-flags.ts'
import { targetFlags } from '../flags/target-flags.ts'
import { vllmFlags } from '../flags/vllm-flags.ts'
import { workloadFlags } from '../flags/workload-flags.ts'
import { printResult } from '../print-result.ts'
import { reportOptions } from '../report-options.ts'
import type { FlagValues, Invocation, Verb } from '../verb.ts'

export const runVerb: Verb = {
  brief: 'One load test',
  description:
    'Sends a load, measures each answer from the moment it was meant to be sent, and says whether the numbers may be used. Without --url the embedded engine is started and loaded.',
  examples: [
    ['plimsoll run', 'the embedded engine, 5 req/s for 60 s'],
    ['plimsoll run --url http://localhost:8000 --request-rate 6 --duration 10m', 'open loop, Poisson'],
    [
      "plimsoll run -u localhost:8000 -r 6 --slo 'ttft < 500ms and tpot < 30ms'",
      'exit 3 if the objective is missed',
    ],
    ['plimsoll run -u localhost:8000 --concurrency 32 -n 1000', 'closed loop of 32 users'],
    ['plimsoll run -u localhost:8000 -r 6 --repeat 5', 'five runs as one experiment'],
    ['plimsoll run -f bench.yaml', 'a file, also with a matrix of flags'],
    ["plimsoll run -u localhost:8000 --pacer 'ramp 1/s..10/s over 5m' --json", 'one JSON document on stdout'],
  ],
  flags: {
    ...targetFlags,
    ...loadFlags,
    ...workloadFlags,
    ...judgeFlags,
    ...clientFlags,
    ...folderFlags,
    ...outputFlags,
    ...ciFlags,
    ...configFlags,
    ...enginePassFlags,
    ...vllmFlags,
    ...foreignFlags,
  },
  run,
}

async function run(invocation: Invocation): Promise<ExitCode> {
  const { flags, cli } = invocation
  await checkCiFlags(flags, cli)
  const { prepareRunOrExperiment } = await import('../prepare.ts')
  const prepared = await prepareRunOrExperiment(invocation, runVerb.flags)
  const { voice } = prepared
  try {
    if (prepared.kind === 'experiment') {
      refuseOneRunsFlags(flags)
      const outcome = await cli.flows.experimentFlow(prepared.config, await cli.flowDeps(voice))
      voice.finish()
      return await printExperiment(outcome, invocation)
    }
    const { document, interrupted } = await cli.flows.runFlow(prepared.config, await cli.flowDeps(voice))
    voice.finish()
    await printResult(document, invocation, async () => {
      const { renderRun } = await import('../../report/render-run.ts')
      return renderRun(document, reportOptions(invocation))
    })
    await writeCi(document, flags, cli)
    return runExitCode(document, interrupted)
  } finally {
    voice.finish()
  }
}

function refuseOneRunsFlags(flags: FlagValues): void {
  for (const name of ['junit', 'ci', 'explain']) {
    if (flags[name] === undefined) continue
    throw new PlimsollError('PLIM_USAGE', `--${name} is of one run, and this is an experiment of several`, {
      hint: `plimsoll show RUN --${name} on a run of its folder`,
    })
  }
}

async function printExperiment(
  { document, interrupted }: ExperimentOutcome,
  invocation: Invocation,
): Promise<ExitCode> {
  await printResult(document, invocation, async () => {
    const { renderExperiment } = await import('../../report/experiment-text.ts')
    return renderExperiment(document, reportOptions(invocation))
  })
  return experimentExitCode(document, interrupted)
}

/** As that of a run: invalid when a cell has no run that may be used, missed when a usable run missed its objective. */
export function experimentExitCode(document: ExperimentDocument, interrupted: boolean): ExitCode {
  if (interrupted) return exitCodes.interrupted
  const usable = document.cells.map(({ runs }) => runs.filter(({ verdict }) => verdict.status !== 'INVALID'))
  if (usable.some((runs) => runs.length === 0)) return exitCodes.invalid
  const missed = usable
    .flat()
    .some(({ objectives }) => objectives.some((one) => one.judged && one.met === 'no'))
  return missed ? exitCodes.objectiveFailed : exitCodes.fine
}

/** An interruption is said first, then that the numbers cannot be used, then that they are not good enough. */
export function runExitCode(document: RunDocument, interrupted: boolean): ExitCode {
  if (interrupted) return exitCodes.interrupted
  // Ended early because nearly everything failed, or a thread died: what was measured is no load test.
  if (document.verdict.status === 'INVALID') return exitCodes.invalid
  const missed = document.objectives.some((objective) => objective.judged && objective.met === 'no')
  return missed ? exitCodes.objectiveFailed : exitCodes.fine
}
