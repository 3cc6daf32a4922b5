import { PlimsollError } from '../../base/errors.ts'

/**
 * When requests are to be sent, as a value. Open-loop pacers say when whatever the server does; a closed loop (`concurrency`)
 * sends when a slot becomes free and therefore cannot show overload.
 */
export type Pacer =
  | { readonly kind: 'constant'; readonly ratePerSecond: number }
  | { readonly kind: 'poisson'; readonly ratePerSecond: number }
  /** Gamma gaps with coefficient of variation `cv`: 1 is Poisson, 0 constant, above 1 bursty. */
  | { readonly kind: 'gamma'; readonly ratePerSecond: number; readonly cv: number }
  | {
      readonly kind: 'ramp'
      readonly fromPerSecond: number
      readonly toPerSecond: number
      readonly durationMs: number
      readonly spacing?: Spacing
    }
  | {
      readonly kind: 'steps'
      readonly steps: readonly { readonly ratePerSecond: number; readonly durationMs: number }[]
      readonly spacing?: Spacing
    }
  /** `size` requests at once, then again every `everyMs` (once only where null). `inf` of other tools is one burst of all. */
  | { readonly kind: 'burst'; readonly size: number; readonly everyMs: number | null }
  /** The given times, ms after the run's origin, not decreasing: a recorded trace. Ends with the last. */
  | { readonly kind: 'schedule'; readonly timesMs: readonly number[]; readonly name: string }
  | {
      readonly kind: 'concurrency'
      readonly users: number
      /** Pause of a slot between an answer and its next request. */
      readonly thinkTimeMs: number
      /** `fixed` (default): always `thinkTimeMs`; `exponential`: drawn with that mean. */
      readonly thinkTime?: 'fixed' | 'exponential'
      /** The first sends of the users are spread evenly over this time (default 0: all at once). */
      readonly staggerMs?: number
    }

/** Where the rate varies: evenly spaced in the rate's integral (default), or a Poisson process with that rate. */
export type Spacing = 'even' | 'poisson'

export type OpenLoopPacer = Exclude<Pacer, { kind: 'concurrency' }>

export function isOpenLoop(pacer: Pacer): pacer is OpenLoopPacer {
  return pacer.kind !== 'concurrency'
}

/**
 * The pacer itself, if it can be run.
 * @throws PlimsollError PLIM_USAGE that names the part that cannot.
 */
export function checkPacer<P extends Pacer>(pacer: P): P {
  for (const [what, value, expected, fine] of claims(pacer)) {
    if (!fine(value)) {
      throw new PlimsollError('PLIM_USAGE', `the ${pacer.kind} pacer cannot run with this ${what}`, {
        expected: `${what} ${expected}`,
        received: String(value),
      })
    }
  }
  return pacer
}

type Claim = readonly [what: string, value: number, expected: string, fine: (value: number) => boolean]

const above0 = (value: number): boolean => Number.isFinite(value) && value > 0
const from0 = (value: number): boolean => Number.isFinite(value) && value >= 0
const whole = (value: number): boolean => Number.isSafeInteger(value) && value >= 1

function claims(pacer: Pacer): readonly Claim[] {
  switch (pacer.kind) {
    case 'constant':
    case 'poisson':
      return [['rate', pacer.ratePerSecond, 'above 0/s', above0]]
    case 'gamma':
      return [
        ['rate', pacer.ratePerSecond, 'above 0/s', above0],
        ['cv', pacer.cv, 'of 0 or more', from0],
      ]
    case 'ramp':
      return [
        ['rate at the start', pacer.fromPerSecond, 'of 0/s or more', from0],
        ['rate at the end', pacer.toPerSecond, 'of 0/s or more', from0],
        ['highest rate', Math.max(pacer.fromPerSecond, pacer.toPerSecond), 'above 0/s', above0],
        ['duration', pacer.durationMs, 'above 0 ms', above0],
      ]
    case 'steps':
      return [
        ['number of steps', pacer.steps.length, 'of 1 or more', whole],
        ...pacer.steps.flatMap((step, index): Claim[] => [
          [`rate of step ${index + 1}`, step.ratePerSecond, 'of 0/s or more', from0],
          [`duration of step ${index + 1}`, step.durationMs, 'above 0 ms', above0],
        ]),
      ]
    case 'burst':
      return [
        ['size', pacer.size, 'that is a whole number of 1 or more', whole],
        ['interval', pacer.everyMs ?? 1, 'above 0 ms', above0],
      ]
    case 'schedule':
      return pacer.timesMs.map((time, index): Claim => {
        const before = index === 0 ? 0 : (pacer.timesMs[index - 1] ?? 0)
        return [
          `time ${index + 1}`,
          time,
          `of ${before} ms or later`,
          (value) => value >= before && from0(value),
        ]
      })
    default:
      return [
        ['number of users', pacer.users, 'that is a whole number of 1 or more', whole],
        ['think time', pacer.thinkTimeMs, 'of 0 ms or more', from0],
        ['stagger', pacer.staggerMs ?? 0, 'of 0 ms or more', from0],
      ]
  }
}
