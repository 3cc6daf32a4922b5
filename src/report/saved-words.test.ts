import { expect, test } from 'vitest'
import { sixPerSecond, threeWalls } from '../../test/fixtures/documents.ts'
import { fiveRuns } from '../../test/fixtures/experiment.ts'
import { betweenTwoRates } from '../../test/fixtures/find.ts'
import { measuredPrefill } from '../../test/fixtures/prefill.ts'
import { threePoints } from '../../test/fixtures/simulation.ts'
import { renderExperiment } from './experiment-text.ts'
import { renderFind } from './find-text.ts'
import { renderMeasurement } from './measurement-text.ts'
import type { RenderOptions } from './paint.ts'
import { renderPrefill } from './prefill-text.ts'
import { renderRun } from './render-run.ts'
import { renderSweep } from './render-sweep.ts'
import { savedReport, savedWords } from './saved-words.ts'

test.each<[string, string, (options: RenderOptions) => string]>([
  ['a run', sixPerSecond.run, (options) => renderRun(sixPerSecond, options)],
  ['a sweep', threeWalls.sweep, (options) => renderSweep(threeWalls, options)],
  ['a search', betweenTwoRates.find, (options) => renderFind(betweenTwoRates, options)],
  ['an experiment', fiveRuns.experiment, (options) => renderExperiment(fiveRuns, options)],
  ['a prefill', measuredPrefill.folder!, (options) => renderPrefill(measuredPrefill, options)],
  ['a measured model', threePoints.model!, (options) => renderMeasurement(threePoints, options, null)],
])('%s says that it is saved only where it is', (_, path, render) => {
  const last = (isStored: boolean): string => {
    const lines = render({ color: false, explain: false, isStored }).trimEnd().split('\n')
    return lines.at(-1) ?? ''
  }
  expect(last(true).split(' · ')[0]).toBe(`saved ${path}`)
  expect(last(false).split(' · ')[0]).toBe(`NOT stored, or not whole: ${path}`)
  // Nothing sends its reader there.
  expect(last(false)).not.toMatch(/saved|plimsoll (show|compare|model)/)
})

test('a file that was written apart is saved, whatever became of the folder', () => {
  const options = { color: false, explain: false, isStored: false }
  expect(renderMeasurement(threePoints, options, 'm.json')).toContain('\nsaved m.json · ')
})

test('a name is quoted where a shell reads it, and cannot write to the terminal', () => {
  expect(savedReport("my 'run", { explain: false })).toEqual([
    "saved my 'run",
    String.raw`plimsoll show 'my '\''run' --explain`,
  ])
  expect(savedReport('a\u001B[2Jb', { explain: false })[1]).toBe("plimsoll show 'a [2Jb' --explain")
  expect(savedWords('a\u001B[2Jb', {})).toEqual(['saved a [2Jb'])
})
