import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import {
  clientBound,
  closedLoop,
  noCapacity,
  nothingAnswered,
  sixPerSecond,
  summary,
  threeWalls,
} from '../../test/fixtures/documents.ts'
import { nothingAnsweredSweep } from '../../test/fixtures/refused-sweep.ts'
import type { RunDocument } from './documents.ts'
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

  describe('a sweep whose operating point was not confirmed', () => {
    const point = threeWalls.operating_point!
    const after = (met: 'no' | 'inconclusive'): string =>
      renderSweep(
        {
          ...threeWalls,
          operating_point: {
            ...point,
            confirmed: false,
            confirmation: { ...point.confirmation!, objectives: [{ ...sixPerSecond.objectives[0]!, met }] },
          },
        },
        plain,
      )
    const unused = (text: string, ...words: readonly string[]): void => {
      for (const word of words) expect(text).not.toContain(word)
    }

    test('missed: it is no operating point, and another rate is the one next step', () => {
      const text = after('no')
      expect(text).toContain('Open loop it does not hold: no operating point was found.')
      expect(text).toContain('\n  tried open loop: 3.4 req/s, 3,400 tok/s\n')
      expect(text).toMatch(/ · plimsoll find --url \S+.*\n$/)
      unused(text, 'operating point: ', '--duration 15m', 'plimsoll plan')
    })

    test('undecided: it is said not to be shown, and the longer run is the one next step', () => {
      const text = after('inconclusive')
      expect(text).toContain('Open loop it is not shown yet.')
      expect(text).toContain('\n  operating point, not yet shown: 3.4 req/s')
      expect(text).toMatch(/--request-rate 3.4 --duration 15m\n$/)
      unused(text, 'operating point: ', 'plimsoll find', 'plimsoll plan')
    })
  })

  test('one user is one', () => {
    const one = { ...threeWalls, capacity: { ...threeWalls.capacity, load: 1, censored: true } }
    expect(renderSweep(one, plain)).toContain('Capacity: at least 1 user,')
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

describe('a run whose requests fail, and that nothing judges', () => {
  const failing: RunDocument = {
    ...sixPerSecond,
    goodput: null,
    objectives: [],
    counts: { planned: 3600, sent: 3600, ok: 792, failed: 2808, shed: 0, censored: 0, unsent: 0 },
    errors: { http_500: 2808 },
    target: { ...sixPerSecond.target, url: 'http://a:8000', embedded: false },
    repeat: { asked: ['--prompt', '900'], ends: ['--duration', '600s'], load: ['--request-rate', '6'] },
  }
  const ends = (over: Partial<RunDocument>): string | undefined =>
    renderRun({ ...failing, ...over }, plain)
      .trimEnd()
      .split('\n')
      .at(-1)

  test('says so first, and how a pipeline fails of it', () => {
    const [first] = renderRun(failing, plain).split('\n')
    expect(first).toMatch(/^VALID · 78 % of the requests not answered \(http_500\) · \S+ req\/s · TTFT p99 /)
    expect(ends({})).toContain(
      " · plimsoll run --url http://a:8000 --prompt 900 --request-rate 6 --duration 600s --slo 'e2e < 60s, good 99%'   (exit 3 where more than 1 % fail)",
    )
  })

  test.each<[string, number, string]>([
    ['short answers', 12, 'e2e < 1s'],
    ['one of half a second, and over', 501, 'e2e < 2s'],
    ['long ones', 290_000, 'e2e < 600s'],
    ['ones of no end', 2e6, 'e2e < 4000s'],
  ])('the limit leaves room above what was answered: %s', (_, max, limit) => {
    expect(ends({ metrics: { e2e_ms: summary({ n: 792, max }) } })).toContain(`--slo '${limit}, good 99%'`)
  })

  test.each<[string, Partial<RunDocument>]>([
    ['hardly any', { errors: { http_500: 20 } }],
    ['an objective judges it', { objectives: sixPerSecond.objectives }],
    ['it fails as it is', { verdict: clientBound.verdict }],
    ['no flag says when it sent', { repeat: { asked: [], ends: [], load: null } }],
    ['a document that did not know', { repeat: { asked: [], ends: [] } }],
    ['another tool’s', { target: { ...failing.target, url: 'unknown' } }],
  ])('nothing is proposed where %s', (_, over) => {
    expect(ends(over)).not.toContain('--slo')
  })
})
