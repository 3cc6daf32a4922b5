import { noun } from '../../base/noun.ts'
import type { Pacer, Spacing } from './pacer.ts'

/**
 * The pacer in a line: what it is and its own equation, U being a fresh uniform number in [0, 1), i = 0, 1, 2, … the request.
 * @example
 * describePacer({ kind: 'poisson', ratePerSecond: 6 })
 * // 'Poisson 6/s: gaps of −ln(1 − U) ÷ 6 s, not rescaled'
 */
export function describePacer(pacer: Pacer): string {
  switch (pacer.kind) {
    case 'constant':
      return `constant ${number(pacer.ratePerSecond)}/s: request i at i ÷ ${number(pacer.ratePerSecond)} s`
    case 'poisson':
      return `Poisson ${number(pacer.ratePerSecond)}/s: gaps of −ln(1 − U) ÷ ${number(pacer.ratePerSecond)} s, not rescaled`
    case 'gamma': {
      const rate = number(pacer.ratePerSecond)
      if (pacer.cv === 0) return `gamma ${rate}/s, cv 0: request i at i ÷ ${rate} s`
      const shape = 1 / (pacer.cv * pacer.cv)
      return `gamma ${rate}/s, cv ${number(pacer.cv)}: gaps of Gamma(shape ${number(shape)}) ÷ (${number(shape)} × ${rate}) s, not rescaled`
    }
    case 'ramp': {
      const [from, to] = [number(pacer.fromPerSecond), number(pacer.toPerSecond)]
      const time = seconds(pacer.durationMs)
      const change = pacer.toPerSecond - pacer.fromPerSecond
      const sign = change < 0 ? '−' : '+'
      return `ramp ${from}/s to ${to}/s over ${time}: rate(t) = ${from} ${sign} ${number(Math.abs(change))} × t ÷ ${time}; ${spaced(pacer.spacing)}`
    }
    case 'steps': {
      const steps = pacer.steps.map(
        (step) => `${number(step.ratePerSecond)}/s for ${seconds(step.durationMs)}`,
      )
      return `steps ${steps.join(', ')}; ${spaced(pacer.spacing)}`
    }
    case 'burst':
      return pacer.everyMs === null
        ? `burst of ${pacer.size} at once: every request at 0 s`
        : `burst of ${pacer.size} every ${seconds(pacer.everyMs)}: request i at ⌊i ÷ ${pacer.size}⌋ × ${seconds(pacer.everyMs)}`
    case 'schedule':
      return `schedule ${pacer.name}: ${pacer.timesMs.length} recorded times`
    default:
      return `closed loop, ${pacer.users} ${noun(pacer.users, 'user')}: ${closedLoop(pacer)}; it waits for the server, so it cannot show overload`
  }
}

function closedLoop(pacer: Pacer & { kind: 'concurrency' }): string {
  const drawn =
    pacer.thinkTime === 'exponential'
      ? `−ln(1 − U) × ${seconds(pacer.thinkTimeMs)}`
      : seconds(pacer.thinkTimeMs)
  const next =
    pacer.thinkTimeMs === 0
      ? 'a request as soon as the last is answered'
      : `a request ${drawn} after the last is answered`
  return (pacer.staggerMs ?? 0) === 0
    ? next
    : `${next}, first sends spread over ${seconds(pacer.staggerMs ?? 0)}`
}

function spaced(spacing: Spacing | undefined): string {
  return spacing === 'poisson'
    ? 'a Poisson process of that rate (a unit one, time-changed by the inverse of ∫ rate)'
    : 'request i where ∫ rate reaches i'
}

function seconds(ms: number): string {
  return `${number(ms / 1000)} s`
}

/** As typed where it was typed short; never more than six digits. */
function number(value: number): string {
  return String(Number(value.toPrecision(6)))
}
