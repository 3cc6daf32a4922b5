import { expect, test } from 'vitest'
import { fleetsOf } from './simulate-spec.ts'
import { readFleetFile } from './simulate-yaml.ts'

function limitsOf(objective: string, duration = '1m'): readonly string[] {
  const file = readFleetFile(
    `duration: ${duration}\nreplicas: 1\nengine: h100-8b\ntraffic: { arrivals: poisson 1/s, prompt: 100, output: 10 }\nobjective: ${objective}\n`,
    'fleet.yaml',
  )
  const [fleet] = fleetsOf(file, { traces: new Map(), models: new Map() })
  return (fleet?.spec.objective?.each ?? []).map(({ metric }) => metric)
}

test('an objective on each answer is judged', () => {
  expect(limitsOf('ttft < 1s and tpot < 40ms and e2e < 9s, good 95%')).toEqual(['ttft', 'tpot', 'e2e'])
})

test.each([
  ['gaps, of which a simulation keeps none', 'ttft < 1s and gap < 50ms'],
  ['a percentile over the run', 'p99 tpot <= 10ms'],
])('refuses a limit on %s', (_sentence, objective) => {
  expect(() => limitsOf(objective)).toThrow('a simulation cannot judge this limit')
})

test.each(['0s', '0'])('refuses a duration of %s, with its place', (duration) => {
  expect(() => limitsOf('ttft < 1s', duration)).toThrow(
    expect.objectContaining({
      message: 'the duration is 0: nothing would arrive',
      where: expect.objectContaining({ file: 'fleet.yaml', line: 1 }),
    }),
  )
})
