import { expect, test } from 'vitest'
import { cliRun } from '../../../test/fixtures/cli.ts'

test.each([
  ['a list', '[{"api_key":"hunter2secret"}]', 'a list'],
  ['a text', '"hunter2secret"', 'a string'],
  ['nothing', 'null', 'null'],
  ['no JSON', '{"api_key": hunter2secret}', 'at character 13'],
])('a body that is no object is not printed: %s', async (_, body, received) => {
  const { exitCode, stderr } = await cliRun(['run', '--extra-body', body])
  expect(exitCode).toBe(2)
  expect(stderr).toContain(received)
  expect(stderr).not.toContain('hunter2')
})
