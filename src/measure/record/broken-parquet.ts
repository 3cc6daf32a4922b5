import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { AsyncBuffer } from 'hyparquet'
import { PlimsollError } from '../../base/errors.ts'
import { noun } from '../../base/noun.ts'
import { shellWord } from '../../base/shell-words.ts'

/** A Parquet file begins and ends with these four bytes. */
const mark = 'PAR1'

/** What is wrong with a file that cannot be read as Parquet, told from the file itself: its reader knows only where it stopped. */
export async function brokenParquet(path: string, file: AsyncBuffer, cause: unknown): Promise<PlimsollError> {
  const size = file.byteLength
  const bytes = `${size} ${noun(size, 'byte')}`
  // Also where fewer than four are left.
  const begins = mark.startsWith(await textAt(file, 0))
  const ends = size >= 12 && (await textAt(file, size - mark.length)) === mark
  const [message, received] =
    size === 0
      ? ['this Parquet file is empty', bytes]
      : !begins
        ? ['this file cannot be read as Parquet', `${bytes} that do not begin with ${mark}`]
        : !ends
          ? ['this Parquet file is cut', `${bytes} that begin as Parquet does and do not end with ${mark}`]
          : ['this Parquet file is damaged', `${bytes} between which something was cut out or overwritten`]
  return new PlimsollError('PLIM_RUN_FOLDER', message, {
    expected: 'requests.parquet of a run folder, whole',
    received,
    where: { file: path },
    hint: await whereElse(dirname(path)),
    cause,
  })
}

/** Where the rows, or at least the figures, may still be had. */
async function whereElse(folder: string): Promise<string> {
  const has = (name: string): Promise<boolean> =>
    stat(join(folder, name)).then(
      (found) => found.isFile() && found.size > 0,
      () => false,
    )
  if (await has('journal.ndjson'))
    return `its rows may be in the journal: plimsoll show ${shellWord(join(folder, 'journal.ndjson'))}`
  if (await has('run.json'))
    return 'the rows are lost unless there is a copy; what was measured is kept under summary in run.json beside it'
  return 'the rows are lost unless there is a copy of the file'
}

async function textAt(file: AsyncBuffer, start: number): Promise<string> {
  return Buffer.from(await file.slice(start, Math.min(file.byteLength, start + mark.length))).toString(
    'latin1',
  )
}
