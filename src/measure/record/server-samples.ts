import { appendFile, readFile, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readServerFile, serverFile } from './server-file.ts'

/** What the server's metrics said over time while the file still grows, a line a sample; a finished run has `server.parquet`. */
export const serverSamplesFile = 'server.ndjson'

/** One look at one replica. Times are ms after the run's zero; null is what was not told. */
export interface ServerSample {
  readonly at_ms: number
  readonly replica: string
  /** What the look itself took, ms, from asking to the page's last byte: what it tells is up to this much older or newer. */
  readonly scrape_ms: number | null
  /** False: the page could not be read, and all else is null. */
  readonly up: boolean
  readonly running: number | null
  readonly waiting: number | null
  readonly kv_usage: number | null
  /** Counters since the engine's start: they grow, and fall only when it is started again. */
  readonly preemptions: number | null
  readonly prompt_tokens: number | null
  readonly generation_tokens: number | null
  /** Of the prefix cache: tokens, for some engines blocks. */
  readonly prefix_hits: number | null
  readonly prefix_queries: number | null
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

/** Removes the growing file, once `server.parquet` holds it all. */
export async function dropServerSamples(folder: string): Promise<void> {
  await rm(join(folder, serverSamplesFile), { force: true })
}

/**
 * The samples of a run, in their order: its `server.parquet`, else what was written while it ran; none where the folder has neither. A
 * last line that was cut is left out.
 */
export async function readServerSamples(path: string): Promise<readonly ServerSample[]> {
  const folder = /\.(json|parquet|ndjson)$/.test(path) ? dirname(path) : path
  const whole = join(folder, serverFile)
  const isThere = await stat(whole).then(
    () => true,
    () => false,
  )
  if (isThere) return readServerFile(whole)
  const text = await readFile(join(folder, serverSamplesFile), 'utf8').catch(() => '')
  return text.split('\n').flatMap((line) => {
    if (line === '') return []
    try {
      return [{ ...unknownSample, ...(JSON.parse(line) as Partial<ServerSample>) }]
    } catch {
      return []
    }
  })
}

/** A look that told nothing. */
export const unknownSample: ServerSample = {
  at_ms: 0,
  replica: '',
  scrape_ms: null,
  up: false,
  running: null,
  waiting: null,
  kv_usage: null,
  preemptions: null,
  prompt_tokens: null,
  generation_tokens: null,
  prefix_hits: null,
  prefix_queries: null,
  ttft_ms: null,
  tpot_ms: null,
  requests: null,
  cpu: null,
  gpu_memory: null,
  gpu_busy: null,
}
