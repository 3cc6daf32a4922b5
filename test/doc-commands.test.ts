import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { words } from '../examples/run-examples.mjs'
import { canonicalNames } from '../src/cli/argv.ts'
import { engineFlags } from '../src/cli/flags/engine-flags.ts'
import type { Verb } from '../src/cli/verb.ts'
import { verbEntries } from '../src/cli/verbs/registry.ts'

// Every command line of the documentation and of the help: its verb is there, and every flag that it gives.

const root = new URL('../', import.meta.url)
const documents = ['README.md', ...readdirSync(new URL('docs/', root)).map((name) => `docs/${name}`)].filter(
  (path) => path.endsWith('.md'),
)

/** The lines of fenced blocks that begin with plimsoll, continued ones joined, without what a shell does with the output. */
function commandLines(markdown: string): string[] {
  const blocks = [...markdown.matchAll(/^```[^\n]*\n([\s\S]*?)^```/gm)].map(([, block = '']) => block)
  return blocks.flatMap((block) =>
    block
      .replaceAll(/\s*\\\n\s*/g, ' ')
      .split('\n')
      .flatMap((line) => line.split(/ && | · /))
      .map((line) => line.trim().replace(/^(\$ |sudo )?(npx )?plimsoll /, 'plimsoll '))
      .filter((line) => /^plimsoll [a-z-]/.test(line)),
  )
}

/** What is wrong with a command line, or null. */
async function mistake(line: string): Promise<string | null> {
  const [, name = '', ...rest] = words(line)
  if (name.startsWith('-')) return null
  const entry = verbEntries.find((one) => one.name === name)
  if (entry === undefined) return `there is no verb ${name}`
  const loaded = await entry.load()
  const first = rest[0]
  const verb: Verb =
    loaded.select === undefined || first === undefined || !/^[a-z]/.test(first)
      ? loaded
      : loaded.select(first)
  const known = new Set([...canonicalNames(verb.flags).keys(), 'help', 'version'])
  const engine =
    verb.flags['engine'] === undefined ? [] : Object.keys(engineFlags).map((flag) => `engine-${flag}`)
  for (const word of rest) {
    if (['|', '>', '>>', '2>', '#', '…'].includes(word)) break
    const flag = /^--([a-z][\w.-]*)/i.exec(word)?.[1]
    if (flag === undefined) continue
    const plain = flag.replace(/^(engine-)?no-/, '$1')
    if (![flag, plain].some((one) => known.has(one) || engine.includes(one)))
      return `${name} has no flag --${flag}`
  }
  return null
}

describe('command lines', () => {
  test.each(documents)('%s', async (path) => {
    const lines = commandLines(readFileSync(new URL(path, root), 'utf8'))
    const wrong: string[] = []
    for (const line of lines) {
      const what = await mistake(line).catch(String)
      if (what !== null) wrong.push(`${line}: ${what}`)
    }
    expect(wrong).toEqual([])
  })

  test.each(verbEntries.map(({ name, load }) => [name, load] as const))(
    'the examples of %s --help',
    async (_, load) => {
      const wrong: string[] = []
      for (const [line] of (await load()).examples) {
        const what = await mistake(line).catch(String)
        if (what !== null) wrong.push(`${line}: ${what}`)
      }
      expect(wrong).toEqual([])
    },
  )

  test('a wrong one would be seen', async () => {
    expect(commandLines('```\n$ npx plimsoll run --rat 6 \\\n   --json\n```')).toEqual([
      'plimsoll run --rat 6 --json',
    ])
    expect(await mistake('plimsoll run --rat 6')).toBe('run has no flag --rat')
    expect(await mistake('plimsoll rum')).toBe('there is no verb rum')
  })

  test('every file that the Containerfile copies is there', () => {
    const copied = [
      ...readFileSync(new URL('Containerfile', root), 'utf8').matchAll(/^COPY (?!--from)(.+) \S+$/gm),
    ]
    const files = copied.flatMap(([, sources = '']) => sources.split(' '))
    expect(files.length).toBeGreaterThan(4)
    expect(files.filter((file) => !existsSync(new URL(file, root)))).toEqual([])
  })
})
