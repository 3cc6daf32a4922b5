import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { PlimsollError } from '../base/errors.ts'
import { readRun } from '../measure/record/read-run.ts'
import { runFiles } from '../measure/record/run-folder.ts'
import type {
  ModelDocument,
  PredictionDocument,
  ScoreDocument,
  ScoredFigure,
  ScorePoint,
} from '../report/model-document.ts'
import { architectureCalled } from '../simulate/calibrate/architecture.ts'
import { fitModel, type FittedEngine } from '../simulate/calibrate/fit-model.ts'
import { gpuCalled } from '../simulate/calibrate/gpu.ts'
import { measuredPoints, measuredRun, type MeasuredRun } from '../simulate/calibrate/measured-run.ts'
import { predictLoad, predictRun, type Predicted } from '../simulate/calibrate/predict.ts'
import { openBounds, physicalBounds, type StepBounds } from '../simulate/calibrate/step-bounds.ts'
import {
  coefficientNames,
  type CoefficientName,
  type Coefficients,
  type EngineSettings,
} from '../simulate/calibrate/step-coefficients.ts'
import { defaultEngineConfig } from '../simulate/engine/engine-config.ts'
import { mean } from '../stats/describe.ts'
import type { FlowDeps } from './flow-deps.ts'
import { describeLength, parseLength } from './options/length-text.ts'
import { serverFactsFrom } from './run-facts.ts'
import { modelSchema } from './simulate-schema.ts'

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
  return config.kind === 'predict' ? predict(config, model, deps) : score(config, model, deps)
}

async function fit(config: ModelFitConfig, deps: FlowDeps): Promise<ModelDocument> {
  const runs: MeasuredRun[] = []
  let poolTokens = config.kvTokens
  for (const path of await runsIn(config.paths)) {
    const { manifest, rows } = await readRun(path)
    runs.push(measuredRun(path, manifest.pacer, rows))
    poolTokens ??= serverFactsFrom(manifest.server).kvTokens
  }
  const settings = settingsOf(config, poolTokens)
  const fitted = fitModel(runs, settings, boundsOf(config))
  return modelDocument(
    fitted,
    runs.map((run) => run.name),
    deps.version,
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

function settingsOf(config: ModelFitConfig, poolTokens: number | null): EngineSettings {
  const {
    stepTime: _step,
    frontEndMs: _front,
    policy: _policy,
    speculative: _drafts,
    asyncScheduling: _async,
    mixedChunk: _mixed,
    hostMs: _host,
    ...defaults
  } = defaultEngineConfig
  return {
    ...defaults,
    // Prompts of load tests carry a salt: nothing of them is in the cache.
    enablePrefixCaching: false,
    maxNumSeqs: config.maxNumSeqs ?? defaults.maxNumSeqs,
    maxNumBatchedTokens: config.maxNumBatchedTokens ?? defaults.maxNumBatchedTokens,
    numGpuBlocks:
      poolTokens === null ? defaults.numGpuBlocks : 1 + Math.floor(poolTokens / defaults.blockSize),
  }
}

function boundsOf({ gpu, model, gpus }: ModelFitConfig): StepBounds {
  if (gpu === null && model === null) return openBounds
  const device = gpuCalled(gpu ?? '')
  const shape = architectureCalled(model ?? '')
  if (device !== null && shape !== null) return physicalBounds(device, shape, gpus)
  throw new PlimsollError('PLIM_USAGE', 'physics bounds a fit only where GPU and model are both known', {
    expected: '--gpu and --model by names such as "H100 SXM" and Llama-3.1-8B, or neither of them',
    received: `${gpu ?? 'no GPU'}, ${model ?? 'no model'}`,
  })
}

/** A coefficient with a larger factor than this (one standard deviation) is not known. */
export const unknownFactor: number = Math.exp(0.5)

const splitting: Readonly<Record<CoefficientName, string>> = {
  overheadMs:
    'short prompts at a concurrency that passes the knee: plimsoll sweep --concurrency 64,128,256 --prompt 32',
  weightsMs:
    'short prompts at a concurrency that passes the knee: plimsoll sweep --concurrency 64,128,256 --prompt 32',
  perTokenMs:
    'one user with prompts of several lengths: plimsoll run --concurrency 1 --prompt 2000 (and 500, 8000)',
  perContextTokenMs:
    'long prompts at several concurrencies: plimsoll sweep --concurrency 1,8,32 --prompt 4000',
  perPairMs: 'one user with prompts as long as they come: plimsoll run --concurrency 1 --prompt 16000',
  perSequenceMs: 'short prompts at a high concurrency: plimsoll sweep --concurrency 32,128 --prompt 32',
  frontEndMs:
    'one user with short prompts and long answers: plimsoll run --concurrency 1 --prompt 32 --output 128',
}

export function modelDocument(fitted: FittedEngine, runs: readonly string[], version: string): ModelDocument {
  const factors = coefficientNames.map((_, i) =>
    Math.exp(Math.sqrt(Math.max(0, fitted.logCovariance[i]?.[i] ?? 0))),
  )
  // Of what is not known, that which costs the most time in a step of the measured kind.
  const open = coefficientNames.filter((_, i) => (factors[i] as number) > unknownFactor)
  const [worst] = open.toSorted((a, b) => weight(fitted, b) - weight(fitted, a))
  return {
    schema: 'plimsoll.model/1',
    plimsoll: version,
    runs,
    settings: snakeKeys<number | boolean | null>({ ...fitted.settings }),
    coefficients: snakeKeys<number>({ ...fitted.coefficients }),
    uncertainty: Object.fromEntries(coefficientNames.map((name, i) => [snake(name), factors[i] as number])),
    log_covariance: fitted.logCovariance,
    ensemble: fitted.ensemble.map((one) => snakeKeys<number>({ ...one })),
    bounded_by: fitted.boundedBy,
    rms_error: fitted.rmsError,
    points: fitted.points.map(({ measured, fitted: other }) => ({
      run: measured.run,
      n: measured.n,
      prompt_tokens: measured.promptTokens,
      ttft_ms: { measured: measured.ttftMs, fitted: other.ttftMs },
      tpot_ms:
        measured.tpotMs === null || other.tpotMs === null
          ? null
          : { measured: measured.tpotMs, fitted: other.tpotMs },
    })),
    collinear: fitted.collinear.map(([a, b, correlation]) => ({ a: snake(a), b: snake(b), correlation })),
    next_measurement: worst === undefined ? null : splitting[worst],
    hull: { prompt_tokens: fitted.hull.promptTokens, output_tokens: fitted.hull.outputTokens },
  }
}

/** What a coefficient adds to a step of 32 rows with 2,000 tokens each and a chunk of 1,000 of another prompt, ms. */
function weight({ coefficients: of }: FittedEngine, name: CoefficientName): number {
  const times: Readonly<Record<CoefficientName, number>> = {
    overheadMs: 1,
    weightsMs: 1,
    perTokenMs: 1000,
    perContextTokenMs: 64_000,
    perPairMs: 1e6,
    perSequenceMs: 32,
    frontEndMs: 0.1,
  }
  return of[name] * times[name]
}

/** @throws PlimsollError PLIM_FILE when it is no model. */
function readModel(text: string, file: string): ModelDocument {
  let value: unknown = null
  try {
    value = JSON.parse(text)
  } catch {
    // Said below.
  }
  const result = v.safeParse(modelSchema, value)
  if (result.success) return result.output
  const [issue] = result.issues
  const key = issue.path?.map((item) => String(item.key)).join('.') ?? ''
  throw new PlimsollError('PLIM_FILE', 'this is not a fitted model', {
    expected: 'what plimsoll model fit RUNS… --out model.json wrote',
    received: key === '' ? text.slice(0, 60) : `${key}: ${issue.message}`,
    where: { file },
  })
}

/** Public documents are in snake case. */
function snake(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function snakeKeys<T>(of: { readonly [key: string]: T }): Record<string, T> {
  return Object.fromEntries(Object.entries(of).map(([key, value]) => [snake(key), value]))
}

function camelKeys<T>(of: Readonly<Record<string, T>>): Record<string, T> {
  const camel = (key: string): string =>
    key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return Object.fromEntries(Object.entries(of).map(([key, value]) => [camel(key), value]))
}

function engineOf(model: ModelDocument): FittedEngine {
  return {
    settings: camelKeys(model.settings) as unknown as EngineSettings,
    coefficients: camelKeys(model.coefficients) as unknown as Coefficients,
    logCovariance: model.log_covariance,
    ensemble: model.ensemble.map((one) => camelKeys(one) as unknown as Coefficients),
    boundedBy: model.bounded_by,
    rmsError: model.rms_error,
    points: [],
    collinear: [],
    hull: { promptTokens: model.hull.prompt_tokens, outputTokens: model.hull.output_tokens },
  }
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
  for (const path of await runsIn(config.runs)) {
    const { manifest, rows } = await readRun(path)
    const run = measuredRun(path, manifest.pacer, rows)
    const foretold = predictRun(engineOf(model), run)
    measuredPoints(run).forEach((measured, i) => {
      const other = foretold[i]
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
  }
  const ttft = points.map((point) => point.ttft_ms)
  const tpot = points.flatMap((point) => point.tpot_ms ?? [])
  const all = [...ttft, ...tpot]
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
    coverage: { inside: all.filter(({ inside }) => inside).length, of: all.length, claimed: 0.9 },
  }
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
