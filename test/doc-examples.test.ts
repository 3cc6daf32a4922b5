import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { randomStream } from '../src/base/random.ts'

// The `@example` blocks of docstrings: the expression is run with the exports of its file, and gives what the comment after it says.

const src = fileURLToPath(new URL('../src/', import.meta.url))

interface DocExample {
  readonly file: string
  readonly code: string
  readonly expected: string
}

function readExamples(): DocExample[] {
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .sort()
    .flatMap((name) => examplesOf(name, readFileSync(join(src, name), 'utf8')))
}

function examplesOf(file: string, source: string): DocExample[] {
  return [...source.matchAll(/^ *\* @example *([\s\S]*?)(?=^ *\* @|^ *\*\/)/gm)].flatMap(([, block = '']) => {
    const text = block.replaceAll(/^ *\* ?/gm, '').trim()
    const parts = text.split(/\s*\/\/ /)
    return parts.length < 2 ? [] : [{ file, code: parts[0] ?? '', expected: parts.slice(1).join(' ').trim() }]
  })
}

/** What the code gives; a declaration gives what it declares. */
function evaluate(code: string, scope: Readonly<Record<string, unknown>>): unknown {
  const declared = /^(?:const|let) (\w+) = /.exec(code)?.[1]
  const body = declared === undefined ? `return (${code})` : `${code}\nreturn ${declared}`
  // oxlint-disable-next-line no-new-func, no-implied-eval -- the source's own docstrings
  const run = new Function(...Object.keys(scope), body) as (...values: unknown[]) => unknown
  return run(...Object.values(scope))
}

/** `0, 200, 400, …` is the beginning of something that goes on. */
function firstOf(value: unknown, count: number): unknown[] {
  const first: unknown[] = []
  for (const one of value as Iterable<unknown>) {
    first.push(one)
    if (first.length === count) break
  }
  return first
}

const examples = readExamples()

describe('@example', () => {
  test('they are found', () => {
    expect(examples.length).toBeGreaterThanOrEqual(4)
  })

  test.each(
    examples.map((example) => [`${example.file}: ${example.code.split('\n')[0] ?? ''}`, example] as const),
  )('%s', async (_, { file, code, expected }) => {
    const own = (await import(pathToFileURL(join(src, file)).href)) as Record<string, unknown>
    const value = evaluate(code, { randomStream, ...own })
    const goesOn = expected.endsWith('…')
    const wanted = evaluate(
      goesOn ? `[${expected.replace(/,?\s*…$/, '')}]` : expected.startsWith('{') ? `(${expected})` : expected,
      {},
    )
    expect(goesOn ? firstOf(value, (wanted as unknown[]).length) : value).toEqual(wanted)
  })
})
