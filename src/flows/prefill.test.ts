import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { measuredPrefill, sampleAt, seedPrefill, typed } from '../../test/fixtures/prefill.ts'
import { prefillDocument } from './prefill-fit.ts'
import { readPointsFile, readTypedPoints } from './prefill-points.ts'
import { prefillSchema } from './prefill-schema.ts'
import { prefillLengths } from './prefill.ts'

interface Golden {
  readonly id: string
  readonly expected: Record<string, number>
}

const goldens = (
  JSON.parse(
    readFileSync(new URL('../../test/goldens/goldens.json', import.meta.url), 'utf8'),
  ) as readonly Golden[]
).filter(({ id }) => id.startsWith('q3.'))
const expected = (id: string): Record<string, number> => goldens.find((each) => each.id === id)!.expected
const fit = (points: readonly (readonly [number, number])[], over: Partial<typeof typed> = {}) =>
  prefillDocument(
    points.map(([tokens, ms]) => sampleAt(tokens, ms)),
    { ...typed, ...over },
  )

describe('the seed: 256 tokens in 23 ms, 8,000 in 280 ms', () => {
  it('30.1k tokens/s, 14.5 ms', () => {
    expect(seedPrefill.rate.tokens_per_s).toBeCloseTo(expected('q3.two_point')['tok_per_s']!, 6)
    expect(seedPrefill.rate.fixed_ms).toBeCloseTo(expected('q3.two_point')['fixed_ms']!, 9)
  })
  it('what one point would have said', () => {
    expect(seedPrefill.one_point?.tokens_per_s).toBeCloseTo(11130.434782608696, 6)
    expect(seedPrefill.one_point?.factor).toBeCloseTo(2.7071984435797667, 9)
  })
  it('no intervals with two lengths, but what an error would do', () => {
    expect(seedPrefill.rate).toMatchObject({ interval: null, fixed_interval: null })
    expect(seedPrefill.two_points?.rate_relative_per_ms).toBeCloseTo(0.005502776507288308, 12)
    expect(seedPrefill.two_points?.fixed_ms_per_ms).toBeCloseTo(1.0335866415238284, 12)
  })
})

describe('more lengths', () => {
  it('four points: least squares with its errors', () => {
    const wanted = expected('q3.extra.ols')
    const { least_squares: line, rate } = fit([
      [256, 23],
      [1024, 49],
      [4096, 151],
      [8000, 280],
    ])
    expect(line.tokens_per_s).toBeCloseTo(wanted['tok_per_s']!, 3)
    expect(line.fixed_ms).toBeCloseTo(wanted['fixed_ms']!, 6)
    expect(line.fixed_se_ms).toBeCloseTo(wanted['intercept_se']!, 6)
    expect(rate.interval).not.toBeNull()
  })
  it('a wild point does not bend the headline', () => {
    const wanted = expected('q3.extra.theilsen_outlier')
    const {
      least_squares: line,
      rate,
      worst_residual: worst,
    } = fit([
      [256, 23],
      [1024, 49],
      [2048, 290],
      [4096, 151],
      [8000, 280],
    ])
    expect(rate.tokens_per_s).toBeCloseTo(wanted['theil_sen_tok_per_s']!, 3)
    expect(rate.fixed_ms).toBeCloseTo(wanted['fixed_ms_median_residual']!, 6)
    expect(line.tokens_per_s).toBeCloseTo(wanted['ols_tok_per_s']!, 3)
    expect(worst?.share).toBeGreaterThan(0.3)
  })

  const lengths = [128, 256, 512, 1024, 1536, 2048, 3072, 4096, 6144, 8192]
  const noise = (i: number): number => ((i * 7919) % 11) / 50 - 0.1
  it('a curve is found, and where there is none it is not', () => {
    const bent = fit(lengths.map((l, i) => [l, 15 + l / 30 + 1e-6 * l * l + noise(i)]))
    expect(bent.curve).toMatchObject({ significant: true })
    expect(bent.curve?.tokens_per_s_at_longest).toBeLessThan(bent.curve?.tokens_per_s_at_shortest ?? 0)
    expect(fit(lengths.map((l, i) => [l, 15 + l / 30 + noise(i)]))).toMatchObject({
      curve: { significant: false },
      staircase: null,
    })
  })
  it('the staircase of chunked prefill is found, with its chunk and step', () => {
    const stairs = fit(lengths.map((l, i) => [l, 15 + l / 30 + 3 * Math.ceil(l / 2048) + noise(i)]))
    expect(stairs.staircase?.chunk).toBe(2048)
    expect(stairs.staircase?.ms_per_chunk).toBeCloseTo(3, 0)
    expect(
      fit(
        lengths.map((l, i) => [l, 15 + l / 30 + 3 * Math.ceil(l / 1000) + noise(i)]),
        { chunk: 1000 },
      ).staircase?.chunk,
    ).toBe(1000)
  })

  it('the parts of the fixed cost add up to it', () => {
    const told = measuredPrefill.fixed_parts.reduce((sum, { ms }) => sum + (ms ?? 0), 0)
    expect(told).toBeCloseTo(measuredPrefill.rate.fixed_ms, 9)
    expect(measuredPrefill.fixed_parts.map(({ name }) => name)).toEqual([
      'client_lag',
      'first_byte',
      'queue',
      'decode_step',
      'rest',
    ])
  })
  it('a first byte that grows with the prompt cannot be told apart', () => {
    const late = prefillDocument(
      [256, 1024, 4096].map((tokens) => ({
        ...sampleAt(tokens, 15 + tokens / 30),
        ttfbMs: 14 + tokens / 30,
        lagMs: 0,
      })),
      { ...typed, folder: 'f' },
    )
    expect(late.fixed_parts[1]).toMatchObject({ name: 'first_byte', ms: null })
  })
  it('cached tokens are said', () => {
    const warm = prefillDocument(
      [256, 1024].map((tokens) => ({ ...sampleAt(tokens, tokens / 30), cachedTokens: 128 })),
      typed,
    )
    expect(warm.warnings.map(({ kind }) => kind)).toEqual(['prefix_cache'])
  })
  it('a TTFT that does not grow has no rate, and nothing is infinite', () => {
    const flat = fit([
      [256, 23],
      [1024, 23],
      [4096, 23],
    ])
    expect(flat.rate.tokens_per_s).toBeNull()
    expect(JSON.stringify(flat)).not.toMatch(/NaN|Infinity/)
  })
  it('one length is refused', () => {
    expect(() => fit([[256, 23]])).toThrow('two prompt lengths')
  })
  it('a server that counts every prompt the same is named as the cause', () => {
    const counted = (): unknown =>
      fit(
        [
          [10, 23],
          [10, 49],
        ],
        { asked: [256, 1000] },
      )
    expect(counted).toThrow(
      expect.objectContaining({
        message: 'the server counted every prompt as 10 tokens',
        received: '10 for prompts of 256, 1,000 tokens',
      }),
    )
  })
  it('documents keep their schema', () => {
    for (const document of [seedPrefill, measuredPrefill]) expect(v.is(prefillSchema, document)).toBe(true)
  })
})

describe('points', () => {
  it('typed', () => {
    expect(readTypedPoints(['256:23ms', '8k:0.28s'])).toEqual([sampleAt(256, 23), sampleAt(8000, 280)])
    expect(readTypedPoints(['256:23ms, 8000:280ms'])).toHaveLength(2)
  })
  it('of a file, with a head, comments, units and repeats', () => {
    expect(
      readPointsFile('prompt_tokens,ttft_ms\n# warm\n256,23\n256;24ms\r\n8000\t0.28s\n', 'p.csv'),
    ).toEqual([sampleAt(256, 23), sampleAt(256, 24), sampleAt(8000, 280)])
  })
  const refused: [sentence: string, text: string][] = [
    ['an empty file', ''],
    ['a third number', '256 23 1'],
    ['half a token', '256.5 23'],
    ['a negative time', '256 -23'],
    ['a word in the middle', '256 23\nx y'],
    ['NaN', '256 NaN'],
  ]
  it.each(refused)('%s is refused', (_, text) => {
    expect(() => readPointsFile(text, 'p.csv')).toThrow(expect.objectContaining({ code: 'PLIM_FILE' }))
  })
})

it('lengths double with a step between, as far as the model goes', () => {
  expect(prefillLengths(2048)).toEqual([128, 256, 384, 512, 768, 1024, 1536, 2048])
  expect(prefillLengths(200)).toEqual([50, 100, 150, 200])
})
