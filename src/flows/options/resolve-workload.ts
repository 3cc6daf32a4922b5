import { PlimsollError } from '../../base/errors.ts'
import { defaults } from './defaults.ts'
import { spreadLength } from './length-text.ts'
import type { LengthConfig, OneWorkloadConfig, WorkloadConfig } from './run-config.ts'
import type { RunOptions } from './run-options.ts'

/** What is asked, from what was said of it; refuses what cannot be meant together (PLIM_USAGE). */
export function resolveWorkload(options: RunOptions): WorkloadConfig {
  const { classes } = options
  if (classes === undefined) {
    if (options.workload !== 'mix') return sessions(options, oneWorkload(options))
    throw new PlimsollError('PLIM_USAGE', 'the workload mix has no classes', {
      expected: "--class 'chat=3:D(900,200)' --class 'code=1:D(2000,50)'",
      received: 'none',
    })
  }
  const other = (
    [
      'turns',
      'turnThink',
      'scenario',
      'prompt',
      'output',
      'rangeRatio',
      'workloadPath',
      'prefixHitRate',
      'sharedPrefixTokens',
      'traceSpeed',
    ] as const
  ).find((key) => options[key] !== undefined)
  if (other !== undefined || (options.workload ?? 'mix') !== 'mix') {
    throw contradiction('the classes of a mix say what is asked, and so does something else', 'one of them')
  }
  if (new Set(classes.map(({ name }) => name)).size < classes.length)
    throw contradiction('two classes of the mix have one name', 'a name for each')
  if (!classes.some(({ weight }) => weight > 0))
    throw contradiction('no class of the mix has a weight', 'weights above 0')
  return {
    kind: 'mix',
    classes: classes.map((one) => ({ name: one.name, weight: one.weight, workload: oneWorkload(one) })),
  }
}

/** Random words become conversations where they have turns. */
function sessions({ turns, turnThink }: RunOptions, one: OneWorkloadConfig): WorkloadConfig {
  if (turns === undefined) {
    if (turnThink === undefined) return one
    throw contradiction('--turn-think is between the turns of a session', '--turns N beside it')
  }
  if (one.kind !== 'random' || one.sharedPrefixShare !== undefined || one.sharedPrefixTokens !== undefined) {
    throw contradiction(
      '--turns makes sessions of random words that share nothing',
      'the workload random alone',
    )
  }
  return {
    kind: 'sessions',
    turns,
    prompt: one.prompt,
    output: one.output,
    thinkTimeMs: turnThink?.ms ?? 0,
    thinkTime: turnThink?.kind ?? 'fixed',
  }
}

/** Whether answers are as long as asked unless it is said otherwise: where lengths are the workload's own, not a person's text. */
export function asksExactLengths({ kind }: WorkloadConfig): boolean {
  return ['random', 'trace', 'mix', 'sessions'].includes(kind)
}

/** Whether prompts are meant to find their beginnings in the prefix cache: nobody is surprised then that they do. */
export function sharesBeginnings(workload: WorkloadConfig): boolean {
  if (workload.kind === 'mix') return workload.classes.some((one) => sharesBeginnings(one.workload))
  if (workload.kind === 'trace' || workload.kind === 'sessions') return true
  return (
    workload.kind === 'random' &&
    (workload.sharedPrefixShare !== undefined || workload.sharedPrefixTokens !== undefined)
  )
}

function oneWorkload(options: RunOptions): OneWorkloadConfig {
  const kind = options.workload ?? (options.workloadPath === undefined ? 'random' : 'jsonl')
  if (kind !== 'random') return fileWorkload(kind as Exclude<typeof kind, 'random' | 'mix'>, options)
  const { scenario, prefixHitRate, sharedPrefixTokens, rangeRatio = 0 } = options
  if (options.workloadPath !== undefined) {
    throw contradiction(
      'the workload random reads no file',
      '--workload jsonl, sharegpt, batch or trace with --dataset-path',
    )
  }
  if (options.traceSpeed !== undefined)
    throw contradiction('--trace-speed is of recorded traffic', '--workload trace --dataset-path FILE')
  if (scenario !== undefined && (options.prompt !== undefined || options.output !== undefined))
    throw contradiction('--scenario and --prompt or --output both say how long', 'one of them')
  if (prefixHitRate !== undefined && sharedPrefixTokens !== undefined) {
    throw contradiction(
      '--prefix-hit-rate and --shared-prefix both say what prompts share',
      'a share, or a number of tokens',
    )
  }
  if (prefixHitRate !== undefined && prefixHitRate >= 1)
    throw contradiction('a prompt cannot be all prefix', '--prefix-hit-rate under 100%')
  return {
    kind,
    prompt: spread(scenario?.prompt ?? options.prompt ?? defaults.prompt, rangeRatio)!,
    output: spread(scenario?.output ?? options.output ?? defaults.output, rangeRatio)!,
    ...(prefixHitRate === undefined ? {} : { sharedPrefixShare: prefixHitRate }),
    ...(sharedPrefixTokens === undefined ? {} : { sharedPrefixTokens }),
  }
}

function fileWorkload(
  kind: 'jsonl' | 'sharegpt' | 'batch' | 'trace',
  options: RunOptions,
): OneWorkloadConfig {
  const { workloadPath: path } = options
  if (path === undefined) {
    throw new PlimsollError('PLIM_USAGE', `the workload ${kind} needs its file`, {
      expected: '--dataset-path FILE',
      received: 'nothing',
    })
  }
  if (options.prompt !== undefined || options.scenario !== undefined) {
    throw contradiction(
      '--random-input-len has no meaning for prompts from a file',
      'the workload random, or no input length',
    )
  }
  if (options.prefixHitRate !== undefined || options.sharedPrefixTokens !== undefined)
    throw contradiction('prompts from a file share what they share', 'the workload random')
  if (options.rangeRatio !== undefined && options.output === undefined)
    throw contradiction(
      '--random-range-ratio spreads a length, and the file has its own',
      '--output beside it',
    )
  if (kind === 'trace') {
    if (options.output !== undefined)
      throw contradiction('a trace says how long its answers are', 'no output length')
    return { kind, path, speed: options.traceSpeed ?? 1 }
  }
  if (options.traceSpeed !== undefined)
    throw contradiction('--trace-speed is of recorded traffic', '--workload trace')
  return { kind, path, output: spread(options.output ?? null, options.rangeRatio ?? 0) }
}

function spread(length: LengthConfig | null, ratio: number): LengthConfig | null {
  return length === null ? null : spreadLength(length, ratio, '--random-range-ratio')
}

function contradiction(message: string, expected: string): PlimsollError {
  return new PlimsollError('PLIM_USAGE', message, { expected })
}
