import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  readGetMetricsRequest,
  readScaledObjectRef,
  writeIsActive,
  writeMetricSpec,
  writeMetricValue,
} from './external-scaler.ts'
import { freshDemand, liveDemand } from './live-demand.ts'
import { readFields, writeBytes, writeVarint } from './protobuf.ts'

/** Reads, or is refused in the one way that a caller is told of. */
function refusedOrRead(bytes: Buffer): void {
  try {
    readScaledObjectRef(bytes)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
}

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')

describe('messages, byte for byte', () => {
  it.each([
    ['active', writeIsActive(true), '08 01'],
    ['not active: the default, nothing', writeIsActive(false), ''],
    [
      'a value twice, as integer and double',
      writeMetricValue('q', 7),
      '0a 0e 0a 01 71 10 07 19 00 00 00 00 00 00 1c 40',
    ],
    [
      'half rounds the integer up',
      writeMetricSpec('q', 0.5),
      '0a 0e 0a 01 71 10 01 19 00 00 00 00 00 00 e0 3f',
    ],
    ['zero is the name alone', writeMetricValue('q', 0), '0a 03 0a 01 71'],
    ['never negative', writeMetricValue('q', -3), '0a 03 0a 01 71'],
    ['never NaN', writeMetricValue('q', Number.NaN), '0a 03 0a 01 71'],
  ])('%s', (_, message, bytes) => expect(message.toString('hex')).toBe(bytes.replaceAll(' ', '')))

  it('requests are read, fields of a newer contract skipped', () => {
    // name "a", namespace "b", {"k": "v"}, and field 9 with a varint.
    const ref = hex('0a 01 61 12 01 62 1a 06 0a 01 6b 12 01 76 48 96 01')
    expect(readScaledObjectRef(ref)).toEqual({ name: 'a', namespace: 'b', metadata: { k: 'v' } })
    expect(readGetMetricsRequest(Buffer.concat([writeBytes(1, ref), writeBytes(2, 'm')]))).toEqual({
      ref: { name: 'a', namespace: 'b', metadata: { k: 'v' } },
      metricName: 'm',
    })
    expect(readGetMetricsRequest(Buffer.alloc(0)).metricName).toBe('')
  })
  it.each([
    ['cut in a field', '0a 05 61'],
    ['cut in a number', '08 80'],
    ['an unknown wire type', '0b'],
    ['field 0', '00 01'],
    ['a number without end', '08 ff ff ff ff ff ff ff ff ff ff ff'],
  ])('%s is refused', (_, bytes) => expect(() => readFields(hex(bytes))).toThrow(RangeError))
  it('whatever comes, it is read or refused, never more', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect(() => refusedOrRead(Buffer.from(bytes))).not.toThrow()
      }),
    )
  })
  it('varints come back', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
        expect(readFields(Buffer.concat([Buffer.from([8]), writeVarint(value)]))[0]?.value).toBe(value)
      }),
    )
  })
})

describe('live demand', () => {
  const replica = (name: string, inFlight: number | null): { name: string; inFlight: number | null } => ({
    name,
    inFlight,
  })
  const options = { holdMs: 60_000 }
  const before = liveDemand(freshDemand, [replica('a', 8), replica('b', 4)], 0, options)
  it('all told: their sum; a true 0 is idle', () => {
    expect(before.demand).toEqual({ kind: 'known', value: 12, active: true, why: null })
    expect(liveDemand(freshDemand, [replica('a', 0)], 0, options).demand.active).toBe(false)
  })
  it.each([
    ['one silent: the last total stands', [replica('a', 1), replica('b', null)], 12],
    ['one silent, the others busier: theirs', [replica('a', 30), replica('b', null)], 30],
    ['NaN is silence', [replica('a', Number.NaN), replica('b', 4)], 12],
    ['none seen', [], 12],
  ])('%s', (_, replicas, value) =>
    expect(liveDemand(before.memory, replicas, 59_000, options).demand).toMatchObject({
      kind: 'held',
      value,
      active: true,
    }),
  )
  it('silence that lasts is unknown, and never idle', () => {
    const after = liveDemand(before.memory, [replica('a', null)], 61_000, options)
    expect(after.demand).toMatchObject({ kind: 'unknown', value: null, active: true })
    expect(after.demand.why).toContain('unknown, not idle for 61 s')
    expect(liveDemand(freshDemand, [replica('a', null)], 0, options).demand.kind).toBe('unknown')
    expect(liveDemand(after.memory, [replica('a', 3)], 62_000, options).demand.kind).toBe('known')
  })
})
