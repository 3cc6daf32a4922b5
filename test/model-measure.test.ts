import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { measurementSchema, modelSchema } from '../src/flows/simulate-schema.ts'
import type { MeasurementDocument } from '../src/report/measurement-document.ts'
import { scratch, start } from './fixtures/product.ts'

test('an engine is measured over HTTP, point after point, and becomes a model that answers', async () => {
  const cwd = scratch()
  // Steps of 5 ms that nothing else costs much: a measurement of seconds. Its seats are the wall.
  const settings = ['step-time=c0=5ms,c1=10us', 'max-num-seqs=16', 'front-end=1ms', 'jitter=0']
  const engine = settings.flatMap((setting) => ['--engine', setting])
  const asked = [
    '--prompt',
    '200',
    '--output',
    '50',
    '--points',
    '9',
    '--max-duration',
    '60s',
    '--within',
    '1%',
  ]
  const measured = await start(
    ['model', 'measure', ...engine, ...asked, '--out', 'model.json', '--json', '--quiet'],
    { cwd },
  ).ended
  expect([measured.code, measured.stderr]).toEqual([0, ''])
  const document = JSON.parse(measured.stdout) as MeasurementDocument
  expect(v.safeParse(measurementSchema, document).issues).toBeUndefined()
  expect(['points', 'target', 'time']).toContain(document.ended)
  expect(document.points.length).toBeGreaterThan(4)
  expect(document.points.every(({ users }) => users <= 16)).toBe(true)
  for (const { run } of document.points)
    expect(existsSync(join(cwd, document.folder, run, 'run.json'))).toBe(true)
  const model: unknown = JSON.parse(readFileSync(join(cwd, 'model.json'), 'utf8'))
  expect(v.safeParse(modelSchema, model).issues).toBeUndefined()
  expect(JSON.parse(readFileSync(join(cwd, document.folder, 'model.json'), 'utf8'))).toEqual(model)
  const predicted = await start(
    ['model', 'predict', 'model.json', '--rate', '2/s', '--prompt', '200', '--output', '50'],
    { cwd },
  ).ended
  expect([predicted.code, predicted.stdout.includes('TPOT mean')]).toEqual([0, true])
}, 240_000)

test('the memory wall of a server that tells nothing of its pool is refused before any load', async () => {
  const cwd = scratch()
  const asked = ['model', 'measure', '--wall', 'memory', '--fault', 'drop metrics at 0s']
  const refused = await start([...asked, '--quiet'], { cwd }).ended
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain('nothing says how large the KV pool is')
}, 60_000)
