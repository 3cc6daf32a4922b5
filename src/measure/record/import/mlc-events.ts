import { noun } from '../../../base/noun.ts'
import { numberCells, type NumberCells } from '../number-cells.ts'
import type { RequestRow } from '../request-row.ts'
import { rowStore, type RowStore, type RowStoreOptions } from '../row-store.ts'
import { noFacts, type ImportedRun } from './imported-run.ts'
import { note } from './import-notes.ts'
import type { Importer } from './importer.ts'
import { failure, importedRow } from './imported-row.ts'
import { asRecord, countOf, member, textOf, wholeOf, type JsonRecord } from './json-value.ts'
import { mlcFormulas } from './mlc-endpoints.ts'

/**
 * What the events have told so far of each request, by its place in the file. Events of many requests come in turn, and a late one may
 * belong to a request that was complete long ago: none is put together before the file has ended. Times are whole ns since the
 * first event, NaN until they are known.
 */
interface Events {
  readonly places: Map<string, number>
  /** Ids and words. */
  readonly rows: RowStore
  readonly issuedNs: NumberCells
  readonly endNs: NumberCells
  /** Of the chunk that came first. */
  readonly chunkNs: NumberCells
  /** All chunks, of a request that has several. */
  readonly chunksNs: Map<number, number[]>
  baseNs: bigint | null
  /** The earliest issue. */
  originNs: number
  issued: number
  chunksKept: boolean
  tokensKnown: boolean
}

/** MLCommons endpoints' `events.jsonl`: an event a line with exact nanoseconds, put together again to requests. */
export const mlcEvents: Importer = {
  format: 'mlc-events',
  tool: 'MLCommons endpoints',
  detects: ({ roots }) =>
    textOf(member(roots[0], 'event_type')) !== null && member(roots[0], 'timestamp_ns') !== undefined,
  begin(file, options) {
    const events = noEvents(options)
    return {
      plan: null,
      root(value, _place, cut) {
        const record = asRecord(value)
        const id = textOf(record?.['sample_uuid'])
        if (record !== null && id !== null && cut === null) takeEvent(events, id, record)
      },
      end: () => [eventsRun(file, events)],
    }
  },
}

function noEvents(options: RowStoreOptions): Events {
  return {
    places: new Map(),
    rows: rowStore(options),
    issuedNs: numberCells(Number.NaN),
    endNs: numberCells(Number.NaN),
    chunkNs: numberCells(Number.NaN),
    chunksNs: new Map(),
    baseNs: null,
    originNs: Number.POSITIVE_INFINITY,
    issued: 0,
    chunksKept: false,
    tokensKnown: false,
  }
}

function placeOf({ places, rows, issuedNs, endNs, chunkNs }: Events, id: string): number {
  const known = places.get(id)
  if (known !== undefined) return known
  const place = rows.length
  places.set(id, place)
  rows.push(importedRow({ id, outcome: 'ok', plannedMs: null }))
  for (const cells of [issuedNs, endNs, chunkNs]) cells.set(place, Number.NaN)
  return place
}

function takeEvent(events: Events, id: string, record: JsonRecord): void {
  const place = placeOf(events, id)
  const wholeNs = wholeOf(record['timestamp_ns'])
  if (wholeNs !== null) events.baseNs ??= wholeNs
  const atNs = wholeNs === null ? Number.NaN : Number(wholeNs - (events.baseNs ?? 0n))
  const type = textOf(record['event_type']) ?? ''
  addWords(events.rows, place, {
    session: textOf(record['conversation_id']),
    turn: countOf(record['turn']),
  })
  if (type === 'sample.issued') {
    if (!Number.isNaN(atNs) && Number.isNaN(events.issuedNs.get(place))) {
      events.issued++
      events.originNs = Math.min(events.originNs, atNs)
      events.issuedNs.set(place, atNs)
    }
  } else if (type === 'sample.recv_first' || type === 'sample.recv_non_first') {
    if (type === 'sample.recv_non_first') events.chunksKept = true
    if (!Number.isNaN(atNs)) addChunk(events, place, atNs)
  } else if (type === 'sample.complete') {
    setOnce(events.endNs, place, atNs)
    const tokens = countOf(record['output_tokens']) ?? countOf(record['completion_tokens'])
    if (tokens !== null) events.tokensKnown = true
    addWords(events.rows, place, {
      finish_reason: textOf(record['finish_reason']),
      completion_tokens: tokens,
    })
  } else if (type.startsWith('error')) {
    setOnce(events.endNs, place, atNs)
    const message = textOf(record['message']) ?? textOf(record['error']) ?? type
    addWords(events.rows, place, { error_message: message })
  }
}

function setOnce(cells: NumberCells, place: number, value: number): void {
  if (Number.isNaN(cells.get(place))) cells.set(place, value)
}

/** What is told twice is what was told first. */
function addWords(rows: RowStore, place: number, words: Partial<RequestRow>): void {
  for (const [name, value] of Object.entries(words))
    if (value !== null && rows.at(place)[name as keyof RequestRow] === null)
      rows.change(place, { [name]: value })
}

function addChunk({ chunkNs, chunksNs }: Events, place: number, atNs: number): void {
  const known = chunksNs.get(place)
  const only = chunkNs.get(place)
  if (known !== undefined) known.push(atNs)
  else if (Number.isNaN(only)) chunkNs.set(place, atNs)
  else chunksNs.set(place, [only, atNs])
}

function eventsRun(file: string, events: Events): ImportedRun {
  const { rows: store, chunksKept, tokensKnown } = events
  const rows = store.rows()
  for (const [place, row] of rows.entries()) {
    store.change(place, requestOf(events, place, row))
    events.chunksNs.delete(place)
  }
  const unissued = rows.length - events.issued
  return {
    ...noFacts,
    format: 'mlc-events',
    tool: 'MLCommons endpoints',
    file,
    formulas: mlcFormulas,
    rows,
    startsKnown: unissued === 0 && rows.length > 0,
    rowsKnown: true,
    unrecoverable: [
      { figure: 'lag_ms', why: 'the intended sends are not in the file: latencies count from the issue' },
      ...(chunksKept
        ? []
        : [
            {
              figure: 'gaps_ms',
              why: 'only first chunks were kept (stream_all_chunks); E2E ends at the end of the request',
            },
          ]),
      ...(tokensKnown
        ? []
        : [
            {
              figure: chunksKept ? 'completion_tokens' : 'tpot_ms',
              why: chunksKept
                ? 'counted as chunks: the events have no token counts'
                : 'the events have no token counts',
            },
          ]),
    ],
    warnings:
      unissued > 0
        ? [
            note(
              'unrecoverable',
              `${unissued} ${noun(unissued, 'request has', 'requests have')} no sample.issued event: such latencies cannot be known`,
            ),
          ]
        : [],
  }
}

function requestOf(events: Events, place: number, row: RequestRow): RequestRow {
  const { chunksKept, originNs } = events
  const issuedNs = events.issuedNs.get(place)
  const endNs = events.endNs.get(place)
  const chunkNs = events.chunkNs.get(place)
  const chunks = events.chunksNs.get(place) ?? (Number.isNaN(chunkNs) ? [] : [chunkNs])
  chunks.sort((a, b) => a - b)
  const since = (atNs: number | undefined): number | null =>
    atNs === undefined || Number.isNaN(atNs - issuedNs) ? null : msOf(atNs - issuedNs)
  const failed = row.error_message !== null
  const outcome = failed
    ? failure(null, row.error_message)
    : { outcome: Number.isNaN(endNs) ? ('censored' as const) : ('ok' as const) }
  const sentMs = Number.isNaN(issuedNs) ? null : msOf(issuedNs - originNs)
  return importedRow({
    id: row.id,
    plannedMs: sentMs ?? 0,
    sentMs,
    ...outcome,
    ttftMs: since(chunks[0]),
    e2eMs: chunksKept ? since(chunks.at(-1)) : since(endNs),
    doneMs: since(endNs),
    gapsMs:
      chunksKept && chunks.length > 0
        ? chunks.slice(1).map((atNs, at) => msOf(atNs - (chunks[at] as number)))
        : null,
    completionTokens: row.completion_tokens ?? (chunksKept ? chunks.length : null),
    tokensSource: row.completion_tokens === null ? 'events' : 'server',
    finishReason: row.finish_reason,
    session: row.session,
    turn: row.turn,
    flags: chunks.length === 0 && !failed && !Number.isNaN(endNs) ? ['not_streamed'] : [],
  })
}

/** Whole ns in ms, as exact as a double is. */
function msOf(ns: number): number {
  const rest = ns % 1e6
  return (ns - rest) / 1e6 + rest / 1e6
}
