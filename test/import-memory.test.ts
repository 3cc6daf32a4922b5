import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { importFile } from '../src/measure/record/import/import-file.ts'
import type { ImportedRun } from '../src/measure/record/import/imported-run.ts'

// What an import keeps of its requests, beside what they take as objects of their own: a ratio, whatever the machine. (A column that differs
// from row to row takes half a megabyte for the first 64 k rows, so that the ratio of a large file is better by far.)

type Pieces = (target: number, written: () => number) => Iterable<string>

let folder: string
let files: Readonly<Record<string, Pieces>>
let collectGarbage: () => void
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-memory-'))
  const made = String(new URL('../bench/import-files.mjs', import.meta.url))
  ;({ resultFiles: files } = (await import(made)) as { resultFiles: typeof files })
  setFlagsFromString('--expose-gc')
  collectGarbage = runInNewContext('gc') as () => void
})
afterAll(() => rmSync(folder, { recursive: true }))

function write(name: string, bytes: number): string {
  const parts: string[] = []
  let written = 0
  for (const piece of (files[name] as Pieces)(bytes, () => written)) {
    written += piece.length
    parts.push(piece)
  }
  const file = join(folder, name)
  writeFileSync(file, parts.join(''))
  return file
}

/** Bytes that the runs of a file take when everything else is gone. */
async function kept(file: string, held: number): Promise<{ bytes: number; requests: number }> {
  const used = async (): Promise<number> => {
    // Buffers that were read into are given back a turn later.
    for (let round = 0; round < 4; round++) {
      collectGarbage()
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  const before = await used()
  const runs: readonly ImportedRun[] = (await importFile(file, { folder, held })).runs
  const bytes = (await used()) - before
  return { bytes, requests: runs.reduce((sum, { rows }) => sum + rows.length, 0) }
}

describe('fifteen thousand requests in columns take less than half of what they take as objects', () => {
  it.each([
    ['aiperf.jsonl', 20e6],
    ['llmperf.json', 6e6],
    ['genai-bench.json', 7e6],
    ['k6.json', 40e6],
    ['vegeta.json', 40e6],
    ['oha.csv', 2e6],
    ['hey.csv', 1.2e6],
  ])('%s', async (name, bytes) => {
    const file = write(name, bytes)
    // What is made once, for the first file of its kind, is nobody's.
    await kept(file, 1000)
    const objects = await kept(file, Number.POSITIVE_INFINITY)
    const columns = await kept(file, 1000)
    expect(columns.requests).toBe(objects.requests)
    expect(columns.requests).toBeGreaterThan(10_000)
    expect(columns.bytes / objects.bytes).toBeLessThan(0.5)
  })
})
