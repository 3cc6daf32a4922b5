import { styleText } from 'node:util'
import type { FlagSpec, Verb } from './verb.ts'
import { verbGroups, verbEntries } from './verbs/registry.ts'

type Paint = (style: 'bold' | 'dim', text: string) => string

function painter(color: boolean): Paint {
  return (style, text) => (color ? styleText(style, text, { validateStream: false }) : text)
}

/** What `plimsoll --help` prints: the verbs by what they are for. */
export function rootHelp(color: boolean): string {
  const paint = painter(color)
  const width = Math.max(...verbEntries.map((entry) => entry.name.length))
  const groups = verbGroups
    .map((group) => [group, verbEntries.filter((entry) => entry.group === group)] as const)
    .filter(([, entries]) => entries.length > 0)
    .map(([group, entries]) =>
      [paint('bold', group), ...entries.map((entry) => `  ${entry.name.padEnd(width)}  ${entry.brief}`)].join(
        '\n',
      ),
    )
  return [
    'plimsoll finds how much load an LLM server can safely carry, proves it, and keeps it there.',
    ...groups,
    [
      paint('bold', 'Begin'),
      '  plimsoll run                               a load test of the embedded engine; nothing else is needed',
      '  plimsoll run --url http://localhost:8000   the same of your server',
      '  plimsoll sweep --url http://…              rising load: where are the walls?',
      '  plimsoll VERB --help                       flags and examples of a verb',
    ].join('\n'),
    'Exit codes: 0 fine · 1 fault of plimsoll · 2 usage · 3 an objective failed · 4 a regression · 5 invalid measurement · 130 interrupted',
  ].join('\n\n')
}

/** What `plimsoll VERB --help` prints. */
export function verbHelp(name: string, verb: Verb, color: boolean, columns: number): string {
  const paint = painter(color)
  const { positional } = verb
  const argument =
    positional === undefined
      ? ''
      : ` ${positional.minimum === 0 ? `[${positional.placeholder}]` : positional.placeholder}${positional.maximum === 1 ? '' : '…'}`
  const sections = [
    `${paint('bold', `plimsoll ${name}`)}${argument} [flags]\n${wrap(verb.description, columns, 0)}`,
  ]
  if (positional !== undefined) sections.push(`  ${positional.placeholder}  ${positional.brief}`)
  if (verb.examples.length > 0) {
    const width = Math.max(...verb.examples.map(([line]) => line.length))
    const lines = verb.examples.map(([line, what]) => `  ${line.padEnd(width)}  ${paint('dim', what)}`)
    sections.push([paint('bold', 'Examples'), ...lines].join('\n'))
  }
  const shown = Object.entries(verb.flags).filter(([, spec]) => spec.hidden !== true)
  for (const group of new Set(shown.map(([, spec]) => spec.group))) {
    const lines = shown
      .filter(([, spec]) => spec.group === group)
      .map(([flag, spec]) => flagHelp(flag, spec, paint, columns))
    sections.push([paint('bold', group), ...lines].join('\n'))
  }
  if (Object.values(verb.flags).some((spec) => spec.ignored !== undefined)) {
    sections.push(
      wrap(
        "The other flags of vLLM's bench serve are accepted too; each says a word on why it is not needed.",
        columns,
        0,
      ),
    )
  }
  return sections.join('\n\n')
}

function flagHelp(flag: string, spec: FlagSpec, paint: Paint, columns: number): string {
  const letter = spec.letter === undefined ? '    ' : `-${spec.letter}, `
  const value =
    spec.placeholder === undefined
      ? ''
      : spec.alone === undefined
        ? ` ${spec.placeholder}${spec.manyValues === true ? '…' : ''}`
        : ` [${spec.placeholder}]`
  const also =
    spec.aliases === undefined ? '' : ` (also ${spec.aliases.map((alias) => `--${alias}`).join(', ')})`
  const fallback = spec.default === undefined ? '' : ` [${spec.default}]`
  const left = `  ${letter}--${flag}${value}`
  const indent = 34
  const right = wrap(spec.brief + fallback + also, columns, indent).trimStart()
  return left.length + 2 > indent
    ? `${left}\n${' '.repeat(indent)}${right}`
    : `${paint('bold', left)}${' '.repeat(indent - left.length)}${right}`
}

/** Breaks at white space to `columns`, each line indented. */
function wrap(text: string, columns: number, indent: number): string {
  const width = Math.max(40, Math.min(columns, 120) - indent)
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].map((one) => ' '.repeat(indent) + one).join('\n')
}
