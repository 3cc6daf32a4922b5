import { tmpdir } from 'node:os'
import type { SimulationDocument } from '../../report/simulate-document.ts'
import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { text } from '../flags/flag-values.ts'
import { outputFlags } from '../flags/output-flags.ts'
import { printResult } from '../print-result.ts'
import type { Invocation, Verb } from '../verb.ts'

export const simulateVerb: Verb = {
  brief: 'A fleet in virtual time',
  description:
    'Runs replicas, router, autoscaler, admission, clients and faults against traffic, with the scheduler of the embedded engine and no clock: a day takes seconds. The same seed gives the same bytes. Policies of the file stand side by side, above what a fleet that knew everything before would take.',
  positional: {
    placeholder: 'FILE',
    brief: 'Fleet file (YAML); see docs/simulation.md',
    minimum: 1,
    maximum: 1,
  },
  examples: [
    ['plimsoll simulate fleet.yaml', 'every policy of the file'],
    ['plimsoll simulate fleet.yaml --seed 7 --json', 'other arrivals; one JSON document on stdout'],
    ['plimsoll simulate fleet.yaml --out sim', 'with a run folder of rows for each policy'],
  ],
  flags: {
    seed: { kind: 'text', group: 'Simulation', brief: "Instead of the file's seed", placeholder: 'SEED' },
    out: {
      kind: 'text',
      group: 'Output',
      brief: 'Keep the rows: a run folder, or a folder with one for each policy',
      placeholder: 'DIR',
      letter: 'o',
    },
    json: outputFlags['json']!,
    quiet: outputFlags['quiet']!,
  },
  run: simulate,
}

async function simulate(invocation: Invocation): Promise<ExitCode> {
  const { flags, args, cli } = invocation
  const { noticesOf } = await import('../voice.ts')
  const voice = noticesOf({ flags, cli })
  const { document } = await cli.flows.simulateFlow(
    {
      path: args[0] ?? '',
      seed: text(flags, 'seed') ?? null,
      out: text(flags, 'out') ?? null,
      scratch: tmpdir(),
    },
    await cli.flowDeps(voice),
  )
  await printResult(document, invocation, async () => {
    const { renderSimulation } = await import('../../report/simulate-text.ts')
    const { typedWords } = await import('../flags/typed-words.ts')
    const typed = typedWords(invocation)
    return renderSimulation(document, { color: cli.stdout.color, out: text(flags, 'out') ?? null, typed })
  })
  return simulationExitCode(document)
}

/** 3 where an objective is set and no policy meets it. */
export function simulationExitCode({ policies }: SimulationDocument): ExitCode {
  const judged = policies.filter((policy) => policy.objective_met !== null)
  const missed = judged.length > 0 && !judged.some((policy) => policy.objective_met === true)
  return missed ? exitCodes.objectiveFailed : exitCodes.fine
}
