import { PlimsollError } from '../base/errors.ts'
import { latencyCalculator } from '../judge/calculators/latency.ts'
import { tpotCalculator } from '../measure/calculators/tpot.ts'
import { weightingCalculator } from '../measure/calculators/weighting.ts'
import { chunksCalculator } from '../judge/calculators/chunks.ts'
import { prefillCalculator } from '../measure/calculators/prefill.ts'
import { littleCalculator } from '../stats/calculators/little.ts'
import { backlogCalculator } from '../stats/calculators/backlog.ts'
import { stallCalculator } from '../stats/calculators/stall.ts'
import { utilizationCalculator } from '../stats/calculators/utilization.ts'
import { mergePercentilesCalculator } from '../judge/calculators/merge-p99.ts'
import { mixCalculator } from '../judge/calculators/mix.ts'
import { compoundCalculator } from '../stats/calculators/compound.ts'
import { samplesCalculator } from '../judge/calculators/samples.ts'
import { noiseCalculator } from '../stats/calculators/noise.ts'
import { runsNeededCalculator } from '../stats/calculators/runs-needed.ts'
import { goodputCalculator } from '../measure/calculators/goodput.ts'
import { floorCalculator } from '../measure/calculators/floor.ts'
import { wallsCalculator } from '../plan/calculators/walls.ts'
import { kvCalculator } from '../plan/calculators/kv.ts'
import { replicasCalculator } from '../plan/calculators/replicas.ts'
import { budgetCalculator } from '../operate/calculators/budget.ts'
import { burnCalculator } from '../operate/calculators/burn.ts'
import { pageCalculator } from '../operate/calculators/page.ts'
import { coldStartCalculator } from '../operate/calculators/cold-start.ts'
import { triggerCalculator } from '../operate/calculators/trigger.ts'
import { hpaCalculator } from '../operate/calculators/hpa.ts'
import type { Calculation, Calculator } from '../stats/calculators/calculator.ts'
import { nearest } from './options/nearest.ts'

/** Every calculator of the house, in the order of the list. */
export const calculators: readonly Calculator[] = [
  latencyCalculator,
  tpotCalculator,
  weightingCalculator,
  chunksCalculator,
  prefillCalculator,
  littleCalculator,
  backlogCalculator,
  stallCalculator,
  utilizationCalculator,
  mergePercentilesCalculator,
  mixCalculator,
  compoundCalculator,
  samplesCalculator,
  noiseCalculator,
  runsNeededCalculator,
  goodputCalculator,
  floorCalculator,
  wallsCalculator,
  kvCalculator,
  replicasCalculator,
  budgetCalculator,
  burnCalculator,
  pageCalculator,
  coldStartCalculator,
  triggerCalculator,
  hpaCalculator,
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

/** A line as typed behind `plimsoll calc`, in words; quotes hold words together. For docs and for tests. */
export function calculateLine(line: string): Calculation {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2]!)
  const [name = '', ...rest] = words
  const calculator = calculatorNamed(name)
  const { inputs } = calculator
  const args: string[] = []
  const flags: Record<string, string[]> = {}
  let at = 0
  while (at < rest.length) {
    const word = rest[at++]!
    if (!word.startsWith('--')) {
      args.push(word)
      continue
    }
    const flag = word.slice(2)
    const key = Object.keys(inputs).find((one) => one === flag || inputs[one]!.also.includes(flag))
    if (key === undefined) throw new PlimsollError('PLIM_USAGE', `unknown flag --${flag}`)
    const values = (flags[key] ??= [])
    do values.push(rest[at++] ?? '')
    while (inputs[key]!.many && at < rest.length && !rest[at]!.startsWith('--'))
  }
  return calculator.calculate({ args, flags })
}
