import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { text } from '../flags/flag-values.ts'
import { configFlags, outputFlags } from '../flags/output-flags.ts'
import { planFlags } from '../flags/plan-flags.ts'
import { pathsOrNewest } from '../newest-run.ts'
import type { PlanDocument } from '../../report/plan-document.ts'
import type { PlanFile } from '../../flows/plan-file.ts'
import { configText } from '../config-file.ts'
import { printResult } from '../print-result.ts'
import { reportOptions } from '../report-options.ts'
import type { CliContext, FlagValues, Invocation, Verb } from '../verb.ts'

export const planVerb: Verb = {
  brief: 'Replicas for a demand',
  description:
    'From the operating point of a sweep to replicas for a demand, with margin and losses, the working shown. Several sweeps are ranked by the throughput that keeps the objective. With --out it writes a folder to deploy: capacity page, SLO rules and their tests, scalers, engine flags, gateway limits. With --simulate the plan is tried on a day of traffic before it is printed, and so is the plan with one replica fewer.',
  positional: {
    placeholder: 'SWEEP',
    brief: 'Sweep folders; the newest run in ./runs without one, and none with --each',
    minimum: 0,
  },
  examples: [
    ['plimsoll plan --peak 40/s --each 8/s --margin derate:20% --survive 1', 'the arithmetic alone'],
    ['plimsoll plan runs/1129-1501-sweep --peak 40/s --margin derate:20% --survive 1', 'from a sweep'],
    [
      'plimsoll plan runs/a runs/b --peak 40/s --margin derate:20% --price 2.50 -t 4',
      'ranked, with the cost',
    ],
    ['plimsoll plan runs/a --peak 40/s --margin derate:20% --survive 1 --out deploy', 'a folder to deploy'],
    [
      'plimsoll plan runs/a --peak 40/s --margin derate:20% --survive 1 --simulate',
      'tried on a simulated day, a replica killed at its height',
    ],
  ],
  flags: {
    ...planFlags,
    json: outputFlags['json']!,
    explain: outputFlags['explain']!,
    ...configFlags,
    quiet: outputFlags['quiet']!,
  },
  run: plan,
}

async function plan(invocation: Invocation): Promise<ExitCode> {
  const { flags, args, cli } = invocation
  const [{ readPlanFlags }, { noticesOf }] = await Promise.all([
    import('../flags/read-plan-flags.ts'),
    import('../voice.ts'),
  ])
  const sweeps = text(flags, 'each') === undefined ? await pathsOrNewest(args, cli) : args
  const config = readPlanFlags(flags, sweeps, await planFile(flags, cli))
  const voice = noticesOf({ flags, cli })
  const { document } = await cli.flows.planFlow(config, await cli.flowDeps(voice))
  await printResult(document, invocation, async () => {
    const { renderPlan } = await import('../../report/plan-screen.ts')
    const { typedWords } = await import('../flags/typed-words.ts')
    // The newest run may be another by then.
    const typed = (without: readonly string[] = []): readonly string[] =>
      typedWords({ ...invocation, args: sweeps }, { without })
    return renderPlan(document, { ...reportOptions(invocation), typed })
  })
  return planExitCode(document)
}

/** What plimsoll.yaml says to a plan; null without one. */
async function planFile(flags: FlagValues, cli: CliContext): Promise<PlanFile | null> {
  const found = await configText(flags, cli)
  if (found === null) return null
  const { readPlanFile } = await import('../../flows/plan-file.ts')
  return readPlanFile(found.text, found.path)
}

/** Without an operating point, or on its simulated day, the objective failed; with a margin that was not chosen and matters, the question was not whole. */
export function planExitCode({ candidates: [best], simulation }: PlanDocument): ExitCode {
  if (simulation?.survives === false) return exitCodes.objectiveFailed
  if (best === undefined || best.basis === null) return exitCodes.objectiveFailed
  return best.chosen === null ? exitCodes.usage : exitCodes.fine
}
