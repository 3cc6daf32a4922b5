import { PlimsollError } from '../../base/errors.ts'
import { shellLine } from '../../base/shell-words.ts'
import type { CompareDocument } from '../../report/compare-document.ts'
import { armSeparator } from '../argv.ts'
import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { clientFlags } from '../flags/client-flags.ts'
import { judgeFlags } from '../flags/judge-flags.ts'
import { text } from '../flags/flag-values.ts'
import { loadFlags } from '../flags/load-flags.ts'
import { configFlags, folderFlags, outputFlags } from '../flags/output-flags.ts'
import { idleFlags } from '../flags/pick-flags.ts'
import { targetFlags } from '../flags/target-flags.ts'
import { workloadFlags } from '../flags/workload-flags.ts'
import { placeOptions, reportOptions } from '../report-options.ts'
import { printResult } from '../print-result.ts'
import type { FlagSpecs, Invocation, Verb } from '../verb.ts'

const group = 'How to compare'

const compareFlags: FlagSpecs = {
  margin: {
    kind: 'text',
    group,
    brief: 'A change that nobody would act on: verdicts are against it',
    placeholder: 'SHARE',
    default: '2%',
  },
  primary: {
    kind: 'text',
    group,
    brief: 'The metric declared beforehand; the others answer to Holm',
    placeholder: 'METRIC',
    default: 'tpot_mean',
  },
  metrics: {
    kind: 'text',
    group,
    brief:
      'Metrics to compare: tpot_mean, tpot_p99, ttft_p50, e2e_p99, gaps_p99, output_tokens, goodput, failures, …',
    placeholder: 'LIST',
  },
  confidence: {
    kind: 'text',
    group,
    brief: 'Of the intervals; the tests are at its rest',
    placeholder: 'SHARE',
    default: '95%',
  },
  power: {
    kind: 'text',
    group,
    brief: 'The chance with which an effect should be seen',
    placeholder: 'SHARE',
    default: '80%',
  },
  baseline: {
    kind: 'text',
    group,
    brief: 'A folder of runs (or one run, or a sweep) that is A; the arguments are B',
    placeholder: 'DIR',
  },
  plan: {
    kind: 'switch',
    group,
    brief: 'Say how many runs an effect needs, from the runs of a pilot (A… or A… -- B…)',
  },
  effect: {
    kind: 'text',
    group,
    brief: 'The change to be seen, with --plan',
    placeholder: 'SHARE',
    default: 'the margin',
    idle: 'it is of --plan',
  },
  run: {
    kind: 'switch',
    group,
    brief:
      'Make the runs: URL_A URL_B, in the order ABBA…, the same seed in both arms of a block; takes the flags of plimsoll run',
  },
  runs: {
    kind: 'text',
    group,
    brief: 'Runs an arm with --run, fixed beforehand',
    placeholder: 'N',
    default: '5',
    idle: 'it is of --run',
  },
  csv: {
    kind: 'text',
    group,
    brief: 'Compare two columns of a CSV file, row by row: scores of two models, question by question',
    placeholder: 'FILE',
  },
  columns: {
    kind: 'text',
    group,
    brief: 'The columns A,B of --csv',
    placeholder: 'A,B',
    idle: 'it is of --csv',
  },
  better: {
    kind: 'text',
    group,
    brief: 'With --csv: higher (scores) or lower (times)',
    placeholder: 'WHICH',
    default: 'higher',
    idle: 'it is of --csv',
  },
  scale: {
    kind: 'text',
    group,
    brief: 'With --csv: difference, or log for ratios',
    placeholder: 'SCALE',
    default: 'difference',
    idle: 'it is of --csv',
  },
}

// The servers are arguments, and how often each is run is `--runs`.
const { url: _url, host: _host, port: _port, ...otherTargetFlags } = targetFlags
const { repeat: _repeat, ...oneRunsLoad } = loadFlags
const ofTheRuns = 'it is of the runs that --run makes; runs that are there were made without it'

export const compareVerb: Verb = {
  brief: 'Is B faster than A?',
  description:
    'Compares runs of A with runs of B. The run is the replicate: pairs by seed or block where there are any, else Welch; Student’s t on log ratios; verdicts against a margin. Exit 4 where B is shown worse. A sweep is compared load by load.',
  positional: { placeholder: 'A… -- B…', brief: 'Runs, sweeps or folders of runs of each arm', minimum: 0 },
  separated: true,
  examples: [
    ['plimsoll compare before/a before/b -- after/a after/b', 'two arms of runs'],
    ['plimsoll compare --baseline runs/main runs/branch', 'in CI: exit 4 on a regression'],
    ['plimsoll compare --run http://a:8000 http://b:8000 --runs 10 -r 6 -d 2m', 'make the runs, interleaved'],
    ['plimsoll compare --plan before/a before/b before/c --effect 3%', 'how many runs 3 % needs'],
    ['plimsoll compare --csv scores.csv --columns old,new', 'two models, question by question'],
  ],
  flags: {
    ...compareFlags,
    ...idleFlags(
      {
        ...otherTargetFlags,
        ...oneRunsLoad,
        ...workloadFlags,
        ...judgeFlags,
        ...clientFlags,
        ...folderFlags,
        ...configFlags,
      },
      ofTheRuns,
    ),
    ...outputFlags,
  },
  run: compare,
}

async function compare(invocation: Invocation): Promise<ExitCode> {
  const { cli } = invocation
  const { prepareCompare } = await import('../prepare-compare.ts')
  const { config, voice } = await prepareCompare(invocation)
  try {
    const outcome = await cli.flows.compareFlow(config, await cli.flowDeps(voice))
    voice.finish()
    if (outcome.kind === 'compared' && outcome.folder !== undefined) {
      const { savedWords } = await import('../../report/saved-words.ts')
      voice.onNotice(savedWords(outcome.folder, { isStored: invocation.isStored() }).join(' · '))
    }
    await printResult(outcome.document, invocation, async () => {
      if (outcome.kind === 'planned') {
        const { renderComparePlan } = await import('../../report/compare-plan-text.ts')
        return renderComparePlan(outcome.document, placeOptions(cli.stdout))
      }
      const { renderCompare } = await import('../../report/compare-text.ts')
      const { typedWords } = await import('../flags/typed-words.ts')
      const typed = typedWords(invocation, { without: ['runs'] })
      return renderCompare(outcome.document, { ...reportOptions(invocation), typed })
    })
    if (outcome.kind === 'planned') return exitCodes.fine
    return compareExitCode(outcome.document, outcome.interrupted)
  } finally {
    voice.finish()
  }
}

/** Exit 4 where any metric is shown worse and not shown to be within the margin. */
export function compareExitCode(document: CompareDocument, interrupted: boolean): ExitCode {
  if (interrupted) return exitCodes.interrupted
  return document.regression ? exitCodes.regression : exitCodes.fine
}

/** The paths of both arms, split where `--` stood. */
export function armsOf({ args, flags }: Pick<Invocation, 'args' | 'flags'>): {
  readonly a: readonly string[]
  readonly b: readonly string[]
} {
  const at = args.indexOf(armSeparator)
  const baseline = text(flags, 'baseline')
  if (baseline !== undefined) {
    if (at >= 0) {
      throw new PlimsollError('PLIM_USAGE', '--baseline is A: there is nothing before --', {
        hint: shellLine(['plimsoll', 'compare', '--baseline', baseline, ...named(args.slice(at + 1), 'RUN')]),
      })
    }
    return { a: [baseline], b: args }
  }
  return at < 0 ? { a: args, b: [] } : { a: args.slice(0, at), b: args.slice(at + 1) }
}

function named(words: readonly string[], otherwise: string): readonly string[] {
  return words.length > 0 ? words : [otherwise]
}

/** Names of metrics that were asked for. */
export function metricsOf(flags: Invocation['flags']): readonly string[] | null {
  const said = text(flags, 'metrics')
  return said === undefined
    ? null
    : said
        .split(',')
        .map((name) => name.trim().replaceAll('-', '_').replaceAll(' ', '_'))
        .filter((name) => name !== '')
}
