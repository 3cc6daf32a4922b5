import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { cliRun } from '../../test/fixtures/cli.ts'
import { PlimsollError } from '../base/errors.ts'
import { defaultRules } from '../judge/compare-metric.ts'
import { streamedRow } from '../measure/record/made-rows.ts'
import { startManifest } from '../measure/record/manifest.ts'
import { readRun } from '../measure/record/read-run.ts'
import { writeRun } from '../measure/record/run-folder.ts'
import { defaultMetrics } from './compare-figures.ts'
import { compareInterleaved, type InterleavedParts } from './compare-interleaved.ts'
import type { FlowDeps } from './flow-deps.ts'
import { shownRun } from './show.ts'

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-interleaved-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const settings = { ...defaultRules, metrics: defaultMetrics, primary: null }

/** A run of 40 requests of one a second. */
async function makeRun(name: string, tpotMs: number, seed: string, block: string): Promise<string> {
  const rows = Array.from({ length: 40 }, (_, i) =>
    streamedRow({
      id: `r${i}`,
      plannedMs: i * 1000,
      ttftMs: 100,
      gapsMs: Array.from({ length: 19 }, () => tpotMs + i / 100),
    }),
  )
  const path = join(folder, name)
  const manifest = startManifest({
    name: 'run',
    versions: { plimsoll: '0.1.0', node: 'v20' },
    config: { metadata: { block } },
    seed,
    salt: null,
    pacer: { kind: 'poisson', ratePerSecond: 1 },
    workload: { text: 'made', digest: seed },
    target: { url: 'made', api: 'chat', model: 'm' },
    clock: { origin_monotonic_ns: 0, started_at: new Date(1e12 + 60_000 * Number(block)).toISOString() },
    planned: 40,
  })
  await writeRun(path, manifest, rows)
  return path
}

describe('compare --run', () => {
  const gone = new PlimsollError('PLIM_CONNECT', 'nothing answers at http://b:2', {
    hint: 'start the server',
  })
  const full = new PlimsollError('PLIM_RUN_FOLDER', 'it cannot be written')

  /** Interleaves runs that are nowhere where they are said to be; the `failing`-th, from 0, ends with `error`. */
  async function interleave(parts: Partial<InterleavedParts>, failing = Infinity, error = gone) {
    const { compare } = await cliRun([
      'compare',
      '--run',
      'http://a:1',
      'http://b:2',
      '--runs',
      '3',
      '-n',
      '40',
    ])
    if (compare?.kind !== 'interleaved') throw new Error('it is not interleaved')
    const ran: string[] = []
    const unsaved: unknown[] = []
    const runFlow: InterleavedParts['runFlow'] = async ({ seed, metadata, target, name }) => {
      if (ran.length === failing) throw error
      const url = target.kind === 'server' ? target.url : ''
      ran.push(url)
      const tpotMs = url.includes('a') ? 20 : 19.9
      const elsewhere = `memory/${made++}-${name ?? ''}`
      const path = await makeRun(elsewhere, tpotMs, seed, metadata['block'] ?? '')
      const record = await readRun(path)
      return { document: shownRun(record), measured: record, interrupted: false }
    }
    const deps = {
      wallClock: () => 0,
      onNotice: () => undefined,
      onUnsaved: (each: unknown) => unsaved.push(each),
      version: '0.1.0',
    } as unknown as FlowDeps
    const parts_ = { runFlow, checkServer: () => Promise.resolve(), ...parts }
    const config = { ...compare, settings: { ...settings, primary: 'tpot_mean' } }
    const outcome = await compareInterleaved(config, parts_, deps).catch((thrown: unknown) => thrown)
    return { ran, unsaved, outcome }
  }
  let made = 0

  it('asks both servers before the first run', async () => {
    const asked: unknown[] = []
    const { ran, outcome } = await interleave({
      checkServer({ target }) {
        asked.push(target.kind === 'server' ? target.url : '')
        return asked.length === 2 ? Promise.reject(gone) : Promise.resolve()
      },
    })
    expect([ran, asked, outcome]).toEqual([[], ['http://a:1', 'http://b:2'], gone])
  })

  it('compares what is in memory, whatever the disk holds', async () => {
    const { ran, outcome } = await interleave({})
    expect(ran.map((url) => url.at(7))).toEqual(Array.from('abbaab'))
    expect(outcome).toMatchObject({
      document: { kind: 'interleaved', arms: { a: { runs: { length: 3 } }, b: { runs: { length: 3 } } } },
    })
  })

  it('a run that could not be written ends it, and the whole pairs before are compared', async () => {
    const { unsaved, outcome } = await interleave({}, 5, full)
    expect(unsaved).toEqual([full])
    expect((outcome as { document: { arms: { a: { runs: unknown[] } } } }).document.arms.a.runs).toHaveLength(
      2,
    )
  })

  it('a server that goes away is said to have answered before', async () => {
    const { outcome } = await interleave({}, 3)
    expect(outcome).toMatchObject({
      code: 'PLIM_CONNECT',
      message: 'nothing answers at http://b:2; it answered before: 3 of 6 runs',
      hint: expect.stringMatching(
        /^what was measured: plimsoll show \S+03-b; to go on: start the server, then the same again$/,
      ),
    })
  })

  it('of the first run it is told as it is', async () => {
    expect((await interleave({}, 0)).outcome).toBe(gone)
  })
})
