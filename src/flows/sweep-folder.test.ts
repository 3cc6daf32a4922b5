import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sweepSchema } from './options/document-schemas.ts'
import { readDocument } from './sweep-folder.ts'
import { readWatch } from './watch-folder.ts'

function folderWith(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-document-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, name), text)
  return folder
}

const rows: readonly [sentence: string, text: string, received: RegExp][] = [
  ['cut in the middle', '{"schema": "plimsoll.sw', /^no whole JSON/],
  ['empty', '', /^no whole JSON/],
  ['of something else', '{}', /^JSON without a schema$/],
  ['null', 'null', /^JSON without a schema$/],
  ['of a later version', '{"schema":"plimsoll.sweep/9"}', /^"plimsoll\.sweep\/9"$/],
]

test.each(rows)(
  'a document that is %s is refused in words, as one of the caller',
  async (_, text, received) => {
    const refused = { code: 'PLIM_RUN_FOLDER', received: expect.stringMatching(received) as string }
    const sweep = folderWith('sweep.json', text)
    const read = readDocument(sweep, 'sweep.json', 'plimsoll.sweep/1', 'sweep', sweepSchema)
    await expect(read).rejects.toMatchObject(refused)
    await expect(readWatch(folderWith('watch.json', text))).rejects.toMatchObject(refused)
  },
)
