import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { fiveAndFive, oneAndOne, pairedFive, pilot, regressed } from '../../test/fixtures/compare.ts'
import type { CompareDocument } from './compare-document.ts'
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

  test.each<[string, Partial<CompareDocument>, string]>([
    [
      'runs that were made are made again with all that was asked of them',
      {
        kind: 'interleaved',
        again: ['--run', 'http://a', 'http://b', '--request-rate', '6', '--slo', 'p99 tpot <= 10ms'],
      },
      "plimsoll compare --run http://a http://b --request-rate 6 --slo 'p99 tpot <= 10ms' --runs ",
    ],
    [
      'what no flag can say is not half said',
      { kind: 'interleaved', again: null },
      'the same command line again, with --runs ',
    ],
    ['of runs that were there the addresses are left open', {}, 'plimsoll compare --run URL_A URL_B --runs '],
  ])('%s', (_, over, next) => {
    const text = renderCompare({ ...fiveAndFive, ...over }, { color: false, explain: false })
    expect(text.trimEnd().split('\n').at(-1)).toContain(next)
  })

  test('colour adds nothing but colour', () => {
    const colored = renderCompare(fiveAndFive, { color: true, explain: true })
    // eslint-disable-next-line no-control-regex
    expect(colored.replaceAll(/\u001B\[\d+m/g, '')).toBe(
      renderCompare(fiveAndFive, { color: false, explain: true }),
    )
  })
})

test('the columns have the digits in which the change beside them can be seen: 6 to 7 ms is not +7 %', () => {
  const [metric] = fiveAndFive.metrics
  const arm = (mean: number) => ({ ...metric!.a, mean, geometric_mean: mean })
  const difference = { ...metric!.difference, half_width: 30 }
  const wide = {
    ...metric!,
    a: arm(6.48),
    b: arm(6.93),
    change: 0.07,
    interval: [-0.5, 0.9] as const,
    difference,
  }
  const text = renderCompare({ ...fiveAndFive, metrics: [wide] }, { color: false, explain: false })
  expect(text).toContain('6.5 ms → 6.9 ms, +7 %')
})
