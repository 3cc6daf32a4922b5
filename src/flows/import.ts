import { noun } from '../base/noun.ts'
import type { Warning } from '../base/warnings.ts'
import { comparePublished, type Comparison } from '../measure/record/import/compare-published.ts'
import { breakNote, breakText } from '../measure/record/import/file-break.ts'
import { importFile, type ImportedFile } from '../measure/record/import/import-file.ts'
import type { ImportedRun } from '../measure/record/import/imported-run.ts'
import { joinRuns } from '../measure/record/import/join-runs.ts'
import { mergedRate, type SendSpan } from '../measure/record/import/span-rates.ts'
import { startManifest, type ManifestWindow, type RunManifest } from '../measure/record/manifest.ts'
import { createRunFolder, finishRunFolder, inOrderOfIntent } from '../measure/record/run-folder.ts'
import type { RowStoreOptions } from '../measure/record/row-store.ts'
import type { ImportDocument, ImportedRunDocument, RunsTogether } from '../report/import-document.ts'
import type { FlowDeps } from './flow-deps.ts'
import { runDocument } from './run-document.ts'
import { summaryOf } from './summary-of.ts'

export interface ImportConfig {
  readonly files: readonly string[]
  readonly runsDir: string
  /** Where the gaps of many requests lie while they are worked with. */
  readonly rows: RowStoreOptions
  /** The folder of a single run; of several, the folder that holds theirs. */
  readonly out: string | null
  readonly name: string | null
  /** False: nothing is written. */
  readonly write: boolean
}

/** Reads other tools' result files, recomputes what they hold, and writes a run folder for each run in them. */
export async function importFlow(config: ImportConfig, deps: FlowDeps): Promise<ImportDocument> {
  const files: ImportedFile[] = []
  for (const file of config.files) files.push(await importFile(file, config.rows))
  const runs = joinRuns(files.flatMap((file) => file.runs.map((run) => withFileWarnings(run, file)))).map(
    withBreak,
  )
  const written: ImportedRunDocument[] = []
  for (const run of runs) written.push(await keepRun(run, runs.length > 1, config, deps))
  return {
    schema: 'plimsoll.import/1',
    plimsoll: deps.version,
    files: files.map(({ file, bytes, runs: found }) => ({ file, bytes, runs: found.length })),
    runs: written,
    together: together(runs),
    warnings: runs.length === 0 ? files.flatMap(({ warnings }) => warnings) : [],
  }
}

function withFileWarnings(run: ImportedRun, { warnings }: ImportedFile): ImportedRun {
  return { ...run, warnings: [...warnings, ...run.warnings, ...negativeTimes(run)] }
}

/** Latencies below 0, whichever tool wrote them: they stay as the file has them, and are named. */
function negativeTimes({ rows }: ImportedRun): readonly Warning[] {
  const names = ['ttfb_ms', 'ttft_ms', 'e2e_ms', 'done_ms'] as const
  const counts = new Map<(typeof names)[number], { count: number; readonly first: string }>()
  for (const row of rows) {
    for (const name of names) {
      const ms = row[name]
      if (ms === null || ms >= 0) continue
      const seen = counts.get(name)
      if (seen === undefined) counts.set(name, { count: 1, first: `request ${row.id}: ${plain(ms)} ms` })
      else seen.count++
    }
  }
  return [...counts].map(([name, { count, first }]) => ({
    kind: 'number_disagrees',
    message: `${count} ${noun(count, 'request has', 'requests have')} a ${name} below 0 (first ${first})`,
    cause: 'clocks of two machines, or a file that was edited',
    next: null,
    evidence: { field: name, requests: count },
  }))
}

/** A run of which a part is lost, with the finding. Its requests are not those of the tool's duration: no rate is taken over it. */
function withBreak(run: ImportedRun): ImportedRun {
  const { broken } = run
  return broken === undefined
    ? run
    : { ...run, durationMs: null, warnings: [breakNote(broken), ...run.warnings] }
}

async function keepRun(
  run: ImportedRun,
  several: boolean,
  config: ImportConfig,
  deps: FlowDeps,
): Promise<ImportedRunDocument> {
  const startedAt = new Date(deps.wallClock())
  const rows = inOrderOfIntent(run.rows)
  const name = config.name ?? toolName(run.tool)
  const labelled = run.label === null ? name : `${name}-${run.label}`
  const begun = manifestOf(run, several ? labelled : name, deps)
  const judged = { objectives: [] }
  const recorded = { path: '', manifest: begun, rows, server: [], complete: true, missing: [] }
  // The tool's own rates are held against those of this document.
  const first = runDocument(recorded, judged)
  const {
    requests_per_s: requestsPerS,
    output_tokens_per_s: outputTokensPerS,
    input_tokens_per_s: inputTokensPerS,
  } = first.throughput
  const published = comparePublished(run, {
    requestsPerS,
    outputTokensPerS,
    inputTokensPerS,
    durationMs: run.durationMs,
  })
  const differing = differences(published)
  const manifest = { ...begun, warnings: [...begun.warnings, ...differing] }
  const folder = config.write
    ? await createRunFolder(manifest, {
        parent: config.runsDir,
        startedAt,
        timers: { setTimeout, clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout) },
        ...(config.out === null ? {} : { path: several ? `${config.out}/${labelled}` : config.out }),
      })
    : null
  // As `show` will compute it: the manifest's own warnings come first.
  const own = begun.warnings.length
  const document = {
    ...first,
    run: folder?.path ?? '',
    warnings: [...first.warnings.slice(0, own), ...differing, ...first.warnings.slice(own)],
  }
  if (folder !== null) await finishRunFolder(folder, { ...manifest, summary: summaryOf(document) }, rows)
  return {
    folder: folder?.path ?? null,
    label: run.label,
    tool: run.tool,
    format: run.format,
    files: filesOf(run),
    run: document,
    published,
    unrecoverable: run.unrecoverable,
    facts: run.facts,
  }
}

function filesOf(run: ImportedRun): readonly string[] {
  const summary = run.facts['summary_file']
  return typeof summary === 'string' ? [run.file, summary] : [run.file]
}

function manifestOf(run: ImportedRun, name: string, deps: FlowDeps): RunManifest {
  return startManifest({
    name,
    versions: { plimsoll: deps.version, node: deps.machine.node },
    config: {},
    seed: 'unknown',
    salt: null,
    pacer: run.pacer,
    workload: { text: `as ${run.tool} asked it` },
    target: run.target,
    clock: {
      origin_monotonic_ns: 0,
      started_at: run.originWallMs === null ? null : new Date(run.originWallMs).toISOString(),
    },
    planned: run.rows.length,
    window: windowOf(run),
    warnings: [...run.warnings, ...missing(run)],
    source: {
      kind: 'import',
      tool: run.tool,
      format: run.format,
      files: filesOf(run),
      starts_known: run.startsKnown,
      rows_known: run.rowsKnown,
      published: run.published.map(({ why: _why, ...figure }) => figure),
      unrecoverable: run.unrecoverable,
      facts: run.facts,
      ...(run.broken === undefined ? {} : { broken: breakText(run.broken) }),
    },
  })
}

/** The window of the measured requests: over the tool's own duration where that holds them all, else from first send to last end. */
function windowOf(run: ImportedRun): ManifestWindow | null {
  let startMs = Number.POSITIVE_INFINITY
  let endMs = Number.NEGATIVE_INFINITY
  let firstMs = Number.POSITIVE_INFINITY
  for (const row of run.rows) {
    if (row.planned_ms === null) continue
    firstMs = Math.min(firstMs, row.planned_ms)
    if (row.phase !== 'measure') continue
    startMs = Math.min(startMs, row.planned_ms)
    endMs = Math.max(endMs, row.planned_ms + Math.max(0, row.done_ms ?? 0, row.e2e_ms ?? 0))
  }
  if (endMs < startMs) return null
  const { durationMs } = run
  if (!run.startsKnown && durationMs === null) return null
  const byDuration = durationMs === null ? null : startMs + durationMs
  // A millisecond for the clock that the tool took its duration with.
  const whole = byDuration !== null && byDuration + 1 >= endMs ? Math.max(byDuration, endMs) : endMs
  const end = whole + Math.max(Math.abs(whole), 1) * Number.EPSILON * 2
  return {
    warmup_s: Math.max(0, startMs - firstMs) / 1000,
    measure_s: (end - startMs) / 1000,
    drain_s: 0,
    start_ms: startMs,
    end_ms: end,
    how: 'count',
  }
}

/** What cannot be had, as one finding. */
function missing({ unrecoverable, rowsKnown, published }: ImportedRun): Warning[] {
  if (unrecoverable.length === 0) return []
  const figures = unrecoverable.map(({ figure }) => figure).join(', ')
  const told = rowsKnown
    ? []
    : published.filter(({ value, statistic }) => value !== null && /^(mean|50|99|rate)$/.test(statistic))
  const asPublished =
    told.length === 0
      ? ''
      : `; as published: ${told
          .slice(0, 8)
          .map(({ name, value, unit }) => `${name} ${plain(value)} ${unit}`)
          .join(', ')}`
  return [
    {
      kind: 'unrecoverable',
      message: `not in the file: ${figures}${asPublished}`,
      cause: [...new Set(unrecoverable.map(({ why }) => why))].join('; '),
      next: null,
      evidence: { figures },
    },
  ]
}

/** A finding for each way in which the tool's own figures differ. */
function differences(published: readonly Comparison[]): Warning[] {
  const groups = new Map<string, Comparison[]>()
  for (const one of published) {
    if (one.status !== 'differs') continue
    const why = one.why ?? ''
    groups.set(why, [...(groups.get(why) ?? []), one])
  }
  return [...groups].map(([why, [first, ...rest]]) => ({
    kind: 'number_disagrees',
    message: `${first?.name} is ${plain(first?.published)} ${first?.unit} in the file, ${plain(first?.ours)} from its own requests${rest.length === 0 ? '' : `, and ${rest.length} more ${noun(rest.length, 'figure')}`}`,
    cause: why,
    next: null,
    evidence: { figures: rest.length + 1, compared: true },
  }))
}

function plain(value: number | null | undefined): string {
  return value === null || value === undefined ? 'unknown' : String(Number(value.toPrecision(5)))
}

/** `vllm-bench-serve` */
function toolName(tool: string): string {
  return tool.toLowerCase().replace(/[^a-z0-9]+/g, '-')
}

/** The runs read together, where their sends lie on one clock. */
function together(runs: readonly ImportedRun[]): RunsTogether | null {
  const spans = runs.map(spanOf)
  const known = spans.filter((span) => span !== null)
  if (runs.length < 2 || known.length !== runs.length) return null
  const { each, merged, wholeSpan, idleMs } = mergedRate(known)
  return { each_per_s: each, per_s: merged, whole_span_per_s: wholeSpan, idle_gap_s: idleMs / 1000 }
}

function spanOf(run: ImportedRun): SendSpan | null {
  const first = run.facts['first_send_ms']
  const last = run.facts['last_send_ms']
  if (typeof first === 'number' && typeof last === 'number')
    return { n: run.rows.length, firstMs: first, lastMs: last }
  if (run.originWallMs === null || !run.startsKnown) return null
  const sends = run.rows.filter((row) => row.phase === 'measure' && row.sent_ms !== null)
  const { originWallMs } = run
  const [firstMs, lastMs] = sends.reduce<readonly [number, number]>(
    ([low, high], { sent_ms: sentMs }) => [Math.min(low, sentMs ?? low), Math.max(high, sentMs ?? high)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  )
  return sends.length === 0
    ? null
    : { n: sends.length, firstMs: originWallMs + firstMs, lastMs: originWallMs + lastMs }
}
