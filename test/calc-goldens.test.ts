import { describe, expect, it } from 'vitest'
import { sfc32 } from '../src/base/random.ts'
import { mistake, number } from './calc/ask.ts'
import { budgetLines } from './calc/budget.ts'
import { capacityLines } from './calc/capacity.ts'
import { loadLines } from './calc/load.ts'
import { requestsLines } from './calc/requests.ts'
import { tailsLines } from './calc/tails.ts'
import { differences, readGoldens, type Compute } from './goldens/golden.ts'

/**
 * The numeric truths of the ten questions, each asked on the command line of `plimsoll calc` as a person would type it. Entries
 * that show a mistake are looked for in the sentence on what people get wrong.
 */
const computed: Readonly<Record<string, Compute>> = {
  ...requestsLines,
  ...loadLines,
  ...tailsLines,
  ...capacityLines,
  ...budgetLines,
}

/** Entries that show what goes wrong: the line whose warning on mistakes says them, and how. */
const mistakes: Readonly<Record<string, readonly [line: string, said: string]>> = {
  'q1.tpot.wrong_n': ['tpot 2.3s 0.3s 401', '4.9875 ms'],
  'q1.extra.e2e_over_n': ['latency 0.3s 20ms 400 --than 0.3s,20ms,85', '1.125x'],
  'q2.wrong.n_not_n1': ['weighting 50x20@50ms 10x1000@10ms', '13.636 ms'],
  'q3.naive': ['prefill 256:23ms 8000:280ms', '11,130 tokens/s'],
  'q5.avg_p99': ['merge-p99 0.6 0.7 0.6 3.0', '1.225'],
  'q7.percentile_flip': ['floor 100/s', '99 ms and 10/s'],
}

/** Not arithmetic on typed numbers: a sample of thousands, a simulation (`lab tail`), a slip of the hand. */
const elsewhere = ['q5.merged.samples', 'q5.tailsim.agent_bruteforce', 'q2.wrong.no_multiplicity']

const questions = readGoldens().filter(({ question }) => /^Q\d+$/.test(question))

it('every entry of the ten questions is asked', () => {
  expect([...Object.keys(computed), ...Object.keys(mistakes), ...elsewhere].sort()).toEqual(
    questions.map(({ id }) => id).sort(),
  )
})

describe('numbers of the goldens come out of plimsoll calc', () => {
  it.each(questions.filter(({ id }) => id in computed).map((one) => [one.id, one] as const))(
    '%s',
    (id, { inputs, expected, tolerance }) => {
      expect(differences(computed[id]?.(inputs as never), expected, tolerance)).toEqual([])
    },
  )
})

describe('the mistakes are said, with their number', () => {
  it.each(Object.entries(mistakes))('%s', (_, [line, said]) => {
    expect(mistake(line)).toContain(said)
  })
})

it('a task of twenty calls by brute force is where the formula says', () => {
  const random = sfc32(1, 2, 3)
  let slow = 0
  for (let task = 0; task < 100_000; task++) {
    let hit = false
    for (let call = 0; call < 20; call++) hit = random.next() < 0.01 || hit
    if (hit) slow++
  }
  expect(Math.abs(slow / 100_000 - number('compound 1% 20', 'tasks'))).toBeLessThan(0.006)
})
