import { noun } from '../base/noun.ts'
import { makeFreshFolder, takenNotice } from '../measure/record/fresh-folder.ts'
import { join } from 'node:path'
import { openInstrument } from '../measure/load/instrument.ts'
import { isFailure, pathsBeside } from '../measure/load/probe.ts'
import { addHistograms, histogramSeries, type HistogramValue } from '../measure/wire/prometheus-histogram.ts'
import { parsePrometheusText } from '../measure/wire/prometheus-text.ts'
import type { RequestRow } from '../measure/record/request-row.ts'
import type { Rows } from '../measure/record/rows.ts'
import { runFolderName } from '../measure/record/run-folder.ts'
import type { PrefillDocument } from '../report/prefill-document.ts'
import { sameAgain } from '../report/render-run.ts'
import { median } from '../stats/describe.ts'
import { askedFacts } from './asked-facts.ts'
import { closedLoop, type MeasureGround } from './closed-loop.ts'
import type { FlowDeps } from './flow-deps.ts'
import { stored } from './stored.ts'
import { writeDocument } from './sweep-folder.ts'
import { openTarget, type LiveTarget } from './live-target.ts'
import type { RunConfig } from './options/run-config.ts'
import { prefillDocument, type PrefillSample } from './prefill-fit.ts'
import { readPointsFile } from './prefill-points.ts'
import { readAsked } from './request-templates.ts'
import { openAsker } from './send-once.ts'

export type PrefillConfig =
  | { readonly kind: 'points'; readonly samples: readonly PrefillSample[]; readonly chunk: number | null }
  | { readonly kind: 'file'; readonly path: string; readonly chunk: number | null }
  | {
      readonly kind: 'measure'
      readonly run: RunConfig
      /** Prompt tokens; null: powers of two and the steps between them, as far as the model's length goes. */
      readonly lengths: readonly number[] | null
      readonly repeats: number
      readonly chunk: number | null
    }

export interface PrefillOutcome {
  readonly document: PrefillDocument
  readonly interrupted: boolean
}

/**
 * TTFT against prompt length: from points, or measured with one user, answers of one token and prompts that no cache has seen, in two
 * passes (up and down), so that a drift does not look like a slope.
 * @throws PlimsollError before anything is sent for what cannot be meant or reached; PLIM_NUMBER for fewer than two lengths.
 */
export async function prefillFlow(config: PrefillConfig, deps: FlowDeps): Promise<PrefillOutcome> {
  if (config.kind === 'measure') return measurePrefill(config, deps)
  const samples =
    config.kind === 'points'
      ? config.samples
      : readPointsFile(await deps.files.readText(config.path), config.path)
  const document = prefillDocument(samples, {
    version: deps.version,
    folder: null,
    source: config.kind === 'file' ? config.path : 'points that were typed',
    model: null,
    embedded: false,
    interrupted: false,
    chunk: config.chunk,
    queueMs: null,
    queueWhy: 'no engine was asked',
    decodeStepMs: null,
    warnings: [],
  })
  return { document, interrupted: false }
}

/** Doubling, with a step between, up to what the model takes or 8,192. */
export function prefillLengths(longest: number): readonly number[] {
  const lengths: number[] = []
  for (let power = 128; power <= longest; power *= 2) {
    lengths.push(power)
    if (power * 1.5 <= longest && power >= 256) lengths.push(power * 1.5)
  }
  return lengths.length >= 4
    ? lengths
    : [0.25, 0.5, 0.75, 1].map((share) => Math.max(1, Math.floor(longest * share)))
}

/** Tokens of the answers by which one decode step is timed. */
const decodeTokens = 32

async function measurePrefill(
  config: Extract<PrefillConfig, { kind: 'measure' }>,
  deps: FlowDeps,
): Promise<PrefillOutcome> {
  const run = { ...config.run, salt: config.run.salt ?? deps.freshSalt() }
  // Whatever a config asks of others, a prefill asks random words.
  const length = { kind: 'fixed', tokens: 1 } as const
  const asked = await readAsked(
    { ...run, workload: { kind: 'random', prompt: length, output: length } },
    deps,
  )
  const target = await openTarget(run, deps, asked)
  const instrument = await openInstrument({ workers: 1 }, deps.clock)
  try {
    const folder = await makeFreshFolder(
      run.out ?? join(run.runsDir, runFolderName(new Date(deps.wallClock()), run.name ?? 'prefill')),
      'the folder of the prefill',
    )
    const taken = takenNotice(run.out, folder)
    if (taken !== null) deps.onNotice(taken, 'not-as-asked')
    const longest = Math.min(8192, (target.server.maxModelLen ?? 8194) - 2)
    const lengths = config.lengths ?? prefillLengths(longest)
    const queue = await openQueueClock(target, deps)
    const ask = (name: string, prompt: number, output: number, count: number, label: string) =>
      askAlone({ run, target, instrument, deps, folder }, { name, prompt, output, count, label })
    await ask('00-warmup', lengths[0] ?? 1, decodeTokens, 2, 'warming up')
    const rows: RequestRow[] = []
    const answered = new Set<number>()
    const passes = passesOf(lengths, config.repeats)
    const before = await queue.read()
    for (const [index, { length, count }] of passes.entries()) {
      if (deps.signal.aborted) break
      const name = `${String(index + 1).padStart(2, '0')}-${length}-tokens`
      const label = `${length} tokens (${index + 1} of ${passes.length})`
      const pass = await stored(deps, () => ask(name, length, 1, count, label), null)
      if (pass === null) break
      for (const row of pass) rows.push(row)
      if (pass.length > 0) answered.add(length)
    }
    const after = await queue.read()
    const decoded = deps.signal.aborted
      ? []
      : await stored(deps, () => ask('99-decode', lengths[0] ?? 1, decodeTokens, 5, 'one decode step'), [])
    await queue.close()
    const interrupted = deps.signal.aborted
    const { target: facts, repeat } = askedFacts(run, target)
    const measured = prefillDocument(samplesOf(rows), {
      version: deps.version,
      folder,
      asked: [...answered].sort((a, b) => a - b),
      source: target.server.embedded ? 'the embedded engine' : target.load.url,
      model: target.model,
      embedded: target.server.embedded,
      interrupted,
      chunk: config.chunk,
      ...queueBetween(before, after),
      decodeStepMs: median(decoded.map((row) => row.tpot_ms).filter((ms) => ms !== null)),
      warnings: target.warnings,
    })
    const document = { ...measured, again: repeat === null ? null : sameAgain(facts, repeat) }
    await stored(deps, () => writeDocument(folder, 'prefill.json', document), undefined)
    return { document, interrupted }
  } finally {
    await instrument.close()
    await target.close()
  }
}

/** Half of the repeats on the way up, half on the way down. */
function passesOf(
  lengths: readonly number[],
  repeats: number,
): readonly { readonly length: number; readonly count: number }[] {
  const up = Math.ceil(repeats / 2)
  const rising = [...lengths].sort((a, b) => a - b)
  const down = repeats - up
  return [
    ...rising.map((length) => ({ length, count: up })),
    ...(down === 0 ? [] : rising.toReversed().map((length) => ({ length, count: down }))),
  ]
}

/** Requests one after another, each answer awaited: one user, a run of its own in the folder. */
async function askAlone(
  ground: MeasureGround,
  asked: {
    readonly name: string
    readonly prompt: number
    readonly output: number
    readonly count: number
    readonly label: string
  },
): Promise<Rows> {
  const { rows } = await closedLoop(ground, {
    users: 1,
    staggerMs: 0,
    promptTokens: asked.prompt,
    outputTokens: asked.output,
    count: asked.count,
    durationMs: null,
    name: asked.name,
    label: asked.label,
  })
  return rows.filter((row) => row.ok)
}

function samplesOf(rows: Rows): readonly PrefillSample[] {
  return rows.flatMap((row) =>
    row.ttft_ms === null || row.prompt_tokens === null
      ? []
      : [
          {
            promptTokens: row.prompt_tokens,
            ttftMs: row.ttft_ms,
            ttfbMs: row.ttfb_ms,
            lagMs: row.lag_ms,
            cachedTokens: row.cached_tokens,
          },
        ],
  )
}

/** What engines call the time between arrival and first step. */
const queueTimes = ['vllm:request_queue_time_seconds', 'sglang:queue_time_seconds'] as const

/** Reads the histogram of the time between arrival and first step, where the engine has one. */
async function openQueueClock(
  target: LiveTarget,
  deps: FlowDeps,
): Promise<{ read(): Promise<HistogramValue | null>; close(): Promise<void> }> {
  const url = new URL(target.load.url)
  const asker = await openAsker(url, {
    clock: deps.clock,
    api: target.load.api,
    headers: target.load.headers,
    tls: target.load.tls ?? {},
    timeoutMs: 5000,
  })
  const path = pathsBeside(url.pathname).metrics
  return {
    async read() {
      const answer = await asker.sendOnce({ method: 'GET', path, body: null, stream: false })
      if (isFailure(answer) || answer.status !== 200) return null
      try {
        const page = parsePrometheusText(answer.bodyText)
        const series = queueTimes.flatMap((name) => histogramSeries(page, name))
        return series.length === 0 ? null : addHistograms(series)
      } catch {
        // Some other page: as good as none.
        return null
      }
    },
    close: () => asker.close(),
  }
}

function queueBetween(
  before: HistogramValue | null,
  after: HistogramValue | null,
): { readonly queueMs: number | null; readonly queueWhy: string } {
  const none = { queueMs: null, queueWhy: 'the engine does not show how long requests wait' }
  if (before === null || after === null) return none
  const requests = (after.count ?? 0) - (before.count ?? 0)
  const seconds = (after.sum ?? 0) - (before.sum ?? 0)
  return requests > 0 && seconds >= 0
    ? {
        queueMs: (1000 * seconds) / requests,
        queueWhy: `mean of ${requests} ${noun(requests, 'request')}, by the engine's metrics`,
      }
    : none
}
