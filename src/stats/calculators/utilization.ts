import { growthFactor, mm1, multiServer, pollaczekKhinchine } from '../queueing.ts'
import { divide, multiply, toNumber, compare, rational, type Rational } from '../rational.ts'
import type { Warning } from '../../base/warnings.ts'
import { calculator, impossible, type Calculator } from './calculator.ts'
import {
  numberFigure,
  plain,
  rateText,
  seconds,
  shareFigure,
  shareText,
  timeText,
  timesFigure,
  type Figure,
} from './figures.ts'
import { assumed, optional } from './inputs.ts'
import { count, duration, growth, number, rate, ratio } from './quantities.ts'

const one = rational(1n)

export const utilizationCalculator: Calculator = calculator({
  name: 'utilization',
  group: 'Load and queues',
  brief: 'How much longer does everything take when it is nearly full?',
  formula:
    'one server, or processor sharing: W ÷ S = 1 ÷ (1 − ρ); c servers: Erlang C; M/G/1: 1 + ρ(1 + c²) ÷ (2(1 − ρ))',
  inputs: {
    rho: optional(ratio, 'utilisation ρ', { bare: true, also: ['utilization', 'utilisation', 'u'] }),
    growth: optional(growth, 'by how much the load grows', { bare: true, also: ['grow', 'load'] }),
    arrivals: optional(rate, 'arrivals, instead of ρ', { also: ['lambda'] }),
    capacity: optional(rate, 'what all servers together complete, with --arrivals', { also: ['mu'] }),
    servers: assumed(count(1, 1_000_000), '1', 'parallel servers c', { also: ['c', 'slots'] }),
    service: optional(duration, 'service time, to have seconds', { also: ['s'] }),
    cv2: optional(number, 'squared variation of the service time, for M/G/1 first come first served', {
      also: ['cs2'],
    }),
  },
  examples: [
    ['70% 1.3', '30 % more load on a server at 70 %'],
    ['70% 1.3 --servers 8', 'the same with eight parallel servers'],
    ['91% --cv2 4', 'very different lengths, first come first served'],
    ['--arrivals 7/s --capacity 10/s --service 2s', 'in seconds'],
    ['70% 1.43', 'over the edge'],
  ],
  work({ rho, growth: grown, arrivals, capacity, servers, service, cv2 }) {
    const before = given(rho?.exact ?? null, arrivals?.exact ?? null, capacity?.exact ?? null)
    const factor = grown?.exact ?? one
    const after = multiply(before, factor)
    const name = servers === 1 ? 'M/M/1 or processor sharing' : `M/M/${servers}`
    const working: string[] = []
    if (rho === null)
      working.push(
        `ρ = λ ÷ μ = ${rateText(arrivals!.exact)} ÷ ${rateText(capacity!.exact)} = ${shareText(before)}`,
      )
    const results: Record<string, Figure> = { ...state('', before, servers, service?.value ?? null, working) }
    const overloaded: Rational[] = [before, after].filter((load) => compare(load, one) >= 0)
    let answer = factorText(results['time_over_service']!, before)
    if (grown !== null) {
      working.push(`ρ′ = ${shareText(before)} × ${plain(factor)} = ${shareText(after)}`)
      Object.assign(results, state('_after', after, servers, service?.value ?? null, working))
      const found = overloaded.length > 0 ? null : growthFactor(servers, toNumber(before), toNumber(factor))
      results['growth_factor'] = timesFigure(found, 'none: the queue has no end')
      if (found !== null) {
        working.push(
          `${results['time_over_service_after']!.text} ÷ ${results['time_over_service']!.text} = ${plain(found, 4)}x`,
        )
      }
      answer =
        found === null
          ? `no steady state at ρ = ${shareText(after)}: the queue grows without end`
          : `${plain(found, 4)} times as long: ${results['time_over_service']!.text} → ${results['time_over_service_after']!.text} of the service time`
    }
    if (cv2 !== null) {
      const last = toNumber(after)
      const found = compare(after, one) >= 0 ? null : pollaczekKhinchine(last, cv2.value)
      results['time_over_service_mg1'] = timesFigure(found, 'none: the queue has no end')
      if (found !== null) {
        working.push(
          `M/G/1, first come first served = 1 + ρ(1 + c²) ÷ (2(1 − ρ)) = 1 + ${plain(last)} × ${plain(1 + cv2.value)} ÷ ${plain(2 * (1 - last))} = ${plain(found, 4)}x`,
        )
        if (grown === null)
          answer = `${plain(found, 4)} times the service time (M/G/1, c² = ${plain(cv2.value)})`
      }
    }
    return {
      answer,
      results,
      working,
      assumptions: [
        `${name}: Poisson arrivals, rates that do not depend on the load`,
        'servers of language models slow down as they fill: a measured sweep beats every formula here',
      ],
      mistake:
        servers === 1
          ? `1 ÷ (1 − ρ) is one server; with 8 parallel ones ${eight(before, factor)}`
          : `1 ÷ (1 − ρ) would say ${compare(after, one) >= 0 ? 'nothing' : `${plain(mm1(toNumber(after))!.timeOverService, 4)}x`}: it is for one server, not ${plain(servers)}`,
      warnings: overloaded.length > 0 ? [overload(overloaded.at(-1)!)] : [],
      next: ['plimsoll calc backlog', 'plimsoll sweep'],
    }
  },
})

function given(rho: Rational | null, arrivals: Rational | null, capacity: Rational | null): Rational {
  if (rho !== null) return rho
  if (arrivals === null || capacity === null)
    throw impossible('a utilisation is needed', '--rho 70%, or --arrivals RATE and --capacity RATE')
  if (capacity.num === 0n) throw impossible('nothing is completed', 'a capacity above 0', '0/s')
  return divide(arrivals, capacity)
}

function state(
  suffix: string,
  load: Rational,
  servers: number,
  serviceMs: number | null,
  working: string[],
): Record<string, Figure> {
  const rho = toNumber(load)
  const prime = suffix === '' ? '' : '′'
  const found = compare(load, one) >= 0 ? null : multiServer(servers, rho)
  const why = 'none: ρ is at least 100 %, the queue grows without end'
  const results: Record<string, Figure> = {
    [`time_over_service${suffix}`]: timesFigure(found?.timeOverService ?? null, why),
    [`wait_probability${suffix}`]: shareFigure(found?.waitProbability ?? null, why),
    [`rho${suffix}`]: numberFigure(load),
  }
  if (serviceMs !== null) {
    results[`time${suffix}`] = seconds(found === null ? null : found.timeOverService * serviceMs, why)
  }
  if (found === null)
    working.push(`ρ${prime} = ${shareText(load)} is not under 100 %: there is no steady state`)
  else if (servers === 1) {
    working.push(
      `W ÷ S = 1 ÷ (1 − ρ${prime}) = 1 ÷ (1 − ${plain(rho)}) = ${plain(found.timeOverService, 4)}x`,
    )
  } else {
    working.push(
      `Erlang C: chance to wait ${shareText(found.waitProbability)}; W ÷ S = 1 + C ÷ (c(1 − ρ${prime})) = 1 + ${plain(found.waitProbability, 4)} ÷ (${plain(servers)} × ${plain(1 - rho)}) = ${plain(found.timeOverService, 4)}x`,
    )
  }
  if (found !== null && serviceMs !== null) {
    working.push(
      `W = ${plain(found.timeOverService, 4)} × ${timeText(serviceMs)} = ${timeText(found.timeOverService * serviceMs)}`,
    )
  }
  return results
}

function factorText(figure: Figure, load: Rational): string {
  return figure.value === null
    ? `no steady state at ρ = ${shareText(load)}: the queue grows without end`
    : `${plain(figure.value as number, 4)} times the service time`
}

function eight(before: Rational, factor: Rational): string {
  const after = multiply(before, factor)
  const at = compare(after, one) >= 0 ? null : multiServer(8, toNumber(after))
  if (at === null) return 'it has no end either'
  const growth = growthFactor(8, toNumber(before), toNumber(factor))
  return compare(factor, one) === 0 || growth === null
    ? `it is ${plain(at.timeOverService, 3)}x`
    : `the same step is ${plain(growth, 3)}x`
}

function overload(load: Rational): Warning {
  return {
    kind: 'saturated',
    message: `at ρ = ${shareText(load)} as much comes as can be done, or more`,
    cause: null,
    next: 'plimsoll calc backlog says how fast the queue grows',
    evidence: { rho: toNumber(load) },
  }
}
