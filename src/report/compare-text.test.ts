import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { fiveAndFive, oneAndOne, pairedFive, pilot, regressed } from '../../test/fixtures/compare.ts'
import { renderComparePlan } from './compare-plan-text.ts'
import { renderCompare } from './compare-text.ts'

const goldens = fileURLToPath(new URL('../../test/goldens/report/', import.meta.url))

/** The golden of that name; with PLIMSOLL_GOLDENS=write it is written first. */
function golden(name: string, text: string): string {
  if (process.env['PLIMSOLL_GOLDENS'] === 'write') {
    mkdirSync(goldens, { recursive: true })
    writeFileSync(goldens + name, text)
  }
  return readFileSync(goldens + name, 'utf8')
}

describe('a comparison as it is printed', () => {
  test.each([
    ['compare.txt', () => renderCompare(fiveAndFive, { color: false, explain: false })],
    ['compare-explain.txt', () => renderCompare(fiveAndFive, { color: false, explain: true })],
    ['compare-paired.txt', () => renderCompare(pairedFive, { color: false, explain: false })],
    ['compare-regression.txt', () => renderCompare(regressed, { color: false, explain: false })],
    ['compare-one-run.txt', () => renderCompare(oneAndOne, { color: false, explain: false })],
    ['compare-plan.txt', () => renderComparePlan(pilot, { color: false })],
  ])('%s', (name, render) => {
    const text = render()
    expect(text).toBe(golden(name, text))
    expect(text).not.toMatch(/NaN|undefined|null|Infinity/)
  })

  test('colour adds nothing but colour', () => {
    const colored = renderCompare(fiveAndFive, { color: true, explain: true })
    // eslint-disable-next-line no-control-regex
    expect(colored.replaceAll(/\u001B\[\d+m/g, '')).toBe(
      renderCompare(fiveAndFive, { color: false, explain: true }),
    )
  })
})
