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

describe('a file that is to be written later', () => {
  const { cli } = processContext(process, '0.1.0', new AbortController().signal)
  test.each([
    ['in a folder that is not there', join(tmpdir(), 'no-such-folder', 'x.xml'), /its folder is not there/],
    ['that is a folder', tmpdir(), /a folder stands where a file is meant/],
  ])('%s is refused at once', async (_, path, hint) => {
    await expect(cli.checkWritable(path)).rejects.toMatchObject({
      code: 'PLIM_FILE',
      hint: expect.stringMatching(hint) as string,
    })
  })

  test('anywhere else is not touched', async () => {
    const path = join(tmpdir(), 'plimsoll-not-yet.xml')
    await cli.checkWritable(path)
    expect(await cli.readFile(path)).toBeNull()
  })
})
