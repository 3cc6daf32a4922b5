import type { RunDocument } from '../../flows/documents.ts'
import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { checkCiFlags, writeCi } from '../ci-output.ts'
import { ciFlags } from '../flags/ci-flags.ts'
import { clientFlags } from '../flags/client-flags.ts'
import { enginePassFlags } from '../flags/engine-pass-flags.ts'
import { judgeFlags } from '../flags/judge-flags.ts'
import { loadFlags } from '../flags/load-flags.ts'
import { configFlags, folderFlags, outputFlags } from '../flags/output-flags.ts'
import { isOn } from '../flags/flag-values.ts'
import { targetFlags } from '../flags/target-flags.ts'
import { vllmFlags } from '../flags/vllm-flags.ts'
import { workloadFlags } from '../flags/workload-flags.ts'
import type { Invocation, Verb } from '../verb.ts'

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
  },
  run,
}

async function run(invocation: Invocation): Promise<ExitCode> {
  const { flags, cli } = invocation
  checkCiFlags(flags)
  const { prepareRun } = await import('../prepare.ts')
  const { config, voice } = await prepareRun(invocation)
  try {
    const { document, interrupted } = await cli.flows.runFlow(config, await cli.flowDeps(voice))
    voice.finish()
    await writeCi(document, flags, cli)
    if (isOn(flags, 'json') === true) cli.stdout.write(`${JSON.stringify(document)}\n`)
    else {
      const { renderRun } = await import('../../report/render-run.ts')
      cli.stdout.write(
        renderRun(document, { color: cli.stdout.color, explain: isOn(flags, 'explain') ?? false }),
      )
    }
    return runExitCode(document, interrupted)
  } finally {
    voice.finish()
  }
}

/** An interruption is said first, then that the numbers cannot be used, then that they are not good enough. */
export function runExitCode(document: RunDocument, interrupted: boolean): ExitCode {
  if (interrupted) return exitCodes.interrupted
  // Ended early because nearly everything failed, or a thread died: what was measured is no load test.
  if (document.verdict.status === 'INVALID') return exitCodes.invalid
  const missed = document.objectives.some((objective) => objective.judged && objective.met === 'no')
  return missed ? exitCodes.objectiveFailed : exitCodes.fine
}
