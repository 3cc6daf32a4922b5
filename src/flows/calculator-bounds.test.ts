import { expect, test } from 'vitest'
import { PlimsollError } from '../base/errors.ts'
import { calculationJson, renderCalculation } from '../report/calculation-text.ts'
import { calculateLine, calculators } from './calculators.ts'

/** Slips of the keyboard, and what a program that fills in a line may come up with. */
const unlikely = [
  '1000000',
  '1000000000',
  '1000000000000',
  '1000000000000000',
  '9007199254740991',
  '1e300',
  `1${'0'.repeat(300)}`,
  '0.000000000001',
  '1e-300',
]

/** Each example of a calculator with each of its numbers exchanged, one at a time. */
function linesOf(name: string, examples: readonly (readonly [string, string])[]): readonly string[] {
  const lines = examples.flatMap(([args]) =>
    [...args.matchAll(/(?<![\w-])\d[\d.,]*|(?<=[a-z@:=/])\d[\d.]*(?=[a-z%]|$|\s)/gi)].flatMap(
      ({ 0: found, index }) =>
        unlikely.map((value) => `${name} ${args.slice(0, index)}${value}${args.slice(index + found.length)}`),
    ),
  )
  return [...new Set(lines)]
}

/** What came of a line where that is neither an answer in finite figures nor a refusal with a reason; and how long it took. */
function fault(line: string): string | null {
  const startedAt = performance.now()
  const said = ((): string => {
    try {
      const calculation = calculateLine(line)
      return `${renderCalculation(calculation, { color: false })}${JSON.stringify(calculationJson(calculation))}`
    } catch (error) {
      return error instanceof PlimsollError ? error.message : `threw ${String(error)}`
    }
  })()
  const wrong = /threw .*|.{0,60}(?:NaN|∞|undefined|[^ ]Infinity)/.exec(said)
  const tookMs = performance.now() - startedAt
  if (wrong !== null) return `${line.slice(0, 120)}: ${wrong[0]}`
  return tookMs > 10_000 ? `${line.slice(0, 120)}: ${Math.round(tookMs)} ms` : null
}

test.each(calculators.map(({ name, examples }) => [name, examples] as const))(
  '%s answers, or refuses, in a moment whatever number stands in its line',
  { timeout: 120_000 },
  (name, examples) => {
    expect(linesOf(name, examples).flatMap((line) => fault(line) ?? [])).toEqual([])
  },
)
