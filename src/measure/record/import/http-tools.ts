import type { RequestRow } from '../request-row.ts'
import { rowStore, type RowStore, type RowStoreOptions } from '../row-store.ts'
import { noFacts, type ImportedRun, type ToolFormulas } from './imported-run.ts'
import type { Importer, ImportSession } from './importer.ts'
import { requestId } from '../request-id.ts'
import { failure, importedRow } from './imported-row.ts'
import { asRecord, member, numberOf, textOf, wholeOf, type JsonRecord } from './json-value.ts'

export const httpFormulas: ToolFormulas = {
  ttft: 'it has none: the first byte at best',
  tpot: 'it has none',
  gaps: 'it has none',
  e2e: 'to the last byte of the body; from the actual send',
  percentiles: 'by its own sketch',
  rate: 'over its whole run, failures too',
}

/** What the HTTP tools cannot tell of a language model's answer. */
export const httpUnrecoverable: ImportedRun['unrecoverable'] = [
  { figure: 'ttft_ms', why: 'the tool times bytes, not the events of a stream' },
  { figure: 'tpot_ms', why: 'tokens and their times are not in the file' },
  { figure: 'lag_ms', why: 'latencies count from the actual send' },
]

export interface Hit {
  /** Wall clock of the send, ms since 1970 or since any zero; null: not in the file. */
  readonly sentAtMs: number | null
  readonly latencyMs: number | null
  readonly firstByteMs: number | null
  readonly status: string | null
  readonly error: string | null
  readonly unsent?: boolean
}

/** Whole answers as they come: latency to the last byte, no stream. */
export interface Hits {
  /** Gives the place of one that was answered well. */
  push(hit: Hit): number | null
  /** The first byte of an answer that was pushed without it. */
  firstByte(place: number, ms: number): void
  run(): ImportedRun
}

export function gatherHits(
  about: Pick<ImportedRun, 'format' | 'tool' | 'file'>,
  options: RowStoreOptions,
): Hits {
  // On the tool's own clock until the earliest send is known.
  const store = rowStore(options)
  let originMs = Number.POSITIVE_INFINITY
  let unknownStarts = 0
  return {
    push(hit) {
      if (hit.sentAtMs === null) unknownStarts++
      else originMs = Math.min(originMs, hit.sentAtMs)
      const row = hitRow(hit, store.length)
      store.push(row)
      return row.ok ? store.length - 1 : null
    },
    firstByte: (place, ms) => store.change(place, { ttfb_ms: ms }),
    run() {
      const startsKnown = store.length > 0 && unknownStarts === 0
      moveTo(store, originMs)
      return {
        ...noFacts,
        ...about,
        formulas: httpFormulas,
        rows: store.rows(),
        originWallMs: startsKnown && originMs > 1e11 ? originMs : null,
        startsKnown,
        rowsKnown: true,
        unrecoverable: httpUnrecoverable,
      }
    },
  }
}

function moveTo(store: RowStore, originMs: number): void {
  const moved = (ms: number | null): number | null =>
    ms === null ? null : Math.round((ms - originMs) * 1e6) / 1e6
  for (const [at, row] of store.rows().entries())
    store.change(at, { planned_ms: moved(row.planned_ms) ?? 0, sent_ms: moved(row.sent_ms) })
}

function hitRow(hit: Hit, index: number): RequestRow {
  const base = { id: requestId(index), plannedMs: hit.sentAtMs, sentMs: hit.sentAtMs }
  if (hit.unsent === true)
    return importedRow({ ...base, sentMs: null, outcome: 'unsent', errorCode: 'dropped' })
  const status = Number(hit.status ?? Number.NaN)
  const ok = (hit.error === null || hit.error === '') && !(status === 0 || status >= 400)
  if (!ok)
    return importedRow({
      ...base,
      doneMs: hit.latencyMs,
      ...failure(status >= 400 ? hit.status : null, hit.error),
    })
  return importedRow({
    ...base,
    outcome: 'ok',
    ttfbMs: hit.firstByteMs,
    e2eMs: hit.latencyMs,
    doneMs: hit.latencyMs,
    httpStatus: Number.isInteger(status) ? status : null,
    flags: ['not_streamed'],
  })
}

/** `vegeta encode`: a hit a line, latency in ns, the time as text with nanoseconds. */
export const vegetaHits: Importer = {
  format: 'vegeta-hits',
  tool: 'vegeta',
  detects: ({ roots }) => {
    const first = asRecord(roots[0])
    return first !== null && 'latency' in first && 'timestamp' in first && ('code' in first || 'seq' in first)
  },
  begin(file, options): ImportSession {
    const hits = gatherHits({ format: 'vegeta-hits', tool: 'vegeta', file }, options)
    return {
      plan: { members: { body: { skip: true }, headers: { skip: true } } },
      root(value, _place, cut) {
        const record = asRecord(value)
        if (record === null || cut !== null) return
        const latency = wholeOf(record['latency']) ?? BigInt(Math.round(numberOf(record['latency']) ?? 0))
        hits.push({
          sentAtMs: wallMs(textOf(record['timestamp'])),
          latencyMs: Number(latency) / 1e6,
          firstByteMs: null,
          status: codeOf(record),
          error: textOf(record['error']),
        })
      },
      end: () => [hits.run()],
    }
  },
}

function codeOf(record: JsonRecord): string | null {
  const code = numberOf(record['code'])
  return code === null ? null : String(code)
}

/** An ISO time in ms since 1970 with the digits behind the millisecond kept. */
export function wallMs(text: string | null): number | null {
  if (text === null) return null
  const parts = /^(.*?)(?:\.(\d+))?(Z|[+-]\d\d:?\d\d)?$/.exec(text)
  const whole = Date.parse(`${parts?.[1] ?? ''}${parts?.[3] ?? 'Z'}`)
  if (!Number.isFinite(whole)) return null
  return whole + Number(`0.${parts?.[2] ?? '0'}`) * 1000
}

/** k6's `--out json`: points. `http_req_duration` is a request; its time is the request's end. */
export const k6Points: Importer = {
  format: 'k6-points',
  tool: 'k6',
  detects: ({ roots }) => {
    const first = asRecord(roots[0])
    return first !== null && (first['type'] === 'Metric' || first['type'] === 'Point') && 'metric' in first
  },
  begin(file, options): ImportSession {
    const hits = gatherHits({ format: 'k6-points', tool: 'k6', file }, options)
    /** The last request, whose first byte comes as a point of its own. */
    let last: { readonly time: string; readonly place: number | null } | null = null
    return {
      plan: null,
      root(value, _place, cut) {
        const record = asRecord(value)
        if (record === null || cut !== null || record['type'] !== 'Point') return
        const metric = textOf(record['metric'])
        const number = numberOf(member(record, 'data', 'value'))
        const time = textOf(member(record, 'data', 'time')) ?? ''
        if (number === null) return
        if (metric === 'http_req_duration') {
          const endMs = wallMs(time)
          const tags = asRecord(member(record, 'data', 'tags')) ?? {}
          const error =
            textOf(tags['error']) ??
            (tags['expected_response'] === 'false' && !('status' in tags) ? 'unexpected response' : null)
          const place = hits.push({
            sentAtMs: endMs === null ? null : endMs - number,
            latencyMs: number,
            firstByteMs: null,
            status: textOf(tags['status']) ?? null,
            error,
          })
          last = { time, place }
        } else if (metric === 'http_req_waiting') {
          if (last?.time === time && last.place !== null) hits.firstByte(last.place, number)
        } else if (metric === 'dropped_iterations') {
          for (let dropped = 0; dropped < number; dropped++)
            hits.push({
              sentAtMs: wallMs(time),
              latencyMs: null,
              firstByteMs: null,
              status: null,
              error: null,
              unsent: true,
            })
        }
      },
      end: () => [hits.run()],
    }
  },
}
