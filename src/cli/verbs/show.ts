import { PlimsollError } from '../../base/errors.ts'
import type { Shown } from '../../flows/flow-deps.ts'
import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { checkCiFlags, writeCi } from '../ci-output.ts'
import { ciFlags } from '../flags/ci-flags.ts'
import { outputFlags } from '../flags/output-flags.ts'
import { pathsOrNewest } from '../newest-run.ts'
import { isOn, text } from '../flags/flag-values.ts'
import type { CliContext, FlagValues, Invocation, Verb } from '../verb.ts'

/** What `--html` alone means. */
const besideTheRun = 'auto'

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
    ['plimsoll show runs/1129-1436-run --html', 'one page with its figures, report.html beside the run'],
    ['plimsoll show a.prom b.prom --as-fleet', "from servers' histograms, with the error of the buckets"],
    [
      'plimsoll show answer.json --as-fleet',
      'from native histograms: an answer of /api/v1/query, a series a replica',
    ],
  ],
  flags: {
    'as-fleet': {
      kind: 'switch',
      group: 'Output',
      brief:
        'Several runs, imports, scrapes (.prom) or answers of Prometheus (.json) as one fleet: percentiles are pooled, never averaged',
    },
    json: outputFlags['json']!,
    explain: outputFlags['explain']!,
    html: {
      kind: 'text',
      group: 'Output',
      brief: 'One HTML file with figures: nothing is fetched and no script runs; report.html in the folder',
      placeholder: 'FILE.html',
      alone: { means: besideTheRun, unless: /\.html?$/i },
    },
    ...ciFlags,
    force: { kind: 'switch', group: 'Output', brief: 'Write over a FILE.html that is there' },
    quiet: outputFlags['quiet']!,
  },
  run: show,
}

async function show({ flags, args, cli }: Invocation): Promise<ExitCode> {
  checkCiFlags(flags)
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
  const paths = await pathsOrNewest(args, cli)
  const html = text(flags, 'html')
  if (html !== undefined && html !== besideTheRun && paths.length > 1) {
    throw new PlimsollError('PLIM_USAGE', '--html FILE takes one run', {
      expected: 'one run, or --html alone: a page beside each',
      received: `${paths.length} runs`,
    })
  }
  const { shown } = await cli.flows.showFlow(paths, await cli.flowDeps(voice))
  for (const one of shown) if (one.kind !== 'watch') await writeCi(one.document, flags, cli)
  if (html !== undefined) return writePages(shown, html, flags, cli)
  const options = { color: cli.stdout.color, explain: isOn(flags, 'explain') ?? false }
  if (isOn(flags, 'json') === true) {
    // One document a path, each on its own line: with one path that is one document.
    for (const one of shown) cli.stdout.write(`${JSON.stringify(one.document)}\n`)
    return exitCodes.fine
  }
  const { renderRun } = await import('../../report/render-run.ts')
  const { renderSweep } = await import('../../report/render-sweep.ts')
  const { renderWatch } = await import('../../report/watch-screen.ts')
  const texts = shown.map((one) => {
    if (one.kind === 'run') return renderRun(one.document, options)
    return one.kind === 'sweep' ? renderSweep(one.document, options) : renderWatch(one.document, options)
  })
  cli.stdout.write(texts.join('\n'))
  return exitCodes.fine
}

async function writePages(
  shown: readonly Shown[],
  html: string,
  flags: FlagValues,
  cli: CliContext,
): Promise<ExitCode> {
  const { runPage } = await import('../../report/html-run.ts')
  const { sweepPage } = await import('../../report/html-sweep.ts')
  for (const one of shown) {
    if (one.kind === 'watch') {
      throw new PlimsollError('PLIM_USAGE', 'there is no page of a watched deployment', {
        expected: 'a run or a sweep',
        received: one.path,
        hint: 'plimsoll show without --html prints it',
      })
    }
    const folder = one.path.replace(/\/[^/]*\.(json|ndjson|parquet)$/, '').replace(/\/+$/, '')
    const path = html === besideTheRun ? `${folder}/report.html` : html
    const overwrite = html === besideTheRun || (isOn(flags, 'force') ?? false)
    const sink = await cli.openFile(path, { overwrite })
    try {
      await sink.write(
        one.kind === 'run' ? runPage(one.document, one.rows, one.server) : sweepPage(one.document),
      )
    } finally {
      await sink.close()
    }
    if (isOn(flags, 'quiet') !== true) cli.stderr.write(`wrote ${path}\n`)
  }
  return exitCodes.fine
}
