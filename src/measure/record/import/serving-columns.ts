import { formatCount } from '../../../base/units.ts'
import type { Warning } from '../../../base/warnings.ts'
import { note } from './import-notes.ts'
import { OddValues } from './odd-values.ts'
import type { NumberLists } from '../number-lists.ts'
import type { Rows } from '../rows.ts'
import { rowStore, type RowStoreOptions } from '../row-store.ts'
import { requestId } from '../request-id.ts'
import type { RunLoss } from './file-break.ts'
import { failure, importedRow } from './imported-row.ts'
import { asList, countOf, numberOf, numbersOf, textOf, type JsonRecord } from './json-value.ts'

/** The rows of vLLM's and SGLang's `ttfts`, `itls`, `errors`, … : one list a column, in seconds. */
export interface ColumnRows {
  readonly rows: Rows
  readonly startsKnown: boolean
  /** Successful requests whose TTFT is exactly 0: not measured. */
  readonly zeroTtft: number
  /** Whether success had to be guessed from output lengths, since `errors` is not there. */
  readonly guessed: boolean
  readonly gapsKnown: boolean
  /** Values that cannot be as they are. */
  readonly notes: readonly Warning[]
}

/**
 * Success is `errors[i] == ""`: there is no other mark. E2E is `latencies[i]` where the client wrote it (the Rust one), else
 * TTFT + Σ ITL. `gaps` are its `itls`, ms, read one by one. `queue_times[i]` is the wait for a free slot before the send and belongs to the latency from the intended send.
 */
export function columnRows(root: JsonRecord, gaps: NumberLists, options: RowStoreOptions): ColumnRows {
  const ttfts = asList(root['ttfts'])
  const outputLens = asList(root['output_lens'])
  const inputLens = asList(root['input_lens'])
  const errors = asList(root['errors'])
  const starts = numbersOf(root['start_times'])
  const latencies = asList(root['latencies'])
  const queues = asList(root['queue_times'])
  const cached = asList(root['cached_tokens'])
  const n = Math.max(ttfts?.length ?? 0, outputLens?.length ?? 0, errors?.length ?? 0)
  const allStarts = starts !== null && starts.length >= n && n > 0
  const origin = allStarts
    ? starts.reduce(
        (least, one, i) => Math.min(least, one - (numberOf(queues?.[i]) ?? 0)),
        Number.POSITIVE_INFINITY,
      )
    : 0
  const odd = new OddValues()
  const rows = rowStore(options)
  let zeroTtft = 0
  for (let i = 0; i < n; i++) {
    const error = errors?.[i]
    const output = odd.count('output_lens', outputLens?.[i], `output_lens[${i}]`)
    const ok = errors !== null && error !== undefined ? error === '' || error === null : (output ?? 0) > 0
    const queueMs = (numberOf(queues?.[i]) ?? 0) * 1000
    const sentMs = allStarts ? ((starts[i] ?? 0) - origin) * 1000 : null
    const plannedMs = sentMs === null ? 0 : sentMs - queueMs
    const base = {
      id: requestId(i),
      plannedMs,
      sentMs,
      lagMs: queues === null ? null : queueMs,
      promptTokens: odd.count('input_lens', inputLens?.[i], `input_lens[${i}]`),
      cachedTokens: countOf(cached?.[i]),
    }
    if (!ok) {
      rows.push(importedRow({ ...base, ...failure(null, textOf(error)) }))
      continue
    }
    const ttft = odd.amount('ttfts', ttfts?.[i], `ttfts[${i}]`)
    if (ttft === 0) zeroTtft++
    const ttftMs = ttft === null || ttft <= 0 ? null : ttft * 1000 + queueMs
    const gapsMs = gaps.at(i)
    const whole = odd.amount('latencies', latencies?.[i], `latencies[${i}]`)
    const summed = ttftMs === null || gapsMs === null ? null : gapsMs.reduce((sum, gap) => sum + gap, ttftMs)
    const e2eMs = whole !== null && whole > 0 ? whole * 1000 + queueMs : summed
    rows.push(
      importedRow({
        ...base,
        outcome: 'ok',
        ttftMs,
        e2eMs,
        // The last message is the end that this client knows.
        doneMs: e2eMs,
        gapsMs,
        completionTokens: output,
        tokensSource: 'server',
      }),
    )
  }
  return {
    rows: rows.rows(),
    startsKnown: allStarts,
    zeroTtft,
    guessed: errors === null && n > 0,
    gapsKnown: asList(root['itls']) !== null,
    notes: odd.notes(),
  }
}

/** Lists that are there and do not have an entry for each request. */
export function unevenNotes(root: JsonRecord, gaps: NumberLists, n: number): readonly Warning[] {
  return [...always, ...sometimes].flatMap((name) => {
    const list = asList(root[name])
    const length = list === null ? n : name === 'itls' ? gaps.length : list.length
    if (length === n || (list !== null && list.length === 0 && name !== 'itls')) return []
    return [
      note(
        'unrecoverable',
        `${name} has ${formatCount(length)} entries for ${formatCount(n)} requests: those from no. ${formatCount(Math.min(length, n) + 1)} on have none`,
        'lists of one file that do not belong together, or a file that was edited: figures may stand beside the wrong request',
        { field: name, entries: length, requests: n },
      ),
    ]
  })
}

/** Lists that a file with its requests always has, in the order in which they are written. */
const always = ['input_lens', 'output_lens', 'ttfts', 'itls', 'errors'] as const
const sometimes = ['start_times', 'latencies', 'queue_times', 'cached_tokens'] as const

/** What is missing of a file that breaks off: lists that end early, and lists that never came. */
export function servingLoss(root: JsonRecord, rows: number, gaps: number): RunLoss {
  const lengths = [...always, ...sometimes].map((name) => {
    const length = name in root ? (name === 'itls' ? gaps : (asList(root[name])?.length ?? 0)) : null
    return { name, length }
  })
  const short = lengths.filter(({ length }) => length !== null && length < rows)
  const begun = lengths.some(({ length }) => length !== null)
  const absent = begun ? always.filter((name) => !(name in root)) : []
  return {
    whole: Math.min(rows, ...short.map(({ length }) => length ?? 0)),
    planned: countOf(root['num_prompts']) ?? rows,
    missing: [
      ...short.map(({ name, length }) => `${name} of ${formatCount(rows - (length ?? 0))} requests`),
      ...absent.map((name) => `${name} of all`),
    ],
  }
}
