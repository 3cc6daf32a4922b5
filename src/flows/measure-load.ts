import { join } from 'node:path'
import type { Warning } from '../base/warnings.ts'
import { type ClientHealth, withErrorAfter } from '../measure/load/client-health.ts'
import { defaultEarlyStop } from '../measure/load/early-stop.ts'
import type { LoadInstrument } from '../measure/load/instrument.ts'
import type { LoadResult } from '../measure/load/load-options.ts'
import { prefixHitRate, type EngineFacts } from '../measure/load/metrics-scrape.ts'
import type { Pacer } from '../measure/load/pacer.ts'
import type { LoadProgress } from '../measure/load/progress.ts'
import { runLoad } from '../measure/load/run-load.ts'
import type { JsonObject, ManifestWindow, RunManifest } from '../measure/record/manifest.ts'
import { startManifest } from '../measure/record/manifest.ts'
import { isStreamed } from '../measure/wire/api.ts'
import { redact, redactUrl, rowWithoutSecrets } from '../measure/record/redact.ts'
import type { RequestRow } from '../measure/record/request-row.ts'
import type { Rows } from '../measure/record/rows.ts'
import { keptRows } from '../measure/record/kept-rows.ts'
import { takenNotice } from '../measure/record/fresh-folder.ts'
import { createRunFolder, finishRunFolder, inOrderOfIntent, runFiles } from '../measure/record/run-folder.ts'
import { makePlan, type Plan } from '../measure/workload/make-plan.ts'
import type { LoadedWorkload } from '../measure/workload/workload.ts'
import type { RunDocument } from '../report/documents.ts'
import type { FlowDeps } from './flow-deps.ts'
import type { LiveTarget } from './live-target.ts'
import { recordServer } from './scale-record.ts'
import { localHost } from './local-host.ts'
import type { RunConfig } from './options/run-config.ts'
import { runDocument, type DocumentOptions } from './run-document.ts'
import { describeWorkload, serverFactsJson } from './run-facts.ts'
import { stored } from './stored.ts'
import { summaryOf } from './summary-of.ts'

interface PlannedWindow {
  readonly warmupMs: number
  readonly measureMs: number | null
  readonly drainMs: number
}

/** One load to be measured against a target that is already open. */
export interface LoadToMeasure {
  readonly config: RunConfig
  readonly workload: LoadedWorkload
  readonly pacer: Pacer
  /** The length of the measurement, ms; null: the count ends it. */
  readonly measureMs: number | null
  readonly count: number | null
  readonly warmupMs: number
  readonly salt: string
  readonly name: string
  /** The run folder's exact path, or null: a new one in the config's `runsDir`. */
  readonly path: string | null
  readonly warnings: readonly Warning[]
  /** How the rows are judged. */
  readonly judged: DocumentOptions
  /** Ends the sending, as a Ctrl-C does, but says nothing of an interruption. */
  readonly decided?: AbortSignal
  readonly onRow?: (row: RequestRow) => void
  /** Sees the plan before anything is sent; throws to refuse it. */
  readonly approve?: (plan: Plan, window: PlannedWindow) => Promise<void>
}

export interface MeasuredLoad {
  readonly document: RunDocument
  /** As it is stored, without secrets. */
  readonly manifest: RunManifest
  /** In order of intended send. */
  readonly rows: Rows
}

/**
 * Plans, sends, journals and stores one load. The folder holds everything from the first moment: a process that is killed leaves
 * a journal that every verb reads.
 */
export async function measureLoad(
  load: LoadToMeasure,
  target: LiveTarget,
  instrument: LoadInstrument,
  deps: FlowDeps,
  onProgress: (progress: LoadProgress) => void,
): Promise<MeasuredLoad> {
  const { config } = load
  const plan = planOf(load, target)
  const window = { warmupMs: load.warmupMs, measureMs: load.measureMs, drainMs: config.drainMs }
  await load.approve?.(plan, window)
  const before = await target.metrics.scrape()
  const startedAt = new Date(deps.wallClock())
  const begun = startManifest(manifestStart(load, target, plan, startedAt, deps))
  const folder = await createRunFolder(begun, {
    parent: config.runsDir,
    startedAt,
    secrets: target.secrets,
    timers: { setTimeout, clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout) },
    ...(load.path === null ? {} : { path: load.path }),
  })
  const taken = takenNotice(load.path === config.out ? load.path : null, folder.path)
  if (taken !== null) deps.onNotice(taken, 'not-as-asked')
  deps.onFolder(folder.path)
  const kept = keptRows(join(folder.path, runFiles.journal), folder.journal)
  const stop = load.decided === undefined ? deps.signal : AbortSignal.any([deps.signal, load.decided])
  const recorder = recordServer(target.metrics, deps)
  const result = await recorder.during(
    runLoad(
      {
        target: target.load,
        plan,
        workers: config.workers,
        window,
        maxConnections: config.maxConnections,
        idPrefix: `${load.salt}-`,
        earlyStop: defaultEarlyStop,
        limits: {
          connectTimeoutMs: config.timeouts.connectMs,
          firstTokenTimeoutMs: config.timeouts.firstTokenMs,
          idleTimeoutMs: config.timeouts.idleMs,
          totalTimeoutMs: config.timeouts.totalMs,
        },
        keepText: config.keepText,
        streamAsked: isStreamed(config.api, config.stream),
        replicaHeader: config.replicaHeader,
      },
      {
        clock: deps.clock,
        host: localHost(deps.machine),
        signal: stop,
        instrument,
        onProgress(progress) {
          folder.journal.seen(progress.sent, progress.elapsedMs)
          onProgress(progress)
        },
        onStart(originMonotonicNs) {
          // A process that is killed leaves rows and looks on this clock.
          folder.journal.update(
            redact(
              {
                ...begun,
                clock: { ...begun.clock, origin_monotonic_ns: Number(originMonotonicNs) },
                window: plannedWindow(load, config.drainMs),
              },
              target.secrets,
            ),
          )
          recorder.keepIn(folder.path, originMonotonicNs)
        },
        onRow(told) {
          // Before anything is kept or shown.
          const row = rowWithoutSecrets(told, target.secrets)
          kept.append(row)
          load.onRow?.(row)
        },
      },
    ),
  )
  const server = await recorder.write(folder.path, result.originMonotonicNs)
  const stopped = stoppedBy(result, load.decided)
  const after = await target.metrics.scrape()
  // As it will be stored, so that what is printed now holds no secret that `show` would leave out.
  const said: RunManifest = {
    ...begun,
    clock: { ...begun.clock, origin_monotonic_ns: Number(result.originMonotonicNs) },
    planned: result.planned,
    window: windowOf(load, result, config.drainMs),
    client: await errorAfter(result, instrument),
    stopped,
    server: serverFactsJson({ ...target.server, prefixHitRate: hitRate(before, after) }),
    warnings: [...begun.warnings, ...plan.warnings, ...pinnedReplica(before, after)],
  }
  const manifest = redact(said, target.secrets)
  const ordered = inOrderOfIntent(await kept.all())
  const recorded = { path: folder.path, manifest, rows: ordered, server, complete: true, missing: [] }
  const document = runDocument(recorded, load.judged)
  const judged = { ...manifest, verdict: document.verdict, summary: summaryOf(document) }
  await stored(deps, () => finishRunFolder(folder, judged, ordered, target.secrets), judged)
  return { document, manifest: judged, rows: ordered }
}

/** Over all replicas, from the counters' growth. */
function hitRate(before: Scraped, after: Scraped): number | null {
  return prefixHitRate(
    after.flatMap((facts, i) => {
      const earlier = before[i] ?? null
      return facts === null || earlier === null ? [] : [{ before: earlier, after: facts }]
    }),
  )
}

/** Behind one address, kept-alive connections may all lead to one of several replicas: its counters alone grow. */
function pinnedReplica(before: Scraped, after: Scraped): readonly Warning[] {
  if (after.length < 2) return []
  const grown = after.map((facts, i) =>
    Math.max(0, (facts?.generationTokens ?? 0) - (before[i]?.generationTokens ?? 0)),
  )
  const total = grown.reduce((sum, tokens) => sum + tokens, 0)
  const most = Math.max(...grown)
  if (total === 0 || most < 0.9 * total) return []
  return [
    {
      kind: 'one_replica_pinned',
      message: `one of ${after.length} replicas made ${((100 * most) / total).toFixed(0)} % of the tokens`,
      cause: 'kept-alive connections stay with the replica that they were opened to',
      next: 'load through the balancer that production uses, or each replica by its own --url',
      evidence: { replicas: after.length, share: most / total },
    },
  ]
}

type Scraped = readonly (EngineFacts | null)[]

function planOf(load: LoadToMeasure, target: LiveTarget): Plan {
  const { config } = load
  const { body, headers } = target.templates
  return makePlan({
    workload: load.workload,
    pacer: load.pacer,
    api: config.api,
    model: target.model,
    dialect: target.dialect,
    ignoreEos: config.ignoreEos,
    extraBody: config.extraBody,
    stream: isStreamed(config.api, config.stream),
    continuousUsage: true,
    temperature: null,
    count: load.count,
    durationMs: load.measureMs === null ? null : load.warmupMs + load.measureMs,
    seed: config.seed,
    salt: load.salt,
    warmPrefix: config.warmPrefix,
    tokens: target.tokens,
    maxModelLen: target.server.maxModelLen,
    ...(config.cancel === null ? {} : { cancel: config.cancel }),
    ...(config.models.length === 0 ? {} : { models: config.models }),
    ...(body === null ? {} : { template: body }),
    ...(headers.length === 0 ? {} : { headerTemplates: headers }),
  })
}

function manifestStart(
  load: LoadToMeasure,
  target: LiveTarget,
  plan: Plan,
  startedAt: Date,
  deps: FlowDeps,
): Parameters<typeof startManifest>[0] {
  const { config } = load
  return {
    name: load.name,
    versions: { plimsoll: deps.version, node: deps.machine.node },
    config: JSON.parse(JSON.stringify({ ...config, pacer: load.pacer })) as JsonObject,
    seed: config.seed,
    salt: plan.salt,
    pacer: load.pacer,
    workload: {
      text: `${describeWorkload(config.workload, config.api)}${inTemplate(config)}`,
      digest: plan.digest,
      lengths: plan.lengths.basis,
      lead_tokens: target.tokens.kind === 'unknown' ? null : Math.ceil(target.tokens.words.leadTokens),
    },
    target: { url: redactUrl(target.typedUrl), api: config.api, model: target.model },
    clock: {
      origin_monotonic_ns: Number(deps.clock.originMonotonicNs) + Math.round(deps.clock.nowMs() * 1e6),
      started_at: startedAt.toISOString(),
    },
    planned: plan.kind === 'open' ? plan.requests.length : plan.count,
    objective: config.objectives.map(({ text }) => text).join('; ') || null,
    server: serverFactsJson(target.server),
    warnings: load.warnings,
  }
}

/** The window as it was asked for; null where a count ends it. */
function plannedWindow({ warmupMs, measureMs }: LoadToMeasure, drainMs: number): ManifestWindow | null {
  if (measureMs === null) return null
  return {
    warmup_s: warmupMs / 1000,
    measure_s: measureMs / 1000,
    drain_s: drainMs / 1000,
    start_ms: warmupMs,
    end_ms: warmupMs + measureMs,
    how: 'given',
  }
}

/** A run as short as this is judged by the error before it. */
const shortestMeasuredAgainMs = 2000

/** What the instrument says of itself, its own error measured once more: a machine that became busy meanwhile is seen by it. */
async function errorAfter(result: LoadResult, instrument: LoadInstrument): Promise<ClientHealth> {
  const byHand = result.stopped?.why === 'interrupted'
  if (byHand || result.endedAtMs < shortestMeasuredAgainMs) return result.health
  return withErrorAfter(result.health, await instrument.measureError())
}

function inTemplate({ bodyTemplatePath: path }: RunConfig): string {
  return path === null ? '' : `, in the template ${path}`
}

function windowOf(load: LoadToMeasure, result: LoadResult, drainMs: number): ManifestWindow {
  return {
    warmup_s: load.warmupMs / 1000,
    measure_s: (result.windowEndMs - result.windowStartMs) / 1000,
    drain_s: drainMs / 1000,
    start_ms: result.windowStartMs,
    end_ms: result.windowEndMs,
    how: load.measureMs === null ? 'count' : 'given',
  }
}

function stoppedBy(result: LoadResult, decided: AbortSignal | undefined): RunManifest['stopped'] {
  const { stopped } = result
  if (stopped === null) return null
  if (stopped.why !== 'interrupted') return { kind: 'early', why: stopped.message }
  return decided?.aborted === true ? null : { kind: 'interrupted', why: stopped.message }
}
