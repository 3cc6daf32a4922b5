import * as fc from 'fast-check'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { threeWalls, sixPerSecond } from '../../test/fixtures/documents.ts'
import { renderRun } from './render-run.ts'
import { renderSweep } from './render-sweep.ts'
import { wrapProse } from './wrap-prose.ts'

const reports = [
  renderRun(sixPerSecond, { color: true, explain: true }),
  renderSweep(threeWalls, { color: true, explain: true }),
]

describe('a report on a narrow terminal', () => {
  it.each<[string, string, string]>([
    ['a line that fits', 'twelve words', 'twelve words'],
    [
      'a footnote, what follows under its text',
      '¹ the server was asked more than it can and answered late',
      '¹ the server was asked more than it can\n  and answered late',
    ],
    [
      'an indent is kept, and a little more',
      '  in flight 31 = arrival 5.7/s × time 5.4 s (Little)',
      '  in flight 31 = arrival 5.7/s × time\n    5.4 s (Little)',
    ],
    [
      'a table',
      '  TTFT       3,421    212 ms    503 ms    836 ms   [790, 905]',
      '  TTFT       3,421    212 ms    503 ms    836 ms   [790, 905]',
    ],
    [
      'a command line, to be copied whole',
      '    plimsoll calc walls 1:180:5.8ms 8:1256:6.7ms 16:2180:7.7ms',
      '    plimsoll calc walls 1:180:5.8ms 8:1256:6.7ms 16:2180:7.7ms',
    ],
    [
      'command lines in a row, each of them whole',
      'saved runs/1129-run · plimsoll show --html runs/1129-run · plimsoll why runs/1129-run',
      'saved runs/1129-run ·\n  plimsoll show --html runs/1129-run ·\n  plimsoll why runs/1129-run',
    ],
    [
      'a number and its unit',
      'for a typical user, for a typical token 6.17 ms',
      'for a typical user, for a typical token\n  6.17 ms',
    ],
    ['a word longer than all', `see ${'x'.repeat(50)} there`, `see\n  ${'x'.repeat(50)}\n  there`],
    [
      'colours take no room',
      '\u001B[2m¹ the server was asked more than it can and answered late\u001B[22m',
      '\u001B[2m¹ the server was asked more than it can\n  and answered late\u001B[22m',
    ],
  ])('%s', (_, line, wrapped) => {
    expect(wrapProse(line, 40)).toBe(wrapped)
  })

  it('loses no letter and no style, whatever the width', () => {
    fc.assert(
      fc.property(fc.constantFrom(...reports), fc.integer({ min: 1, max: 200 }), (report, columns) => {
        const wrapped = wrapProse(report, columns)
        expect(wrapped.replaceAll(/\s+/g, ' ')).toBe(report.replaceAll(/\s+/g, ' '))
      }),
    )
  })

  it('breaks every line of prose that is too long, and no other', () => {
    const lines = reports.flatMap((report) => stripVTControlCharacters(wrapProse(report, 60)).split('\n'))
    const prose = lines.filter((line) => !/\S {2,}\S|plimsoll |[▏▎▍▌▋▊▉█]/.test(line))
    expect(prose.length).toBeGreaterThan(30)
    expect(prose.filter((line) => Array.from(line).length > 60)).toEqual([])
  })

  it('is as it was where it fits, and where a break would help nobody', () => {
    for (const report of reports) {
      expect(wrapProse(report, 1000)).toBe(report)
      expect(wrapProse(report, 10)).toBe(report)
    }
  })
})
