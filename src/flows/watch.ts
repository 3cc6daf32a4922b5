import { PlimsollError } from '../base/errors.ts'
import { noun } from '../base/noun.ts'
import { shellWord } from '../base/shell-words.ts'
import { formatSpan } from '../base/units.ts'
import { takenNotice } from '../measure/record/fresh-folder.ts'
import { startManifest, type RunManifest } from '../measure/record/manifest.ts'
import { createRunFolder, finishRunFolder, type RunFolder } from '../measure/record/run-folder.ts'
import { redactUrl } from '../measure/record/redact.ts'
import { appendServerSamples } from '../measure/record/server-journal.ts'
import { parseObjective } from '../measure/metrics/parse-objective.ts'
import { sharedObjectives } from '../operate/watch/objective-share.ts'
import { ReplicaHistory } from '../operate/watch/replica-history.ts'
import type { WatchDocument } from '../report/watch-document.ts'
import type { FlowDeps } from './flow-deps.ts'
import { openSweep } from './plan-basis.ts'
import { serverFactsJson } from './run-facts.ts'
import { stored } from './stored.ts'
import { writeWatch } from './watch-folder.ts'
import { openPages, type MissedPage, type PageAddresses } from './watch-pages.ts'
import { watchDocument } from './watch-view.ts'

export interface WatchConfig extends Omit<PageAddresses, 'headers'> {
  readonly keyEnv: string
  readonly objectives: readonly string[]
  readonly windowsMs: readonly number[]
  readonly intervalMs: number
  /** Looks; null: until it is ended. */
  readonly count: number | null
  /** A sweep whose walls are compared. */
  readonly sweep: string | null
  readonly record: boolean
  readonly name: string
  readonly runsDir: string
  readonly out: string | null
}

export interface WatchDeps extends FlowDeps {
  readonly onLook: (document: WatchDocument) => Promise<void> | void
}

export interface WatchOutcome {
  readonly looks: number
  /** The folder that was recorded, or null. */
  readonly folder: string | null
  readonly last: WatchDocument | null
}

/**
 * Looks at a live deployment again and again, until the count or the signal ends it. A page that does not answer is unknown, not idle.
 * Looks that cannot be recorded are told, and the watch goes on.
 * @throws PlimsollError PLIM_CONNECT when no page at all can be read at the first look, PLIM_RUN_FOLDER when no folder can be made then.
 */
export async function watchFlow(config: WatchConfig, deps: WatchDeps): Promise<WatchOutcome> {
  const key = deps.env(config.keyEnv) ?? ''
  const objectives = config.objectives.flatMap((text) => sharedObjectives(parseObjective(text, '--slo')))
  const sweep = config.sweep === null ? null : await openSweep(config.sweep)
  const headers = key === '' ? {} : { authorization: `Bearer ${key}` }
  const pages = await openPages({ ...config, headers }, deps)
  const longestMs = Math.max(...config.windowsMs)
  const histories = new Map<string, ReplicaHistory>()
  const startMs = deps.clock.nowMs()
  let folder: RunFolder | null = null
  let looks = 0
  let unrecorded = 0
  let last: WatchDocument | null = null
  if (config.count !== 1) deps.onNotice(announcement(config))
  try {
    for (;;) {
      const atMs = deps.clock.nowMs()
      const found = await pages.look()
      if (looks === 0 && [...found.values()].every((page) => page === null)) {
        throw nothingAnswers(config, pages.missed())
      }
      const samples = [...found].map(([name, page]) => {
        let history = histories.get(name)
        if (history === undefined) histories.set(name, (history = new ReplicaHistory(name, longestMs)))
        return history.observe(atMs - startMs, page)
      })
      if (config.record) {
        const { path } = (folder ??= await openFolder(config, deps, [...histories.values()]))
        const isKept = await stored(deps, () => appendServerSamples(path, samples).then(() => true), false)
        if (!isKept) unrecorded++
      }
      looks++
      last = watchDocument({
        plimsoll: deps.version,
        atMs: atMs - startMs,
        startMs: 0,
        wallMs: deps.wallClock(),
        replicas: [...histories.values()],
        objectives,
        windowsMs: config.windowsMs,
        sweep,
      })
      await deps.onLook(last)
      if (deps.signal.aborted || (config.count !== null && looks >= config.count)) break
      await pause(startMs + looks * config.intervalMs - deps.clock.nowMs(), deps.signal)
      if (deps.signal.aborted) break
    }
  } finally {
    await pages.close()
    if (folder !== null) await closeFolder(folder, config, deps, { startMs, looks, unrecorded, last })
  }
  return { looks, folder: folder?.path ?? null, last }
}

/** What is looked at, and what takes its time to show. */
function announcement({ urls, prometheusUrl, intervalMs, objectives, windowsMs }: WatchConfig): string {
  const places = prometheusUrl === null ? urls : [prometheusUrl]
  const [short = 0, long = 0] = windowsMs
  const burn =
    objectives.length === 0
      ? ''
      : `; a burn takes ${formatSpan(short)} of watching, a page ${formatSpan(long)}`
  return `watching ${places.map(redactUrl).join(', ')} every ${formatSpan(intervalMs)}: rates and latencies come with the second look${burn}`
}

/** Without a page that was missed, a Prometheus answered and knows of no engine. */
function nothingAnswers({ urls, prometheusUrl }: WatchConfig, missed: readonly MissedPage[]): PlimsollError {
  const [first] = missed
  return new PlimsollError('PLIM_CONNECT', 'no metrics can be read', {
    expected: 'a page in the Prometheus text format',
    received:
      first === undefined
        ? `no series of an engine at ${redactUrl(prometheusUrl ?? urls.join(', '))}`
        : missed.map(({ url, why }) => `${why}, from ${placeOf(url)}`).join('; '),
    hint:
      first === undefined
        ? 'does it scrape an engine?'
        : `curl ${shellWord(placeOf(first.url))} shows what is there${first.kind === 'no_metrics' && prometheusUrl === null ? '; SGLang needs --enable-metrics, llama.cpp --metrics' : ''}`,
  })
}

/** The matches that a federation is asked for would hide the address. */
function placeOf(url: string): string {
  return redactUrl(url).replace(/\?match.*$/, '')
}

/** Sleeps, but not past the signal. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve()
      return
    }
    const timer = setTimeout(done, Math.max(0, ms))
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done, { once: true })
  })
}

function manifestOf(
  config: WatchConfig,
  deps: FlowDeps,
  engine: string | null,
): Parameters<typeof startManifest>[0] {
  return {
    name: config.name,
    versions: { plimsoll: deps.version, node: deps.machine.node },
    config: {
      kind: 'watch',
      interval_ms: config.intervalMs,
      objectives: config.objectives.map((text) => ({
        name: null,
        text,
        good: null,
        form: 'plimsoll',
        shedIsBad: true,
      })),
    },
    seed: '',
    salt: null,
    pacer: null,
    workload: { text: 'watched: the requests were those of others' },
    target: { url: redactUrl(config.prometheusUrl ?? config.urls[0] ?? ''), api: 'metrics', model: null },
    clock: {
      origin_monotonic_ns: Number(deps.clock.originMonotonicNs) + Math.round(deps.clock.nowMs() * 1e6),
      started_at: new Date(deps.wallClock()).toISOString(),
    },
    server: serverFactsJson({
      engine,
      embedded: false,
      kvTokens: null,
      maxModelLen: null,
      prefixHitRate: null,
      slots: null,
    }),
  }
}

async function openFolder(
  config: WatchConfig,
  deps: FlowDeps,
  replicas: readonly ReplicaHistory[],
): Promise<RunFolder> {
  const engine = replicas.map(({ facts }) => facts?.engine ?? null).find((name) => name !== null) ?? null
  const folder = await createRunFolder(manifestOf(config, deps, engine), {
    parent: config.runsDir,
    startedAt: new Date(deps.wallClock()),
    timers: { setTimeout, clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout) },
    ...(config.out === null ? {} : { path: config.out }),
  })
  const taken = takenNotice(config.out, folder.path)
  if (taken !== null) deps.onNotice(taken, 'not-as-asked')
  return folder
}

interface Watched {
  readonly startMs: number
  readonly looks: number
  /** Looks that could not be kept. */
  readonly unrecorded: number
  readonly last: WatchDocument | null
}

async function closeFolder(
  folder: RunFolder,
  config: WatchConfig,
  deps: FlowDeps,
  { startMs, looks, unrecorded, last }: Watched,
): Promise<void> {
  const begun = startManifest(manifestOf(config, deps, null))
  const endMs = deps.clock.nowMs() - startMs
  const manifest: RunManifest = {
    ...begun,
    planned: 0,
    window: { warmup_s: 0, measure_s: endMs / 1000, drain_s: 0, start_ms: 0, end_ms: endMs, how: 'given' },
    warnings: [
      {
        kind: 'unrecoverable',
        message: `${looks} ${noun(looks, 'look')} at the server's metrics${unrecorded === 0 ? '' : `, ${unrecorded} of which could not be written`}; no request was sent`,
        cause: 'histograms of a server hold no single request',
        next: 'plimsoll scale signals',
        evidence: { looks, ...(unrecorded === 0 ? {} : { unrecorded }) },
      },
    ],
  }
  await stored(deps, () => finishRunFolder(folder, manifest, []), null)
  await stored(
    deps,
    async () => {
      if (last !== null) await writeWatch(folder.path, last)
    },
    undefined,
  )
}
