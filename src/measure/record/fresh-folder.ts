import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PlimsollError } from '../../base/errors.ts'
import { makeFolders } from './make-folders.ts'

/**
 * Makes a folder that was not there: `wanted`, or where that name is taken `wanted-2`, `wanted-3`, … so that nothing that was
 * measured is written over. A file of the wanted name is not a run that was kept: whoever named it meant something else.
 * @param what "the run folder", for the error.
 * @throws PlimsollError PLIM_RUN_FOLDER when it cannot be made, or a file is in the way.
 */
export async function makeFreshFolder(wanted: string, what: string): Promise<string> {
  try {
    await makeFolders(join(wanted, '..'))
    for (let attempt = 1; attempt < 1000; attempt++) {
      const path = attempt === 1 ? wanted : `${wanted}-${attempt}`
      try {
        await mkdir(path)
        return path
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
        if (attempt === 1 && !(await isFolder(wanted))) throw fileInTheWay(wanted, what)
      }
    }
  } catch (cause) {
    if (cause instanceof PlimsollError) throw cause
    throw new PlimsollError('PLIM_RUN_FOLDER', `${what} cannot be made`, {
      received: cause instanceof Error ? cause.message : String(cause),
      where: { file: wanted },
      hint: 'give another place with --runs-dir or --out',
      cause,
    })
  }
  throw new PlimsollError('PLIM_RUN_FOLDER', `no free name for ${what}`, { where: { file: wanted } })
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}

function fileInTheWay(path: string, what: string): PlimsollError {
  return new PlimsollError('PLIM_RUN_FOLDER', `${what} cannot be made: there is a file of that name`, {
    expected: 'a name that is free, or a folder',
    where: { file: path },
    hint: 'give another place with --runs-dir or --out',
  })
}

/** What is said where `--out` named a folder that was there already; null where it got its own name, or none was asked for. */
export function takenNotice(asked: string | null, path: string): string | null {
  return asked === null || asked === path
    ? null
    : `${asked} is there already and is kept: this goes to ${path}`
}
