import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { parquetReadObjects, type AsyncBuffer, type SchemaElement } from 'hyparquet'
import { fileWriter, ParquetWriter } from 'hyparquet-writer'
import { PlimsollError } from '../../base/errors.ts'
import type { ServerSample } from './server-samples.ts'
import { writingInto } from './writing-into.ts'

/** The file of a finished run folder that holds the server's metrics: a row for each look at each replica. */
export const serverFile = 'server.parquet'

interface ServerColumn {
  readonly name: keyof ServerSample
  readonly type: 'DOUBLE' | 'BYTE_ARRAY' | 'BOOLEAN'
}

const double = (name: keyof ServerSample): ServerColumn => ({ name, type: 'DOUBLE' })

/** The columns, in order. Times are ms after the run's zero, as in `requests.parquet`: the two files join on the clock. */
export const serverColumns: readonly ServerColumn[] = [
  double('at_ms'),
  { name: 'replica', type: 'BYTE_ARRAY' },
  double('scrape_ms'),
  { name: 'up', type: 'BOOLEAN' },
  ...(['running', 'waiting', 'kv_usage', 'preemptions'] as const).map(double),
  ...(['prompt_tokens', 'generation_tokens', 'prefix_hits', 'prefix_queries'] as const).map(double),
  ...(['ttft_ms', 'tpot_ms', 'requests', 'cpu', 'gpu_memory', 'gpu_busy'] as const).map(double),
]

const never: ReadonlySet<keyof ServerSample> = new Set(['at_ms', 'replica', 'up'])

/** Writes the samples of a run, beside their place and renamed. */
export async function writeServerFile(folder: string, samples: readonly ServerSample[]): Promise<void> {
  const path = join(folder, serverFile)
  const columns: SchemaElement[] = serverColumns.map(({ name, type }) => ({
    name,
    type,
    repetition_type: never.has(name) ? 'REQUIRED' : 'OPTIONAL',
    ...(type === 'BYTE_ARRAY' ? { converted_type: 'UTF8' as const } : {}),
  }))
  await writingInto(folder, [`${path}.tmp`], async () => {
    const writer = new ParquetWriter({
      writer: fileWriter(`${path}.tmp`),
      schema: [{ name: 'look', num_children: columns.length }, ...columns],
      statistics: false,
      createdBy: 'plimsoll',
    })
    const written = writer.write({
      columnData: serverColumns.map(({ name }) => ({ name, data: samples.map((sample) => sample[name]) })),
    })
    const finished = writer.finish()
    if (written !== undefined || finished !== undefined) throw new Error('the file writer is synchronous')
    await rename(`${path}.tmp`, path)
  })
}

/** @throws PlimsollError PLIM_RUN_FOLDER when it cannot be read. */
export async function readServerFile(path: string): Promise<readonly ServerSample[]> {
  const handle = await open(path, 'r')
  try {
    const bytes = await handle.readFile()
    const file: AsyncBuffer = {
      byteLength: bytes.byteLength,
      slice: (start, end) => new Uint8Array(bytes.subarray(start, end)).buffer,
    }
    const rows = await parquetReadObjects({ file })
    return rows.map(
      (row) =>
        Object.fromEntries(
          serverColumns.map(({ name }) => [name, plain(row[name])]),
        ) as unknown as ServerSample,
    )
  } catch (cause) {
    throw new PlimsollError('PLIM_RUN_FOLDER', "the server's metrics of this run cannot be read", {
      expected: `${serverFile} of a run folder, whole`,
      received: cause instanceof Error ? cause.message : String(cause),
      where: { file: path },
      hint: 'without that file the run is shown without them',
      cause,
    })
  } finally {
    await handle.close()
  }
}

/** What another program stored as a 64-bit integer, or as NaN. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  return value === undefined || (typeof value === 'number' && !Number.isFinite(value)) ? null : value
}
