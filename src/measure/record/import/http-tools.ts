import type { RequestRow } from '../request-row.ts'
import { noFacts, type ImportedRun, type ToolFormulas } from './imported-run.ts'
import type { Importer, ImportSession } from './importer.ts'
import { failure, importedRow, requestId } from './imported-row.ts'
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

/** A run of whole answers: latency to the last byte, no stream. */
export function hitsRun(
  hits: readonly Hit[],
  about: Pick<ImportedRun, 'format' | 'tool' | 'file'>,
): ImportedRun {
  const originMs = hits.reduce(
    (least, { sentAtMs }) => Math.min(least, sentAtMs ?? Number.POSITIVE_INFINITY),
    Number.POSITIVE_INFINITY,
  )
  const startsKnown = hits.length > 0 && hits.every(({ sentAtMs }) => sentAtMs !== null)
  const rows = hits.map((hit, index): RequestRow => {
    const sentMs = hit.sentAtMs === null ? null : Math.round((hit.sentAtMs - originMs) * 1e6) / 1e6
    const base = { id: requestId(index), plannedMs: sentMs ?? 0, sentMs }
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
  })
  return {
    ...noFacts,
    ...about,
    formulas: httpFormulas,
    rows,
    originWallMs: startsKnown && originMs > 1e11 ? originMs : null,
    startsKnown,
    rowsKnown: true,
    unrecoverable: httpUnrecoverable,
  }
}

/** `vegeta encode`: a hit a line, latency in ns, the time as text with nanoseconds. */
export const vegetaHits: Importer = {
  format: 'vegeta-hits',
  tool: 'vegeta',
  detects: ({ roots }) => {
    const first = asRecord(roots[0])
    return first !== null && 'latency' in first && 'timestamp' in first && ('code' in first || 'seq' in first)
  },
  begin(file): ImportSession {
    const hits: Hit[] = []
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
      end: () => [hitsRun(hits, { format: 'vegeta-hits', tool: 'vegeta', file })],
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
  begin(file): ImportSession {
    const hits: Hit[] = []
    let last: { time: string; index: number } | null = null
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
          hits.push({
            sentAtMs: endMs === null ? null : endMs - number,
            latencyMs: number,
            firstByteMs: null,
            status: textOf(tags['status']) ?? null,
            error,
          })
          last = { time, index: hits.length - 1 }
        } else if (metric === 'http_req_waiting' && last !== null && last.time === time) {
          hits[last.index] = { ...(hits[last.index] as Hit), firstByteMs: number }
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
      end: () => [hitsRun(hits, { format: 'k6-points', tool: 'k6', file })],
    }
  },
}
