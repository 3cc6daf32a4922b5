import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PlimsollError } from '../base/errors.ts'
import { noun } from '../base/noun.ts'
import { formatPercent } from '../base/units.ts'
import { readRun } from '../measure/record/read-run.ts'
import { runFiles } from '../measure/record/run-folder.ts'
import {
  fits,
  type ModelDocument,
  type PredictionDocument,
  type ScoreDocument,
  type ScoredFigure,
  type ScoredLoop,
  type ScorePoint,
} from '../report/model-document.ts'
import { architectureCalled } from '../simulate/calibrate/architecture.ts'
import { defaultFitModelOptions, fitModel } from '../simulate/calibrate/fit-model.ts'
import { gpuCalled } from '../simulate/calibrate/gpu.ts'
import {
  measuredPoints,
  measuredRate,
  measuredRun,
  type MeasuredRun,
} from '../simulate/calibrate/measured-run.ts'
import { predictLoad, predictRun, type Predicted } from '../simulate/calibrate/predict.ts'
import { openBounds, physicalBounds, type StepBounds } from '../simulate/calibrate/step-bounds.ts'
import { mean } from '../stats/describe.ts'
import type { FlowDeps } from './flow-deps.ts'
import { engineOf, modelDocument, readModel } from './model-file.ts'
import type { RunProgress } from '../report/progress.ts'
import { engineSettingsOf } from './model-settings.ts'
import { describeLength, parseLength } from './options/length-text.ts'
import { serverFactsFrom } from './run-facts.ts'

export interface ModelFitConfig {
  readonly kind: 'fit'
  /** Run folders, or folders of them (a sweep). */
  readonly paths: readonly string[]
  /** Names that bound the fit by physics; null: not said. */
  readonly gpu: string | null
  readonly model: string | null
  readonly gpus: number
  readonly maxNumSeqs: number | null
  readonly maxNumBatchedTokens: number | null
  readonly kvTokens: number | null
}

export interface ModelPredictConfig {
  readonly kind: 'predict'
  readonly path: string
  readonly ratePerSecond: number
  readonly prompt: string
  readonly output: string
  readonly tpotLimitMs: number | null
  readonly requests: number
}

export interface ModelScoreConfig {
  readonly kind: 'score'
  readonly path: string
  readonly runs: readonly string[]
}

export type ModelConfig = ModelFitConfig | ModelPredictConfig | ModelScoreConfig
export type ModelOutcome = ModelDocument | PredictionDocument | ScoreDocument

/** Fits a model of an engine to load tests, asks it about another load, or compares it with a later measurement. */
export async function modelFlow(config: ModelConfig, deps: FlowDeps): Promise<ModelOutcome> {
  if (config.kind === 'fit') return fit(config, deps)
  const model = readModel(await deps.files.readText(config.path), config.path)
  noticeUnfit(model, config.path, deps)
  return config.kind === 'predict' ? predict(config, model, deps) : score(config, model, deps)
}

async function fit(config: ModelFitConfig, deps: FlowDeps): Promise<ModelDocument> {
  const runs: MeasuredRun[] = []
  const invalid: string[] = []
  let poolTokens = config.kvTokens
  for (const path of await runsIn(config.paths)) {
    const { manifest, rows } = await readRun(path)
    runs.push(measuredRun(path, manifest.pacer, rows))
    if (manifest.verdict?.status === 'INVALID') invalid.push(path)
    poolTokens ??= serverFactsFrom(manifest.server).kvTokens
  }
  noticeInvalid(invalid, runs.length, deps)
  const settings = engineSettingsOf(config, poolTokens)
  const startedMs = deps.clock.nowMs()
  const fitted = fitModel(runs, settings, boundsOf(config), {
    ...defaultFitModelOptions,
    onEvaluation(done, atMost) {
      deps.onProgress({
        ...nothingSent,
        label: `fitting ${runs.length} ${noun(runs.length, 'run')} by simulations of them`,
        elapsedMs: deps.clock.nowMs() - startedMs,
        planned: atMost,
        done,
        ok: done,
      })
    },
  })
  return modelDocument(
    fitted,
    runs.map((run) => run.name),
    deps.version,
  )
}

const nothingSent: RunProgress = {
  label: '',
  elapsedMs: 0,
  totalMs: null,
  planned: null,
  sent: 0,
  done: 0,
  ok: 0,
  failed: 0,
  shed: 0,
  askedPerSecond: null,
  sentPerSecond: null,
  ttftP50Ms: null,
  tpotP50Ms: null,
  lagP99Ms: null,
  leftMs: null,
}

/** Runs in which the client set the numbers are used, since some may be all there is, and named. */
function noticeInvalid(invalid: readonly string[], of: number, deps: Pick<FlowDeps, 'onNotice'>): void {
  if (invalid.length === 0) return
  deps.onNotice(
    `${invalid.length} of ${of} ${noun(of, 'run')} ${noun(invalid.length, 'is', 'are')} INVALID: the client, not the server, set ${noun(invalid.length, 'its', 'their')} numbers: ${invalid.join(', ')}`,
  )
}

/** Said before anything is asked of a model that does not describe its own runs. */
function noticeUnfit(model: ModelDocument, path: string, deps: Pick<FlowDeps, 'onNotice'>): void {
  if (fits(model)) return
  deps.onNotice(
    `${path} does not describe the runs that it was fitted to: it is off by ${formatPercent(model.rms_error)} there, and nothing that it foretells can be used`,
  )
}

/** Each path that is a run, and the runs inside each that is a folder of them. */
async function runsIn(paths: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const path of paths) {
    const inside = await readdir(path).catch(() => [] as string[])
    if (inside.length === 0 || inside.some((name) => Object.values<string>(runFiles).includes(name))) {
      found.push(path)
      continue
    }
    for (const name of inside.toSorted()) {
      const manifest = await stat(join(path, name, runFiles.manifest)).catch(() => null)
      if (manifest !== null) found.push(join(path, name))
    }
  }
  return found
}

/** Physics where GPU and model are named, else only that nothing is negative. @throws PlimsollError PLIM_USAGE where one is unknown. */
export function boundsOf({ gpu, model, gpus }: Pick<ModelFitConfig, 'gpu' | 'model' | 'gpus'>): StepBounds {
  if (gpu === null && model === null) return openBounds
  const device = gpuCalled(gpu ?? '')
  const shape = architectureCalled(model ?? '')
  if (device !== null && shape !== null) return physicalBounds(device, shape, gpus)
  throw new PlimsollError('PLIM_USAGE', 'physics bounds a fit only where GPU and model are both known', {
    expected: '--gpu and --model by names such as "H100 SXM" and Llama-3.1-8B, or neither of them',
    received: `${gpu ?? 'no GPU'}, ${model ?? 'no model'}`,
  })
}

function predict(config: ModelPredictConfig, model: ModelDocument, deps: FlowDeps): PredictionDocument {
  const promptTokens = parseLength(config.prompt, '--prompt')
  const outputTokens = parseLength(config.output, '--output')
  const { capacityPerSecond, walls, load, latency } = predictLoad(engineOf(model), {
    perSecond: config.ratePerSecond,
    promptTokens,
    outputTokens,
    tpotLimitMs: config.tpotLimitMs,
    requests: config.requests,
    seed: '1',
  })
  const fixed = promptTokens.kind === 'fixed' ? promptTokens.tokens : null
  const [low, high] = model.hull.prompt_tokens
  return {
    schema: 'plimsoll.prediction/1',
    plimsoll: deps.version,
    model: config.path,
    asked: {
      rate_per_s: config.ratePerSecond,
      prompt: describeLength(promptTokens),
      output: describeLength(outputTokens),
      tpot_limit_ms: config.tpotLimitMs,
    },
    capacity_per_s: capacityPerSecond,
    walls_per_s: Object.fromEntries(
      Object.entries(walls.perSecond).map(([wall, rate]) => [wall, Number.isFinite(rate) ? rate : null]),
    ),
    binding: walls.binding,
    load,
    latency:
      latency === null
        ? null
        : {
            ttft_mean_ms: latency.ttftMeanMs,
            ttft_p99_ms: latency.ttftP99Ms,
            tpot_mean_ms: latency.tpotMeanMs,
            tpot_p99_ms: latency.tpotP99Ms,
            e2e_mean_ms: latency.e2eMeanMs,
          },
    outside:
      fixed !== null && (fixed < low / 2 || fixed > 2 * high)
        ? [`prompts of ${fixed} tokens; the fit has seen ${low} to ${high}`]
        : [],
  }
}

async function score(config: ModelScoreConfig, model: ModelDocument, deps: FlowDeps): Promise<ScoreDocument> {
  const points: ScorePoint[] = []
  const loops: ScoredLoop[] = []
  const invalid: string[] = []
  for (const path of await runsIn(config.runs)) {
    const { manifest, rows } = await readRun(path)
    const run = measuredRun(path, manifest.pacer, rows)
    if (manifest.verdict?.status === 'INVALID') invalid.push(path)
    const foretold = predictRun(engineOf(model), run)
    measuredPoints(run).forEach((measured, i) => {
      const other = foretold.points[i]
      if (other === undefined) return
      points.push({
        run: path,
        n: measured.n,
        prompt_tokens: measured.promptTokens,
        ttft_ms: scored(measured.ttftMs, other.ttftMs),
        tpot_ms:
          measured.tpotMs === null || other.tpotMs === null ? null : scored(measured.tpotMs, other.tpotMs),
      })
    })
    const rate = measuredRate(run)
    if (rate !== null && foretold.perSecond !== null && run.closed !== null) {
      loops.push({
        run: path,
        users: run.closed.users,
        requests_per_s: scored(rate.perSecond, foretold.perSecond),
      })
    }
  }
  noticeInvalid(invalid, config.runs.length, deps)
  const ttft = points.map((point) => point.ttft_ms)
  const tpot = points.flatMap((point) => point.tpot_ms ?? [])
  const all = [...ttft, ...tpot, ...loops.map((loop) => loop.requests_per_s)]
  return {
    schema: 'plimsoll.score/1',
    plimsoll: deps.version,
    model: config.path,
    points,
    mean_error: { ttft: mean(ttft.map(({ error }) => error)), tpot: mean(tpot.map(({ error }) => error)) },
    mape: {
      ttft: mean(ttft.map(({ error }) => Math.abs(error))),
      tpot: mean(tpot.map(({ error }) => Math.abs(error))),
    },
    closed_loops: loops,
    coverage: { inside: all.filter(({ inside }) => inside).length, of: all.length, claimed: 0.9 },
    wide: all.filter(isWide).length,
  }
}

/** An interval wider than the figure itself: most of what could be measured lies in it, so that it says nothing. */
function isWide({ value, low, high }: Predicted): boolean {
  return high - low > value
}

function scored(measured: number, { value, low, high }: Predicted): ScoredFigure {
  return {
    value,
    low,
    high,
    measured,
    error: value / measured - 1,
    inside: low <= measured && measured <= high,
  }
}
