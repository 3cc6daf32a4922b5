import { isOn } from './flags/flag-values.ts'
import type { Invocation } from './verb.ts'

/** One JSON document on stdout with `--json`, else what `render` makes of it for people. */
export async function printResult(
  document: object,
  { flags, cli }: Pick<Invocation, 'flags' | 'cli'>,
  render: () => Promise<string>,
): Promise<void> {
  if (isOn(flags, 'json') === true) cli.stdout.write(`${JSON.stringify(document)}\n`)
  else cli.stdout.say(await render())
}
