import { PlimsollError } from '../../base/errors.ts'
import { noun } from '../../base/noun.ts'
import type { Shown } from '../../flows/flow-deps.ts'
import type { RenderOptions } from '../../report/paint.ts'
import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { checkCiFlags, writeCi } from '../ci-output.ts'
import { ciFlags } from '../flags/ci-flags.ts'
import { outputFlags } from '../flags/output-flags.ts'
import { pathsOrNewest } from '../newest-run.ts'
import { isOn, text } from '../flags/flag-values.ts'
import { printResult } from '../print-result.ts'
import { reportOptions } from '../report-options.ts'
import type { CliContext, FlagValues, Invocation, Verb } from '../verb.ts'

/** What `--html` alone means. */
const besideTheRun = 'auto'

export const showVerb: Verb = {
  brief: 'A run, sweep, search or experiment again',
  description:
    'Prints a run from its folder, recomputed from its rows, or a sweep, a search for a rate, an experiment or a recorded watch. The folder of a run that was killed is read as far as it got.',
  positional: {
    placeholder: 'RUN',
    brief: 'Folder of a run or of several, or a file of one; the newest in ./runs without it',
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

async function show(invocation: Invocation): Promise<ExitCode> {
  const { flags, args, cli } = invocation
  await checkCiFlags(flags, cli)
  const { noticesOf } = await import('../voice.ts')
  const voice = noticesOf({ flags, cli })
  if (isOn(flags, 'as-fleet') === true) {
    refuseBesideFleet(flags)
    const fleet = await cli.flows.fleetFlow(args, await cli.flowDeps(voice))
    await printResult(fleet, { flags, cli }, async () => {
      const { renderFleet } = await import('../../report/render-fleet.ts')
      return renderFleet(fleet, { color: cli.stdout.color })
    })
    return exitCodes.fine
  }
  const paths = await pathsOrNewest(args, cli, 'shown')
  const html = text(flags, 'html')
  if (html !== undefined && html !== besideTheRun && paths.length > 1) {
    throw new PlimsollError('PLIM_USAGE', '--html FILE takes one run', {
      expected: 'one run, or --html alone: a page beside each',
      received: `${paths.length} ${noun(paths.length, 'run')}`,
    })
  }
  const { shown } = await cli.flows.showFlow(paths, await cli.flowDeps(voice))
  for (const one of shown) {
    if (hasPage(one)) await writeCi(one.document, flags, cli)
    else refuseCi(one, flags)
  }
  if (html !== undefined) return writePages(shown, html, flags, cli)
  const options = reportOptions(invocation)
  if (isOn(flags, 'json') === true) {
    // One document a path, each on its own line: with one path that is one document.
    for (const one of shown) cli.stdout.write(`${JSON.stringify(one.document)}\n`)
    return exitCodes.fine
  }
  const texts: string[] = []
  for (const one of shown) texts.push(await rendered(one, options))
  cli.stdout.say(texts.join('\n'))
  return exitCodes.fine
}

function refuseBesideFleet(flags: FlagValues): void {
  for (const name of ['html', 'junit', 'ci', 'explain', 'force']) {
    if (flags[name] === undefined) continue
    throw new PlimsollError('PLIM_USAGE', `--${name} is of one run, and --as-fleet is of several together`, {
      hint: `plimsoll show RUN --${name}`,
    })
  }
}

function refuseCi(one: Exclude<Shown, WithPage>, flags: FlagValues): void {
  for (const name of ['junit', 'ci']) {
    if (flags[name] === undefined) continue
    throw new PlimsollError('PLIM_USAGE', `--${name} is of a run or a sweep`, {
      received: `${pageless[one.kind]}: ${one.path}`,
      hint: `plimsoll show RUN --${name} on a run of its folder`,
    })
  }
}

async function rendered(one: Shown, options: RenderOptions): Promise<string> {
  switch (one.kind) {
    case 'run':
      return (await import('../../report/render-run.ts')).renderRun(one.document, options)
    case 'sweep':
      return (await import('../../report/render-sweep.ts')).renderSweep(one.document, options)
    case 'find':
      return (await import('../../report/find-text.ts')).renderFind(one.document, options)
    case 'experiment':
      return (await import('../../report/experiment-text.ts')).renderExperiment(one.document, options)
    default:
      return (await import('../../report/watch-screen.ts')).renderWatch(one.document, options)
  }
}

type WithPage = Extract<Shown, { readonly kind: 'run' | 'sweep' }>

function hasPage(one: Shown): one is WithPage {
  return one.kind === 'run' || one.kind === 'sweep'
}

const pageless = {
  find: 'a search for a rate',
  experiment: 'an experiment',
  watch: 'a watched deployment',
} as const

async function writePages(
  shown: readonly Shown[],
  html: string,
  flags: FlagValues,
  cli: CliContext,
): Promise<ExitCode> {
  const { runPage } = await import('../../report/html-run.ts')
  const { sweepPage } = await import('../../report/html-sweep.ts')
  for (const one of shown) {
    if (!hasPage(one)) {
      throw new PlimsollError('PLIM_USAGE', `there is no page of ${pageless[one.kind]}`, {
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
