import { expect, test } from 'vitest'
import { cliRun } from '../../../test/fixtures/cli.ts'

test.each([
  ['after a blank', '--margin 20% --survive 1'],
  ['after a sign', '--survive 1 --margin=20%'],
])('a margin that is read in two ways is asked for again, and said once: %s', async (_, flags) => {
  const { stdout } = await cliRun(['plan', '--each', '8/s', '--peak', '40/s', ...flags.split(' ')])
  expect(stdout.trimEnd().split('\n').at(-1)).toBe(
    'plimsoll plan --peak 40/s --survive 1 --each 8/s --margin derate:20%',
  )
})
