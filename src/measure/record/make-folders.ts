import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes a folder with the parents that it lacks. Not `mkdir` with `recursive`: where a parent can never be made (a working
 * directory that was removed, /proc) Node asks for it again and again and never returns. Throws the system's error.
 */
export async function makeFolders(path: string): Promise<void> {
  try {
    await mkdir(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    const parent = dirname(path)
    if (code !== 'ENOENT' || parent === path) throw error
    await makeFolders(parent)
    await mkdir(path)
  }
}
