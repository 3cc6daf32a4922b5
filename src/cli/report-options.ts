import type { RenderOptions } from '../report/paint.ts'
import { isOn } from './flags/flag-values.ts'
import type { Invocation } from './verb.ts'

/** How a verb's report is printed: for its stdout, as its flags say, and with what became of what was to be stored. */
export function reportOptions({
  flags,
  cli,
  isStored,
}: Pick<Invocation, 'flags' | 'isStored'> & { readonly cli: Pick<Invocation['cli'], 'stdout'> }): Required<RenderOptions> {
  return { color: cli.stdout.color, explain: isOn(flags, 'explain') ?? false, isStored: isStored() }
}
