import {
  bashCompletion,
  fishCompletion,
  zshCompletion,
  type CompletedFlag,
  type CompletedVerb,
} from '../completion-scripts.ts'
import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { oneOf } from '../flags/flag-values.ts'
import type { Invocation, Verb } from '../verb.ts'
import { verbEntries } from './registry.ts'

export const completionVerb: Verb = {
  brief: 'Words for the Tab key',
  description:
    'Prints a script for bash, zsh or fish that completes verbs, flags and files. It is fixed text: the shell does not start plimsoll to complete a word, and the script of a new version is printed anew.',
  positional: { placeholder: 'SHELL', brief: 'bash, zsh or fish', minimum: 1, maximum: 1 },
  examples: [
    ['plimsoll completion bash > ~/.local/share/bash-completion/completions/plimsoll', 'bash'],
    ['plimsoll completion zsh > ~/.zsh/completions/_plimsoll', 'zsh: a folder of $fpath'],
    ['plimsoll completion fish > ~/.config/fish/completions/plimsoll.fish', 'fish'],
  ],
  flags: {},
  run: completion,
}

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const

async function completion({ args, cli }: Invocation): Promise<ExitCode> {
  const [shell = ''] = args
  const script = scripts[oneOf(shell, 'SHELL', { bash: 'bash', zsh: 'zsh', fish: 'fish' })]
  await cli.stdout.writeAll(script(await Promise.all(verbEntries.map(completedVerb))))
  return exitCodes.fine
}

async function completedVerb({ name, brief, load }: (typeof verbEntries)[number]): Promise<CompletedVerb> {
  const verb = await load()
  const flags = Object.entries(verb.flags)
    .filter(([, spec]) => spec.hidden !== true && spec.ignored === undefined)
    .map(([flag, spec]): CompletedFlag => {
      const takesFile = /FILE|DIR|FOLDER|PATH/.test(spec.placeholder ?? '')
      return {
        name: flag,
        brief: spec.brief,
        letter: spec.letter ?? null,
        takesFile,
        takesValue: spec.kind !== 'switch' && spec.alone === undefined,
      }
    })
  return { name, brief, flags, words: await wordsOf(name) }
}

/** The names that a verb like `calc` takes first. */
async function wordsOf(name: string): Promise<readonly string[]> {
  if (name === 'completion') return Object.keys(scripts)
  if (name !== 'calc') return []
  const { calculators } = await import('../../flows/calculators.ts')
  return calculators.map((calculator) => calculator.name)
}
