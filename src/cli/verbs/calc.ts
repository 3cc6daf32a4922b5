import type { Calculator } from '../../stats/calculators/calculator.ts'
import { calculatorNamed, calculators } from '../../flows/calculators.ts'
import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { inputFlags, inputTexts } from '../flags/input-flags.ts'
import { printResult } from '../print-result.ts'
import type { FlagSpec, Invocation, Verb } from '../verb.ts'

const json: FlagSpec = { kind: 'switch', group: 'Output', brief: 'One JSON document on stdout' }

/** The list of calculators. `plimsoll calc NAME …` is the verb that `calculatorVerb` makes of one. */
export const calcVerb: Verb = {
  brief: 'The arithmetic of serving, with its working',
  description:
    'Works out one figure from the numbers on the command line and shows how: the formula, the numbers put in, the result, what it rests on and what people get wrong. Numbers carry their units: 8.3s, 20ms, 40/s, 16GB, 2GB/s, 99.5%, 2M. Without a name it lists what it can work out.',
  positional: { placeholder: 'NAME', brief: 'Which calculation, and its numbers', minimum: 0 },
  examples: [
    ['plimsoll calc', 'the list'],
    ['plimsoll calc tpot 2.3s 0.3s 401', 'E2E, TTFT and tokens'],
    ['plimsoll calc replicas --peak 40/s --each 8/s --margin 20% --survive 1', 'replicas for a peak'],
    ['plimsoll calc burn 99.5% 3% --json', 'figures for a program'],
    ['plimsoll calc burn --help', 'what this one takes'],
  ],
  flags: { json },
  select: (name) => calculatorVerb(calculatorNamed(name)),
  async run({ flags, cli }) {
    const list = calculators.map(({ name, group, brief, formula }) => ({ name, group, brief, formula }))
    const document = { schema: 'plimsoll.calculators/1', calculators: list }
    await printResult(document, { flags, cli }, async () => {
      const { renderCalculatorList } = await import('../../report/calculation-text.ts')
      return renderCalculatorList(calculators, { color: cli.stdout.color })
    })
    return exitCodes.fine
  },
}

/** One calculator as a verb of its own: its inputs are its flags, so that help and typos work as everywhere. */
export function calculatorVerb(calculator: Calculator): Verb {
  const bare = Object.entries(calculator.inputs).filter(([, { bare }]) => bare)
  return {
    brief: calculator.brief,
    description: `${calculator.brief} ${calculator.formula}`,
    positional: {
      placeholder: bare.map(([name]) => name.toUpperCase()).join(' ') || 'VALUE',
      brief:
        bare.length === 0 ? 'Nothing without a flag' : 'In this order without their flags, or as name=value',
      minimum: 0,
    },
    examples: calculator.examples.map(([args, what]) => [`plimsoll calc ${calculator.name} ${args}`, what]),
    flags: { ...inputFlags(calculator.inputs), json },
    run: (invocation) => calculate(calculator, invocation),
  }
}

async function calculate(calculator: Calculator, { flags, args, cli }: Invocation): Promise<ExitCode> {
  const calculation = calculator.calculate({ args: args.slice(1), flags: inputTexts(flags) })
  const { calculationJson, renderCalculation } = await import('../../report/calculation-text.ts')
  await printResult(calculationJson(calculation), { flags, cli }, () =>
    renderCalculation(calculation, { color: cli.stdout.color }),
  )
  return exitCodes.fine
}
