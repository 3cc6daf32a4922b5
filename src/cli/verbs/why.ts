import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { oneOf, text } from '../flags/flag-values.ts'
import { outputFlags } from '../flags/output-flags.ts'
import { pathsOrNewest } from '../newest-run.ts'
import { printResult } from '../print-result.ts'
import { reportOptions } from '../report-options.ts'
import type { Invocation, Verb } from '../verb.ts'

const group = 'How to look'

export const whyVerb: Verb = {
  brief: 'Why is X slower than Y?',
  description:
    'Splits the difference of two end-to-end times exactly into the time to the first token, the pace and the length; for runs also says whether a percentile moved because other requests came or because the same ones took longer, and which streams paused with what. X and Y are runs, points of a sweep (SWEEP@LOAD), requests (RUN#ID) or figures. One run: its slowest answers against the rest. One sweep: its first failing point against that at capacity.',
  positional: {
    placeholder: 'X [Y]',
    brief:
      'Runs, points as SWEEP@LOAD, requests as RUN#ID, or figures as ttft=0.3s,e2e=8.3s,tokens=400; the newest run without any',
    minimum: 0,
    maximum: 2,
  },
  examples: [
    ['plimsoll why ttft=0.3s,e2e=8.3s,tokens=400 ttft=0.3s,e2e=2s,tokens=85', 'two requests, typed'],
    ['plimsoll why runs/slow runs/fast --explain', 'two runs, with the working'],
    ['plimsoll why runs/slow#12 runs/slow#40', 'two requests of a run'],
    ['plimsoll why runs/slow', 'the slowest of a run, and its pauses'],
    ['plimsoll why runs/sweep', 'a sweep: its first failing point against that at capacity'],
    ['plimsoll why runs/sweep@32 runs/sweep@16', 'two points of a sweep by their load'],
    ['plimsoll why runs/slow runs/fast --by replica --percentile 95', 'by another label'],
  ],
  flags: {
    by: {
      kind: 'text',
      group,
      brief: 'What requests are told apart by: prompt, output, segment, session, replica, turn, worker',
      placeholder: 'LABEL',
      default: 'prompt',
    },
    percentile: { kind: 'text', group, brief: 'The percentile that moved', placeholder: 'P', default: '99' },
    json: outputFlags['json']!,
    explain: outputFlags['explain']!,
    quiet: outputFlags['quiet']!,
  },
  run: why,
}

async function why(invocation: Invocation): Promise<ExitCode> {
  const { flags, args, cli } = invocation
  const { segmentLabels } = await import('../../flows/why.ts')
  const { noticesOf } = await import('../voice.ts')
  const { parsePercentileLevel } = await import('../flags/percentile-level.ts')
  const by = oneOf(
    text(flags, 'by') ?? 'prompt',
    '--by',
    Object.fromEntries(segmentLabels.map((label) => [label, label])) as Record<
      (typeof segmentLabels)[number],
      (typeof segmentLabels)[number]
    >,
  )
  const level = parsePercentileLevel(text(flags, 'percentile') ?? '99', '--percentile')
  const voice = noticesOf({ flags, cli })
  const [a = '', b = null] = await pathsOrNewest(args, cli)
  const document = await cli.flows.whyFlow({ a, b, by, level }, await cli.flowDeps(voice))
  await printResult(document, invocation, async () => {
    const { renderWhy } = await import('../../report/why-text.ts')
    return renderWhy(document, reportOptions(invocation))
  })
  return exitCodes.fine
}
