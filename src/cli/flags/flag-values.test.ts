import { describe, expect, test } from 'vitest'
import { cliRun } from '../../../test/fixtures/cli.ts'

describe('what cannot be used is refused before anything is sent', () => {
  test('a port to listen on is held to the same bounds', async () => {
    const argv = ['scale', 'serve', '--url', 'a', '--target', '5', '--port', '99999']
    const { exitCode, stderr } = await cliRun(argv)
    expect(stderr).toContain('--port is not a port')
    expect(stderr).toContain('expected 0 to 65535')
    expect(exitCode).toBe(2)
  })

  test('a --junit that cannot be written is refused before anything is sent', async () => {
    const { exitCode, stderr, run } = await cliRun(['run', '--junit', '/nowhere/x.xml'])
    expect(stderr).toContain('/nowhere/x.xml cannot be written')
    expect({ exitCode, run }).toEqual({ exitCode: 2, run: null })
  })
})

test('what a file says to run several times is not left out in silence by a sweep or a search', async () => {
  const files = { 'plimsoll.yaml': 'repeat: 3\nmatrix: { concurrency: [1, 8] }\n' }
  for (const verb of ['sweep', 'find']) {
    const { stderr } = await cliRun([verb, '-f', 'plimsoll.yaml'], { files })
    expect(stderr).toContain('matrix and repeat of the file: not used here')
  }
})
