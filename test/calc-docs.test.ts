import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { calculateLine, calculators } from '../src/flows/calculators.ts'
import { calculationPage } from '../src/report/calculation-page.ts'
import { cliRun } from './fixtures/cli.ts'

const page = readFileSync(new URL('../docs/calc.md', import.meta.url), 'utf8')
const examples = [...page.matchAll(/^```\n\$ plimsoll (.+)\n((?:.+\n)+?)```$/gm)].map(
  ([, line, printed]) => [line!, printed!] as const,
)
const words = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2]!)

describe('docs/calc.md', () => {
  it('is what the calculators say (node scripts/calc-docs.mjs writes it)', () => {
    expect(page).toBe(calculationPage(calculators, calculateLine))
  })

  it('has every example', () => {
    expect(examples.length).toBe(calculators.reduce((sum, one) => sum + one.examples.length, 0))
  })

  it.each(examples)('%s prints what the page shows, and nothing on stderr', async (line, printed) => {
    const { exitCode, stdout, stderr } = await cliRun(words(line))
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: printed, stderr: '' })
  })
})
