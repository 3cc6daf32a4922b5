import { join } from 'node:path'
import { PlimsollError } from '../base/errors.ts'
import { noun } from '../base/noun.ts'
import { isSameMachine } from '../measure/load/host.ts'
import { openInstrument } from '../measure/load/instrument.ts'
import { makeFreshFolder } from '../measure/record/fresh-folder.ts'
import { runFolderName } from '../measure/record/run-folder.ts'
import { redactUrl } from '../measure/record/redact.ts'
import type { MeasurementDocument, MeasurementPoint } from '../report/measurement-document.ts'
import type { ModelDocument } from '../report/model-document.ts'
import { fitModel, type FittedEngine } from '../simulate/calibrate/fit-model.ts'
import { lengthMoments } from '../simulate/calibrate/mean-field.ts'
import type { MeasuredRun } from '../simulate/calibrate/measured-run.ts'
import {
  aloneMs,
  answerMs,
  bestNext,
  candidateLoads,
  firstDesign,
  loadMs,
  wallOf,
  type AskedWall,
  type ClosedLoad,
  type MeasurableRange,
  type WallQuestion,
} from '../simulate/calibrate/measurement-design.ts'
import { drawnLengths, likelyEngines, type Predicted } from '../simulate/calibrate/predict.ts'
import type { StepBounds } from '../simulate/calibrate/step-bounds.ts'
import type { EngineSettings } from '../simulate/calibrate/step-coefficients.ts'
import { readEngineSettings } from '../simulate/engine/server/engine-settings.ts'
import type { EngineConfig } from '../simulate/engine/engine-config.ts'
import type { MeasureGround } from './closed-loop.ts'
import type { FlowDeps } from './flow-deps.ts'
import { openTarget, type LiveTarget } from './live-target.ts'
import { readAsked } from './request-templates.ts'
import { localHost } from './local-host.ts'
import { longestPointMs, measureLoop, pointDocument, type MeasuredLoop } from './measure-loop.ts'
import { boundsOf } from './model.ts'
import { modelDocument, unknownCoefficients } from './model-file.ts'
import { engineSettingsOf, knownSettings } from './model-settings.ts'
import { describeLength, parseLength } from './options/length-text.ts'
import type { RunConfig } from './options/run-config.ts'
import { stored } from './stored.ts'
import { writeDocument } from './sweep-folder.ts'

export interface ModelMeasureConfig {
  readonly kind: 'measure'
  /** Server, client and folders; its load and lengths are replaced at each point. */
  readonly run: RunConfig
  readonly wall: AskedWall
  /** Lengths of the load that the wall is asked for. */
  readonly prompt: string
  readonly output: string
  readonly tpotLimitMs: number | null
  /** At most so many measurements, and so long with everything between them. */
  readonly points: number
  readonly maxDurationMs: number
  /** Half width of the interval ÷ its value that is enough. */
  readonly target: number
  /** Names that bound the fit by physics; null: not said. */
  readonly gpu: string | null
  readonly model: string | null
  readonly gpus: number
  readonly maxNumSeqs: number | null
  readonly maxNumBatchedTokens: number | null
}

export interface MeasureOutcome {
  readonly document: MeasurementDocument
  readonly model: ModelDocument
}

/** Kept free at the end for the last fit. */
const lastFitMs = 5000

/**
 * Measures an engine for a model of it: first a design that tells every coefficient something, then, one after another, the closed loop
 * after which the asked wall is known best. Ends when its interval is narrow enough, or points or time are used up, or nothing more can
 * be written: what was measured until then is fitted.
 * @throws PlimsollError before anything is sent for what cannot be meant, reached or known (a memory wall without a pool).
 */
export async function measureModel(config: ModelMeasureConfig, deps: FlowDeps): Promise<MeasureOutcome> {
  const question = questionOf(config)
  const bounds = boundsOf(config)
  const run: RunConfig = { ...config.run, salt: config.run.salt ?? deps.freshSalt() }
  const startedMs = deps.clock.nowMs()
  const target = await openTarget(run, deps, await readAsked(run, deps))
  const instrument = await openInstrument({ workers: 1 }, deps.clock)
  try {
    const settings = settingsOf(config, target)
    const range = rangeOf(settings, target)
    if (config.wall === 'memory' && range.poolTokens === null) throw noPool()
    await approve(config, range, target, deps)
    const folder = await makeFreshFolder(
      join(run.runsDir, runFolderName(new Date(deps.wallClock()), run.name ?? 'model')),
      'the folder of the measurement',
    )
    const ground: MeasureGround = { run, target, instrument, deps, folder }
    await measureLoop(ground, warmUp, { name: '00-warmup', label: 'warming up', staggerMs: 0 })
    const taken: TakenPoint[] = []
    let isFull = false
    const spentMs = (): number => deps.clock.nowMs() - startedMs
    const leftMs = (): number => config.maxDurationMs - lastFitMs - spentMs()
    const take = async (
      load: ClosedLoad,
      foretold: TakenPoint['foretold'],
      staggerMs: number,
    ): Promise<void> => {
      const measure = (): Promise<MeasuredLoop> => measureNamed(ground, load, staggerMs, taken.length + 1)
      const loop = taken.length === 0 ? await measure() : await stored(deps, measure, null)
      if (loop === null) isFull = true
      else taken.push({ ...loop, foretold, halfWidth: null })
    }
    for (const load of firstDesign(range).slice(0, config.points)) {
      if (deps.signal.aborted || leftMs() < 0 || isFull) break
      await take(load, null, firstStaggerMs * load.users)
    }
    let model: FittedEngine | null = null
    let wall: Predicted
    let ended: MeasurementDocument['ended']
    for (;;) {
      model = refitted(taken, settings, bounds, model)
      wall = knownWall(model, question)
      taken.push({ ...(taken.pop() as TakenPoint), halfWidth: halfWidth(wall) })
      const why = endedBy(config, {
        wall,
        taken: taken.length,
        leftMs: leftMs(),
        aborted: deps.signal.aborted,
        isFull,
      })
      const next = why === null ? nextPoint(model, question, range, Math.min(longestPointMs, leftMs())) : null
      ended = why ?? (leftMs() < longestPointMs ? 'time' : 'nothing left')
      if (next === null) break
      const [engine] = likelyEngines(model) as [EngineConfig]
      const foretold = { before: z95 * next.before, after: z95 * next.after }
      await take(next.load, foretold, answerMs(next.load, engine))
    }
    const names = taken.flatMap(({ name, run: one }) => (one === null ? [] : [join(folder, name)]))
    const modelOut = modelDocument(model, names, deps.version)
    const write = async (name: string, what: object): Promise<string> => {
      await writeDocument(folder, name, what)
      return join(folder, name)
    }
    const document: MeasurementDocument = {
      schema: 'plimsoll.measurement/1',
      plimsoll: deps.version,
      folder,
      target: {
        url: redactUrl(target.typedUrl),
        model: target.model,
        embedded: target.server.embedded,
      },
      asked: {
        wall: config.wall,
        prompt: describeLength(parseLength(config.prompt, '--prompt')),
        output: describeLength(parseLength(config.output, '--output')),
        tpot_limit_ms: config.tpotLimitMs,
        target: config.target,
      },
      points: taken.map((one) => ({
        ...pointDocument(one),
        foretold: one.foretold,
        half_width: one.halfWidth,
      })),
      wall_per_s: wall,
      half_width: halfWidth(wall),
      ended,
      seconds: spentMs() / 1000,
      not_known: unknownCoefficients(model),
      model: await stored(deps, () => write('model.json', modelOut), null),
    }
    await stored(deps, () => write('measurement.json', document), null)
    return { document, model: modelOut }
  } finally {
    await instrument.close()
    await target.close()
  }
}

const warmUp: ClosedLoad = { promptTokens: 32, outputTokens: 16, users: 1, requests: 3 }

interface TakenPoint extends MeasuredLoop {
  readonly foretold: MeasurementPoint['foretold']
  readonly halfWidth: number | null
}

/** Users of the first design begin so far apart: nothing is known yet of how long an answer takes. */
const firstStaggerMs = 30

function measureNamed(
  ground: MeasureGround,
  load: ClosedLoad,
  staggerMs: number,
  index: number,
): Promise<MeasuredLoop> {
  const number = String(index).padStart(2, '0')
  const { users, promptTokens } = load
  return measureLoop(ground, load, {
    name: `${number}-${users}-users-${promptTokens}-tokens`,
    label: `point ${index}: ${users} ${noun(users, 'user')}, prompts of ${promptTokens}`,
    staggerMs,
  })
}

/** The first fit looks from two starts, every other from the one before. */
function refitted(
  taken: readonly TakenPoint[],
  settings: EngineSettings,
  bounds: StepBounds,
  before: FittedEngine | null,
): FittedEngine {
  const runs: MeasuredRun[] = taken.flatMap(({ run }) => (run === null ? [] : [run]))
  return before === null
    ? fitModel(runs, settings, bounds)
    : fitModel(runs, settings, bounds, { evaluations: 100, from: before.coefficients })
}

/** Why no further point is measured; null: one is. */
function endedBy(
  config: ModelMeasureConfig,
  at: {
    readonly wall: Predicted
    readonly taken: number
    readonly leftMs: number
    readonly aborted: boolean
    /** A further point could not be written. */
    readonly isFull: boolean
  },
): MeasurementDocument['ended'] | null {
  if (at.aborted) return 'interrupted'
  if (at.isFull) return 'not stored'
  if (halfWidth(at.wall) <= config.target) return 'target'
  if (at.taken >= config.points) return 'points'
  return at.leftMs <= 0 ? 'time' : null
}

/** Φ⁻¹(0.95): half of an interval of 90 %. */
const z95 = 1.6448536269514722

function halfWidth({ value, low, high }: Predicted): number {
  return (high - low) / (2 * value)
}

function questionOf({ wall, prompt, output, tpotLimitMs }: ModelMeasureConfig): WallQuestion {
  if (wall === 'slo' && tpotLimitMs === null) {
    throw new PlimsollError('PLIM_USAGE', 'the SLO wall takes a limit', {
      expected: '--tpot 30ms beside --wall slo',
    })
  }
  const asked = {
    promptTokens: parseLength(prompt, '--prompt'),
    outputTokens: parseLength(output, '--output'),
    requests: 2000,
    seed: '1',
  }
  return { wall, lengths: lengthMoments(drawnLengths(asked)), tpotLimitMs }
}

function noPool(): PlimsollError {
  return new PlimsollError(
    'PLIM_USAGE',
    'the memory wall cannot be known: nothing says how large the KV pool is',
    {
      expected: '--kv-tokens, from the line of the server log that tells its KV cache size, or --metrics-url',
      received: 'a server without cache metrics',
    },
  )
}

/** @throws PlimsollError PLIM_USAGE where the load never meets the wall. */
function knownWall(model: FittedEngine, question: WallQuestion): Predicted {
  const wall = wallOf(model, question)
  if (Number.isFinite(wall.value)) return wall
  throw new PlimsollError('PLIM_USAGE', `these requests never meet the ${question.wall} wall`, {
    expected: 'another --wall, or requests that need more of it',
    hint: 'without --wall the wall that binds is looked for',
  })
}

/** Before another machine is loaded, its people may refuse. @throws PlimsollError PLIM_USAGE when they do; nothing was sent. */
async function approve(
  { points, maxDurationMs }: ModelMeasureConfig,
  { mostUsers }: MeasurableRange,
  target: LiveTarget,
  deps: FlowDeps,
): Promise<void> {
  const url = new URL(target.load.url)
  if (await isSameMachine(localHost(deps.machine), url)) return
  const plan = `loads ${url.host} with up to ${points} closed loops of up to ${mostUsers} users within ${maxDurationMs / 1000} s`
  if (await deps.confirm(plan)) return
  throw new PlimsollError('PLIM_USAGE', 'the measurement was refused; no load was sent', {
    hint: '--yes carries it out without asking',
  })
}

/** Seats, budget and pool of the engine: its own settings where it is the embedded one. */
function settingsOf(config: ModelMeasureConfig, target: LiveTarget): EngineSettings {
  const said = config.run.target
  if (said.kind === 'embedded') return knownSettings(readEngineSettings(said.settings).config)
  return engineSettingsOf(config, target.server.kvTokens)
}

function rangeOf(settings: EngineSettings, { server }: LiveTarget): MeasurableRange {
  const most = server.maxModelLen ?? settings.maxModelLen
  return {
    // The chat template takes some tokens too.
    longestPrompt: Math.max(64, Math.min(8000, most - 256)),
    mostUsers: Math.min(settings.maxNumSeqs, 128),
    poolTokens: server.kvTokens,
  }
}

/** The best of the loads that fit in the time that is left. */
function nextPoint(
  model: FittedEngine,
  question: WallQuestion,
  range: MeasurableRange,
  leftMs: number,
): ReturnType<typeof bestNext> {
  const [engine] = likelyEngines(model) as [EngineConfig]
  const fitting = candidateLoads(range).filter(
    // A lower bound first: simulating a load that takes minutes costs more than it tells.
    (load) => (load.requests / load.users) * aloneMs(load, engine) < leftMs && loadMs(load, engine) < leftMs,
  )
  return bestNext(model, question, fitting)
}
