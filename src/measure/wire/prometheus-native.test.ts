import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exponentialIndex, exponentialQuantile } from '../../stats/exponential-histogram.ts'
import { alignBounds, parseNativeHistograms, type NativeSeries } from './prometheus-native.ts'

/** An answer of the HTTP API to an instant query: a series for each list of buckets [rule, left, right, count]. */
function answer(...series: readonly (readonly (readonly [number, string, string, string])[])[]): string {
  return JSON.stringify({
    status: 'success',
    data: {
      resultType: 'vector',
      result: series.map((buckets, at) => ({
        metric: { __name__: 'vllm:time_to_first_token_seconds', instance: `pod-${at}` },
        histogram: [1764500000.5, { count: '3', sum: '1.5', buckets }],
      })),
    },
  })
}

/** Buckets of schema 3 as Prometheus writes them: 2^(i ÷ 8) with all digits. */
const bucket = (index: number, count: number): readonly [number, string, string, string] => [
  0,
  String(2 ** (index / 8)),
  String(2 ** ((index + 1) / 8)),
  String(count),
]

const only = (series: readonly NativeSeries[]): NativeSeries['histogram'] => series[0]!.histogram

describe('an instant query of native histograms', () => {
  it('the schema and the buckets are read from their bounds', () => {
    const [found] = parseNativeHistograms(answer([bucket(-8, 5), bucket(-1, 2), bucket(8, 1)]), 'q.json')
    expect(found).toMatchObject({ name: 'vllm:time_to_first_token_seconds', labels: { instance: 'pod-0' } })
    expect(found!.histogram).toMatchObject({ kind: 'exponential', value: { scale: 3, zeroCount: 0 } })
    const { value } = found!.histogram as Extract<NativeSeries['histogram'], { kind: 'exponential' }>
    expect([...value.positive]).toEqual([
      [-8, 5],
      [-1, 2],
      [8, 1],
    ])
    // Eight values: the median is in (0.5, 0.545…].
    expect(exponentialQuantile(value, 0.5)).toMatchObject({ low: 0.5, high: 2 ** (-7 / 8) })
  })

  it('the bucket around zero, negative ones, and counts of a rate', () => {
    const found = only(
      parseNativeHistograms(
        answer([
          [1, '-2', '-1', '0.25'],
          [3, '-0.001', '0.001', '1.5'],
          [0, '1', '2', '0.5'],
        ]),
        'q.json',
      ),
    )
    expect(found).toMatchObject({
      kind: 'exponential',
      value: { scale: 0, zeroCount: 1.5, zeroThreshold: 0.001 },
    })
    expect([...(found.value as { negative: ReadonlyMap<number, number> }).negative]).toEqual([[0, 0.25]])
  })

  it('law: what was counted at any schema from −4 to 8 is read back', () => {
    const values = fc.array(fc.double({ min: 1e-4, max: 1e4, noNaN: true }), { minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(values, fc.integer({ min: -4, max: 8 }), (list, scale) => {
        const counts = new Map<number, number>()
        for (const value of list) {
          const index = exponentialIndex(value, scale)
          counts.set(index, (counts.get(index) ?? 0) + 1)
        }
        const bound = (index: number): string => String(2 ** (index * 2 ** -scale))
        const buckets = [...counts].map(
          ([index, count]) => [0, bound(index), bound(index + 1), String(count)] as const,
        )
        const found = only(parseNativeHistograms(answer(buckets), 'q.json'))
        expect(found.kind).toBe('exponential')
        const { value } = found as Extract<NativeSeries['histogram'], { kind: 'exponential' }>
        expect([value.scale, [...value.positive]]).toEqual([scale, [...counts]])
      }),
    )
  })

  it('custom bounds are kept as they are, cumulative', () => {
    const custom: readonly (readonly [number, string, string, string])[] = [
      [0, '-Inf', '0.1', '7'],
      [0, '0.25', '0.5', '2'],
    ]
    const found = only(parseNativeHistograms(answer(custom), 'q.json'))
    expect(found.kind).toBe('custom')
    expect(
      (found.value as { buckets: readonly { le: number; count: number }[] }).buckets.map(({ le, count }) => [
        le,
        count,
      ]),
    ).toEqual([
      [0.1, 7],
      [0.25, 7],
      [0.5, 9],
      [Number.POSITIVE_INFINITY, 9],
    ])
  })

  it.each([
    ['no JSON', 'nope', /not JSON/, ''],
    [
      'an error of Prometheus',
      '{"status":"error","error":"parse error"}',
      /no native histogram/,
      'parse error',
    ],
    ['a range', '{"status":"success","data":{"resultType":"matrix","result":[]}}', /no native/, 'matrix'],
    ['nothing', '{"status":"success","data":{"resultType":"vector","result":[]}}', /no native/, 'empty'],
    [
      'plain numbers',
      '{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"2"]}]}}',
      /no native/,
      '1 series of plain numbers',
    ],
    ['a torn bucket', answer([[0, '1', 'two', '3']]), /cannot be read/, 'two'],
    ['a negative count', answer([[0, '1', '2', '-3']]), /cannot be read/, '-3'],
    [
      'custom buckets that overlap',
      answer([
        [0, '0.1', '0.3', '1'],
        [0, '0.2', '0.7', '1'],
      ]),
      /overlap/,
      '0.2',
    ],
  ])('%s is refused with the file', (_, text, message, received) => {
    let error: unknown = null
    try {
      parseNativeHistograms(text, 'q.json')
    } catch (found) {
      error = found
    }
    expect(error).toMatchObject({
      code: 'PLIM_PROMETHEUS',
      message: expect.stringMatching(message) as string,
      where: { file: 'q.json' },
    })
    expect((error as { received: string }).received).toContain(received)
  })
})

describe('alignBounds', () => {
  const histogram = (...buckets: readonly (readonly [number, number])[]) => ({
    buckets: buckets.map(([le, count]) => ({ le, leText: String(le), count })),
    sum: null,
    count: null,
  })
  it('a count is known between bounds with nothing between them, and left out elsewhere', () => {
    const [a, b] = alignBounds([
      histogram([0.1, 7], [0.25, 7], [0.5, 9]),
      histogram([0.2, 1], [0.3, 4], [0.5, 4]),
    ])
    expect(a!.buckets.map(({ le, count }) => [le, count])).toEqual([
      [0.1, 7],
      [0.2, 7],
      [0.25, 7],
      [0.5, 9],
    ])
    expect(b!.buckets.map(({ le, count }) => [le, count])).toEqual([
      [0.2, 1],
      [0.3, 4],
      [0.5, 4],
    ])
  })
})
