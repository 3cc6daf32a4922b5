import type { RenderOptions } from '../report/paint.ts'
import { isOn } from './flags/flag-values.ts'
import type { Invocation, OutputStream } from './verb.ts'

/** Where a report is read: whether it may be coloured, and how wide it may be. */
export function placeOptions({
  color,
  isTerminal,
  columns,
}: OutputStream): Required<Pick<RenderOptions, 'color' | 'columns'>> {
  return { color, columns: isTerminal ? columns : null }
}

/** How a verb's report is printed: for its stdout, as its flags say, and with what became of what was to be stored. */
export function reportOptions({ flags, cli, isStored }: Invocation): Required<RenderOptions> {
  return { ...placeOptions(cli.stdout), explain: isOn(flags, 'explain') ?? false, isStored: isStored() }
}
