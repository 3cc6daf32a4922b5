import { formatSpan } from '../base/units.ts'
import type { AwaitedAnswer } from '../flows/flow-deps.ts'
import { renderProgress, renderProgressLine } from '../report/render-progress.ts'
import type { RunProgress } from '../report/progress.ts'
import { isOn } from './flags/flag-values.ts'
import type { CliContext, FlowVoice, Invocation } from './verb.ts'

const frameMs = 250
const plainLineMs = 10_000

/** Progress and notices of a flow on stderr, and the end of it: the status line is erased. */
export interface Voice extends FlowVoice {
  readonly finish: () => void
}

/**
 * On a terminal one status line, redrawn at most four times a second and erased at the end; elsewhere a plain line every ten
 * seconds. Times are those of the progress itself.
 */
export function stderrVoice(
  cli: CliContext,
  options: { quiet: boolean; progress: boolean; yes: boolean },
): Voice {
  const { stderr } = cli
  const drawn = !options.quiet && options.progress
  let lineShown = false
  let lastAtMs = Number.NEGATIVE_INFINITY
  let lastLabel = ''
  let lastWait = ''
  function erase(): void {
    if (lineShown) stderr.write('\r\u001B[K')
    lineShown = false
  }
  return {
    onProgress(progress: RunProgress) {
      if (!drawn) return
      const restarted = progress.label !== lastLabel || progress.elapsedMs < lastAtMs
      const dueMs = stderr.isTerminal ? frameMs : plainLineMs
      if (!restarted && progress.elapsedMs - lastAtMs < dueMs) return
      lastAtMs = progress.elapsedMs
      lastLabel = progress.label
      if (stderr.isTerminal) {
        stderr.write(`\r\u001B[K${renderProgress(progress, stderr.columns)}`)
        lineShown = true
      } else stderr.write(`${renderProgressLine(progress)}\n`)
    },
    onWait({ what, elapsedMs, mostMs }: AwaitedAnswer) {
      if (options.quiet) return
      if (stderr.isTerminal && drawn) {
        const line = `${what}   ${formatSpan(Math.floor(elapsedMs / 1000) * 1000)} / ${formatSpan(mostMs)}`
        stderr.write(
          `\r\u001B[K${Array.from(line)
            .slice(-(stderr.columns - 1))
            .join('')}`,
        )
        lineShown = true
      } else if (what !== lastWait) stderr.say(`${what}, at most ${formatSpan(mostMs)}\n`)
      lastWait = what
    },
    onNotice(text: string, weight?: 'not-as-asked') {
      if (options.quiet && weight === undefined) return
      erase()
      stderr.say(`${text}\n`)
    },
    async confirm(plan: string) {
      erase()
      if (!options.quiet) stderr.say(`${plan}\n`)
      return options.yes || cli.ask === null ? true : await cli.ask('Go on? [Y/n] ')
    },
    stopping: 'stopping: no more is sent, answers under way are awaited and kept; Ctrl-C again ends at once',
    finish: erase,
  }
}

/** The voice that the flags ask for. */
export function voiceOf({ flags, cli }: Pick<Invocation, 'flags' | 'cli'>): Voice {
  return stderrVoice(cli, {
    quiet: isOn(flags, 'quiet') ?? false,
    progress: isOn(flags, 'progress') ?? true,
    yes: isOn(flags, 'yes') ?? false,
  })
}

/** That of a verb which neither takes long nor loads a server: notices alone. */
export function noticesOf({ flags, cli }: Pick<Invocation, 'flags' | 'cli'>): Voice {
  return stderrVoice(cli, { quiet: isOn(flags, 'quiet') ?? false, progress: false, yes: true })
}
