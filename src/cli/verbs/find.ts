import type { FindDocument } from '../../report/find-document.ts'
import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { clientFlags } from '../flags/client-flags.ts'
import { enginePassFlags } from '../flags/engine-pass-flags.ts'
import { findFlags } from '../flags/find-flags.ts'
import { foreignFlags } from '../flags/foreign-flags.ts'
import { judgeFlags } from '../flags/judge-flags.ts'
import { configFlags, folderFlags, outputFlags } from '../flags/output-flags.ts'
import { pointFlags } from '../flags/sweep-flags.ts'
import { targetFlags } from '../flags/target-flags.ts'
import { vllmFlags } from '../flags/vllm-flags.ts'
import { workloadFlags } from '../flags/workload-flags.ts'
import { printResult } from '../print-result.ts'
import { reportOptions } from '../report-options.ts'
import type { Invocation, Verb } from '../verb.ts'

export const findVerb: Verb = {
  brief: 'The highest rate that holds',
  description:
    'Finds the highest rate of requests, arriving at random (Poisson), at which the objectives hold: a rate that holds and one that fails, brought together by bisection, with the error of all looks and points stated. Without --url the embedded engine is started and loaded.',
  examples: [
    ['plimsoll find', 'the embedded engine, in three or four minutes'],
    ["plimsoll find -u http://localhost:8000 --slo 'p90 ttft <= 500ms'", 'your server and objective'],
    [
      "plimsoll find -u localhost:8000 --slo 'ttft < 1s and tpot < 30ms, good 95%' --rate-from 4",
      'from 4 req/s on',
    ],
    ['plimsoll find -u localhost:8000 --resolution 10% --max-duration 30m --json', 'coarser, and in time'],
  ],
  flags: {
    ...targetFlags,
    ...findFlags,
    ...pointFlags,
    ...workloadFlags,
    ...judgeFlags,
    ...clientFlags,
    ...folderFlags,
    ...outputFlags,
    ...configFlags,
    ...enginePassFlags,
    ...vllmFlags,
    ...foreignFlags,
  },
  run: find,
}

async function find(invocation: Invocation): Promise<ExitCode> {
  const { cli } = invocation
  const { prepareFind } = await import('../prepare.ts')
  const { config, voice } = await prepareFind(invocation)
  try {
    const { document, interrupted } = await cli.flows.findFlow(config, await cli.flowDeps(voice))
    voice.finish()
    await printResult(document, invocation, async () => {
      const { renderFind } = await import('../../report/find-text.ts')
      return renderFind(document, reportOptions(invocation))
    })
    return findExitCode(document, interrupted)
  } finally {
    voice.finish()
  }
}

/** Invalid when the client set the numbers of every point, an objective failed when no rate was shown to hold. */
export function findExitCode({ points, answer }: FindDocument, interrupted: boolean): ExitCode {
  if (interrupted) return exitCodes.interrupted
  if (points.every(({ decision }) => decision === 'invalid')) return exitCodes.invalid
  return answer.holds_at_per_s === null ? exitCodes.objectiveFailed : exitCodes.fine
}
