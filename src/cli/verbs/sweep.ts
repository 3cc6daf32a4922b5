import type { SweepDocument } from '../../flows/documents.ts'
import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { checkCiFlags, writeCi } from '../ci-output.ts'
import { ciFlags } from '../flags/ci-flags.ts'
import { clientFlags } from '../flags/client-flags.ts'
import { enginePassFlags } from '../flags/engine-pass-flags.ts'
import { judgeFlags } from '../flags/judge-flags.ts'
import { configFlags, folderFlags, outputFlags } from '../flags/output-flags.ts'
import { foreignFlags } from '../flags/foreign-flags.ts'
import { pointFlags, sweepFlags } from '../flags/sweep-flags.ts'
import { targetFlags } from '../flags/target-flags.ts'
import { vllmFlags } from '../flags/vllm-flags.ts'
import { workloadFlags } from '../flags/workload-flags.ts'
import { printResult } from '../print-result.ts'
import { reportOptions } from '../report-options.ts'
import type { Invocation, Verb } from '../verb.ts'

export const sweepVerb: Verb = {
  brief: 'Rising load',
  description:
    'Loads a server more and more, finds where throughput stops rising, where the objective fails and where memory ends, says which of these walls binds, and confirms the operating point by an open-loop run. Without --url the embedded engine is started and loaded.',
  examples: [
    ['plimsoll sweep', 'the embedded engine, in under two minutes'],
    ["plimsoll sweep -u http://localhost:8000 --slo 'p99 tpot <= 10ms' --explain", 'with the working'],
    ['plimsoll sweep -u localhost:8000 --concurrency 1,2,4,8,16,32,64', 'these loads'],
    ['plimsoll sweep -u localhost:8000 --rates auto --duration-per-point 2m', 'open loop, loads found'],
  ],
  flags: {
    ...targetFlags,
    ...sweepFlags,
    ...pointFlags,
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
  run: sweep,
}

async function sweep(invocation: Invocation): Promise<ExitCode> {
  const { flags, cli } = invocation
  await checkCiFlags(flags, cli)
  const { prepareSweep } = await import('../prepare.ts')
  const { config, voice } = await prepareSweep(invocation)
  try {
    const { document, interrupted } = await cli.flows.sweepFlow(config, await cli.flowDeps(voice))
    voice.finish()
    await printResult(document, invocation, async () => {
      const { renderSweep } = await import('../../report/render-sweep.ts')
      return renderSweep(document, reportOptions(invocation))
    })
    await writeCi(document, flags, cli)
    return sweepExitCode(document, interrupted)
  } finally {
    voice.finish()
  }
}

/** A sweep fails its objective when not even the lightest load keeps it; it is invalid when no point can be used. */
export function sweepExitCode(document: SweepDocument, interrupted: boolean): ExitCode {
  if (interrupted) return exitCodes.interrupted
  if (document.points.every((point) => point.verdict.status === 'INVALID')) return exitCodes.invalid
  const confirmation = document.operating_point?.confirmation
  if (confirmation?.verdict.status === 'INVALID') return exitCodes.invalid
  if (document.capacity.load !== null || document.objective === null) return exitCodes.fine
  // Where every point was cut short nothing was decided.
  return document.points.every(({ passes }) => passes === null)
    ? exitCodes.invalid
    : exitCodes.objectiveFailed
}
