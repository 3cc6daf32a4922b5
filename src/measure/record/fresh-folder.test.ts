import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeFreshFolder, takenNotice } from './fresh-folder.ts'

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-fresh-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('a name that is taken by a folder gets a number that neither a folder nor a file has, and that is said', async () => {
  const wanted = join(scratch(), 'runs', 'a')
  expect(await makeFreshFolder(wanted, 'the run folder')).toBe(wanted)
  expect(await makeFreshFolder(wanted, 'the run folder')).toBe(`${wanted}-2`)
  writeFileSync(`${wanted}-3`, '')
  const fourth = await makeFreshFolder(wanted, 'the run folder')
  expect(fourth).toBe(`${wanted}-4`)
  expect(takenNotice(wanted, fourth)).toBe(`${wanted} is there already and is kept: this goes to ${fourth}`)
})

test.each([
  ['nobody asked for a place', null, 'runs/x'],
  ['it got the place that was asked for', 'a', 'a'],
])('nothing is said where %s', (_, asked, path) => expect(takenNotice(asked, path)).toBeNull())

test('a place below a file cannot be made, and says what helps', async () => {
  const file = join(scratch(), 'file')
  writeFileSync(file, '')
  await expect(makeFreshFolder(join(file, 'a'), 'the run folder')).rejects.toMatchObject({
    code: 'PLIM_RUN_FOLDER',
    hint: 'give another place with --runs-dir or --out',
  })
})

test('a file where the folder is wanted is refused, and nothing is made beside it', async () => {
  const parent = scratch()
  const file = join(parent, 'passwd')
  writeFileSync(file, '')
  await expect(makeFreshFolder(file, 'the run folder')).rejects.toMatchObject({
    code: 'PLIM_RUN_FOLDER',
    message: 'the run folder cannot be made: there is a file of that name',
    where: { file },
  })
  expect(readdirSync(parent)).toEqual(['passwd'])
})
