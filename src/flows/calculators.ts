import { PlimsollError } from '../base/errors.ts'
import { tpotCalculator } from '../measure/calculators/tpot.ts'
import { burnCalculator } from '../operate/calculators/burn.ts'
import { replicasCalculator } from '../plan/calculators/replicas.ts'
import { backlogCalculator } from '../stats/calculators/backlog.ts'
import type { Calculator } from '../stats/calculators/calculator.ts'
import { littleCalculator } from '../stats/calculators/little.ts'
import { utilizationCalculator } from '../stats/calculators/utilization.ts'
import { nearest } from './options/nearest.ts'

/** Every calculator of the house, in the order of the list. */
export const calculators: readonly Calculator[] = [
  tpotCalculator,
  littleCalculator,
  backlogCalculator,
  utilizationCalculator,
  replicasCalculator,
  burnCalculator,
]

/** The calculator of that name; PLIM_USAGE with the nearest where there is none. */
export function calculatorNamed(name: string): Calculator {
  const found = calculators.find((one) => one.name === name)
  if (found !== undefined) return found
  const near = nearest(
    name,
    calculators.map((one) => one.name),
  )
  throw new PlimsollError('PLIM_USAGE', `there is no calculator ${name}`, {
    hint: near === null ? 'plimsoll calc lists them' : `did you mean plimsoll calc ${near}?`,
  })
}
