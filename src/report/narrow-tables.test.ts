import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fiveAndFive, oneAndOne, pairedFive, pilot } from '../../test/fixtures/compare.ts'
import { noCapacity, threeWalls } from '../../test/fixtures/documents.ts'
import { betweenTwoRates, clientBoundFind } from '../../test/fixtures/find.ts'
import { nothingAnsweredSweep } from '../../test/fixtures/refused-sweep.ts'
import { renderComparePlan } from './compare-plan-text.ts'
import { renderCompare } from './compare-text.ts'
import { renderFind } from './find-text.ts'
import { footnotes } from './footnotes.ts'
import { renderSweep } from './render-sweep.ts'
import { ornament, textTable, type Cell, type Column } from './text-table.ts'
import { wrapProse } from './wrap-prose.ts'

const goldens = fileURLToPath(new URL('../../test/goldens/report/', import.meta.url))

function golden(name: string, text: string): string {
  if (process.env['PLIMSOLL_GOLDENS'] === 'write') writeFileSync(goldens + name, text)
  return readFileSync(goldens + name, 'utf8')
}

const ttftJudged = { ...threeWalls, objective: 'p99 ttft <= 500ms' }
const failing = {
  ...betweenTwoRates,
  points: betweenTwoRates.points.map((point) => ({
    ...point,
    counts: { planned: 100, sent: 100, ok: 60, failed: 40, shed: 0, censored: 0, unsent: 0 },
    errors: { http_500: 30, truncated: 10 },
  })),
}

/** Reports whose tables are wider than many terminals, as a terminal of so many columns shows them; null: no terminal. */
const reports: Readonly<Record<string, (columns: number | null) => string>> = {
  sweep: (columns) => renderSweep(threeWalls, { color: false, explain: false, columns }),
  'sweep-ttft': (columns) => renderSweep(ttftJudged, { color: false, explain: false, columns }),
  'sweep-no-capacity': (columns) => renderSweep(noCapacity, { color: false, explain: false, columns }),
  'sweep-nothing': (columns) => renderSweep(nothingAnsweredSweep, { color: false, explain: false, columns }),
  find: (columns) => renderFind(betweenTwoRates, { color: false, explain: false, columns }),
  'find-failing': (columns) => renderFind(failing, { color: false, explain: false, columns }),
  'find-cut': (columns) => renderFind(clientBoundFind, { color: false, explain: false, columns }),
  compare: (columns) => renderCompare(fiveAndFive, { color: false, explain: false, columns }),
  'compare-paired': (columns) => renderCompare(pairedFive, { color: false, explain: false, columns }),
  'compare-one': (columns) => renderCompare(oneAndOne, { color: false, explain: false, columns }),
  'compare-plan': (columns) => renderComparePlan(pilot, { color: false, columns }),
}
const onTerminal = (name: string, columns: number): string => wrapProse(reports[name]!(columns), columns)

describe('on a narrow terminal tables leave out what is needed least', () => {
  test.each(
    ['sweep', 'sweep-ttft', 'find', 'find-failing', 'compare', 'compare-one', 'compare-plan'].flatMap(
      (name) => [60, 80].map((columns) => [name, columns] as const),
    ),
  )('%s at %s columns', (name, columns) => {
    const text = onTerminal(name, columns)
    expect(text).toBe(golden(`${name}-${columns}.txt`, text))
  })

  test('no line is longer than the terminal but those of a command, which is not broken', () => {
    const command = /^ *(?:(?:saved|NOT stored).* ·|plimsoll .*)$/
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(reports)),
        fc.integer({ min: 60, max: 160 }),
        (name, columns) => {
          const lines = onTerminal(name, columns).split('\n')
          const tooLong = lines.filter((line) => Array.from(line).length > columns && !command.test(line))
          expect(tooLong).toEqual([])
        },
      ),
    )
  })

  test('every mark has its note, and every note its mark', () => {
    const digits = /[¹²³⁴-⁹]/g
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(reports)),
        fc.integer({ min: 30, max: 160 }),
        (name, columns) => {
          const lines = reports[name]!(columns).split('\n')
          const notes = lines.flatMap((line) => /^([¹²³⁴-⁹]) /.exec(line)?.[1] ?? [])
          const marks = lines
            .filter((line) => !/^[¹²³⁴-⁹] /.test(line))
            .flatMap((line) => line.match(digits) ?? [])
          expect([...new Set(marks)].sort()).toEqual([...notes].sort())
          expect(notes).toEqual(['¹', '²', '³', '⁴', '⁵'].slice(0, notes.length))
        },
      ),
    )
  })

  test.each(Object.keys(reports))('%s without a terminal, or on a wide one, is as it is', (name) => {
    expect(reports[name]!(1000)).toBe(reports[name]!(null))
  })
})

describe('a table and its place', () => {
  const paint = (_: string, text: string): string => text
  const columns: readonly Column[] = [
    { align: 'left', gap: 0 },
    { align: 'right', gap: 1, leaves: 1 },
    { align: 'right', gap: 1, leaves: 2 },
    { align: 'left', gap: 1, leaves: ornament },
    { align: 'left', gap: 1, wraps: true },
  ]
  const rows: readonly (readonly Cell[])[] = [
    ['load', 'one', 'two', '', ''].map((text) => ({ text })),
    [
      { text: 'the load of them' },
      { text: '123,456', note: 'of the first' },
      { text: '7,890', note: 'of the second' },
      { text: '██████████' },
      { text: 'a text of many short words' },
    ],
  ]
  test.each<[string, number | null, readonly string[], readonly string[]]>([
    [
      'no terminal',
      null,
      ['the load of them 123,456 ¹ 7,890 ² ██████████ a text of many short words'],
      ['¹ of the first', '² of the second'],
    ],
    [
      'what is drawn makes room for the text, which wraps',
      56,
      ['the load of them 123,456 ¹ 7,890 ² a text of many short', '                                   words'],
      ['¹ of the first', '² of the second'],
    ],
    [
      'with little room the text goes below its row',
      40,
      ['the load of them 123,456 ¹ 7,890 ²', '        a text of many short words'],
      ['¹ of the first', '² of the second'],
    ],
    [
      'a column leaves, and its note with it',
      33,
      [
        'the load of them 123,456 ¹',
        '        a text of many short',
        '        words',
        '  a wider terminal also shows two',
      ],
      ['¹ of the first'],
    ],
    [
      'so narrow that nothing helps',
      20,
      ['the load of them 123,456 ¹ 7,890 ² ██████████ a text of many short words'],
      ['¹ of the first', '² of the second'],
    ],
  ])('%s', (_, width, lines, left) => {
    const notes = footnotes()
    expect(textTable(columns, rows, paint, { columns: width, notes }).slice(1)).toEqual(lines)
    expect(notes.lines()).toEqual(left)
  })
})
