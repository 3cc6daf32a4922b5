import { parseDurationMs } from '../../base/units.ts'
import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { text } from '../flags/flag-values.ts'
import { outputFlags } from '../flags/output-flags.ts'
import { pathsOrNewest } from '../newest-run.ts'
import { printResult } from '../print-result.ts'
import type { Invocation, Verb } from '../verb.ts'
import { scalePolicyVerb } from './scale-policy.ts'

const group = 'What is asked'

export const scaleSignalsVerb: Verb = {
  brief: 'Which recorded signal moved before the objective was missed',
  description:
    'Ranks the signals of a run (requests waiting and running, KV, CPU, GPU memory, and what the client saw) by how long before the objective was missed they moved for good. What did not move cannot warn, and a policy on it is refused.',
  positional: {
    placeholder: 'RUN',
    brief: 'A run, or what plimsoll watch --record kept; the newest in ./runs without it',
    minimum: 0,
    maximum: 2,
  },
  examples: [
    ["plimsoll scale signals runs/a --slo 'ttft < 500ms'", 'ranked by lead time'],
    ['plimsoll scale signals runs/a --on cpu', 'may a policy be made on it?'],
  ],
  flags: {
    slo: {
      kind: 'text',
      group,
      brief: 'The limit that counts',
      placeholder: 'TEXT',
      default: "the run's own",
    },
    on: {
      kind: 'text',
      group,
      brief: 'A signal to scale on: refused if it did not move in time',
      placeholder: 'SIGNAL',
    },
    hold: {
      kind: 'text',
      group,
      brief: 'How long the limit must be missed to count',
      placeholder: 'TIME',
      default: '3s',
    },
    'cold-start': { kind: 'text', group, brief: 'Lead that a start needs', placeholder: 'TIME' },
    json: outputFlags['json']!,
    quiet: outputFlags['quiet']!,
  },
  run: signals,
}

async function signals(invocation: Invocation): Promise<ExitCode> {
  const { flags, args, cli } = invocation
  const [path] = await pathsOrNewest(args.slice(1), cli)
  const coldStart = text(flags, 'cold-start')
  const [{ renderSignals }, { noticesOf }] = await Promise.all([
    import('../../report/scale-screen.ts'),
    import('../voice.ts'),
  ])
  const voice = noticesOf({ flags, cli })
  const { document } = await cli.flows.signalsFlow(
    {
      path: path ?? '',
      objective: text(flags, 'slo') ?? null,
      holdMs: parseDurationMs(text(flags, 'hold') ?? '3s', '--hold'),
      coldStartMs: coldStart === undefined ? null : parseDurationMs(coldStart, '--cold-start'),
      on: text(flags, 'on') ?? null,
    },
    await cli.flowDeps(voice),
  )
  await printResult(document, invocation, async () => {
    const { typedWords } = await import('../flags/typed-words.ts')
    const typed = typedWords({ ...invocation, args: [] }, { of: scalePolicyVerb.flags, without: ['on'] })
    return renderSignals(document, { color: cli.stdout.color, typed })
  })
  return document.policy !== null && document.policy.refused !== null ? exitCodes.usage : exitCodes.fine
}
