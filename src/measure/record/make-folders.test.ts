import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { makeFolders } from './make-folders.ts'

it('makes what is missing, and takes what is there', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'plimsoll-folders-')), 'a', 'b', 'c')
  await makeFolders(path)
  await makeFolders(path)
  expect(existsSync(path)).toBe(true)
})

it.skipIf(!existsSync('/proc/self'))('ends where a parent can never be made', async () => {
  await expect(makeFolders('/proc/nope/deeper')).rejects.toThrow('ENOENT')
})

it('ends in a working directory that was removed', async () => {
  const { makeFolders: inDist } = {
    makeFolders: new URL('../../../dist/measure/record/make-folders.js', import.meta.url).href,
  }
  const script = `import { rmSync, mkdtempSync } from 'node:fs'
    const folder = mkdtempSync('/tmp/plimsoll-gone-'); process.chdir(folder); rmSync(folder, { recursive: true })
    const { makeFolders } = await import(${JSON.stringify(inDist)})
    await makeFolders('runs/x').then(() => console.log('made'), (error) => console.log(error.code))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    timeout: 20_000,
  })
  expect(stdout.trim()).toBe('ENOENT')
})
