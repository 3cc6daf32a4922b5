import { isOn } from './flags/flag-values.ts'
import type { Invocation } from './verb.ts'

/**
 * One JSON document on stdout with `--json`, else what `render` makes of it for people: the one place where a verb prints its result.
 * Others choose for themselves: `watch` and `show` print a document a look or a path, `scale serve` an address while it runs, `scale policy`
 * and `slo rules` also files that neither a person nor `--json` asked for, `slo test` makes its document beside its words.
 */
export async function printResult(
  document: object,
  { flags, cli }: Pick<Invocation, 'flags' | 'cli'>,
  render: () => string | Promise<string>,
): Promise<void> {
  if (isOn(flags, 'json') === true) cli.stdout.write(`${JSON.stringify(document)}\n`)
  else cli.stdout.say(await render())
}
