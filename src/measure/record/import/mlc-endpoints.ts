import { noun } from '../../../base/noun.ts'
import type { RequestRow } from '../request-row.ts'
import { noFacts, type ImportedRun, type Published, type ToolFormulas } from './imported-run.ts'
import { note } from './import-notes.ts'
import type { Importer } from './importer.ts'
import { countedRows, failure, importedRow } from './imported-row.ts'
import {
  asRecord,
  countOf,
  member,
  nsBetweenMs,
  numberOf,
  textOf,
  wholeOf,
  type JsonRecord,
} from './json-value.ts'
import { publish, publishAll } from './published.ts'

const formulas: ToolFormulas = {
  ttft: 'first chunk − issue, both in the main process: its own transport is inside',
  tpot: '(complete − first chunk) ÷ tokens after the first chunk',
  gaps: 'between chunks, where every chunk was kept',
  e2e: 'to the end of the request',
  percentiles: 'empirical, with a conservative early-stopping estimate beside',
  rate: 'completed ÷ duration, and (completed − 1) ÷ window',
}

interface Events {
  readonly id: string
  issuedNs: bigint | null
  readonly chunksNs: bigint[]
  completeNs: bigint | null
  error: string | null
  finish: string | null
  conversation: string | null
  turn: number | null
  tokens: number | null
}

/** MLCommons endpoints' `events.jsonl`: an event a line with exact nanoseconds, put together again to requests. */
export const mlcEvents: Importer = {
  format: 'mlc-events',
  tool: 'MLCommons endpoints',
  detects: ({ roots }) =>
    textOf(member(roots[0], 'event_type')) !== null && member(roots[0], 'timestamp_ns') !== undefined,
  begin(file) {
    const requests = new Map<string, Events>()
    let chunksKept = false
    return {
      plan: null,
      root(value, _place, cut) {
        const record = asRecord(value)
        const id = textOf(record?.['sample_uuid'])
        if (record === null || id === null || cut !== null) return
        const found = requests.get(id) ?? {
          id,
          issuedNs: null,
          chunksNs: [],
          completeNs: null,
          error: null,
          finish: null,
          conversation: null,
          turn: null,
          tokens: null,
        }
        requests.set(id, found)
        if (textOf(record['event_type']) === 'sample.recv_non_first') chunksKept = true
        takeEvent(found, record)
      },
      end: () => [eventsRun(file, [...requests.values()], chunksKept)],
    }
  },
}

function takeEvent(request: Events, record: JsonRecord): void {
  const atNs = wholeOf(record['timestamp_ns'])
  const type = textOf(record['event_type']) ?? ''
  request.conversation ??= textOf(record['conversation_id'])
  request.turn ??= countOf(record['turn'])
  if (type === 'sample.issued') request.issuedNs ??= atNs
  else if ((type === 'sample.recv_first' || type === 'sample.recv_non_first') && atNs !== null)
    request.chunksNs.push(atNs)
  else if (type === 'sample.complete') {
    request.completeNs ??= atNs
    request.finish ??= textOf(record['finish_reason'])
    request.tokens ??= countOf(record['output_tokens']) ?? countOf(record['completion_tokens'])
  } else if (type.startsWith('error')) {
    request.error ??= textOf(record['message']) ?? textOf(record['error']) ?? type
    request.completeNs ??= atNs
  }
}

function eventsRun(file: string, requests: readonly Events[], chunksKept: boolean): ImportedRun {
  const issued = requests.map(({ issuedNs }) => issuedNs).filter((one) => one !== null)
  const origin =
    issued.reduce<bigint | null>((least, one) => (least === null || one < least ? one : least), null) ?? 0n
  const tokensKnown = requests.some(({ tokens }) => tokens !== null)
  const rows = requests.map((request): RequestRow => {
    const { issuedNs, completeNs } = request
    const chunks = [...request.chunksNs].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
    const since = (atNs: bigint | null | undefined): number | null =>
      atNs === null || atNs === undefined || issuedNs === null ? null : nsBetweenMs(issuedNs, atNs)
    const failed = request.error !== null
    const outcome = failed
      ? failure(null, request.error)
      : { outcome: completeNs === null ? ('censored' as const) : ('ok' as const) }
    return importedRow({
      id: request.id,
      plannedMs: issuedNs === null ? 0 : nsBetweenMs(origin, issuedNs),
      sentMs: issuedNs === null ? null : nsBetweenMs(origin, issuedNs),
      ...outcome,
      ttftMs: since(chunks[0]),
      e2eMs: chunksKept ? since(chunks.at(-1)) : since(completeNs),
      doneMs: since(completeNs),
      gapsMs:
        chunksKept && chunks.length > 0
          ? chunks.slice(1).map((atNs, at) => nsBetweenMs(chunks[at] as bigint, atNs))
          : null,
      completionTokens: request.tokens ?? (chunksKept ? chunks.length : null),
      tokensSource: request.tokens === null ? 'events' : 'server',
      finishReason: request.finish,
      session: request.conversation,
      turn: request.turn,
      flags: chunks.length === 0 && !failed && completeNs !== null ? ['not_streamed'] : [],
    })
  })
  const unissued = requests.length - issued.length
  return {
    ...noFacts,
    format: 'mlc-events',
    tool: 'MLCommons endpoints',
    file,
    formulas,
    rows,
    startsKnown: unissued === 0 && requests.length > 0,
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

/** Its `result_summary.json`, in ns. */
export const mlcSummary: Importer = {
  format: 'mlc-summary',
  tool: 'MLCommons endpoints',
  detects: ({ roots }) => member(roots[0], 'n_samples_issued') !== undefined,
  begin(file) {
    let root: JsonRecord = {}
    return {
      plan: null,
      root: (value) => void (root = asRecord(value) ?? root),
      end() {
        const ok = countOf(root['n_samples_completed']) ?? 0
        const failed = countOf(root['n_samples_failed']) ?? 0
        const issued = countOf(root['n_samples_issued']) ?? ok + failed
        const scale = 1e-6
        const published: Published[] = (
          [
            ['ttft', 'ttft_ms'],
            ['tpot', 'tpot_ms'],
            ['latency', 'e2e_ms'],
          ] as const
        ).flatMap(([name, metric]) => [
          ...publishAll(name, asRecord(root[name]), metric, { scale, ok }),
          ...publishAll(`${name}.percentiles`, asRecord(member(root[name], 'percentiles')), metric, {
            scale,
            ok,
          }),
        ])
        if ('qps' in root)
          published.push(publish('qps', root['qps'], 'requests_per_s', 'rate', { unit: 'req/s' }))
        if ('tps' in root)
          published.push(publish('tps', root['tps'], 'output_tokens_per_s', 'rate', { unit: 'tok/s' }))
        const durationNs = numberOf(root['duration_ns'])
        return [
          {
            ...noFacts,
            format: 'mlc-summary' as const,
            tool: 'MLCommons endpoints',
            file,
            formulas,
            rows: countedRows({ ok, failed, cancelled: Math.max(0, issued - ok - failed) }),
            durationMs: durationNs === null ? null : durationNs / 1e6,
            startsKnown: false,
            rowsKnown: false,
            published,
            facts: { state: textOf(root['state']), version: textOf(root['version']) },
            unrecoverable: [
              {
                figure: 'every distribution',
                why: 'the file has only summaries: give the events.jsonl beside it too',
              },
            ],
          },
        ]
      },
    }
  },
}
