import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { processContext } from './process-context.ts'

describe('a file that a flow asks for', () => {
  test.each([
    [
      'is not there',
      join(tmpdir(), 'plimsoll-no-such-file.yaml'),
      /^there is no .*plimsoll-no-such-file\.yaml$/,
    ],
    ['is a folder', tmpdir(), /cannot be read$/],
  ])('%s: an error of the caller, not a fault of plimsoll', async (_, path, message) => {
    const { cli } = processContext(process, '0.1.0', new AbortController().signal)
    const deps = await cli.flowDeps({
      onProgress: () => {},
      onNotice: () => {},
      confirm: () => Promise.resolve(true),
    })
    await expect(deps.files.readText(path)).rejects.toMatchObject({
      code: 'PLIM_FILE',
      message: expect.stringMatching(message) as string,
    })
  })
})
