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
import { bucketsCalculator } from '../operate/calculators/buckets.ts'
import { kedaCalculator } from '../operate/calculators/keda.ts'
import { kpaCalculator } from '../operate/calculators/kpa.ts'
import { rayCalculator } from '../operate/calculators/ray.ts'
import { wvaCalculator } from '../operate/calculators/wva.ts'
import { dynamoCalculator } from '../operate/calculators/dynamo.ts'
import { admissionCalculator } from '../plan/calculators/admission.ts'
import { retryAfterCalculator } from '../plan/calculators/retry-after.ts'
import { backoffCalculator } from '../measure/calculators/backoff.ts'
import { adaptiveLimitCalculator } from '../operate/calculators/adaptive-limit.ts'
import { gateCalculator } from '../operate/calculators/gate.ts'
import { ceilingsCalculator } from '../operate/calculators/ceilings.ts'
import { jainCalculator } from '../stats/calculators/jain.ts'
import type { Calculation, Calculator } from '../stats/calculators/calculator.ts'
import { nearest } from '../base/edit-distance.ts'

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
  bucketsCalculator,
  coldStartCalculator,
  triggerCalculator,
  hpaCalculator,
  kedaCalculator,
  kpaCalculator,
  rayCalculator,
  wvaCalculator,
  dynamoCalculator,
  admissionCalculator,
  retryAfterCalculator,
  backoffCalculator,
  adaptiveLimitCalculator,
  gateCalculator,
  ceilingsCalculator,
  jainCalculator,
]

/** The calculator of that name; PLIM_USAGE with the nearest, or those that speak of such a thing, where there is none. */
export function calculatorNamed(name: string): Calculator {
  const found = calculators.find((one) => one.name === name)
  if (found !== undefined) return found
  const names = calculators.map((one) => one.name)
  const meant = nearest(name, names)
  const about = meant === null ? calculatorsAbout(name) : [meant]
  throw new PlimsollError('PLIM_USAGE', `there is no calculator ${name}`, {
    expected: names.join(', '),
    hint:
      about.length === 0
        ? 'plimsoll calc says what each of them answers'
        : `did you mean ${about.map((one) => `plimsoll calc ${one}`).join(' or ')}?`,
  })
}

/** Those that speak of a word: in a part of their name, in what they answer, or in a name of an input. */
function calculatorsAbout(word: string): readonly string[] {
  const stem = word.toLowerCase().replace(/s$/, '')
  if (stem.length < 3) return []
  const speaks = ({ name, brief, inputs }: Calculator): boolean =>
    name.split('-').some((part) => nearest(stem, [part]) !== null) ||
    brief
      .toLowerCase()
      .split(/\W+/)
      .some((one) => one.startsWith(stem)) ||
    Object.entries(inputs).some(([flag, { also }]) => [flag, ...also].includes(stem))
  return calculators
    .filter(speaks)
    .map(({ name }) => name)
    .slice(0, 3)
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
