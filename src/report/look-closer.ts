import { formatPlain } from '../base/units.ts'
import { commandLine } from './command-line.ts'
import type { RepeatFlags, SweepLoad, TargetFacts } from './documents.ts'
import { failureShares, isFailing, type Told } from './failure-words.ts'
import { sameAgain } from './render-run.ts'

/** A run inside a folder of runs, at a load. */
interface OneOfSeveral extends Told {
  readonly load: SweepLoad
  /** Its folder within the other; null: it was not run. */
  readonly run: string | null
}

/**
 * Command lines to look at one of several runs where no load could be recommended: what made it slow, or, where its requests
 * failed, what it says of them and a few of them once more.
 */
export function commandsToLookCloser(
  folder: string,
  one: OneOfSeveral | undefined,
  target: TargetFacts,
  repeat: RepeatFlags | null | undefined,
): string[] {
  if (one === undefined || one.run === null) return []
  const run = `${folder}/${one.run}`
  if (!isFailing(failureShares([one]))) return [commandLine('why', run)]
  const show = commandLine('show', run)
  if (repeat === null) return [show]
  const { kind, value } = one.load
  const load = [
    kind === 'rate' ? '--request-rate' : '--concurrency',
    formatPlain(value),
    '--num-prompts',
    '20',
  ]
  return [show, commandLine('run', ...sameAgain(target, repeat), ...load)]
}
