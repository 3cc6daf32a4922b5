import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { asyncBufferFromFile, parquetReadObjects, type SchemaElement } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RequestRow } from './request-row.ts'
import { readRequests } from './read-requests.ts'
import { rowColumns } from './row-columns.ts'
import { rowFromJson, rowToJson } from './row-text.ts'
import { streamedRow, unsentRow } from './made-rows.ts'
import { writeRequests } from './write-requests.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-rows-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const ms = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0 || 0)
const text = fc.string({ unit: 'binary' }).map((value) => Buffer.from(value, 'utf8').toString('utf8'))
const count = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const anyOf = {
  text,
  number: ms,
  integer: count,
  boolean: fc.boolean(),
  numbers: fc.array(ms, { maxLength: 12 }),
  integers: fc.array(count, { maxLength: 12 }),
  texts: fc.array(text, { maxLength: 4 }),
}
const outcome = fc.constantFrom('ok', 'failed', 'shed', 'censored', 'unsent')

/** Any row that the types allow (and some that they do not: any text as phase or flag). */
const anyRow: fc.Arbitrary<RequestRow> = fc
  .record(
    Object.fromEntries(
      rowColumns.map(({ name, kind, nullable, optional }) => {
        const value: fc.Arbitrary<unknown> = name === 'outcome' ? outcome : anyOf[kind]
        return [name, nullable && !optional ? fc.option(value) : value]
      }),
    ),
    { requiredKeys: rowColumns.filter(({ optional }) => !optional).map(({ name }) => name) },
  )
  .map((row) => row as unknown as RequestRow)

describe('a row keeps every column, null, list and letter', () => {
  test('as a line of JSON', () => {
    fc.assert(
      fc.property(anyRow, (row) => {
        const line = rowToJson(row)
        expect(line).not.toContain('\n')
        expect(rowFromJson(JSON.parse(line), { file: 'x' })).toEqual(row)
      }),
    )
  })

  test('in Parquet, any number of rows at once', async () => {
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { minLength: 0, maxLength: 20 }), async (rows) => {
        const path = join(folder, `${run++}.parquet`)
        writeRequests(path, rows, '{"a":"é"}')
        const read = await readRequests(path)
        expect([...read.rows]).toEqual(rows)
        expect(read.manifestJson).toBe('{"a":"é"}')
        await rm(path)
      }),
      { numRuns: 150 },
    )
  })

  test('over several row groups and pages', async () => {
    const rows = Array.from({ length: 12_345 }, (_, index) =>
      index % 7 === 0
        ? { ...unsentRow, id: `r${index}`, planned_ms: index }
        : streamedRow(
            {
              id: `r${index}`,
              plannedMs: index,
              ttftMs: 5.5,
              gapsMs: Array.from({ length: index % 90 }, (_, gap) => gap + 0.1),
            },
            index % 3 === 0
              ? { event_tokens: [1, 2, 3], itl_per_token_ms: index % 6 === 0 ? [] : [0.5, 0.5] }
              : {},
          ),
    )
    const path = join(folder, 'large.parquet')
    writeRequests(path, rows, null)
    const read = await readRequests(path)
    expect([...read.rows]).toEqual(rows)
    expect(read.manifestJson).toBeNull()
    const without = await readRequests(path, { without: ['itl_per_token_ms'] })
    expect(without.rows.at(3)?.itl_per_token_ms).toBeNull()
    expect(without.rows.at(3)?.event_tokens).toEqual([1, 2, 3])
  })
})

describe('a column of single values comes back, however they repeat', () => {
  test.each([
    ['always the same', () => 'a', 1],
    ['two that take turns', (index) => (index % 2 === 0 ? 'a' : 'bb'), 1],
    ['as many as a dictionary takes', (index) => `word ${index % 1024}`, 1024],
    ['one more, which is none', (index) => `word ${index % 1025}`, 1025],
    ['only different ones', (index) => `é${index}`, 1e9],
    ['nothing in most rows', (index) => (index % 97 === 5 ? `x${index % 3}` : null), 7],
    ['nothing at all', () => null, 3],
    ['pages of a megabyte', (index) => `${index}${'€'.repeat(600)}`, 4],
  ] satisfies readonly (readonly [string, (index: number) => string | null, number])[])(
    '%s',
    async (_, textOf, kinds) => {
      const rows = Array.from({ length: 6000 }, (_unused, index): RequestRow => {
        const text = textOf(index)
        return {
          ...unsentRow,
          id: text ?? '',
          planned_ms: text === null ? null : (index % kinds) / 3,
          prompt_tokens: text === null ? null : (index % kinds) - 7,
          ok: index % 3 === 0,
          error_message: text,
          flags: text === null ? [] : index % 2 === 0 ? ['imported'] : ['imported', 'not_streamed'],
        }
      })
      const path = join(folder, 'scalars.parquet')
      writeRequests(path, rows, null)
      expect((await readRequests(path)).rows).toEqual(rows)
      const others = await parquetReadObjects({ file: await asyncBufferFromFile(path) })
      expect(others.map((row) => row['error_message'] ?? null)).toEqual(rows.map((row) => row.error_message))
    },
  )
})

describe('a file that others read, or made', () => {
  const rows = Array.from({ length: 40 }, (_, index) =>
    streamedRow(
      {
        id: `r${index}`,
        plannedMs: index,
        ttftMs: 5,
        gapsMs: Array.from({ length: index % 4 }, () => index + 0.5),
      },
      index % 2 === 0 ? { event_tokens: index % 4 === 0 ? [] : [1, 2], error_message: '\uFEFFmark' } : {},
    ),
  )

  test('NaN and infinities become the null that they mean', async () => {
    const path = join(folder, 'nan.parquet')
    writeRequests(
      path,
      [{ ...unsentRow, id: 'a', ttft_ms: Number.NaN, e2e_ms: Number.POSITIVE_INFINITY }],
      null,
    )
    expect((await readRequests(path)).rows).toEqual([{ ...unsentRow, id: 'a' }])
  })

  test('another reader finds what we wrote', async () => {
    const path = join(folder, 'ours.parquet')
    writeRequests(path, rows, null)
    const read = await parquetReadObjects({ file: await asyncBufferFromFile(path) })
    expect(read.length).toBe(rows.length)
    read.forEach((found, index) => {
      for (const name of ['id', 'planned_ms', 'gaps_ms', 'event_tokens', 'ok', 'turn', 'flags'] as const) {
        expect(found[name] ?? null).toEqual(rows[index]?.[name])
      }
    })
  })

  test('we read compressed pages, elements that may be null, 64-bit counts, missing and foreign columns', async () => {
    const list = (name: string, type: 'DOUBLE' | 'INT64'): SchemaElement[] => [
      { name, repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      { name: 'element', repetition_type: 'OPTIONAL', type },
    ]
    const text = { repetition_type: 'OPTIONAL', type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const
    const bytes = parquetWriteBuffer({
      schema: [
        { name: 'root', num_children: 7 },
        { name: 'foreign', repetition_type: 'OPTIONAL', type: 'INT32' },
        { ...text, name: 'outcome' },
        { ...text, name: 'id' },
        { ...text, name: 'error_message' },
        ...list('gaps_ms', 'DOUBLE'),
        ...list('event_tokens', 'INT64'),
        { name: 'turn', repetition_type: 'OPTIONAL', type: 'INT64' },
      ],
      columnData: [
        { name: 'foreign', data: rows.map(() => 1) },
        { name: 'outcome', data: rows.map((row) => row.outcome) },
        { name: 'id', data: rows.map((row) => row.id) },
        { name: 'error_message', data: rows.map((row) => row.error_message) },
        { name: 'gaps_ms', data: rows.map((row) => row.gaps_ms) },
        { name: 'event_tokens', data: rows.map((row) => row.event_tokens?.map(BigInt) ?? null) },
        { name: 'turn', data: rows.map((_, index) => BigInt(index)) },
      ],
    })
    const path = join(folder, 'theirs.parquet')
    await writeFile(path, Buffer.from(bytes))
    const read = await readRequests(path)
    expect(read.rows).toEqual(
      rows.map((row, index) => ({
        ...unsentRow,
        id: row.id,
        outcome: 'ok',
        phase: '',
        error_message: row.error_message,
        gaps_ms: row.gaps_ms,
        event_tokens: row.event_tokens,
        turn: index,
      })),
    )
  })
})

test('the names and their order are those of the design', () => {
  expect(Object.keys(JSON.parse(rowToJson(unsentRow)))).toEqual(
    (
      'id planned_ms sent_ms lag_ms ttfb_ms ttft_ms ttfc_ms e2e_ms done_ms tpot_ms tpot_after_first_event_ms gaps_ms ' +
      'itl_per_token_ms event_tokens prompt_tokens cached_tokens completion_tokens reasoning_tokens asked_output_tokens ' +
      'tokens_source n_chunks n_output_chunks n_comments n_ignored outcome phase ok flags error_kind error_code error_type ' +
      'error_message http_status retry_after_ms finish_reason worker replica prompt_id segment session turn'
    ).split(' '),
  )
})

test.each([
  ['a number is no row', '5'],
  ['a list is no row', '[]'],
  ['without an id', '{"outcome":"ok"}'],
  ['with an outcome that does not exist', '{"id":"a","outcome":"fine"}'],
])('%s', (_, json) => {
  expect(() => rowFromJson(JSON.parse(json), { file: 'journal.ndjson', line: 3 })).toThrow(/row of a request/)
})

test('a row of an older version gets null, empty and 0 for what it lacks', () => {
  expect(rowFromJson({ id: 'a', outcome: 'unsent', phase: 'measure', foreign: 1 }, { file: 'x' })).toEqual({
    ...unsentRow,
    id: 'a',
  })
})
