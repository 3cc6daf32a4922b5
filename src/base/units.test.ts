import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PlimsollError } from './errors.ts'
import {
  exactDurationMs,
  exactRatePerSecond,
  exactShare,
  formatBytes,
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
  formatRate,
  formatSpan,
  parseBytes,
  parseCount,
  parseDurationMs,
  parseNumber,
  parseRatePerSecond,
  decimalsForError,
} from './units.ts'

function refusal(read: () => unknown): PlimsollError {
  try {
    read()
  } catch (error) {
    if (error instanceof PlimsollError) return error
  }
  throw new Error('nothing was refused')
}

describe('quantities are read exactly', () => {
  test.each([
    ['a fraction of seconds keeps its digits', '8.3s', '8300'],
    ['parts add up', '1h30m', '5400000'],
    ['white space is allowed', '6 m 12 s', '372000'],
    ['microseconds are a finite decimal', '250us', '0.25'],
    ['a tenth is a tenth', '0.1ms', '0.1'],
    ['days', '30d', '2592000000'],
    ['zero needs no unit', '0', '0'],
  ])('%s', (_, text, exact) => {
    expect(exactDurationMs(text)).toBe(exact)
  })

  test.each([
    ['per second', '6/s', ['6', '1']],
    ['per minute stays a fraction', '100/min', ['100', '60']],
    ['bare is per second', '0.5', ['0.5', '1']],
    ['with its noun', '40 req/s', ['40', '1']],
    ['rps', '40rps', ['40', '1']],
  ])('a rate, %s', (_, text, exact) => {
    expect(exactRatePerSecond(text)).toEqual(exact)
  })

  test.each([
    ['99.5%', '0.995'],
    ['99.95 %', '0.9995'],
    ['0.995', '0.995'],
    ['100%', '1'],
    ['0%', '0'],
  ])('the share %s', (text, exact) => {
    expect(exactShare(text)).toBe(exact)
  })

  test('bytes and counts', () => {
    expect(parseBytes('16KB')).toBe(16_000)
    expect(parseBytes('16 KiB')).toBe(16_384)
    expect(parseBytes('512B')).toBe(512)
    expect(parseBytes('0')).toBe(0)
    expect(parseCount('450,000')).toBe(450_000)
    expect(parseCount('1.2M')).toBe(1_200_000)
    expect(parseCount('450k')).toBe(450_000)
    expect(() => parseCount('99999999999999999999')).toThrow(
      expect.objectContaining({ expected: 'at most 1,000,000,000,000,000' }),
    )
    expect(parseNumber('.5')).toBe(0.5)
    expect(parseRatePerSecond('120/min')).toBe(2)
    expect(parseDurationMs('10m')).toBe(600_000)
  })

  test.each([
    [
      'a bare duration could be seconds or milliseconds',
      () => parseDurationMs('10', '--duration'),
      '10s or 10ms',
    ],
    ['a bare size could be bytes or gigabytes', () => parseBytes('16', '--weights'), 'say 16B or 16GB'],
    ['a share over one without a percent sign', () => exactShare('99.5'), 'did you mean 99.5%?'],
  ])('%s', (_, read, hint) => {
    expect(refusal(read).hint).toContain(hint)
  })

  test.each([
    ['an unknown unit', () => parseDurationMs('10 fortnights')],
    ['nothing', () => parseDurationMs('')],
    ['rubbish behind it', () => parseDurationMs('10s!')],
    ['a negative time', () => parseDurationMs('-10s')],
    ['NaN', () => parseRatePerSecond('NaN')],
    ['infinity is no rate here', () => parseRatePerSecond('inf')],
    ['a negative rate', () => parseRatePerSecond('-6/s')],
    ['a share of more than all', () => exactShare('101%')],
    ['half a byte', () => parseBytes('0.5')],
    ['a fraction of a request', () => parseCount('1.5')],
    ['misplaced thousands', () => parseCount('1,00')],
    ['a count under its least', () => parseCount('0', '--num-prompts', 1)],
  ])('%s is refused with what was expected and received', (_, read) => {
    const error = refusal(read)
    expect(error.code).toBe('PLIM_NUMBER')
    expect(error.expected).toBeTruthy()
    expect(error.received).toBeTruthy()
  })

  test('law: a decimal of milliseconds reads as itself, in any unit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 9 }), (thousandths) => {
        const seconds = `${Math.floor(thousandths / 1000)}.${String(thousandths % 1000).padStart(3, '0')}`
        expect(exactDurationMs(`${seconds}s`)).toBe(String(thousandths))
      }),
    )
  })
})

describe('quantities are printed with their unit', () => {
  test.each([
    [formatNumber(1204.4), '1,204'],
    [formatNumber(-3.46, 1), '−3.5'],
    [formatNumber(-0.01, 1), '0.0'],
    [formatNumber(1234567.891, 2), '1,234,567.89'],
    [formatCount(991900), '991,900'],
    [formatDuration(0.42), '0.420 ms'],
    [formatDuration(836), '836 ms'],
    [formatDuration(14_900), '14.9 s'],
    [formatDuration(0.002), '2.00 µs'],
    [formatSpan(372_000), '6m12s'],
    [formatSpan(600_000), '10m'],
    [formatSpan(7_500_000), '2h5m'],
    [formatSpan(8_300), '8.3s'],
    [formatSpan(400), '400ms'],
    [formatSpan(0), '0s'],
    [formatRate(4.317), '4.32 req/s'],
    [formatRate(6), '6 req/s'],
    [formatRate(3400.2, 'tok/s'), '3,400 tok/s'],
    [formatPercent(0.724), '72 %'],
    [formatPercent(0.05), '5.0 %'],
    [formatPercent(0.992), '99.2 %'],
    [formatPercent(0.99996), '99.996 %'],
    [formatPercent(1), '100 %'],
    [formatPercent(0), '0 %'],
    [formatPercent(0.0003), '0.03 %'],
    [formatBytes(1_500_000), '1.5 MB'],
    [formatBytes(512), '512 B'],
  ])('%s', (printed, wanted) => {
    expect(printed).toBe(wanted)
  })

  test.each([
    [57, 0],
    [1.55, 1],
    [0.95, 1],
    [0.1, 2],
    [0.03, 2],
    [0, 0],
  ])('an error of ± %d leaves %d decimals', (halfWidth, decimals) => {
    expect(decimalsForError(halfWidth)).toBe(decimals)
  })

  test('law: only exactly 0 and 1 print as 0 % and 100 %', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-9, max: 1 - 1e-9, noNaN: true }), (share) => {
        expect(formatPercent(share)).not.toMatch(/^(0|100|0\.0+|100\.0+) %$/)
      }),
    )
  })
})
