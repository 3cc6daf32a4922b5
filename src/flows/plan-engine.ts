import { join } from 'node:path'
import { PlimsollError } from '../base/errors.ts'
import { noun } from '../base/noun.ts'
import { shellLine } from '../base/shell-words.ts'
import { readRun } from '../measure/record/read-run.ts'
import type { JsonObject } from '../measure/record/manifest.ts'
import type { Rows } from '../measure/record/rows.ts'
import type { SweepDocument } from '../report/documents.ts'
import { fitModel } from '../simulate/calibrate/fit-model.ts'
import { lengthMoments, meanFieldWalls } from '../simulate/calibrate/mean-field.ts'
import { measuredRun, type MeasuredRun } from '../simulate/calibrate/measured-run.ts'
import { likelyEngines } from '../simulate/calibrate/predict.ts'
import { openBounds } from '../simulate/calibrate/step-bounds.ts'
import type { EngineConfig } from '../simulate/engine/engine-config.ts'
import { enginePresets } from '../simulate/engine/presets.ts'
import { readEngineSettings, type SettingTexts } from '../simulate/engine/server/engine-settings.ts'
import { percentile } from '../stats/percentile.ts'
import type { FlowDeps } from './flow-deps.ts'
import { engineOf, readModel } from './model-file.ts'
import { engineSettingsOf } from './model-settings.ts'
import { serverFactsFrom } from './run-facts.ts'

/** Pairs of prompt and output tokens. */
export type LengthPairs = readonly (readonly [promptTokens: number, outputTokens: number])[]

/** The requests of a plan: their lengths, and the tightest limit on TPOT. */
export interface PlanLoad {
  readonly lengths: LengthPairs
  readonly tpotLimitMs: number | null
}

/** The engine that stands for a replica, and where it is from. */
export interface PlanEngine {
  readonly source: 'preset' | 'model' | 'sweep' | 'fit'
  /** A sentence: which preset, which file, which runs. */
  readonly text: string
  readonly engine: EngineConfig
  /** The slowest that a fit does not rule out; null where the engine is known. */
  readonly slowest: EngineConfig | null
}

/** The runs of a sweep that are still beside it. */
export interface SweepRuns {
  readonly runs: readonly {
    readonly path: string
    readonly rows: Rows
    readonly config: JsonObject
    readonly measured: MeasuredRun
    readonly kvTokens: number | null
  }[]
}

/** Reads the run folders of a sweep; those that are gone are left out. */
export async function sweepRuns(path: string, sweep: SweepDocument): Promise<SweepRuns> {
  const runs: SweepRuns['runs'][number][] = []
  for (const { run } of sweep.points) {
    if (run === null) continue
    const folder = join(path, run)
    const read = await readRun(folder).catch(() => null)
    if (read === null) continue
    const { manifest, rows } = read
    if (!rows.some((row) => row.ok && row.ttft_ms !== null && row.phase === 'measure')) continue
    runs.push({
      path: folder,
      rows,
      config: manifest.config,
      measured: measuredRun(folder, manifest.pacer, rows),
      kvTokens: serverFactsFrom(manifest.server).kvTokens,
    })
  }
  return { runs }
}

/** What was asked and answered in the measured part of the runs, or null where nothing is left of them. */
export function seenLengths({ runs }: SweepRuns): LengthPairs | null {
  const pairs = runs.flatMap(({ measured }) =>
    measured.requests
      .filter(({ counts }) => counts)
      .map(({ promptTokens, outputTokens }) => [promptTokens, outputTokens] as const),
  )
  return pairs.length === 0 ? null : pairs
}

/** Beyond this half width of the capacity's interval a fit says too little to judge a plan by. */
const widestInterval = 0.15

/**
 * The engine of a plan: the preset or the file that was named; else the embedded engine that the sweep loaded, with its settings;
 * else one fitted to the sweep's own runs, if they tell the capacity of these requests.
 * @throws PlimsollError PLIM_USAGE where nothing of it is there, PLIM_NUMBER where the fit leaves the capacity open.
 */
export async function planEngine(
  named: string | null,
  sweep: SweepDocument | null,
  runs: SweepRuns,
  load: PlanLoad,
  deps: FlowDeps,
): Promise<PlanEngine> {
  if (named !== null) return namedEngine(named, load, deps)
  if (sweep === null || runs.runs.length === 0) {
    throw new PlimsollError('PLIM_USAGE', 'nothing says what engine the plan is about', {
      expected: '--model with a file of plimsoll model fit --out, or the name of a preset such as h100-8b',
      received: sweep === null ? 'a rate that was typed' : 'a sweep without the folders of its runs',
    })
  }
  const [first] = runs.runs as readonly [SweepRuns['runs'][number], ...SweepRuns['runs']]
  const settings = embeddedSettings(first.config)
  if (sweep.target.embedded && settings !== null) {
    const { preset, config } = readEngineSettings(settings)
    return {
      source: 'sweep',
      text: `the embedded engine as the sweep loaded it (preset ${preset})`,
      engine: config,
      slowest: null,
    }
  }
  deps.onNotice(
    `fitting the engine to ${runs.runs.length} ${noun(runs.runs.length, 'run')} of the sweep; a file of plimsoll model fit as --model is quicker`,
  )
  return fittedEngine(runs, load, sweep.target)
}

async function namedEngine(named: string, load: PlanLoad, deps: FlowDeps): Promise<PlanEngine> {
  const preset = enginePresets.find(({ name }) => name === named.toLowerCase())
  if (preset !== undefined) {
    const { config, title } = preset
    return { source: 'preset', text: `preset ${preset.name}: ${title}`, engine: config, slowest: null }
  }
  const text = await deps.files.readText(named)
  const [engine, ...others] = likelyEngines(engineOf(readModel(text, named)))
  return {
    source: 'model',
    text: `fitted model ${named}`,
    engine: engine as EngineConfig,
    slowest: slowestOf([engine as EngineConfig, ...others], load),
  }
}

function fittedEngine({ runs }: SweepRuns, load: PlanLoad, target: SweepDocument['target']): PlanEngine {
  const pool = runs.find(({ kvTokens }) => kvTokens !== null)?.kvTokens ?? null
  const fitted = fitModel(
    runs.map(({ measured }) => measured),
    engineSettingsOf({ maxNumSeqs: null, maxNumBatchedTokens: null }, pool),
    openBounds,
  )
  const engines = likelyEngines(fitted)
  const rates = engines.map((engine) => engineCapacity(engine, load)).sort((a, b) => a - b)
  const [low, high] = [percentile(rates, '5') ?? 0, percentile(rates, '95') ?? Infinity]
  if (!(high - low <= widestInterval * (high + low))) {
    throw new PlimsollError('PLIM_NUMBER', 'the runs of this sweep do not say how fast its engine is', {
      expected: `a capacity known to ${100 * widestInterval} %`,
      received: `${low.toPrecision(3)} to ${high.toPrecision(3)} requests a second`,
      hint: `${shellLine(['plimsoll', 'model', 'measure', ...(target.embedded ? [] : [target.url]), '--out', 'model.json'])} measures what is missing; then --model model.json`,
    })
  }
  return {
    source: 'fit',
    text: `fitted to ${runs.length} ${noun(runs.length, 'run')} of the sweep, which it meets to ${(100 * fitted.rmsError).toFixed(1)} %`,
    engine: engines[0] as EngineConfig,
    slowest: slowestOf(engines, load),
  }
}

/** Requests a second that one replica carries, by the mean field. */
export function engineCapacity(engine: EngineConfig, { lengths, tpotLimitMs }: PlanLoad): number {
  return meanFieldWalls(engine, lengthMoments(lengths), { tpotLimitMs }).capacityPerSecond
}

function slowestOf(engines: readonly EngineConfig[], load: PlanLoad): EngineConfig | null {
  if (engines.length < 2) return null
  return engines.reduce((least, one) =>
    engineCapacity(one, load) < engineCapacity(least, load) ? one : least,
  )
}

/** The settings of `target` in the configuration of a run of the embedded engine; null of any other. */
function embeddedSettings(config: JsonObject): SettingTexts | null {
  const target = config['target']
  if (typeof target !== 'object' || target === null || Array.isArray(target)) return null
  const { kind, settings } = target as JsonObject
  if (kind !== 'embedded' || typeof settings !== 'object' || settings === null) return null
  return settings as SettingTexts
}
