import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PlimsollError } from '../src/base/errors.ts'
import { showFlow } from '../src/flows/show.ts'
import { renderExperiment } from '../src/report/experiment-text.ts'
import { renderFind } from '../src/report/find-text.ts'
import { renderRun } from '../src/report/render-run.ts'
import { renderSweep } from '../src/report/render-sweep.ts'
import { threeWalls } from './fixtures/documents.ts'
import { nothingAnsweredSweep } from './fixtures/refused-sweep.ts'
import { fiveRuns } from './fixtures/experiment.ts'
import { betweenTwoRates } from './fixtures/find.ts'
import { liveDeps } from './fixtures/pages.ts'
import { scratch, start } from './fixtures/product.ts'

// Whatever a person did to a document by hand: it is shown, or refused with the file and the field.

type Edit = readonly [what: string, change: (holder: Record<string, unknown>, key: string) => void]
const edits: readonly Edit[] = [
  ['without', (holder, key) => delete holder[key]],
  ...[null, 3, 'x', {}, [], [3]].map((value): Edit => [
    `as ${JSON.stringify(value)}`,
    (holder, key) => {
      holder[key] = value
    },
  ]),
]

/** Every place in a document, of lists only the first member. */
function places(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.keys(value)
    .slice(0, Array.isArray(value) ? 1 : undefined)
    .flatMap((key) => {
      const here = [...path, key]
      return [here, ...places((value as Record<string, unknown>)[key], here)]
    })
}

async function print(folder: string): Promise<string> {
  const { shown } = await showFlow([folder], liveDeps(new AbortController().signal))
  const options = { color: false, explain: true }
  const [one] = shown
  switch (one?.kind) {
    case 'run':
      // Its next command too, however busy this machine was.
      return renderRun({ ...one.document, verdict: { status: 'VALID', reasons: [] } }, options)
    case 'sweep':
      return renderSweep(one.document, options)
    case 'find':
      return renderFind(one.document, options)
    case 'experiment':
      return renderExperiment(one.document, options)
    default:
      throw new Error('nothing was shown')
  }
}

/** What happened to each edit that was neither shown nor refused in words. */
async function faultsOf(folder: string, file: string, tried = edits): Promise<readonly string[]> {
  const path = join(folder, file)
  const whole = readFileSync(path, 'utf8')
  const faults: string[] = []
  let refused = 0
  for (const place of places(JSON.parse(whole))) {
    for (const [what, change] of tried) {
      const document = JSON.parse(whole) as Record<string, unknown>
      const holder = place.slice(0, -1).reduce((at, key) => at[key] as Record<string, unknown>, document)
      change(holder, place.at(-1) ?? '')
      writeFileSync(path, JSON.stringify(document))
      try {
        const text = await print(folder)
        if (/NaN|undefined|\[object/.test(text))
          faults.push(`${place.join('.')} ${what}: ${/.*(NaN|undefined|\[object).*/.exec(text)?.[0]}`)
      } catch (error) {
        if (error instanceof PlimsollError && error.code !== 'PLIM_INTERNAL') refused++
        else faults.push(`${place.join('.')} ${what}: ${String(error)}`)
      }
    }
  }
  writeFileSync(path, whole)
  expect(refused).toBeGreaterThan(20)
  return faults
}

test.each([
  ['sweep.json', threeWalls],
  ['sweep.json', nothingAnsweredSweep],
  ['find.json', betweenTwoRates],
  ['experiment.json', fiveRuns],
])('%s', { timeout: 60_000 }, async (file, document) => {
  const folder = scratch()
  writeFileSync(join(folder, file), JSON.stringify(document))
  expect(await faultsOf(folder, file)).toEqual([])
})

// Each reads its rows again.
const few = edits.filter(([what]) => ['without', 'as null', 'as "x"', 'as []'].includes(what))

test('run.json', { timeout: 120_000 }, async () => {
  const cwd = scratch()
  await start(['run', '-r', '20', '-n', '10', '--output', '4', '--quiet', '--out', 'run'], { cwd }).ended
  const folder = join(cwd, 'edited')
  mkdirSync(folder)
  cpSync(join(cwd, 'run'), folder, { recursive: true })
  expect(await faultsOf(folder, 'run.json', few)).toEqual([])
})

test.each([
  ['a string to stop at', ['--extra-body', '{"stop":["undefined"]}']],
  ['a header', ['--header', 'X-Team=NaN']],
  ['a seed', ['--seed', '[object Object]']],
])('a good run is shown whatever its texts say: %s', { timeout: 60_000 }, async (_, said) => {
  const cwd = scratch()
  const run = ['run', '-r', '20', '-n', '10', '--output', '4', '--quiet', '--out', 'run']
  await start([...run, ...said], { cwd }).ended
  expect(await print(join(cwd, 'run'))).toContain(said[1])
})

test('the field that is missing is named, with its file', async () => {
  const folder = scratch()
  const { capacity: _capacity, ...rest } = threeWalls
  writeFileSync(join(folder, 'sweep.json'), JSON.stringify(rest))
  await expect(print(folder)).rejects.toMatchObject({
    code: 'PLIM_RUN_FOLDER',
    message: 'sweep.json has no capacity',
    where: { file: join(folder, 'sweep.json') },
  })
  writeFileSync(
    join(folder, 'sweep.json'),
    JSON.stringify({ ...threeWalls, points: [{ ...threeWalls.points[0], load: 3 }] }),
  )
  await expect(print(folder)).rejects.toMatchObject({
    message: 'points.0.load of sweep.json is not what it should be',
    expected: 'an object',
    received: '3',
  })
})

test('a sweep of an earlier version lacks what came later, and is shown', async () => {
  const folder = scratch()
  cpSync(new URL('../examples/runs/sweep/', import.meta.url), folder, { recursive: true })
  const file = join(folder, 'sweep.json')
  const later = new Set(['tags', 'repeat', 'ci_coverage', 'upper', 'counts', 'errors', 'error_messages'])
  const written = readFileSync(file, 'utf8')
  const earlier = JSON.stringify(JSON.parse(written), (key, value: unknown) =>
    later.has(key) ? undefined : value,
  )
  expect(earlier.length).toBeLessThan(JSON.stringify(JSON.parse(written)).length)
  writeFileSync(file, earlier)
  expect(await print(folder)).toMatch(/Capacity: \d/)
})
