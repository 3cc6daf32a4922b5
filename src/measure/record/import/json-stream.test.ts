import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonStream, type JsonFault, type JsonPlan } from './json-stream.ts'
import type { JsonValue } from './json-value.ts'

function read(text: string | Buffer, plan: JsonPlan | null = null, size = 1 << 20) {
  const roots: JsonValue[] = []
  const items: { value: JsonValue; path: string; line: number }[] = []
  const faults: JsonFault[] = []
  const cut: (JsonFault | null)[] = []
  const doubled: string[] = []
  const stream = new JsonStream(
    {
      onRoot(value, place, fault) {
        roots.push(value)
        cut.push(fault)
        doubled.push(...place.doubled.map((one) => `${one.key}@${one.line}:${one.column}`))
      },
      onItem(value, path, place) {
        items.push({ value, path: path.join('.'), line: place.line })
        doubled.push(...place.doubled.map((one) => `${one.key}@${one.line}:${one.column}`))
      },
      onFault: (fault) => faults.push(fault),
    },
    plan,
  )
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) stream.push(bytes.subarray(at, at + size))
  stream.finish()
  return { roots, items, faults, cut, doubled }
}

describe('JSON as tools write it', () => {
  it.each([
    ['not a number', '{"a": NaN, "b": nan, "c": -nan}', { a: Number.NaN, b: Number.NaN, c: Number.NaN }],
    ['infinities', '[Infinity, -Infinity, inf, -inf]', [1 / 0, -1 / 0, 1 / 0, -1 / 0]],
    ['Python words', '{"a": None, "b": True, "c": False}', { a: null, b: true, c: false }],
    [
      'whole numbers beyond 2^53 stay exact',
      '[1750000000000600001, 9007199254740991]',
      [1750000000000600001n, 9007199254740991],
    ],
    ['a byte order mark', '\uFEFF{"a":1}', { a: 1 }],
    ['a trailing comma', '{"a":[1,2,],}', { a: [1, 2] }],
    ['escapes, and ones that JSON has not', '["a\\n\\u00e9\\"", "\\x41"]', ['a\né"', 'x41']],
    [
      'a key that is no key',
      '{"__proto__": 1, "constructor": 2}',
      JSON.parse('{"__proto__": 1, "constructor": 2}'),
    ],
    [
      'numbers of every form',
      '[-0.5, 1e3, 1.5E-3, +2, 0.1, 123456789.1234567]',
      [-0.5, 1000, 0.0015, 2, 0.1, 123456789.1234567],
    ],
  ])('%s', (_, text, value) => {
    for (const size of [1, 3, 7, 1000]) {
      const { roots, faults } = read(text, null, size)
      expect(roots).toEqual([value])
      expect(faults).toEqual([])
    }
  })

  it('reads several values, on lines of their own or not', () => {
    expect(read('{"a":1}\n\n{"a":2}{"a":3}\n').roots).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }])
  })

  it('says where a key stands twice, and keeps the last', () => {
    const { roots, doubled } = read('{"x": {"a": 1,\n  "a": 2, "b": 0}}')
    expect(roots).toEqual([{ x: { a: 2, b: 0 } }])
    expect(doubled).toEqual(['a@2:8'])
  })

  it.each([
    ['in a list', '{"a": [1, 2', { a: [1] }, 1, 12],
    ['in a list of lists', '{"a": [[1], [2, 3', { a: [[1]] }, 1, 18],
    ['in a string', '{"a": 1,\n"b": "x', { a: 1 }, 2, 8],
    ['after a colon', '{"a": 1, "b":', { a: 1 }, 1, 14],
    ['behind umlauts', '{"ä": 1, "b":', { ä: 1 }, 1, 14],
    ['in a word', '{"a": 1, "b": tru', { a: 1 }, 1, 18],
  ])('a text that breaks off %s gives what could be read, and the place', (_, text, value, line, column) => {
    for (const size of [1, 5, 1000]) {
      const { roots, faults, cut } = read(text, null, size)
      expect(roots).toEqual([value])
      expect(faults).toMatchObject([{ line, column, truncated: true }])
      expect(cut).toEqual(faults)
    }
  })

  it('goes on behind a broken line, and says which it was', () => {
    const { roots, faults } = read('{"a":1}\n{"a":2,,}\n{"a":3}\n')
    expect(roots).toEqual([{ a: 1 }, { a: 3 }])
    expect(faults).toMatchObject([{ line: 2, column: 8, truncated: false, received: '",}"' }])
  })

  it('stops where a value over many lines is broken', () => {
    const { roots, faults } = read('{\n"a": 1,\n"b": ]\n,"c": 3}')
    expect(roots).toEqual([{ a: 1 }])
    expect(faults).toMatchObject([{ line: 3, column: 6 }])
  })

  it('hands records over one by one and skips what is not wanted', () => {
    const plan: JsonPlan = {
      members: { rows: { each: { emit: true, members: { text: { skip: true } } } }, big: { skip: true } },
    }
    const text =
      '{"n": 2, "rows": [{"id": 1, "text": "a\\"b"},\n {"id": 2, "text": ["c"]}], "big": {"x": [1, {"y": 2}]}, "m": 3}'
    for (const size of [1, 9, 1000]) {
      const { roots, items } = read(text, plan, size)
      expect(roots).toEqual([{ n: 2, rows: [], m: 3 }])
      expect(items).toEqual([
        { value: { id: 1 }, path: 'rows.0', line: 1 },
        { value: { id: 2 }, path: 'rows.1', line: 2 },
      ])
    }
  })

  it('reads every JSON as JSON.parse does, in whatever pieces it comes', () => {
    fc.assert(
      fc.property(fc.json(), fc.integer({ min: 1, max: 9 }), (json, size) => {
        const value = JSON.parse(json) as JsonValue
        fc.pre(typeof value === 'object' && value !== null)
        expect(
          JSON.stringify(read(json, null, size).roots[0], (_, one: unknown) =>
            typeof one === 'bigint' ? Number(one) : one,
          ),
        ).toBe(JSON.stringify(value))
      }),
    )
  })

  it('never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.integer({ min: 1, max: 9 }), (bytes, size) => {
        expect(() => read(Buffer.from(bytes), null, size)).not.toThrow()
      }),
    )
  })
})
