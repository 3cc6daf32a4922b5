import { describe, expect, it } from 'vitest'
import { budgetGoldens } from './budget.ts'
import { capacityGoldens } from './capacity.ts'
import { comparisonGoldens } from './comparison.ts'
import { differences, readGoldens, type Compute } from './golden.ts'
import { latencyGoldens } from './latency.ts'
import { loadGoldens } from './load.ts'
import { noiseGoldens } from './noise.ts'
import { numericGolden } from './numeric.ts'
import { percentileGoldens } from './percentiles.ts'
import { seriesGoldens } from './series.ts'
import { tailGoldens } from './tail.ts'

const goldens = readGoldens()
const computed: Readonly<Record<string, Compute>> = {
  ...latencyGoldens,
  ...loadGoldens,
  ...tailGoldens,
  ...noiseGoldens,
  ...capacityGoldens,
  ...budgetGoldens,
  ...percentileGoldens,
  ...comparisonGoldens,
  ...seriesGoldens,
  ...Object.fromEntries(goldens.flatMap(({ id, question }) => (question === 'numeric' ? [[id, numericGolden]] : []))),
}

it('every entry is computed, and nothing else is', () => {
  expect(Object.keys(computed).sort()).toEqual(goldens.map(({ id }) => id).sort())
})

describe('goldens', () => {
  it.each(goldens.map((golden) => [golden.id, golden] as const))('%s', (id, { inputs, expected, tolerance }) => {
    expect(differences(computed[id]?.(inputs as never), expected, tolerance)).toEqual([])
  })
})
