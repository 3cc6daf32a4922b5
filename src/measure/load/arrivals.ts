import { exponential, gamma, type Random } from '../../base/random.ts'
import { checkPacer, type OpenLoopPacer, type Spacing } from './pacer.ts'

/**
 * The intended sends of an open-loop pacer, in ms after the run's origin, never decreasing. Infinite for `constant`,
 * `poisson`, `gamma` and a repeated `burst`; the others end. A longer plan extends a shorter one: nothing is rescaled to a
 * count or to a duration, so a Poisson process stays one (Poisson counts in every window).
 *
 * @throws PlimsollError PLIM_USAGE for a pacer that cannot run (`checkPacer`).
 * @example
 * const first = arrivalTimes({ kind: 'constant', ratePerSecond: 5 }, randomStream(1, 'arrivals'))
 * // 0, 200, 400, …
 */
export function arrivalTimes(pacer: OpenLoopPacer, random: Random): Generator<number> {
  checkPacer(pacer)
  switch (pacer.kind) {
    case 'constant':
      return evenTimes(pacer.ratePerSecond)
    case 'poisson':
      return renewalTimes(() => (1000 * exponential(random)) / pacer.ratePerSecond)
    case 'gamma':
      return gammaTimes(pacer.ratePerSecond, pacer.cv, random)
    case 'ramp':
      return integralTimes(rampPieces(pacer), pacer.spacing ?? 'even', random)
    case 'steps':
      return integralTimes(stepPieces(pacer), pacer.spacing ?? 'even', random)
    case 'burst':
      return burstTimes(pacer.size, pacer.everyMs)
    default:
      return scheduleTimes(pacer.timesMs)
  }
}

/** Arrivals that the pacer's rate promises in [0, durationMs): the integral of the rate, not a draw. */
export function expectedArrivals(pacer: OpenLoopPacer, durationMs: number): number {
  switch (pacer.kind) {
    case 'constant':
    case 'poisson':
    case 'gamma':
      return (pacer.ratePerSecond * durationMs) / 1000
    case 'ramp':
    case 'steps': {
      let total = 0
      for (const piece of pacer.kind === 'ramp' ? rampPieces(pacer) : stepPieces(pacer)) {
        const withinMs = Math.min(Math.max(durationMs - piece.startMs, 0), piece.durationMs)
        total += integral(piece, withinMs)
      }
      return total
    }
    case 'burst':
      if (durationMs <= 0) return 0
      return pacer.size * (pacer.everyMs === null ? 1 : Math.ceil(durationMs / pacer.everyMs))
    default:
      return pacer.timesMs.filter((time) => time < durationMs).length
  }
}

/** When the pacer ends by itself, ms; null for one that does not. */
export function pacerEndMs(pacer: OpenLoopPacer): number | null {
  if (pacer.kind === 'ramp') return pacer.durationMs
  if (pacer.kind === 'steps') return pacer.steps.reduce((sum, step) => sum + step.durationMs, 0)
  if (pacer.kind === 'burst') return pacer.everyMs === null ? 0 : null
  if (pacer.kind === 'schedule') return pacer.timesMs.at(-1) ?? 0
  return null
}

/** i ÷ rate, by multiplication, so that the millionth send has not drifted. */
function* evenTimes(ratePerSecond: number): Generator<number> {
  for (let i = 0; ; i++) yield (i * 1000) / ratePerSecond
}

function* renewalTimes(drawGapMs: () => number): Generator<number> {
  let ms = 0
  for (;;) yield (ms += drawGapMs())
}

/** Gamma gaps of mean 1 ÷ rate and coefficient of variation cv have shape 1 ÷ cv² and scale cv² ÷ rate. */
function gammaTimes(ratePerSecond: number, cv: number, random: Random): Generator<number> {
  // Below a millionth the jitter is under every clock's grain, and 1 ÷ cv² would overflow.
  if (cv < 1e-6) return evenTimes(ratePerSecond)
  const shape = 1 / (cv * cv)
  const scaleMs = 1000 / (ratePerSecond * shape)
  return renewalTimes(() => scaleMs * gamma(random, shape))
}

function* burstTimes(size: number, everyMs: number | null): Generator<number> {
  for (let burst = 0; ; burst++) {
    for (let i = 0; i < size; i++) yield burst * (everyMs ?? 0)
    if (everyMs === null) return
  }
}

function* scheduleTimes(timesMs: readonly number[]): Generator<number> {
  yield* timesMs
}

/** A stretch of time in which the rate (per ms) is a straight line. */
interface Piece {
  readonly startMs: number
  readonly durationMs: number
  readonly fromPerMs: number
  readonly toPerMs: number
}

function rampPieces(pacer: OpenLoopPacer & { kind: 'ramp' }): readonly Piece[] {
  const { fromPerSecond, toPerSecond, durationMs } = pacer
  return [{ startMs: 0, durationMs, fromPerMs: fromPerSecond / 1000, toPerMs: toPerSecond / 1000 }]
}

function stepPieces(pacer: OpenLoopPacer & { kind: 'steps' }): readonly Piece[] {
  let startMs = 0
  return pacer.steps.map(({ ratePerSecond, durationMs }) => {
    const piece = { startMs, durationMs, fromPerMs: ratePerSecond / 1000, toPerMs: ratePerSecond / 1000 }
    startMs += durationMs
    return piece
  })
}

/** Λ(t) = a·t + (b − a)·t² ÷ 2T: expected arrivals in the first `withinMs` of a piece. */
function integral(piece: Piece, withinMs: number): number {
  const slope = (piece.toPerMs - piece.fromPerMs) / piece.durationMs
  return withinMs * (piece.fromPerMs + (slope * withinMs) / 2)
}

/** Λ⁻¹ within a piece: 2u ÷ (a + √(a² + 2·slope·u)), the root's form that is exact for slope 0 and does not cancel. */
function inverse(piece: Piece, u: number): number {
  if (u <= 0) return 0
  const slope = (piece.toPerMs - piece.fromPerMs) / piece.durationMs
  const root = Math.sqrt(Math.max(0, piece.fromPerMs * piece.fromPerMs + 2 * slope * u))
  return Math.min((2 * u) / (piece.fromPerMs + root), piece.durationMs)
}

/**
 * Arrivals where the rate's integral reaches 0, 1, 2, … (`even`), or the events of a unit Poisson process (`poisson`): time
 * changed by Λ⁻¹ that is a Poisson process of the varying rate (Çinlar, "Introduction to Stochastic Processes", 1975, §4.7).
 */
function* integralTimes(pieces: readonly Piece[], spacing: Spacing, random: Random): Generator<number> {
  // An arrival due at a seam belongs to what follows; a billionth of an arrival absorbs the rounding of the sums.
  const seam = 1e-9
  let due = spacing === 'poisson' ? exponential(random) : 0
  let passed = 0
  for (const piece of pieces) {
    const total = integral(piece, piece.durationMs)
    while (due - passed < total - seam) {
      yield piece.startMs + inverse(piece, due - passed)
      due += spacing === 'poisson' ? exponential(random) : 1
    }
    passed += total
  }
}
