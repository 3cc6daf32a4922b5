import { expect, test } from 'vitest'
import { reportOptions } from './report-options.ts'
import type { Invocation } from './verb.ts'

function invocation(isTerminal: boolean, columns: number): Invocation {
  const flags = { explain: true }
  return {
    flags,
    isStored: () => false,
    cli: { stdout: { color: false, isTerminal, columns } },
  } as unknown as Invocation
}

test.each([
  ['a terminal is as wide as it is', true, 60, 60],
  ['a pipe has no width, whatever stands for it', false, 100, null],
])('%s', (_, isTerminal, columns, width) => {
  const options = { color: false, explain: true, isStored: false, columns: width }
  expect(reportOptions(invocation(isTerminal, columns))).toEqual(options)
})
