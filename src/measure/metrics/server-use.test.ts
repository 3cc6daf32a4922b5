import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readServerFile, serverFile, writeServerFile } from '../record/server-file.ts'
import { appendServerSamples, readServerSamples } from '../record/server-journal.ts'
import { unknownSample, type ServerSample } from '../record/server-samples.ts'
import { growth, serverUse } from './server-use.ts'

const window = { startMs: 1000, endMs: 4000 }

function look(at_ms: number, over: Partial<ServerSample> = {}): ServerSample {
  return { ...unknownSample, at_ms, replica: 'a', scrape_ms: 2, up: true, ...over }
}

describe('what the server said inside the window', () => {
  it('leaves out looks before and after it', () => {
    const samples = [0, 1000, 2000, 3000, 4000].map((at) =>
      look(at, { running: at === 0 || at === 4000 ? 99 : 2 }),
    )
    expect(serverUse(samples, window)).toMatchObject({ looks: 3, failed: 0, running: { mean: 2, max: 2 } })
    expect(serverUse([look(0), look(4000)], window)).toBeNull()
  })

  it('adds a fleet up at each moment, but a pool is as full as the fullest', () => {
    const samples = [
      look(1000, { running: 3, kv_usage: 0.2 }),
      look(1000, { replica: 'b', running: 5, kv_usage: 0.6 }),
      look(2000, { running: 1, kv_usage: 0.1 }),
      look(2000, { replica: 'b', running: 1, kv_usage: 0.3 }),
    ]
    expect(serverUse(samples, window)).toMatchObject({
      replicas: ['a', 'b'],
      running: { mean: 5, max: 8 },
      kv_usage: { max: 0.6 },
    })
  })

  it('has no sum for a moment at which a replica was silent', () => {
    const samples = [
      look(1000, { running: 3 }),
      look(1000, { replica: 'b', running: 5 }),
      look(2000, { running: 7 }),
      look(2000, { replica: 'b', up: false }),
    ]
    expect(serverUse(samples, window)).toMatchObject({ failed: 1, running: { mean: 8, max: 8 } })
  })

  it.each([
    ['growth is last less first', [10, 12, 40], 30],
    ['a restart counts from 0', [10, 40, 5, 9], 39],
    ['one look shows no growth', [10], null],
    ['what is not told is null, not 0', [null, null], null],
    ['a hole is bridged', [10, null, 13], 3],
  ] as const)('counters: %s', (_, values, expected) => {
    expect(
      growth(
        values.map((preemptions, at) => look(at, { preemptions })),
        'preemptions',
      ),
    ).toBe(expected)
  })

  it('a counter that one replica does not tell has no sum', () => {
    const samples = [1000, 2000].flatMap((at) => [look(at, { preemptions: at }), look(at, { replica: 'b' })])
    expect(serverUse(samples, window)?.preemptions).toBeNull()
  })
})

describe('server.parquet', () => {
  const maybe = fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }), { nil: null })
  const sample: fc.Arbitrary<ServerSample> = fc.record({
    at_ms: fc.double({ noNaN: true, noDefaultInfinity: true }),
    replica: fc.string(),
    up: fc.boolean(),
    scrape_ms: maybe,
    running: maybe,
    waiting: maybe,
    kv_usage: maybe,
    preemptions: maybe,
    prompt_tokens: maybe,
    generation_tokens: maybe,
    prefix_hits: maybe,
    prefix_queries: maybe,
    ttft_ms: maybe,
    tpot_ms: maybe,
    requests: maybe,
    cpu: maybe,
    gpu_memory: maybe,
    gpu_busy: maybe,
  })

  it('reads back what was written', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plimsoll-server-'))
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(sample, { minLength: 1, maxLength: 20 }), async (samples) => {
          await writeServerFile(folder, samples)
          expect(await readServerFile(join(folder, serverFile))).toEqual(samples)
          expect(await readServerSamples(folder)).toEqual(samples)
        }),
        { numRuns: 30 },
      )
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('a folder that has only the lines of a running look is read, and a cut line left out', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plimsoll-server-'))
    try {
      await appendServerSamples(folder, [look(1), look(2)])
      expect(await readServerSamples(folder)).toEqual([look(1), look(2)])
      expect(await readServerSamples(join(folder, 'nothing'))).toEqual([])
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
