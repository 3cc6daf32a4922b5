import { calculatorGroups, type Calculation, type Calculator } from '../stats/calculators/calculator.ts'
import { footnoteMark } from './footnotes.ts'
import { painter } from './paint.ts'
import { printable } from './printable.ts'
import { warningLine } from './warning-text.ts'

export interface CalculationJson {
  readonly schema: 'plimsoll.calculation/1'
  readonly name: string
  readonly answer: string
  readonly formula: string
  readonly results: Calculation['results']
  readonly working: readonly string[]
  readonly assumptions: readonly string[]
  readonly mistake: string | null
  readonly warnings: Calculation['warnings']
}

/** The document of `--json`. */
export function calculationJson(calculation: Calculation): CalculationJson {
  const { name, answer, formula, results, working, assumptions, mistake, warnings } = calculation
  return {
    schema: 'plimsoll.calculation/1',
    name,
    answer,
    formula,
    results,
    working,
    assumptions,
    mistake,
    warnings,
  }
}

/** A worked answer for the terminal: the answer, the working, what it rests on, the usual mistake, the next commands. */
export function renderCalculation(calculation: Calculation, options: { readonly color: boolean }): string {
  const paint = painter(options.color)
  const { answer, working, assumptions, mistake, warnings, next } = calculation
  const marks = warnings.map((_, index) => footnoteMark(index + 1)).join(' ')
  const lines = [
    paint('strong', printable(answer)) + (marks === '' ? '' : ` ${marks}`),
    ...working.map((line) => `  ${printable(line)}`),
    ...(assumptions.length === 0 ? [] : [paint('quiet', `  assumes: ${assumptions.join('; ')}`)]),
    ...(mistake === null ? [] : [`  often got wrong: ${mistake}`]),
    ...warnings.map((warning, index) => paint('quiet', `${footnoteMark(index + 1)} ${warningLine(warning)}`)),
    ...(next.length === 0 ? [] : [next.join(' · ')]),
  ]
  return `${lines.join('\n')}\n`
}

/** What `plimsoll calc` alone prints. */
export function renderCalculatorList(
  calculators: readonly Calculator[],
  options: { readonly color: boolean },
): string {
  const paint = painter(options.color)
  const width = Math.max(...calculators.map(({ name }) => name.length))
  const groups = calculatorGroups.flatMap((group) => {
    const inside = calculators.filter((one) => one.group === group)
    if (inside.length === 0) return []
    return [
      [
        paint('strong', group),
        ...inside.flatMap(({ name, brief, examples }) => [
          `  ${name.padEnd(width)}  ${brief}`,
          paint('quiet', `  ${' '.repeat(width)}  plimsoll calc ${name} ${examples[0]?.[0] ?? ''}`),
        ]),
      ].join('\n'),
    ]
  })
  return `${[...groups, 'plimsoll calc NAME --help says what each takes; --json gives the figures to a program'].join('\n\n')}\n`
}
