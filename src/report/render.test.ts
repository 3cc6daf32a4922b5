import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import {
  clientBound,
  closedLoop,
  noCapacity,
  nothingAnswered,
  sixPerSecond,
  threeWalls,
} from '../../test/fixtures/documents.ts'
import { nothingAnsweredSweep } from '../../test/fixtures/refused-sweep.ts'
import { renderRun } from './render-run.ts'
import { renderSweep } from './render-sweep.ts'

const goldens = fileURLToPath(new URL('../../test/goldens/report/', import.meta.url))
const plain = { color: false, explain: false }

/** The golden of that name; with PLIMSOLL_GOLDENS=write it is written first. */
function golden(name: string, text: string): string {
  if (process.env['PLIMSOLL_GOLDENS'] === 'write') {
    mkdirSync(goldens, { recursive: true })
    writeFileSync(goldens + name, text)
  }
  return readFileSync(goldens + name, 'utf8')
}

// eslint-disable-next-line no-control-regex
const withoutColor = (text: string): string => text.replaceAll(/\u001B\[\d+m/g, '')

describe('what is printed', () => {
  test.each([
    ['run.txt', () => renderRun(sixPerSecond, plain)],
    ['run-explain.txt', () => renderRun(sixPerSecond, { color: false, explain: true })],
    ['run-invalid.txt', () => renderRun(clientBound, plain)],
    ['run-nothing-answered.txt', () => renderRun(nothingAnswered, plain)],
    ['run-closed-loop.txt', () => renderRun(closedLoop, plain)],
    ['sweep.txt', () => renderSweep(threeWalls, plain)],
    ['sweep-explain.txt', () => renderSweep(threeWalls, { color: false, explain: true })],
    ['sweep-nothing-answered.txt', () => renderSweep(nothingAnsweredSweep, plain)],
    [
      'sweep-nothing-answered-explain.txt',
      () => renderSweep(nothingAnsweredSweep, { color: false, explain: true }),
    ],
    ['sweep-no-capacity.txt', () => renderSweep(noCapacity, plain)],
  ])('%s', (name, render) => {
    const text = render()
    expect(text).toBe(golden(name, text))
  })

  test('tags stand below the server, in a run and in a sweep', () => {
    const tags = { gpu: 'h100', branch: 'main' }
    expect(renderRun({ ...sixPerSecond, tags }, plain)).toContain('\n  tags gpu h100 · branch main\n')
    expect(renderSweep({ ...threeWalls, tags }, plain)).toContain('\n  tags gpu h100 · branch main\n')
  })

  test('colour adds nothing but colour', () => {
    for (const document of [sixPerSecond, clientBound, nothingAnswered, closedLoop]) {
      const colored = renderRun(document, { color: true, explain: true })
      expect(colored).not.toBe(withoutColor(colored))
      expect(withoutColor(colored)).toBe(renderRun(document, { color: false, explain: true }))
    }
    const sweep = renderSweep(threeWalls, { color: true, explain: false })
    expect(withoutColor(sweep)).toBe(renderSweep(threeWalls, plain))
  })
})
