import { describe, expect, test } from 'vitest'
import { pairedFive } from '../../test/fixtures/compare.ts'
import { sixPerSecond, threeWalls } from '../../test/fixtures/documents.ts'
import { fiveRuns } from '../../test/fixtures/experiment.ts'
import { measuredPrefill } from '../../test/fixtures/prefill.ts'
import { renderCompare } from './compare-text.ts'
import { renderExperiment } from './experiment-text.ts'
import { renderPrefill } from './prefill-text.ts'
import { renderRun } from './render-run.ts'
import { renderSweep } from './render-sweep.ts'
import { textTable, type Cell, type Column } from './text-table.ts'

const plain = (_: string, text: string): string => text
const rows = (...texts: readonly string[][]): Cell[][] => texts.map((row) => row.map((text) => ({ text })))

describe('a column whose head stands only above texts', () => {
  const columns: readonly Column[] = [
    { align: 'left', gap: 1 },
    { align: 'left', gap: 2, headIfAny: true },
    { align: 'right', gap: 2 },
  ]

  test('of none, there is no head', () => {
    expect(textTable(columns, rows(['', '[95 %]', 'n'], ['a', '', '7']), plain)).toEqual([
      '      n',
      ' a    7',
    ])
  })

  test('of one, there is', () => {
    const lines = textTable(columns, rows(['', '[95 %]', 'n'], ['a', '', '7'], ['b', '[1, 2]', '7']), plain)
    expect(lines[0]).toBe('    [95 %]  n')
  })
})

describe('reports without a single interval have no head of intervals', () => {
  const options = { color: false, explain: false }
  const bare = <T extends { readonly ci: object }>(metrics: Readonly<Record<string, T | undefined>>) =>
    Object.fromEntries(Object.entries(metrics).map(([name, one]) => [name, one && { ...one, ci: {} }]))

  test.each<[string, () => string, () => string]>([
    [
      'a run',
      () => renderRun(sixPerSecond, options),
      () => renderRun({ ...sixPerSecond, metrics: bare(sixPerSecond.metrics) }, options),
    ],
    [
      'a sweep',
      () => renderSweep(threeWalls, options),
      () => {
        const points = threeWalls.points.map((point) => ({ ...point, metrics: bare(point.metrics) }))
        return renderSweep({ ...threeWalls, points }, options)
      },
    ],
    [
      'a comparison',
      () => renderCompare(pairedFive, options),
      () => {
        const metrics = pairedFive.metrics.map((one) => ({ ...one, interval: null, within_run: null }))
        return renderCompare({ ...pairedFive, metrics }, options)
      },
    ],
    [
      'an experiment',
      () => renderExperiment(fiveRuns, options).replace(/mean and 95 %.*/, ''),
      () => {
        const cells = fiveRuns.cells.map((cell) => ({
          ...cell,
          figures: Object.fromEntries(
            Object.entries(cell.figures).map(([name, one]) => [name, { ...one, low: null, high: null }]),
          ) as typeof cell.figures,
        }))
        return renderExperiment({ ...fiveRuns, cells }, options).replace(/mean and 95 %.*/, '')
      },
    ],
    [
      'a prefill',
      () => renderPrefill(measuredPrefill, options),
      () => {
        const lengths = measuredPrefill.lengths.map((one) => ({ ...one, n: 1 }))
        return renderPrefill({ ...measuredPrefill, lengths }, options)
      },
    ],
  ])('%s', (_, withSome, without) => {
    const head = /\[95 %\]|\[fastest, slowest\]/
    expect(withSome()).toMatch(head)
    expect(without()).not.toMatch(head)
  })
})
