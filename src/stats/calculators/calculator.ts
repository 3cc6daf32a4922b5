import { PlimsollError } from '../../base/errors.ts'
import type { Warning } from '../../base/warnings.ts'
import type { Figure } from './figures.ts'
import { assignInputs, type Given, type Input } from './inputs.ts'

/**
 * One piece of the arithmetic of serving, as `plimsoll calc` shows it: what goes in and what comes out, with the working.
 * A calculator does no arithmetic of its own that a room of the house has already; it reads, calls and tells.
 */
export interface Calculator {
  readonly name: string
  readonly group: CalculatorGroup
  /** For the list: the question that it answers. */
  readonly brief: string
  /** The formula in words and symbols. */
  readonly formula: string
  readonly inputs: Readonly<Record<string, Input<unknown>>>
  /** Arguments as typed, and what they are. The first one stands in the list. */
  readonly examples: readonly (readonly [args: string, what: string])[]
  /** Throws PLIM_NUMBER or PLIM_USAGE for an input that cannot be; where an answer does not exist its figure is null. */
  readonly calculate: (given: Given) => Calculation
}

export const calculatorGroups = [
  'One request',
  'Load and queues',
  'Percentiles',
  'Is it real?',
  'Capacity',
  'Objectives and alerts',
  'Scaling',
  'Admission',
] as const
export type CalculatorGroup = (typeof calculatorGroups)[number]

/** A worked answer. Figures by name in order of importance; the lines of `working` read as on a whiteboard. */
export interface Calculation {
  readonly name: string
  readonly answer: string
  readonly formula: string
  readonly results: Readonly<Record<string, Figure>>
  readonly working: readonly string[]
  readonly assumptions: readonly string[]
  /** What people get wrong here, with these numbers; null where nothing of it applies. */
  readonly mistake: string | null
  readonly warnings: readonly Warning[]
  /** Command lines that go on from here. */
  readonly next: readonly string[]
}

type Inputs = Readonly<Record<string, Input<unknown>>>
type ValuesOf<I extends Inputs> = { readonly [K in keyof I]: I[K] extends Input<infer T> ? T : never }

/** What a calculator's own function gives back. */
export interface Worked {
  readonly answer: string
  readonly results: Readonly<Record<string, Figure>>
  readonly working: readonly string[]
  readonly assumptions?: readonly string[]
  readonly mistake?: string | null
  readonly warnings?: readonly (Warning | null)[]
  readonly next?: readonly string[]
}

/** Ties inputs to the function that works on their values. */
export function calculator<I extends Inputs>(
  definition: Omit<Calculator, 'inputs' | 'calculate'> & {
    readonly inputs: I
    readonly work: (values: ValuesOf<I>) => Worked
  },
): Calculator {
  const { work, ...rest } = definition
  return {
    ...rest,
    calculate(given) {
      const values = assignInputs(definition.inputs, given, usage(definition)) as ValuesOf<I>
      const {
        answer,
        results,
        working,
        assumptions = [],
        mistake = null,
        warnings = [],
        next = [],
      } = work(values)
      return {
        name: definition.name,
        answer,
        formula: definition.formula,
        results,
        working,
        assumptions,
        mistake,
        warnings: warnings.filter((one) => one !== null),
        next,
      }
    },
  }
}

function usage({ name, examples }: Pick<Calculator, 'name' | 'examples'>): string {
  return `plimsoll calc ${name} ${examples[0]?.[0] ?? ''}`.trimEnd()
}

/** An input that the formula has no answer for: a sentence instead of NaN. */
export function impossible(sentence: string, expected: string, received?: string): PlimsollError {
  return new PlimsollError('PLIM_NUMBER', sentence, {
    expected,
    ...(received === undefined ? {} : { received }),
  })
}
