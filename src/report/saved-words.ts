import { commandLine } from './command-line.ts'
import type { RenderOptions } from './paint.ts'
import { printable } from './printable.ts'

/**
 * Where it is kept, and the command lines that read it there; of what could not be written that alone, for nothing may be there to read.
 */
export function savedWords(
  path: string,
  { isStored = true }: Pick<RenderOptions, 'isStored'>,
  reading: readonly string[] = [],
): readonly string[] {
  return isStored
    ? [`saved ${printable(path)}`, ...reading]
    : [`NOT stored, or not whole: ${printable(path)}`]
}

/** The same of a folder whose report `show` prints again, with the working unless it stands here already. */
export function savedReport(
  folder: string,
  options: Pick<RenderOptions, 'explain' | 'isStored'>,
): readonly string[] {
  return savedWords(folder, options, options.explain ? [] : [commandLine('show', folder, '--explain')])
}
