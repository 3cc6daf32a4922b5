import { PlimsollError } from '../base/errors.ts'

/*
 * Textbook queueing. λ arrivals, μ completions (per second), ρ utilisation, N in the system, W or R seconds in it, Z
 * seconds of thinking. Servers of language models slow down as they fill, so a measured sweep beats every formula here.
 * A formula that has no steady state (ρ ≥ 1) gives null, an impossible input throws PLIM_NUMBER.
 */

/** Little's law: mean number in the system = λ·W. */
export function little(arrivalRate: number, timeInSystem: number): number {
  return arrivalRate * timeInSystem
}

/** Throughput of a closed loop of `users`: N ÷ (R + Z). Null where a cycle takes no time. */
export function closedThroughput(users: number, responseTime: number, thinkTime = 0): number | null {
  const cycle = responseTime + thinkTime
  return cycle > 0 ? users / cycle : null
}

/** Users that a closed loop needs for a rate: X·(R + Z). */
export function closedUsers(rate: number, responseTime: number, thinkTime = 0): number {
  return rate * (responseTime + thinkTime)
}

/** |L − λW| ÷ L over a window, as a check of clocks and joins; null without load. */
export function littleDiscrepancy(
  numberInSystem: number,
  arrivalRate: number,
  timeInSystem: number,
): number | null {
  return numberInSystem > 0 ? Math.abs(numberInSystem - arrivalRate * timeInSystem) / numberInSystem : null
}

/** Waiting work after `time` of overload: max(0, (λ − μ)·t). */
export function backlog(arrivalRate: number, completionRate: number, time: number): number {
  return Math.max(0, (arrivalRate - completionRate) * time)
}

/** Standard deviation of that backlog when arrivals and completions are Poisson (Skellam): √((λ + μ)·t). */
export function backlogDeviation(arrivalRate: number, completionRate: number, time: number): number {
  return Math.sqrt((arrivalRate + completionRate) * time)
}

/** Wait of the next arrival behind `waiting` requests, served in order; null when nothing completes. */
export function fifoWait(waiting: number, completionRate: number): number | null {
  return completionRate > 0 ? waiting / completionRate : null
}

/** Time until a backlog is gone: B ÷ (μ − λ); null when it never is. */
export function drainTime(waiting: number, completionRate: number, arrivalRate: number): number | null {
  if (waiting === 0) return 0
  return completionRate > arrivalRate ? waiting / (completionRate - arrivalRate) : null
}

/** A queue's congestion: chance to wait at all, and mean time in the system as a multiple of the service time. */
export interface Congestion {
  readonly waitProbability: number
  readonly timeOverService: number
}

/** M/M/1 (also M/G/1 processor sharing for the mean): W ÷ S = 1 ÷ (1 − ρ). */
export function mm1(utilisation: number): Congestion | null {
  return multiServer(1, utilisation)
}

/** M/M/c by Erlang's C formula, from the B recursion B_k = ρc·B_{k−1} ÷ (k + ρc·B_{k−1}). */
export function multiServer(servers: number, utilisation: number): Congestion | null {
  if (!(Number.isInteger(servers) && servers >= 1)) {
    throw new PlimsollError('PLIM_NUMBER', 'a queue has a whole number of servers', {
      received: String(servers),
    })
  }
  requireUtilisation(utilisation)
  if (utilisation >= 1) return null
  const offered = servers * utilisation
  let blocked = 1
  for (let k = 1; k <= servers; k++) blocked = (offered * blocked) / (k + offered * blocked)
  const waitProbability = blocked / (1 - utilisation * (1 - blocked))
  return { waitProbability, timeOverService: 1 + waitProbability / (servers * (1 - utilisation)) }
}

/** Erlang's C: the probability that an arrival waits; null at ρ ≥ 1. */
export function erlangC(servers: number, utilisation: number): number | null {
  return multiServer(servers, utilisation)?.waitProbability ?? null
}

/**
 * M/G/1 by Pollaczek and Khinchine: W ÷ S = 1 + ρ(1 + c²) ÷ (2(1 − ρ)), c² the squared coefficient of variation of the
 * service time (0: M/D/1, 1: M/M/1). Null at ρ ≥ 1.
 */
export function pollaczekKhinchine(utilisation: number, squaredVariation: number): number | null {
  requireUtilisation(utilisation)
  if (utilisation >= 1) return null
  return 1 + (utilisation * (1 + squaredVariation)) / (2 * (1 - utilisation))
}

/** How many times longer a request stays in the system when the load grows by `growth`; null where the queue then has no end. */
export function growthFactor(servers: number, utilisation: number, growth: number): number | null {
  const before = multiServer(servers, utilisation)
  const after = multiServer(servers, utilisation * growth)
  return before === null || after === null ? null : after.timeOverService / before.timeOverService
}

/** The corner of the asymptotes of a closed system: N* = (D + Z) ÷ D_max. */
export function saturationPoint(totalDemand: number, largestDemand: number, thinkTime = 0): number {
  return (totalDemand + thinkTime) / largestDemand
}

/** Upper bound of a closed system's throughput: min(N ÷ (D + Z), 1 ÷ D_max). */
export function throughputBound(
  users: number,
  totalDemand: number,
  largestDemand: number,
  thinkTime = 0,
): number {
  return Math.min(users / (totalDemand + thinkTime), 1 / largestDemand)
}

function requireUtilisation(utilisation: number): void {
  if (!(utilisation >= 0)) {
    throw new PlimsollError('PLIM_NUMBER', 'a utilisation is not negative', { received: String(utilisation) })
  }
}
