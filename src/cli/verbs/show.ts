import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { outputFlags } from '../flags/output-flags.ts'
import { pathsOrNewest } from '../newest-run.ts'
import { isOn } from '../flags/flag-values.ts'
import type { Invocation, Verb } from '../verb.ts'

export const showVerb: Verb = {
  brief: 'A run or sweep again',
  description:
    'Prints a run or a sweep from its folder, recomputed from its rows. The folder of a run that was killed is read as far as it got.',
  positional: {
    placeholder: 'RUN',
    brief: 'Run folder, sweep folder, or a file of one; the newest in ./runs without it',
    minimum: 0,
  },
  examples: [
    ['plimsoll show', 'the newest run'],
    ['plimsoll show runs/1129-1436-run', 'as the run printed it'],
    ['plimsoll show runs/1129-1436-run --explain', 'with the working of each figure'],
    ['plimsoll show runs/1129-1501-sweep --json', 'one JSON document on stdout'],
    ['plimsoll show runs/a runs/b runs/c --as-fleet', 'the percentiles of all of them together'],
    ['plimsoll show a.prom b.prom --as-fleet', "from servers' histograms, with the error of the buckets"],
  ],
  flags: {
    'as-fleet': {
      kind: 'switch',
      group: 'Output',
      brief: 'Several runs, imports or scrapes (.prom) as one fleet: percentiles are pooled, never averaged',
    },
    json: outputFlags['json']!,
    explain: outputFlags['explain']!,
    quiet: outputFlags['quiet']!,
  },
  run: show,
}

async function show({ flags, args, cli }: Invocation): Promise<ExitCode> {
  const { stderrVoice } = await import('../voice.ts')
  const voice = stderrVoice(cli, { quiet: isOn(flags, 'quiet') ?? false, progress: false, yes: true })
  if (isOn(flags, 'as-fleet') === true) {
    const fleet = await cli.flows.fleetFlow(args, await cli.flowDeps(voice))
    if (isOn(flags, 'json') === true) cli.stdout.write(`${JSON.stringify(fleet)}\n`)
    else {
      const { renderFleet } = await import('../../report/render-fleet.ts')
      cli.stdout.write(renderFleet(fleet, { color: cli.stdout.color }))
    }
    return exitCodes.fine
  }
  const { shown } = await cli.flows.showFlow(await pathsOrNewest(args, cli), await cli.flowDeps(voice))
  const options = { color: cli.stdout.color, explain: isOn(flags, 'explain') ?? false }
  if (isOn(flags, 'json') === true) {
    // One document a path, each on its own line: with one path that is one document.
    for (const one of shown) cli.stdout.write(`${JSON.stringify(one.document)}\n`)
    return exitCodes.fine
  }
  const { renderRun } = await import('../../report/render-run.ts')
  const { renderSweep } = await import('../../report/render-sweep.ts')
  const texts = shown.map((one) =>
    one.kind === 'run' ? renderRun(one.document, options) : renderSweep(one.document, options),
  )
  cli.stdout.write(texts.join('\n'))
  return exitCodes.fine
}
