import { calculatorGroups, type Calculation, type Calculator } from '../stats/calculators/calculator.ts'
import { renderCalculation } from './calculation-text.ts'

/** docs/calc.md: every calculator with its inputs and its examples as they print. `calculate` works a line out. */
export function calculationPage(
  calculators: readonly Calculator[],
  calculate: (line: string) => Calculation,
): string {
  const groups = calculatorGroups
    .map((group) => [group, calculators.filter((one) => one.group === group)] as const)
    .filter(([, inside]) => inside.length > 0)
  const contents = groups.map(
    ([group, inside]) => `- ${group}: ${inside.map(({ name }) => `[${name}](#${name})`).join(', ')}`,
  )
  return `${[
    '# The arithmetic of serving',
    '<!-- Written by scripts/calc-docs.mjs from the calculators; each example is run by a test. -->',
    introduction,
    contents.join('\n'),
    ...groups.flatMap(([group, inside]) => [
      `## ${group}`,
      ...inside.map((one) => calculatorSection(one, calculate)),
    ]),
  ].join('\n\n')}\n`
}

const introduction = `\`plimsoll calc NAME\` works out one figure from typed numbers and shows how: the formula, the numbers put in, the result, what it rests on and what
people get wrong. Numbers carry their units: \`8.3s\`, \`20ms\`, \`40/s\`, \`16GB\`, \`2GB/s\`, \`99.5%\`, \`2M\`. Arguments without a flag go to the first input
that can read them; \`name=value\` works too. Decisions (ceilings, budgets, thresholds) are made on exact fractions of the decimals as typed.

\`--json\` prints \`{schema, name, answer, formula, results, working, assumptions, mistake, warnings}\`. Each of the \`results\` is \`{value, unit, text}\`; where a figure does
not exist its \`value\` is null and its \`text\` says why. The exit code is 0 whenever there is an answer, and "there is none" is one: one token has no TPOT, a queue
at ρ ≥ 100 % has no end, no traffic has no burn rate, an objective of 100 % has an infinite one. It is 2 when the question cannot be asked: a number that cannot be read, a
missing or negative one, a margin that leaves nothing, a percentile of 100.`

function calculatorSection(
  { name, brief, formula, inputs, examples }: Calculator,
  calculate: (line: string) => Calculation,
): string {
  const rows = Object.entries(inputs).map(
    ([flag, { placeholder, also, bare, many, fallback, brief: what }]) => {
      const names = [`--${flag}`, ...also.map((one) => `--${one}`)].map((one) => `\`${one}\``).join(', ')
      const value = `\`${placeholder}${many ? '…' : ''}\``.replaceAll('|', '\\|')
      const notes = [
        what,
        ...(fallback === null ? [] : [`default \`${fallback}\``]),
        ...(bare ? ['also without the flag'] : []),
      ]
      return `| ${names} | ${value} | ${notes.join('; ').replaceAll('|', '\\|')} |`
    },
  )
  const figures = new Map<string, string | null>()
  const shown = examples.map(([args, what]) => {
    const calculation = calculate(`${name} ${args}`)
    for (const [key, { unit }] of Object.entries(calculation.results))
      figures.set(key, figures.get(key) ?? unit)
    return `${capital(what)}:\n\n\`\`\`\n$ plimsoll calc ${name} ${args}\n${renderCalculation(calculation, { color: false })}\`\`\``
  })
  const keys = [...figures].map(([key, unit]) => `\`${key}\`${unit === null ? '' : ` (${unit})`}`)
  return [
    `### ${name}`,
    `${brief} ${formula}`,
    ['| flag | value | meaning |', '| --- | --- | --- |', ...rows].join('\n'),
    ...shown,
    `Figures of \`--json\`: ${keys.join(', ')}.`,
  ].join('\n\n')
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
