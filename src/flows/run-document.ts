import { lateLimitMs } from '../judge/late-sends.ts'
import { onlyNew, traps } from '../judge/trap-run.ts'
import { runWarnings } from '../judge/run-warnings.ts'
import { serverWarnings } from '../judge/server-warnings.ts'
import { judgeValidity } from '../judge/validity.ts'
import { steadiness } from '../judge/steadiness.ts'
import type { Verdict } from '../judge/verdict.ts'
import type { ClientHealth } from '../measure/load/client-health.ts'
import type { Pacer } from '../measure/load/pacer.ts'
import { warmHitRate } from '../measure/metrics/cache-use.ts'
import { gapLimitWarning } from '../measure/metrics/decide-objective.ts'
import type { RunEnds } from '../measure/metrics/lengthening.ts'
import {
  commonestMessages,
  isCancelled,
  isInWindow,
  wholeWindow,
  type RunWindow,
} from '../measure/metrics/run-window.ts'
import { serverUse } from '../measure/metrics/server-use.ts'
import type { Counts } from '../measure/metrics/run-summary.ts'
import { summarize } from '../measure/metrics/summarize.ts'
import type { RunManifest } from '../measure/record/manifest.ts'
import type { ServerSample } from '../measure/record/server-samples.ts'
import type { RequestRow } from '../measure/record/request-row.ts'
import { rowValues } from '../measure/record/row-values.ts'
import type { Rows } from '../measure/record/rows.ts'
import type { RowsLost } from '../measure/record/rows-lost.ts'
import { percentile, sortAscending, type PercentileType } from '../stats/percentile.ts'
import type { RepeatFlags, RunDocument, WindowFacts, WorkedRequest } from '../report/documents.ts'
import {
  decideObjectives,
  goodputObjective,
  objectiveOutcomes,
  type JudgedObjective,
} from './judged-objectives.ts'
import { pacerFlags } from './options/pacer-flags.ts'
import { repeatFlags } from './options/repeat-flags.ts'
import { sharesBeginnings } from './options/resolve-workload.ts'
import type { RunConfig } from './options/run-config.ts'
import { importedDocument } from './imported-document.ts'
import { loadFacts, replicaCounts, serverFactsFrom, tagsOf, targetFacts } from './run-facts.ts'

/** A run as it was recorded, live a moment ago or read from its folder. */
export interface RecordedRun {
  readonly path: string
  readonly manifest: RunManifest
  /** In order of intended send. */
  readonly rows: Rows
  /** What the server's own metrics said meanwhile; empty where nobody looked. */
  readonly server: readonly ServerSample[]
  readonly complete: boolean
  /** Requests that had been sent when that was last said; null or absent where the rows say it all. */
  readonly sent?: number | null
  /** The rows that should be there and are not; null or absent where none is. */
  readonly rowsLost?: RowsLost | null
  /** Whether the rows are not those that were written. */
  readonly rowsAltered?: boolean
  /** What is missing, in sentences. */
  readonly missing: readonly string[]
}

export interface DocumentOptions {
  readonly objectives: readonly JudgedObjective[]
  readonly percentiles?: readonly string[]
  readonly percentileType?: PercentileType
  /** Cut the warm-up where the steady-state test finds its end. */
  readonly detectWarmup?: boolean
  readonly warmCacheAsked?: boolean
  readonly connectionLimit?: number | null
}

/** How a run is judged, from the config that it was run with. */
export function documentOptions(config: RunConfig, objectives: readonly JudgedObjective[]): DocumentOptions {
  return {
    objectives,
    percentiles: config.percentiles,
    percentileType: config.percentileType,
    detectWarmup: config.warmup.kind === 'detect',
    warmCacheAsked: config.warmPrefix || sharesBeginnings(config.workload),
    connectionLimit: config.maxConnections,
  }
}

/**
 * The document of a run: a pure function of its manifest and rows (law 9), so that `show` prints what `run` printed, also for a
 * run that was killed.
 */
export function runDocument(run: RecordedRun, options: DocumentOptions): RunDocument {
  const { manifest, rows } = run
  const given = windowOf(manifest, rows)
  const settled = steadiness(rows, given)
  const window: RunWindow =
    options.detectWarmup === true ? { ...given, startMs: given.startMs + settled.cutMs } : given
  const leadTokens = leadTokensOf(manifest)
  const summary = summarize(rows, {
    window,
    leadTokens,
    ends: endsOf(manifest),
    objective: goodputObjective(options.objectives),
    ...(options.percentiles === undefined ? {} : { percentiles: options.percentiles }),
    ...(options.percentileType === undefined ? {} : { percentileType: options.percentileType }),
  })
  const inWindow = rows.filter((row) => isInWindow(row, window))
  const decisions = decideObjectives(inWindow, options.objectives)
  const client = manifest.client ?? healthFromRows(rows)
  const medianTtftMs = summary.metrics.ttft_ms?.p50 ?? null
  const limitMs = lateLimitMs(medianTtftMs)
  const counts = countsOf(run, summary.counts)
  const verdict: Verdict = judgeValidity({
    counts: { ...summary.counts, sent: counts.sent },
    dueRequests: summary.counts.planned - rows.filter((row) => wasNotDue(row, manifest.pacer)).length,
    lateRequests: rows.filter((row) => row.lag_ms !== null && row.lag_ms > limitMs).length,
    lateLimitMs: limitMs,
    health: client,
    windowMs: window.endMs - window.startMs,
    stoppedEarly: manifest.stopped?.kind === 'early' ? manifest.stopped.why : null,
    rowsLost: run.rowsLost ?? null,
    rowsAltered: run.rowsAltered ?? false,
    clientLost: manifest.client === null && !run.complete,
    steadyState: options.detectWarmup === true && settled.kind === 'warmup' ? 'flat' : settled.kind,
    cacheHitRate: warmHitRate(inWindow, leadTokens, serverFactsFrom(manifest.server).prefixHitRate),
    warmCacheAsked: options.warmCacheAsked ?? false,
    little: summary.little,
  })
  const limits = options.objectives.flatMap(({ objective }) => objective.run)
  const gapLimit = gapLimitWarning(
    inWindow.filter((row) => !isCancelled(row)),
    limits,
  )
  // Embeddings have no output tokens: none is counted, which is not zero of them.
  const hasOutput = manifest.target?.api !== 'embeddings'
  const said = [
    ...manifest.warnings,
    ...runWarnings({
      rows,
      window,
      pacer: manifest.pacer,
      client,
      embedded: serverFactsFrom(manifest.server).embedded,
      medianTtftMs,
    }),
    ...serverWarnings(run.server, window, rows),
    ...(gapLimit === null ? [] : [gapLimit]),
    ...summary.warnings.filter(({ kind }) => hasOutput || kind !== 'tokens_not_from_server'),
  ]
  const warnings = [...said, ...onlyNew(traps(rows, manifest), said)]
  const document: RunDocument = {
    schema: 'plimsoll.run/1',
    plimsoll: manifest.versions.plimsoll,
    run: run.path,
    name: manifest.name,
    complete: run.complete,
    stopped: stoppedFacts(run),
    clock: manifest.clock,
    seed: manifest.seed,
    salt: manifest.salt,
    tags: tagsOf(manifest.config),
    target: targetFacts(manifest.target, serverFactsFrom(manifest.server), replicaCounts(rows)),
    load: loadFacts(manifest.pacer, options.connectionLimit ?? null, manifest.source?.tool ?? null),
    ...(manifest.source === undefined ? { repeat: repeatOf(manifest) } : {}),
    workload: typeof manifest.workload?.['text'] === 'string' ? manifest.workload['text'] : 'unknown',
    window: windowFacts(manifest, window, options.detectWarmup === true && settled.cutMs > 0),
    verdict,
    counts,
    window_counts: summary.window_counts,
    metrics: summary.metrics,
    weighting: summary.weighting,
    throughput: hasOutput ? summary.throughput : { ...summary.throughput, output_tokens_per_s: null },
    goodput: summary.goodput,
    objectives: objectiveOutcomes(decisions),
    stutter: summary.stutter,
    little: summary.little,
    errors: summary.errors,
    error_messages: commonestMessages(rows),
    tokens_source: summary.tokens_source,
    cache: summary.cache,
    server: serverUse(run.server, window),
    client,
    worked: workedRequest(inWindow),
    warnings,
  }
  return manifest.source === undefined
    ? document
    : importedDocument(document, manifest.source, manifest.window, rows)
}

/** A run that was killed has rows only of what had ended; the rest of its plan is lost, and said to be. */
function countsOf({ manifest, rows, complete, sent = null }: RecordedRun, counts: Counts): Counts {
  if (complete) return counts
  const underWay = Math.max(0, (sent ?? 0) - counts.sent)
  const lost = Math.max(underWay, (manifest.planned ?? 0) - rows.length)
  if (lost === 0) return counts
  return {
    ...counts,
    planned: counts.planned + lost,
    sent: counts.sent + underWay,
    lost,
    ...(sent === null ? {} : { lost_under_way: underWay }),
  }
}

function endsOf({ window, config }: RunManifest): RunEnds {
  return { count: typeof config['count'] === 'number', duration: window?.how === 'given' }
}

/** What the chat template puts in front of every prompt, tokens; 0 where it is not known. */
function leadTokensOf(manifest: RunManifest): number {
  const lead = manifest.workload?.['lead_tokens']
  return typeof lead === 'number' ? lead : 0
}

function windowOf(manifest: RunManifest, rows: Rows): RunWindow {
  if (manifest.window !== null) return { startMs: manifest.window.start_ms, endMs: manifest.window.end_ms }
  return wholeWindow(rows) ?? { startMs: 0, endMs: 0 }
}

function windowFacts(manifest: RunManifest, window: RunWindow, detected: boolean): WindowFacts {
  const asked = manifest.window
  const cutS = asked === null ? 0 : (window.startMs - asked.start_ms) / 1000
  return {
    warmup_s: (asked?.warmup_s ?? 0) + cutS,
    measure_s: (window.endMs - window.startMs) / 1000,
    drain_s: asked?.drain_s ?? 0,
    start_ms: window.startMs,
    end_ms: window.endMs,
    how: detected ? 'detected' : (asked?.how ?? 'count'),
  }
}

/** Requests that were never meant to be sent: after a stop by hand or early, or behind the end of a closed loop's window. */
function wasNotDue(row: RequestRow, pacer: Pacer | null): boolean {
  if (row.outcome !== 'unsent') return false
  // A turn of a session whose last answer came too late, or never.
  if (row.planned_ms === null && row.turn !== null) return true
  if (row.error_code === 'interrupted' || row.error_code === 'stopped_early') return true
  return row.error_code === 'window_ended' && pacer?.kind === 'concurrency'
}

function stoppedFacts({ manifest, complete, missing }: RecordedRun): RunDocument['stopped'] {
  return manifest.stopped ?? (complete ? null : { kind: 'killed', why: missing.join('; ') })
}

/** The request whose TPOT is the median, to show the formula on. */
function workedRequest(rows: Rows): WorkedRequest | null {
  const median = percentile(sortAscending(rowValues(rows, (each) => each.tpot_ms)), '50')
  const row = median === null ? undefined : rows.find((each) => each.tpot_ms === median)
  if (row === undefined || row.ttft_ms === null || row.e2e_ms === null || row.completion_tokens === null)
    return null
  return {
    id: row.id,
    ttft_ms: row.ttft_ms,
    e2e_ms: row.e2e_ms,
    completion_tokens: row.completion_tokens,
    tpot_ms: row.tpot_ms ?? 0,
  }
}

/** What can still be said of the client where its own record is missing: the lag of its sends. */
function healthFromRows(rows: Rows): ClientHealth {
  const lags = sortAscending(rowValues(rows, (row) => row.lag_ms))
  const none = { p50: null, p99: null, max: null }
  return {
    lag_ms: { p50: percentile(lags, '50'), p99: percentile(lags, '99'), max: lags.at(-1) ?? null },
    loop_delay_ms: none,
    cpu: { worker_max: null, workers: [], process: null, machine: null },
    workers: 0,
    own_error_ms: { p50: null, p99: null },
    capacity_events_per_s: null,
    events: rows.reduce((sum, row) => sum + row.n_output_chunks, 0),
    same_machine: false,
  }
}

/** The flags that ask for the same run again. */
function repeatOf({ config, pacer }: RunManifest): RepeatFlags | null {
  const asked = config as unknown as Partial<RunConfig>
  const repeat = repeatFlags(asked)
  if (repeat === null) return null
  return { ...repeat, load: pacer === null ? null : pacerFlags(pacer, asked.workload?.kind ?? '') }
}
