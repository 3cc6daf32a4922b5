import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { plainManifest } from '../../test/fixtures/manifest.ts'
import { threeWalls } from '../../test/fixtures/documents.ts'
import { pausingRows, slowLong } from '../../test/fixtures/why.ts'
import type { PlimsollError } from '../base/errors.ts'
import type { RequestRow } from '../measure/record/request-row.ts'
import { writeRun } from '../measure/record/run-folder.ts'
import { readFigures, whyFlow } from './why.ts'
import { whySchema } from './why-schema.ts'

let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-why-'))
  await write('slow', pausingRows(true))
  await write('fast', pausingRows(false))
  await write('sweep/8', pausingRows(false))
  await write('sweep/16.5', pausingRows(true))
  await write('sweep/32', pausingRows(true))
  writeSweep('sweep', 8, [point(8, 'yes'), point(16.5, 'yes'), point(32, 'no')])
  writeSweep('open', 32, [point(8, 'yes'), point(32, 'yes')])
  writeSweep('none', null, [point(8, 'no'), point(32, 'no')])
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function write(name: string, rows: readonly RequestRow[]): Promise<void> {
  const manifest = plainManifest({ name })
  await writeRun(join(folder, name), manifest, rows)
}

/** Of a sweep's document what `why` reads. */
function writeSweep(name: string, capacity: number | null, points: readonly object[]): void {
  mkdirSync(join(folder, name), { recursive: true })
  const document = { ...threeWalls, points, capacity: { ...threeWalls.capacity, load: capacity } }
  writeFileSync(join(folder, name, 'sweep.json'), JSON.stringify(document))
}

const point = (load: number, passes: string): object => ({
  ...threeWalls.points[0],
  load: { kind: 'concurrency', value: load },
  run: String(load),
  passes,
})

const asked = { b: null, by: 'prompt', level: '99' } as const
const deps = { version: '0.1.0' }

describe('why', () => {
  it('of two runs: the parts, the percentiles by prompt length, the pauses', async () => {
    const document = await whyFlow({ ...asked, a: join(folder, 'slow'), b: join(folder, 'fast') }, deps)
    expect(v.is(whySchema, document)).toBe(true)
    const { total_ms, ttft_ms, tpot_ms, length_ms } = document.difference
    expect(ttft_ms + tpot_ms + length_ms).toBeCloseTo(total_ms, 9)
    expect(total_ms).toBeCloseTo((8 * 280 + 8 * 100) / 40, 9)
    expect(document.percentiles.map(({ metric }) => metric)).toEqual(['e2e_ms', 'ttft_ms', 'tpot_ms'])
    expect(document.stutter[0]).toMatchObject({ pauses: 8, with_prefill: 8 })
    expect(document.stutter[1]).toMatchObject({ pauses: 0 })
  })

  it('of one run: its slowest against the rest', async () => {
    const document = await whyFlow({ ...asked, a: join(folder, 'slow') }, deps)
    expect(document).toMatchObject({ kind: 'run', a: { name: 'slowest 1 of 40', n: 1 }, b: { n: 39 } })
  })

  it('of two requests, and of figures', async () => {
    const requests = await whyFlow(
      { ...asked, a: `${join(folder, 'slow')}#r3`, b: `${join(folder, 'slow')}#r0` },
      deps,
    )
    expect(requests).toMatchObject({ kind: 'requests', difference: { length_ms: 0 } })
    expect(requests.difference.tpot_ms).toBeCloseTo(280, 9)
    const figures = await whyFlow(
      { ...asked, a: 'ttft=0.3s,e2e=8.28s,tokens=400', b: 'ttft=300ms,tpot=20ms,tokens=85' },
      deps,
    )
    expect(figures.difference.length_ms).toBeCloseTo(slowLong.difference.length_ms, 9)
    expect(figures.warnings.map(({ kind }) => kind)).toEqual(['length_confounded'])
  })

  it('of a sweep: the first failing point against that at capacity', async () => {
    const sweep = join(folder, 'sweep')
    const document = await whyFlow({ ...asked, a: sweep }, deps)
    expect(document).toMatchObject({ kind: 'runs', a: { name: `${sweep}@32` }, b: { name: `${sweep}@8` } })
    expect(document.difference.total_ms).toBeGreaterThan(0)
  })

  it('of two points of a sweep by their load, and of a request of one', async () => {
    const sweep = join(folder, 'sweep')
    const document = await whyFlow({ ...asked, a: `${sweep}@16.5`, b: `${sweep}@8` }, deps)
    expect(document).toMatchObject({ a: { name: `${sweep}@16.5`, n: 40 }, b: { name: `${sweep}@8` } })
    const within = await whyFlow({ ...asked, a: `${sweep}@8` }, deps)
    expect(within.kind).toBe('run')
    const one = await whyFlow({ ...asked, a: `${sweep}@32#r3`, b: `${sweep}@8#r0` }, deps)
    expect(one.kind).toBe('requests')
  })

  it.each([
    ['a load that was not tested', 'sweep@9', 'sweep@8', /no run at 9/],
    ['a load that is no number', 'sweep@fast', 'sweep@8', /no run at fast/],
    ['a sweep beside a run', 'sweep', 'fast', /a sweep, and not one of its runs/],
    ['a sweep that never failed', 'open', null, /nothing was tested above the capacity of 32/],
    ['a sweep without a capacity', 'none', null, /no capacity/],
  ])('%s is refused and says what there is', async (_, a, b, message) => {
    const whole = b === null ? null : join(folder, b)
    const error = await whyFlow({ ...asked, a: join(folder, a), b: whole }, deps).catch(
      (found: unknown) => found,
    )
    expect(error).toMatchObject({ message: expect.stringMatching(message) as string })
    expect(String((error as PlimsollError).expected) + String((error as PlimsollError).received)).toContain(
      '8',
    )
  })

  const refused: [sentence: string, text: string][] = [
    ['a word that is none', 'ttft=1s,e2e=2s,tokens=3,x=1'],
    ['no tokens', 'ttft=1s,e2e=2s'],
    ['both E2E and TPOT', 'ttft=1s,e2e=2s,tpot=1ms,tokens=3'],
    ['an end before the first token', 'ttft=2s,e2e=1s,tokens=3'],
    ['a time without a unit', 'ttft=2,e2e=1s,tokens=3'],
  ]
  it.each(refused)('%s is refused', (_, text) => {
    expect(() => readFigures(text)).toThrow(expect.objectContaining({ code: 'PLIM_NUMBER' }))
  })

  it('a request that is not there is named', async () => {
    const a = `${join(folder, 'slow')}#nobody`
    await expect(whyFlow({ ...asked, a, b: a }, deps)).rejects.toThrow('no request nobody')
  })
})
