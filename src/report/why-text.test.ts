import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { slowLong } from '../../test/fixtures/why.ts'
import { renderWhy } from './why-text.ts'
import type { WhyDocument } from './why-document.ts'

const goldens = fileURLToPath(new URL('../../test/goldens/report/', import.meta.url))

function golden(name: string, text: string): string {
  if (process.env['PLIMSOLL_GOLDENS'] === 'write') writeFileSync(goldens + name, text)
  return readFileSync(goldens + name, 'utf8')
}

const runs: WhyDocument = {
  ...slowLong,
  kind: 'runs',
  a: {
    ...slowLong.a,
    name: 'runs/after',
    run: 'runs/after',
    n: 3421,
    ttft_ms: 420,
    e2e_ms: 7420,
    output_tokens: 351,
  },
  b: {
    ...slowLong.b,
    name: 'runs/before',
    run: 'runs/before',
    n: 3390,
    ttft_ms: 260,
    e2e_ms: 7245,
    output_tokens: 350.25,
  },
  difference: { total_ms: 175, ttft_ms: 160, tpot_ms: 0, length_ms: 15 },
  percentiles: [
    {
      metric: 'ttft_ms',
      level: '99',
      a: 1500,
      b: 800,
      total: 700,
      mix: 690,
      within: 10,
      by: 'prompt tokens',
      segments: [
        {
          segment: 'under 1000',
          n_a: 3147,
          n_b: 3356,
          share_a: 0.92,
          share_b: 0.99,
          a: 790,
          b: 788,
          change: 0.0025,
        },
        {
          segment: '1000 and over',
          n_a: 274,
          n_b: 34,
          share_a: 0.08,
          share_b: 0.01,
          a: 1590,
          b: 1592,
          change: -0.0013,
        },
      ],
    },
    {
      metric: 'tpot_ms',
      level: '99',
      a: 38.4,
      b: 38,
      total: 0.4,
      mix: 0,
      within: 0.4,
      by: 'prompt tokens',
      segments: [],
    },
  ],
  stutter: [
    {
      name: 'runs/after',
      streams: 3421,
      paused_streams: 38,
      pauses: 41,
      with_prefill: 31,
      by_chance: 4.2,
      prefill_tokens: 5200,
      usual_tokens: 900,
      longest: [
        {
          id: 'r-12',
          at_ms: 61_250,
          gap_ms: 412,
          median_gap_ms: 16.9,
          prefill_id: 'r-40',
          prefill_tokens: 8000,
        },
      ],
      moments: [
        { at_ms: 61_250, streams: 9, longest_ms: 412, prefill: true },
        { at_ms: 118_400, streams: 6, longest_ms: 380, prefill: false },
      ],
    },
    {
      name: 'runs/before',
      streams: 3390,
      paused_streams: 0,
      pauses: 0,
      with_prefill: 0,
      by_chance: 0,
      prefill_tokens: null,
      usual_tokens: 880,
      longest: [],
      moments: [],
    },
  ],
  warnings: [],
}

describe('why as it is printed', () => {
  test.each([
    ['why-requests.txt', () => renderWhy(slowLong, { color: false, explain: true })],
    ['why-runs.txt', () => renderWhy(runs, { color: false, explain: false })],
    [
      'why-same.txt',
      () =>
        renderWhy(
          {
            ...slowLong,
            b: slowLong.a,
            difference: { total_ms: 0, ttft_ms: 0, tpot_ms: 0, length_ms: 0 },
            warnings: [],
          },
          { color: false, explain: false },
        ),
    ],
  ])('%s', (name, render) => {
    const text = render()
    expect(text).toBe(golden(name, text))
    expect(text).not.toMatch(/NaN|undefined|null|Infinity/)
  })
})
