import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import {
  betweenTwoRates,
  clientBoundFind,
  nobodyAnsweredFind,
  noRateHolds,
} from '../../test/fixtures/find.ts'
import { renderFind } from './find-text.ts'

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

describe('what is printed of a search', () => {
  test.each([
    ['find.txt', () => renderFind(betweenTwoRates, plain)],
    ['find-explain.txt', () => renderFind(betweenTwoRates, { color: false, explain: true })],
    ['find-none.txt', () => renderFind(noRateHolds, plain)],
    ['find-nobody-answered.txt', () => renderFind(nobodyAnsweredFind, plain)],
    ['find-cut.txt', () => renderFind(clientBoundFind, plain)],
  ])('%s', (name, render) => {
    const text = render()
    expect(text).toBe(golden(name, text))
  })

  test('colour adds nothing but colour', () => {
    // eslint-disable-next-line no-control-regex
    const withoutColor = (text: string): string => text.replaceAll(/\u001B\[\d+m/g, '')
    for (const document of [betweenTwoRates, noRateHolds, clientBoundFind]) {
      const colored = renderFind(document, { color: true, explain: true })
      expect(colored).not.toBe(withoutColor(colored))
      expect(withoutColor(colored)).toBe(renderFind(document, { color: false, explain: true }))
    }
  })
})
