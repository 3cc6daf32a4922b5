import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { isOn } from '../flags/flag-values.ts'
import type { Invocation, Verb } from '../verb.ts'

export const initVerb: Verb = {
  brief: 'A commented plimsoll.yaml',
  description: 'Writes a plimsoll.yaml with every setting explained; editors complete it by its schema.',
  positional: {
    placeholder: 'FILE',
    brief: 'File to write, ./plimsoll.yaml without it',
    minimum: 0,
    maximum: 1,
  },
  examples: [['plimsoll init', 'writes ./plimsoll.yaml']],
  flags: { force: { kind: 'switch', group: 'Output', brief: 'Write over a file that is there' } },
  run: init,
}

async function init({ flags, args, cli }: Invocation): Promise<ExitCode> {
  const [{ configTemplate }, { commandLine }] = await Promise.all([
    import('../../flows/options/config-template.ts'),
    import('../../report/command-line.ts'),
  ])
  const path = args[0] ?? 'plimsoll.yaml'
  const file = await cli.openFile(path, { overwrite: isOn(flags, 'force') ?? false })
  await file.write(configTemplate)
  await file.close()
  const config = path === 'plimsoll.yaml' ? [] : ['--config', path]
  const next = ['run', 'sweep'].map((verb) => commandLine(verb, ...config))
  cli.stdout.say(`wrote ${[path, ...next].join(' · ')}\n`)
  return exitCodes.fine
}
