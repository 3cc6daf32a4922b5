import type { EngineConfig } from '../engine/engine-config.ts'
import type { FittedEngine } from './fit-model.ts'
import { meanFieldWalls, type LengthMoments, type MeanFieldWalls } from './mean-field.ts'
import { simulatedPoints, type MeasuredRun } from './measured-run.ts'
import { chooseNext, sensitivity, type Chosen } from './next-measurement.ts'
import { predictedFrom, likelyEngines, type Predicted } from './predict.ts'
import { coefficientNames, engineWith, type Coefficients } from './step-coefficients.ts'

/** A closed loop of equal requests: what a calibration measures. */
export interface ClosedLoad {
  readonly promptTokens: number
  readonly outputTokens: number
  readonly users: number
  /** Requests of it all. */
  readonly requests: number
}

/** What a server can be asked. */
export interface MeasurableRange {
  /** Longest prompt with an answer of `longestOutput`. */
  readonly longestPrompt: number
  readonly mostUsers: number
  /** Tokens of its KV pool; null: not known. */
  readonly poolTokens: number | null
}

const shortestPrompt = 32
const longestOutput = 128
/** A fuller pool evicts: what is measured then is the pool, not the step. */
const fullestPool = 0.8
/** Requests of each user: enough that the first and the last of them weigh little. */
const turns = 5
const fewestRequests = 12

function closedLoad(promptTokens: number, outputTokens: number, users: number): ClosedLoad {
  return { promptTokens, outputTokens, users, requests: Math.max(fewestRequests, turns * users) }
}

/** As many users as asked for, the server has seats for and its pool holds. */
function usersFor(wanted: number, tokens: number, { mostUsers, poolTokens }: MeasurableRange): number {
  const held = poolTokens === null ? Infinity : Math.floor((fullestPool * poolTokens) / tokens)
  return Math.max(1, Math.min(wanted, mostUsers, held))
}

/**
 * What is measured before anything is known: one user with prompts of four lengths, which separates what every request pays from what
 * its tokens cost; several users at two lengths of context, without which rows and context cannot be told apart.
 */
export function firstDesign(range: MeasurableRange): ClosedLoad[] {
  const { longestPrompt: longest } = range
  const shortest = Math.min(shortestPrompt, longest)
  const ratio = (longest / shortest) ** (1 / 3)
  const lengths = [0, 1, 2, 3].map((i) => Math.round(shortest * ratio ** i))
  const middle = Math.round(Math.sqrt(shortest * longest) * Math.sqrt(ratio))
  return [
    ...[...new Set(lengths)].map((length) => closedLoad(length, 16, 1)),
    ...[8, 32].map((users) => closedLoad(shortest, 64, usersFor(users, shortest + 64, range))),
    closedLoad(middle, 32, usersFor(8, middle + 32, range)),
  ]
}

/** Every load that may be measured next: lengths by factors of three or four, users by factors of four. */
export function candidateLoads(range: MeasurableRange): ClosedLoad[] {
  const { longestPrompt: longest } = range
  const found = new Map<string, ClosedLoad>()
  for (const prompt of [shortestPrompt, 128, 512, 2048, 6000, longest]) {
    if (prompt > longest) continue
    for (const output of [16, longestOutput]) {
      for (const wanted of [1, 4, 16, 48, 128]) {
        const users = usersFor(wanted, prompt + output, range)
        found.set(`${prompt} ${output} ${users}`, closedLoad(prompt, output, users))
      }
    }
  }
  return [...found.values()]
}

/** The load as a run that nobody has measured yet: first sends spread over one answer of an engine without other work. */
export function loadAsRun(load: ClosedLoad, aloneMs: number): MeasuredRun {
  const { promptTokens, outputTokens, users, requests } = load
  return {
    name: 'next',
    closed: { users, thinkMs: 0 },
    requests: Array.from({ length: requests }, (_, i) => ({
      atMs: i < users ? (aloneMs * i) / users : 0,
      promptTokens,
      outputTokens,
      ttftMs: 0,
      tpotMs: 0,
      lagMs: 0,
      counts: true,
    })),
  }
}

/** Time of one such request alone on the engine, as the formula of the step has it, ms. */
export function aloneMs(
  load: Pick<ClosedLoad, 'promptTokens' | 'outputTokens'>,
  engine: EngineConfig,
): number {
  const { promptTokens, outputTokens } = load
  const { stepTime: of, frontEndMs } = engine
  const prefill =
    of.baseMs +
    of.perTokenMs * Math.max(0, promptTokens - of.kneeTokens) +
    (of.perPairMs * promptTokens * promptTokens) / 2
  const step = of.baseMs + of.perContextTokenMs * promptTokens + of.perSequenceMs
  return frontEndMs + prefill + step * (outputTokens - 1)
}

/** Mean TTFT and TPOT of the load on the engine, ms. */
function figuresOf(load: ClosedLoad, engine: EngineConfig): number[] {
  const [point] = simulatedPoints(loadAsRun(load, aloneMs(load, engine)), engine)
  if (point === undefined) return []
  return point.tpotMs === null ? [point.ttftMs] : [point.ttftMs, point.tpotMs]
}

/** Mean time of an answer of the load on the engine, ms. */
export function answerMs(load: ClosedLoad, engine: EngineConfig): number {
  const [ttftMs = 0, tpotMs = 0] = figuresOf(load, engine)
  return ttftMs + (load.outputTokens - 1) * tpotMs
}

/** How long the load takes on the engine, ms: turns of its users, the first sends spread over one of them. */
export function loadMs(load: ClosedLoad, engine: EngineConfig): number {
  return (load.requests / load.users + 1) * answerMs(load, engine)
}

export const askedWalls = ['capacity', 'slo', 'memory', 'saturation'] as const
export type AskedWall = (typeof askedWalls)[number]

/** The wall of a load that is to be known, in requests a second. */
export interface WallQuestion {
  readonly wall: AskedWall
  readonly lengths: LengthMoments
  readonly tpotLimitMs: number | null
}

/** Infinite where the load never meets it. */
export function wallPerSecond(engine: EngineConfig, { wall, lengths, tpotLimitMs }: WallQuestion): number {
  const walls: MeanFieldWalls = meanFieldWalls(engine, lengths, { tpotLimitMs })
  if (wall === 'capacity') return walls.capacityPerSecond
  if (wall === 'slo') return walls.perSecond.slo
  return wall === 'memory' ? walls.perSecond.kv : walls.perSecond.compute
}

/** The wall with the interval that the fit leaves open. */
export function wallOf(model: FittedEngine, question: WallQuestion): Predicted {
  return predictedFrom(likelyEngines(model).map((engine) => wallPerSecond(engine, question)))
}

const wallStep = 0.02
/** Larger: a simulated schedule jumps where a step more or less fits. */
const loadStep = 0.05

/** Which of these loads, measured next, would tell the wall best, and how well; null where there is none. */
export function bestNext(
  model: FittedEngine,
  question: WallQuestion,
  loads: readonly ClosedLoad[],
): Chosen<ClosedLoad> | null {
  const { settings, coefficients, logCovariance, noise } = model
  const axes = coefficientNames.length
  const at = (shifts: readonly number[]): EngineConfig => engineWith(settings, shifted(coefficients, shifts))
  const [gradient = []] = sensitivity((shifts) => [wallPerSecond(at(shifts), question)], axes, wallStep)
  const candidates = loads.map((load) => ({
    load,
    rows: sensitivity((shifts) => figuresOf(load, at(shifts)), axes, loadStep),
  }))
  return chooseNext(candidates, gradient, logCovariance, noise)
}

function shifted(coefficients: Coefficients, shifts: readonly number[]): Coefficients {
  const pairs = coefficientNames.map(
    (name, i) => [name, coefficients[name] * Math.exp(shifts[i] as number)] as const,
  )
  return Object.fromEntries(pairs) as unknown as Coefficients
}
