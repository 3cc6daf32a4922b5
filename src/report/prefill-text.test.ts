import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { flatPrefill, measuredPrefill, seedPrefill } from '../../test/fixtures/prefill.ts'
import { renderPrefill } from './prefill-text.ts'

const goldens = fileURLToPath(new URL('../../test/goldens/report/', import.meta.url))

function golden(name: string, text: string): string {
  if (process.env['PLIMSOLL_GOLDENS'] === 'write') writeFileSync(goldens + name, text)
  return readFileSync(goldens + name, 'utf8')
}

describe('a prefill sweep as it is printed', () => {
  test.each([
    ['prefill-points.txt', () => renderPrefill(seedPrefill, { color: false, explain: true })],
    ['prefill.txt', () => renderPrefill(measuredPrefill, { color: false, explain: false })],
    ['prefill-flat.txt', () => renderPrefill(flatPrefill, { color: false, explain: false })],
  ])('%s', (name, render) => {
    const text = render()
    expect(text).toBe(golden(name, text))
    expect(text).not.toMatch(/NaN|undefined|null|Infinity/)
  })
})
