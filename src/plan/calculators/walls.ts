import { noun } from '../../base/noun.ts'
import type { Warning } from '../../base/warnings.ts'
import { calculator, impossible, type Calculator } from '../../stats/calculators/calculator.ts'
import {
  countFigure,
  plain,
  rateFigure,
  rateText,
  shareText,
  timeText,
  wordFigure,
  type Figure,
} from '../../stats/calculators/figures.ts'
import { assumed, optional, several, type Reading } from '../../stats/calculators/inputs.ts'
import { count, duration, number, rate, share, type Quantity } from '../../stats/calculators/quantities.ts'
import { compare, type Rational } from '../../stats/rational.ts'
import { memoryWall } from '../kv-pool.ts'
import {
  capacity,
  interpolateThroughput,
  littleTpotMs,
  saturationWall,
  sloWall,
  type SloWall,
  type WallPoint,
} from '../walls.ts'

/** One tested load: `32:3400:9.94ms:201ms` is N, tokens/s, P99 TPOT and P99 TTFT. */
interface Tested {
  readonly load: number
  readonly throughput: number
  readonly tpot: Quantity | null
  readonly ttft: Quantity | null
}

const tested: Reading<Tested> = {
  placeholder: 'N:TOKENS/S[:TPOT[:TTFT]]',
  read(text, what) {
    const [load, throughput, tpot, ttft, more] = text.split(':')
    if (load === undefined || throughput === undefined || more !== undefined) {
      throw impossible(
        `${what} cannot be read`,
        'N:TOKENS/S:TPOT:TTFT such as 32:3400:9.94ms:201ms',
        text.trim() === '' ? 'nothing' : JSON.stringify(text),
      )
    }
    const time = (part: string | undefined): Quantity | null =>
      part === undefined || part === '' || part === '-' ? null : duration.read(part, what)
    return {
      load: number.read(load, what).value,
      throughput: rate.read(throughput, what).value,
      tpot: time(tpot),
      ttft: time(ttft),
    }
  },
}

/** A limit: `10ms` and `<=10ms` include it, `<10ms` does not. */
interface TimeLimit {
  readonly strict: boolean
  readonly ms: Rational
  readonly text: string
}
const timeLimit: Reading<TimeLimit> = {
  placeholder: '[<]TIME',
  read(text, what) {
    const match = /^\s*(<=|≤|<)?\s*(.*)$/.exec(text)
    const strict = match?.[1] === '<'
    const { exact } = duration.read(match?.[2] ?? '', what)
    return { strict, ms: exact, text: `${strict ? '<' : '≤'} ${timeText(exact)}` }
  },
}

export const wallsCalculator: Calculator = calculator({
  name: 'walls',
  group: 'Capacity',
  brief: 'From a sweep: where are the walls, and which one binds?',
  formula: 'capacity = largest tested load under min(saturation, SLO, memory)',
  inputs: {
    points: several(tested, 1, 'tested loads', { bare: true, also: ['point', 'sweep'] }),
    tpot: optional(timeLimit, 'limit on the TPOT of a point', { also: ['limit', 'tpot-limit', 'p99-tpot'] }),
    ttft: optional(timeLimit, 'limit on the TTFT of a point', { also: ['ttft-limit', 'p99-ttft'] }),
    'kv-tokens': optional(count(1), 'tokens of the KV pool', { also: ['pool-tokens'] }),
    request: optional(count(1), 'tokens of a request when it ends', { also: ['tokens-per-request'] }),
    epsilon: assumed(share, '5%', 'how far under the best still counts as saturated', {
      also: ['eps', 'tolerance'],
    }),
  },
  examples: [
    [
      '8:1256:6.65ms 16:2180:7.69ms 32:3400:9.94ms 40:3804:11.15ms 64:4541:15.11ms 96:4925:21.21ms 128:5000:28.26ms 160:4935:36.31ms --tpot 10ms --kv-tokens 450000 --request 3000',
      'a whole sweep',
    ],
    ['8:1256:6.65ms 16:2180:7.69ms --tpot 10ms', 'no wall was reached'],
    [
      "16:2180:7.69ms:121ms 64:4541:15.11ms:428ms 96:4925:21.21ms:781ms --tpot '<30ms' --ttft '<500ms'",
      'two limits',
    ],
  ],
  work(i) {
    const epsilon = i.epsilon.exact
    const judged = i.tpot !== null || i.ttft !== null
    const pass = (point: Tested, tpot: TimeLimit | null, ttft: TimeLimit | null): boolean | null => {
      const verdicts = [within(point.tpot, tpot), within(point.ttft, ttft)].filter((one) => one !== 'unasked')
      return verdicts.length === 0 || verdicts.includes('unknown')
        ? verdicts.includes(false)
          ? false
          : null
        : !verdicts.includes(false)
    }
    const pointsFor = (tpot: TimeLimit | null, ttft: TimeLimit | null): WallPoint[] =>
      i.points.map((point) => ({
        load: point.load,
        throughput: point.throughput,
        passes: pass(point, tpot, ttft),
      }))
    const points = pointsFor(i.tpot, i.ttft)
    if (new Set(points.map(({ load }) => load)).size !== points.length)
      throw impossible('a load is given twice', 'each load once')
    const saturation = saturationWall(points, epsilon)
    const slo = judged ? sloWall(points) : null
    if ((i['kv-tokens'] === null) !== (i.request === null))
      throw impossible('pool and request belong together', '--kv-tokens N --request N')
    const memory = i['kv-tokens'] === null ? null : memoryWall(i['kv-tokens'], i.request!)
    const found = capacity(points, saturation, slo, memory)
    const largest = Math.max(...points.map(({ load }) => load))
    const results: Record<string, Figure> = {
      capacity: countFigure(found.load, 'users', 'none: no point passes'),
      capacity_throughput: rateFigure(found.throughput, 'tokens', 'none: no point passes'),
      binding: wordFigure(found.binding, found.binding ?? 'none was reached'),
      at_least: wordFigure(found.atLeast),
      peak: countFigure(saturation.peakLoad, 'users'),
      peak_throughput: rateFigure(saturation.peakThroughput, 'tokens'),
      saturation: countFigure(saturation.load, 'users'),
      saturation_reached: wordFigure(saturation.reached),
      slo: countFigure(
        slo?.load ?? null,
        'users',
        slo === null ? 'no limit is said' : 'none: the first load fails',
      ),
      slo_throughput: rateFigure(slo?.throughput ?? null, 'tokens', 'none'),
      slo_reached: wordFigure(slo === null ? null : slo.reached),
      memory: countFigure(memory, 'users', 'not known: --kv-tokens and --request'),
    }
    if (i.tpot !== null && i.ttft !== null) {
      results['slo_tpot'] = countFigure(sloWall(pointsFor(i.tpot, null))?.load ?? null, 'users', 'none')
      results['slo_ttft'] = countFigure(sloWall(pointsFor(null, i.ttft))?.load ?? null, 'users', 'none')
    }
    const working = [
      saturation.load === null
        ? 'saturation: none, for nothing came back at any load'
        : saturation.reached
          ? `saturation: the first with at least ${shareText(1 - i.epsilon.value)} of the best (${rateText(saturation.peakThroughput!, 'tokens')} at ${plain(saturation.peakLoad!)}): ${plain(saturation.load!)}`
          : `saturation: not reached, the last point is the best and throughput still rises${saturation.elasticity === null ? '' : ` (elasticity ${plain(saturation.elasticity, 3)})`}`,
      slo === null ? 'SLO: no limit is said' : sloLine(slo, i.tpot, i.ttft),
      memory === null
        ? 'memory: not known'
        : `memory: ⌊${plain(i['kv-tokens']!)} ÷ ${plain(i.request!)}⌋ = ${plain(memory)}${largest < memory ? `, beyond the last tested ${plain(largest)}` : ''}`,
    ]
    if (memory !== null && found.binding === 'memory') {
      const between = interpolateThroughput(points, memory)
      results['interpolated_at_memory'] = rateFigure(between, 'tokens', 'none: outside the tested loads')
      if (between !== null)
        working.push(
          `between the tested loads ${plain(memory)} would give about ${rateText(between, 'tokens')}: a note, not a capacity`,
        )
    }
    if (found.load !== null && found.throughput !== null) {
      const least = littleTpotMs(found.load, found.throughput)
      if (least !== null) {
        results['little_tpot'] = { value: least, unit: 'ms', text: timeText(least) }
        working.push(
          `check: at ${plain(found.load)} a token takes N ÷ X = ${timeText(least)} of a user's time, waits for first tokens included; what these leave is the mean TPOT`,
        )
      }
    }
    const rightmost = points.toSorted((a, b) => a.load - b.load).findLast(({ passes }) => passes === true)
    return {
      answer: answerOf(found, slo),
      results,
      working,
      assumptions: [
        'a closed loop of N users; confirm the point with Poisson arrivals',
        'capacity is a tested load, never one between',
      ],
      mistake:
        slo !== null && slo.passingAbove.length > 0
          ? `taking the highest load that passes (${plain(rightmost!.load)}): it passed by luck above one that failed`
          : saturation.peakLoad !== null && saturation.peakLoad !== found.load && found.load !== null
            ? `quoting the peak of ${rateText(saturation.peakThroughput!, 'tokens')}: nobody's limit is kept there`
            : 'quoting the peak without the limit that it has to keep',
      warnings: warningsOf(slo, found.atLeast, largest),
      next: ['plimsoll lab walls', 'plimsoll calc replicas'],
    }
  },
})

function within(value: Quantity | null, limit: TimeLimit | null): boolean | 'unknown' | 'unasked' {
  if (limit === null) return 'unasked'
  if (value === null) return 'unknown'
  const side = compare(value.exact, limit.ms)
  return limit.strict ? side < 0 : side <= 0
}

function sloLine(slo: SloWall, tpot: TimeLimit | null, ttft: TimeLimit | null): string {
  const limits = [
    ...(tpot === null ? [] : [`TPOT ${tpot.text}`]),
    ...(ttft === null ? [] : [`TTFT ${ttft.text}`]),
  ].join(' and ')
  if (slo.load === null) return `SLO: ${limits}: already the first load fails`
  return slo.reached
    ? `SLO: ${limits}: the last load of the unbroken passing prefix is ${plain(slo.load)}`
    : `SLO: ${limits}: every tested load passes, so the wall is at ${plain(slo.load)} or beyond`
}

function answerOf(found: ReturnType<typeof capacity>, slo: SloWall | null): string {
  if (found.load === null) {
    return slo !== null && slo.load === null
      ? 'No capacity: no tested load keeps the limit.'
      : 'No capacity: no tested load lies under the wall.'
  }
  const words = { slo: 'the SLO binds', saturation: 'saturation binds', memory: 'memory binds' }
  const at = `${plain(found.load)} ${noun(found.load, 'user')}, ${rateText(found.throughput!, 'tokens')}`
  return found.binding === null ? `at least ${at}: no wall was reached` : `${at}: ${words[found.binding]}`
}

function warningsOf(slo: SloWall | null, atLeast: boolean, largest: number): readonly (Warning | null)[] {
  return [
    slo === null || slo.passingAbove.length === 0
      ? null
      : {
          kind: 'non_monotone_sweep',
          message: `${slo.passingAbove.map((load) => plain(load)).join(', ')} passed above a load that failed`,
          cause: null,
          next: null,
          evidence: { passing_above: slo.passingAbove.join(',') },
        },
    atLeast
      ? {
          kind: 'wall_not_reached',
          message: `no wall up to ${plain(largest)}`,
          cause: null,
          next: null,
          evidence: { largest },
        }
      : null,
  ]
}
