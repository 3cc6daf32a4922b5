import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { systemError } from '../../base/system-errors.ts'

/** A file of numbers that nobody else sees. */
export interface ScratchFile {
  /** From the `start`th number on, in place of what is there. */
  write(values: Float64Array, start: number): void
  /** Fills `into` with the numbers from the `start`th on. */
  read(into: Float64Array, start: number): void
}

/** The descriptors of files that nothing refers to any more are closed when that is noticed. */
const unused = new FinalizationRegistry<number>((descriptor) => closeSync(descriptor))

/**
 * A file without a name: it is removed as soon as it is open, so that nothing of it is left behind, however the process ends.
 * @throws PlimsollError PLIM_FILE where the folder takes no file, or the disk is full.
 */
export function openScratch(folder: string): ScratchFile {
  const refused = (cause: unknown): unknown =>
    systemError(cause, 'the scratch file for the rows of the requests', 'PLIM_FILE', folder) ?? cause
  let descriptor: number
  try {
    const own = mkdtempSync(join(folder, 'plimsoll-rows-'))
    descriptor = openSync(join(own, 'numbers'), 'wx+')
    rmSync(own, { recursive: true })
  } catch (cause) {
    throw refused(cause)
  }
  const file: ScratchFile = {
    write(values, start) {
      const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
      try {
        for (let done = 0; done < bytes.length;)
          done += writeSync(descriptor, bytes, done, bytes.length - done, start * 8 + done)
      } catch (cause) {
        throw refused(cause)
      }
    },
    read(into, start) {
      const bytes = new Uint8Array(into.buffer, into.byteOffset, into.byteLength)
      for (let done = 0; done < bytes.length;) {
        const read = readSync(descriptor, bytes, done, bytes.length - done, start * 8 + done)
        if (read === 0) throw new Error('the scratch file is shorter than what was written to it')
        done += read
      }
    },
  }
  unused.register(file, descriptor)
  return file
}
