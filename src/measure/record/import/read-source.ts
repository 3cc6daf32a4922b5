import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { PlimsollError } from '../../../base/errors.ts'

const chunkBytes = 1 << 20

/**
 * Hands the bytes of a file over, a mebibyte at a time; compressed ones (gzip) unpacked. `take` returns false when it has enough.
 * @throws PlimsollError PLIM_FILE for one that cannot be read, or has nothing in it.
 */
export async function readSource(file: string, take: (chunk: Buffer) => boolean): Promise<void> {
  const packed = await checkSource(file)
  const source = createReadStream(file, { highWaterMark: chunkBytes })
  const stream = packed ? source.pipe(createGunzip({ chunkSize: chunkBytes })) : source
  try {
    if (packed) source.on('error', (error) => stream.destroy(error))
    for await (const chunk of stream) if (!take(chunk as Buffer)) break
  } catch (cause) {
    throw new PlimsollError('PLIM_FILE', 'the file cannot be read to its end', {
      received: cause instanceof Error ? cause.message : String(cause),
      where: { file },
      cause,
    })
  } finally {
    source.destroy()
  }
}

/** Whether the file is gzip. */
async function checkSource(file: string): Promise<boolean> {
  try {
    const found = await stat(file)
    if (found.isDirectory()) {
      throw new PlimsollError('PLIM_FILE', 'this is a folder', {
        expected: 'a result file of another tool',
        where: { file },
        hint: 'give the files in it; a run folder of plimsoll is read by plimsoll show',
      })
    }
    const handle = await open(file, 'r')
    try {
      const head = Buffer.alloc(2)
      const { bytesRead } = await handle.read(head, 0, 2, 0)
      if (bytesRead === 0 && found.isFile()) throw emptyFile(file)
      return head[0] === 0x1f && head[1] === 0x8b
    } finally {
      await handle.close()
    }
  } catch (cause) {
    if (cause instanceof PlimsollError) throw cause
    throw new PlimsollError('PLIM_FILE', 'the file cannot be read', {
      received: cause instanceof Error ? cause.message : String(cause),
      where: { file },
      cause,
    })
  }
}

export function emptyFile(file: string): PlimsollError {
  return new PlimsollError('PLIM_FILE', 'the file is empty', {
    expected: 'the results of a load test',
    received: 'no value',
    where: { file, line: 1, column: 1 },
    hint: 'the tool that should have written it was ended before it did, or every request failed',
  })
}
