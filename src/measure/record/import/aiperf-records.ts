import { noun } from '../../../base/noun.ts'
import type { RequestRow } from '../request-row.ts'
import type { Rows } from '../rows.ts'
import { rowStore, type RowStore, type RowStoreOptions } from '../row-store.ts'
import type { Warning } from '../../../base/warnings.ts'
import { pickMetrics, type DoubledChoice } from './aiperf-doubled.ts'
import { noFacts, type ImportedRun, type ToolFormulas } from './imported-run.ts'
import { numberCells, type NumberCells } from '../number-cells.ts'
import { countDoubled, doubledCount, note, type DoubledCount } from './import-notes.ts'
import type { Importer, ImportSession } from './importer.ts'
import { requestId } from '../request-id.ts'
import { failure, fromEarliest, importedRow } from './imported-row.ts'
import type { JsonPlace } from './json-stream.ts'
import {
  asRecord,
  countOf,
  member,
  nsBetweenMs,
  numberOf,
  numbersOf,
  textOf,
  wholeOf,
  type JsonRecord,
} from './json-value.ts'
import { msPerUnit } from './published.ts'

export const aiperfFormulas: ToolFormulas = {
  ttft: 'first non-empty content or reasoning; from the start of the request',
  tpot: 'inter_token_latency: (request_latency − TTFT) ÷ (OSL − 1), a figure a request',
  gaps: 'inter_chunk_latency: gaps between chunks',
  e2e: 'to the last content response',
  percentiles: 'linear between ranks (numpy), std of a population',
  rate: 'over first start to last end of valid records, by the wall clock',
}

/** AIPerf's `profile_export.jsonl`: a record a line, times in ns since 1970, each metric with its unit. */
export const aiperfRecords: Importer = {
  format: 'aiperf-records',
  tool: 'AIPerf',
  detects: ({ roots }) => {
    const metadata = member(roots[0], 'metadata')
    return (
      asRecord(metadata) !== null &&
      asRecord(member(roots[0], 'metrics')) !== null &&
      ('request_start_ns' in (metadata as JsonRecord) || 'benchmark_phase' in (metadata as JsonRecord))
    )
  },
  begin,
}

/** What the tool itself counted and computed, row by row. */
interface OwnCounts {
  readonly tokens: NumberCells
  readonly tpotMs: NumberCells
}

/** Doubled keys and records that were refused, counted: neither is kept, for every record may have one. */
interface Doubts {
  readonly doubled: DoubledCount
  /** Of the first doubled key, which value was taken. */
  firstChoice: string | null
  refused: number
  readonly refusedPlaces: string[]
}

function begin(file: string, options: RowStoreOptions): ImportSession {
  const rows = rowStore(options)
  const own: OwnCounts = { tokens: numberCells(Number.NaN), tpotMs: numberCells(Number.NaN) }
  let baseNs: bigint | null = null
  const doubts: Doubts = { doubled: doubledCount(), firstChoice: null, refused: 0, refusedPlaces: [] }
  const unknownUnits = new Set<string>()
  return {
    plan: { members: { trace_data: { skip: true } } },
    root(value, place, cut) {
      const record = asRecord(value)
      if (record === null || cut !== null) return
      baseNs ??= startOf(record)
      const read = readRecord(record, place, rows.length, unknownUnits, baseNs)
      if (read.choice !== null) {
        countDoubled(doubts.doubled, [read.choice])
        doubts.firstChoice ??= read.choice.text
      }
      if (read.row === null) {
        doubts.refused++
        if (doubts.refusedPlaces.length < 3) doubts.refusedPlaces.push(`${file}:${place.line}`)
      } else {
        own.tokens.set(rows.length, read.ownTokens ?? Number.NaN)
        own.tpotMs.set(rows.length, read.ownTpotMs ?? Number.NaN)
        rows.push(read.row)
      }
    },
    end: () => [finish(file, rows, own, baseNs, doubts, unknownUnits)],
  }
}

function finish(
  file: string,
  read: RowStore,
  own: OwnCounts,
  baseNs: bigint | null,
  { doubled, firstChoice, refused, refusedPlaces }: Readonly<Doubts>,
  unknownUnits: ReadonlySet<string>,
): ImportedRun {
  const { rows, earliestMs } = fromEarliest(read)
  const keys = [...doubled.keys]
  const warnings: Warning[] = []
  const { first } = doubled
  if (first !== null) {
    const more = doubled.count > 1 ? ` (and ${doubled.count - 1} more)` : ''
    warnings.push(
      note(
        'number_disagrees',
        `${file}:${first.line}:${first.column} has ${keys.map((key) => `"${key}"`).join(', ')} twice in one record${more}: ${firstChoice}`,
        'a metric was written twice; JSON readers keep the last without a word',
        { keys: keys.join(','), records: doubled.count },
      ),
    )
  }
  if (refused > 0) {
    warnings.push(
      note(
        'unrecoverable',
        `${refused} ${noun(refused, 'record was', 'records were')} refused: a doubled key whose values cannot be told apart (${refusedPlaces.join(', ')})`,
        null,
        { records: refused },
      ),
    )
  }
  for (const unit of unknownUnits)
    warnings.push(
      note(
        'unrecoverable',
        `a metric has the unit "${unit}", which is no unit of time known here: its values were left out`,
      ),
    )
  const counted = countsNote(rows, own)
  if (counted !== null) warnings.push(counted)
  const hasPlan = rows.some((row) => row.lag_ms !== null)
  return {
    ...noFacts,
    format: 'aiperf-records',
    tool: 'AIPerf',
    file,
    formulas: aiperfFormulas,
    rows,
    originWallMs: baseNs === null ? null : Number(baseNs / 1_000_000n) + earliestMs,
    startsKnown: rows.length > 0 && rows.every((row) => row.sent_ms !== null),
    rowsKnown: true,
    toolTpotMs: (at) => known(own.tpotMs.get(at)),
    toolOutputTokens: rows.reduce(
      (sum, row, at) => sum + (row.ok && row.phase === 'measure' ? (known(own.tokens.get(at)) ?? 0) : 0),
      0,
    ),
    facts: {
      warmup_requests: rows.filter((row) => row.phase === 'warmup').length,
      cancelled: rows.filter((row) => row.flags.includes('cancelled_by_client')).length,
      refused_records: refused,
      duplicate_keys: keys,
    },
    unrecoverable: hasPlan
      ? []
      : [
          {
            figure: 'lag_ms',
            why: 'the intended sends are not in the file (credit_issued_ns is newer): latencies count from the actual send',
          },
        ],
    warnings,
  }
}

interface ReadRecord {
  readonly row: RequestRow | null
  readonly choice: DoubledChoice | null
  /** By the tool's own tokenizer. */
  readonly ownTokens: number | null
  readonly ownTpotMs: number | null
}

function readRecord(
  record: JsonRecord,
  place: JsonPlace,
  index: number,
  unknownUnits: Set<string>,
  baseNs: bigint | null,
): ReadRecord {
  const metadata = asRecord(record['metadata']) ?? {}
  const { metrics, choice } = pickMetrics(asRecord(record['metrics']) ?? {}, place.doubled)
  if (metrics === null) return { row: null, choice, ownTokens: null, ownTpotMs: null }
  const ms = (name: string): number | null => {
    const found = metrics[name]
    const unit = textOf(member(found, 'unit')) ?? 'ms'
    const value = numberOf(asRecord(found) === null ? found : member(found, 'value'))
    const factor = msPerUnit(unit)
    if (factor === null) unknownUnits.add(unit)
    return value === null || factor === null ? null : value * factor
  }
  const count = (name: string): number | null =>
    countOf(asRecord(metrics[name]) === null ? metrics[name] : member(metrics[name], 'value'))
  const startNs = wholeOf(metadata['request_start_ns'])
  const endNs = wholeOf(metadata['request_end_ns'])
  const creditNs = wholeOf(metadata['credit_issued_ns'])
  const planNs = creditNs !== null && startNs !== null && creditNs <= startNs ? creditNs : startNs
  const warmup = metadata['benchmark_phase'] === 'warmup'
  const error = asRecord(record['error'])
  const cancelled = metadata['was_cancelled'] === true
  const lagMs = planNs === null || startNs === null || creditNs === null ? null : nsBetweenMs(planNs, startNs)
  const late = (value: number | null): number | null => (value === null ? null : value + (lagMs ?? 0))
  const icl = member(metrics['inter_chunk_latency'], 'value')
  const iclFactor = msPerUnit(textOf(member(metrics['inter_chunk_latency'], 'unit')) ?? 'ms') ?? 1
  const gapsMs = numbersOf(icl, iclFactor)
  const outcome = cancelled
    ? {
        outcome: 'censored' as const,
        errorKind: 'cancelled',
        errorCode: errorCode(error),
        errorMessage: textOf(error?.['message']),
        flags: ['cancelled_by_client' as const],
      }
    : error === null
      ? { outcome: 'ok' as const }
      : failure(errorCode(error), textOf(error['message']))
  // The server's count decides; the tool counts the text with a tokenizer of its own.
  const usage = count('usage_completion_tokens')
  const ownTokens = count('output_sequence_length')
  const row = importedRow({
    id: textOf(metadata['x_request_id']) ?? requestId(index),
    plannedMs: planNs === null ? 0 : nsBetweenMs(baseNs ?? planNs, planNs),
    sentMs: startNs === null ? null : nsBetweenMs(baseNs ?? startNs, startNs),
    lagMs,
    phase: warmup ? 'warmup' : 'measure',
    ...outcome,
    errorType: textOf(error?.['type']),
    ttftMs: late(ms('time_to_first_token')),
    ttfcMs: late(ms('time_to_first_output_token')),
    e2eMs: late(ms('request_latency')),
    doneMs: startNs === null || endNs === null ? null : late(nsBetweenMs(startNs, endNs)),
    tpotMs: usage === null ? ms('inter_token_latency') : null,
    gapsMs,
    promptTokens: count('usage_prompt_tokens') ?? count('input_sequence_length') ?? count('error_isl'),
    cachedTokens: count('usage_prompt_cache_read_tokens'),
    completionTokens: usage ?? ownTokens,
    reasoningTokens: count('reasoning_token_count'),
    tokensSource: usage === null ? 'tokenizer' : 'server',
    session: textOf(metadata['conversation_id']),
    turn: countOf(metadata['turn_index']),
  })
  return { row, choice, ownTokens, ownTpotMs: ms('inter_token_latency') }
}

function known(value: number): number | null {
  return Number.isNaN(value) ? null : value
}

/** Its tokenizer's count beside the server's. */
function countsNote(rows: Rows, own: OwnCounts): Warning | null {
  let server = 0
  let tool = 0
  for (const [at, row] of rows.entries()) {
    const tokens = known(own.tokens.get(at))
    if (!row.ok || row.tokens_source !== 'server' || tokens === null) continue
    server += row.completion_tokens ?? 0
    tool += tokens
  }
  if (server === 0 || Math.abs(tool - server) <= 0.02 * server) return null
  return note(
    'token_count_disagrees',
    `output tokens: ${server} by the server, ${tool} by the tool's own tokenizer`,
    "figures per token are from the server's count here; the tool's are from its tokenizer",
    { server, tool },
  )
}

/** The clock's stand-in for zero while a file is read: the start of its first record. */
function startOf(record: JsonRecord): bigint | null {
  return wholeOf(member(record, 'metadata', 'request_start_ns'))
}

function errorCode(error: JsonRecord | null): string | null {
  const code = error?.['code']
  return typeof code === 'number' ? String(code) : textOf(code)
}
