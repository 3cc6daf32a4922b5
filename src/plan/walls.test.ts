import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { averageHoldWall, kvBlocks, memoryWall } from './kv-pool.ts'
import {
  capacity,
  insideTestedRange,
  interpolateThroughput,
  littleTpotMs,
  passing,
  saturationWall,
  sloWall,
  type WallPoint,
} from './walls.ts'

const point = (load: number, throughput: number, passes: boolean | null = true): WallPoint => ({
  load,
  throughput,
  passes,
})

describe('a sweep of six', () => {
  const rows: readonly (readonly [load: number, throughput: number, p99TpotMs: number])[] = [
    [1, 190, 5.2],
    [8, 1300, 6.1],
    [16, 2300, 7.4],
    [32, 3400, 9.6],
    [64, 5000, 14],
    [128, 4900, 27],
  ]
  const points = rows.map(([load, throughput, tpot]) => point(load, throughput, tpot <= 10))

  it('each wall where it is, and the SLO binds', () => {
    const saturation = saturationWall(points)
    const slo = sloWall(points)
    const memory = memoryWall(400_000, 6000)
    expect([saturation.load, slo?.load, slo?.throughput, memory]).toEqual([64, 32, 3400, 66])
    expect(capacity(points, saturation, slo, memory)).toEqual({
      load: 32,
      throughput: 3400,
      binding: 'slo',
      atLeast: false,
    })
  })
  it('without an objective the saturation binds, before the memory that lies a little beyond', () => {
    const open = points.map(({ load, throughput }) => point(load, throughput, null))
    expect(sloWall(open)).toBeNull()
    expect(capacity(open, saturationWall(open), null, 66)).toMatchObject({ load: 64, binding: 'saturation' })
    expect(capacity(open, saturationWall(open), null, 20)).toMatchObject({ load: 16, binding: 'memory' })
  })
  it('requests in flight, not the rate, meet the memory', () => {
    const rates = points.map((p) => ({ ...p, load: p.load / 10, inFlight: p.load, passes: null }))
    expect(capacity(rates, saturationWall(rates), null, 20)).toMatchObject({ load: 1.6, binding: 'memory' })
  })
})

describe('saturationWall', () => {
  it.each([
    ['still rising at the end is not reached', [point(1, 100), point(2, 190)], { load: 2, reached: false }],
    ['flat at the end is reached', [point(1, 100), point(2, 106)], { load: 2, reached: true }],
    [
      'where nothing came back there is neither a best nor a wall',
      [point(1, 0), point(2, 0)],
      { load: null, peakLoad: null, peakThroughput: null, reached: false },
    ],
    ['one point says nothing', [point(4, 100)], { load: 4, reached: false, elasticity: null }],
    ['no point says nothing', [], { load: null, reached: false }],
    ['exactly 95 % counts', [point(1, 95), point(2, 100), point(4, 90)], { load: 1, reached: true }],
    [
      'exactly 95 % counts where floats would not',
      [point(1, 0.19), point(2, 0.2), point(4, 0.1)],
      { load: 1 },
    ],
    [
      'the order of the points does not matter',
      [point(4, 90), point(2, 100), point(1, 50)],
      { load: 2, peakLoad: 2 },
    ],
  ])('%s', (_, points, expected) => expect(saturationWall(points)).toMatchObject(expected))
})

describe('sloWall', () => {
  it.each([
    ['all pass: at or beyond the last', [true, true], { load: 2, reached: false, passingAbove: [] }],
    ['none passes', [false, false], { load: null, reached: true, passingAbove: [] }],
    [
      'a lucky point above is reported, not used',
      [true, false, true],
      { load: 1, reached: true, passingAbove: [3] },
    ],
    ['an unknown point ends the prefix', [true, null, true], { load: 1, reached: true }],
  ])('%s', (_, passes, expected) => {
    expect(sloWall(passes.map((pass, i) => point(i + 1, 100, pass)))).toMatchObject(expected)
  })
  it('rests on estimates when a decisive point does', () => {
    expect(sloWall([{ ...point(1, 1), indicative: true }, point(2, 2, false)])?.indicative).toBe(true)
    expect(
      sloWall([point(1, 1), point(2, 2, false), { ...point(3, 3, false), indicative: true }])?.indicative,
    ).toBe(false)
  })
})

it('capacity lies on or under every wall that was reached', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ throughput: fc.integer({ min: 1, max: 1000 }), passes: fc.boolean() }), {
        minLength: 1,
        maxLength: 10,
      }),
      fc.option(fc.integer({ min: 0, max: 1200 })),
      (rows, memory) => {
        const points = rows.map(({ throughput, passes }, i) => point(2 ** i, throughput, passes))
        const saturation = saturationWall(points)
        const slo = sloWall(points)
        const found = capacity(points, saturation, slo, memory)
        const load = found.load ?? 0
        expect(slo?.reached !== true || load <= (slo.load ?? 0)).toBe(true)
        expect(!saturation.reached || load <= (saturation.load as number)).toBe(true)
        expect(memory === null || load <= memory).toBe(true)
        expect(found.atLeast).toBe(found.binding === null)
        expect(found.load === null || points.some((p) => p.load === found.load)).toBe(true)
      },
    ),
  )
})

it('notes beside the capacity', () => {
  const points = [point(8, 100), point(16, 200)]
  expect(interpolateThroughput(points, 12)).toBe(150)
  expect([interpolateThroughput(points, 4), interpolateThroughput(points, 17)]).toEqual([null, null])
  expect(insideTestedRange(16, points)).toBe(true)
  expect(insideTestedRange(17, points)).toBe(false)
  expect(littleTpotMs(4, 0)).toBeNull()
  expect(averageHoldWall(450_000, 2000, 1000)).toBe(180)
  expect(kvBlocks(17, 16)).toBe(2)
  expect(() => memoryWall(100, 0)).toThrow('token')
})

it.each([
  ['all decode all the time: the mean TPOT itself', 0, 10, 100, 10],
  ['waits of 201 ms before answers of 100 tokens lie in it: the mean TPOT is below', 201, 10, 100, 11.91],
  ['long waits before short answers make up nearly all of it', 2000, 10, 11, 190.91],
])("a token's time of its user by Little's law: %s", (_, ttftMs, tpotMs, tokens, expected) => {
  const users = 32
  const residenceMs = ttftMs + (tokens - 1) * tpotMs + (ttftMs === 0 ? tpotMs : 0)
  const tokensPerSecond = (users / residenceMs) * 1000 * tokens
  expect(littleTpotMs(users, tokensPerSecond)).toBeCloseTo(expected, 2)
})

describe('whether a tested load passes', () => {
  const [shown, likely, beyond] = [
    { proven: true, estimateWithin: true },
    { proven: false, estimateWithin: true },
    { proven: false, estimateWithin: false },
  ]
  it.each([
    ['every limit is shown to hold', [shown, shown], 'yes'],
    ['one is only likely', [shown, likely], 'indicative'],
    ['one is beyond by its estimate', [shown, likely, beyond], 'no'],
    ['no limits', [], null],
  ])('%s', (_sentence, limits, verdict) => expect(passing(limits)).toBe(verdict))
})
