import { appendFile, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** The file of a run folder that holds what the server's metrics said over time, a line a sample. */
export const serverSamplesFile = 'server.ndjson'

/** One look at one replica. Times are ms after the run's zero; null is what was not told. */
export interface ServerSample {
  readonly at_ms: number
  readonly replica: string
  /** False: the page could not be read, and all else is null. */
  readonly up: boolean
  readonly running: number | null
  readonly waiting: number | null
  readonly kv_usage: number | null
  readonly preemptions: number | null
  /** Means of what was observed since the last sample. */
  readonly ttft_ms: number | null
  readonly tpot_ms: number | null
  readonly requests: number | null
  /** Shares, 0..1. */
  readonly cpu: number | null
  readonly gpu_memory: number | null
  readonly gpu_busy: number | null
}

/** Adds samples to a folder's file. */
export async function appendServerSamples(folder: string, samples: readonly ServerSample[]): Promise<void> {
  if (samples.length === 0) return
  await appendFile(
    join(folder, serverSamplesFile),
    samples.map((sample) => `${JSON.stringify(sample)}\n`).join(''),
  )
}

/** The samples of a run, in their order; none where the folder has no such file. A last line that was cut is left out. */
export async function readServerSamples(path: string): Promise<readonly ServerSample[]> {
  const folder = /\.(json|parquet|ndjson)$/.test(path) ? dirname(path) : path
  const text = await readFile(join(folder, serverSamplesFile), 'utf8').catch(() => '')
  return text.split('\n').flatMap((line) => {
    if (line === '') return []
    try {
      return [JSON.parse(line) as ServerSample]
    } catch {
      return []
    }
  })
}
