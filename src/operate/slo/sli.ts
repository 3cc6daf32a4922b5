import { PlimsollError } from '../../base/errors.ts'
import { describeLimit, type Limit } from '../../measure/metrics/objective.ts'
import {
  compare,
  divide,
  multiply,
  parseRational,
  rational,
  toDecimalText,
  type Rational,
} from '../../stats/rational.ts'
import { bucketAdvice } from '../catalogue/bucket-advice.ts'
import { catalogues } from '../catalogue/engines.ts'
import { nativeLatencySli } from './native-sli.ts'
import { ownSeries } from './own-series.ts'
import type { CountedSeries } from './counted-series.ts'
import { sloSources, type CounterPart } from './sources.ts'
import { sloId, type SloSpec } from './slo-spec.ts'

/** A share of good requests that can be counted: what is a request, and which are bad. */
export interface Sli {
  /** `chat-ttft`: service, objective, and the part of it. */
  readonly id: string
  readonly part: string
  /** In words: "first token within 500ms". */
  readonly what: string
  /** Requests, and bad ones, within a window: PromQL. */
  readonly total: (window: string) => string
  readonly bad: (window: string) => string
  /** Both sides where a limit lies between two buckets: surely bad, and possibly bad. */
  readonly between: {
    readonly low: (window: string) => string
    readonly high: (window: string) => string
  } | null
  /** The series to which a good and a bad event add, for generated tests. */
  readonly series: { readonly good: readonly CountedSeries[]; readonly bad: readonly CountedSeries[] }
  /** Bad events have a series of their own, which is absent until the first one. */
  readonly lazyBad: boolean
  readonly notes: readonly string[]
}

/** Every share that an objective needs to be watched by: one for the joint counters, else one for each limit and one for the answers. */
export function slisOf(spec: SloSpec): readonly Sli[] {
  if (spec.own !== null || spec.engine === 'own') return [ownSli(spec)]
  const source = sloSources[spec.engine]
  if (source.joint !== null) return [jointSli(spec, source.joint)]
  const slis = spec.each.map((limit) => latencySli(spec, limit))
  if (source.answered !== null) slis.push(answeredSli(spec))
  if (slis.length > 0) return slis
  throw new PlimsollError('PLIM_CONFIG', `${catalogues[spec.engine].title} has no counter of requests`, {
    where: { file: spec.file },
    hint: 'count at the gateway: engine: plimsoll, or own counters with total and bad',
  })
}

/** `{a="b",c=~"d"}` of the objective's labels and some more; the engine's own labels are left out of series that lack them. */
function selector(spec: SloSpec, metric: string, more: readonly string[], bare = false): string {
  const own = spec.engine === 'own' ? [] : catalogues[spec.engine].labels
  const matchers = Object.entries(spec.match)
    .filter(([label]) => !(bare && own.includes(label)))
    .map(([label, value]) => `${label}=${JSON.stringify(value)}`)
  const all = [...matchers, ...more]
  return all.length === 0 ? metric : `${metric}{${all.join(', ')}}`
}

function increases(spec: SloSpec, parts: readonly CounterPart[], window: string): string {
  const terms = parts.map(
    ({ metric, matchers, bare }) => `sum(increase(${selector(spec, metric, matchers, bare)}[${window}]))`,
  )
  return terms.join(' + ')
}

function latencySli(spec: SloSpec, limit: Limit): Sli {
  const engine = spec.engine as Exclude<SloSpec['engine'], 'own'>
  const catalogue = catalogues[engine]
  const latency = sloSources[engine].latency[limit.metric]
  if (latency === undefined) {
    throw new PlimsollError('PLIM_CONFIG', `${catalogue.title} has no histogram of ${limit.metric}`, {
      expected: `a limit on ${Object.keys(sloSources[engine].latency).join(', ') || 'nothing: it has no histograms'}`,
      received: describeLimit(limit),
      where: { file: spec.file },
      hint: 'a gateway that sees each request can count it: engine: plimsoll',
    })
  }
  const seconds = limitSeconds(limit)
  if (spec.histograms === 'native') {
    return nativeLatencySli(
      `${sloId(spec)}-${limit.metric}`,
      limit,
      seconds,
      selector(spec, latency.metric, []),
      latency.note === null ? [] : [latency.note],
    )
  }
  const bounds =
    spec.buckets[limit.metric] ??
    catalogue.metrics.find((metric) => metric.name === latency.metric)?.buckets ??
    null
  const { at, below, above } = edgesAround(bounds, seconds)
  if (at === null && (spec.edges === 'refuse' || (below === null && above === null))) {
    throw betweenBuckets(spec, limit, latency.metric, bounds, { below, above })
  }
  const matchers = Object.entries(spec.match).map(([label, value]) => `${label}=${JSON.stringify(value)}`)
  const count = (window: string): string =>
    `sum(increase(${selector(spec, `${latency.metric}_count`, [])}[${window}]))`
  const under = (edge: string | null, window: string): string =>
    edge === null
      ? '0'
      : `sum(increase(${latency.metric}_bucket{${[...matchers, `le=~"${lePattern(edge)}"`].join(', ')}}[${window}]))`
  // A count and its bucket are extrapolated apart when they have just begun: the difference may fall a hair below 0.
  const badAt =
    (edge: string | null) =>
    (window: string): string =>
      `clamp_min(${count(window)} - ${under(edge, window)}, 0)`
  const decides = at ?? (spec.edges === 'optimistic' ? (above ?? below) : (below ?? above))
  const notes = latency.note === null ? [] : [latency.note]
  if (limit.operator === '<') {
    notes.push(`a bucket counts what is at its bound too: exactly ${limit.limitText} passes here`)
  }
  if (at === null) {
    const chosen = spec.edges === 'optimistic' ? 'optimistic' : 'pessimistic'
    notes.push(
      `${limit.limitText} lies between the buckets ${below ?? 'none'} and ${above ?? 'none'}: the ${chosen} side decides, both are recorded`,
    )
  }
  const labels = spec.match
  const series = (name: string, more: Readonly<Record<string, string>> = {}): CountedSeries => ({
    name: latency.metric + name,
    labels: { ...labels, ...more },
  })
  const edges = [...new Set([at, below, above].filter((edge) => edge !== null && edge !== undefined))]
  return {
    id: `${sloId(spec)}-${limit.metric}`,
    part: limit.metric,
    what: describeLimit(limit),
    total: count,
    bad: badAt(decides),
    between:
      at === null && below !== null && above !== null ? { low: badAt(above), high: badAt(below) } : null,
    series: {
      good: [
        series('_count'),
        series('_bucket', { le: '+Inf' }),
        ...edges
          .filter((edge) => at === null || edge === at)
          .map((edge) => series('_bucket', { le: spelled(edge) })),
      ],
      bad: [series('_count'), series('_bucket', { le: '+Inf' })],
    },
    lazyBad: false,
    notes,
  }
}

function answeredSli(spec: SloSpec): Sli {
  const engine = spec.engine as Exclude<SloSpec['engine'], 'own'>
  const source = sloSources[engine].answered
  if (source === null) throw new PlimsollError('PLIM_INTERNAL', `no counters of ${engine}`)
  const notes = [`a refused request is in ${source.shedWhere}`]
  if (spec.shed === 'ignore' && source.shed === null) {
    throw new PlimsollError('PLIM_CONFIG', `refusals cannot be left out with ${catalogues[engine].title}`, {
      expected: 'shed: bad',
      received: `shed: ignore; but a refused request is in ${source.shedWhere}`,
      where: { file: spec.file },
      hint: 'or count at a gateway that tells refusals apart: engine: plimsoll',
    })
  }
  const failed = spec.shed === 'bad' ? [...source.failed, ...(source.shed ?? [])] : source.failed
  const ignored = spec.shed === 'ignore' ? (source.shed ?? []) : []
  if (source.failed.some(({ bare }) => bare === true) && Object.keys(spec.match).length > 0) {
    const lost = Object.keys(spec.match).filter((label) => catalogues[engine].labels.includes(label))
    if (lost.length > 0)
      notes.push(`http_requests_total has no label ${lost.join(', ')}: it counts every model of the server`)
  }
  const attempts = (window: string): string => {
    const all = zeroed(spec, source.total, window)
    return ignored.length === 0 ? all : `${all} - ${lazy(spec, ignored, window, all)}`
  }
  // A failure counter that was never incremented does not exist; beside a living total it is 0.
  const bad = (window: string): string =>
    failed.map((one) => lazy(spec, [one], window, zeroed(spec, source.total, window))).join(' + ')
  const example = ({ metric, example: labels, bare }: CounterPart): CountedSeries => ({
    name: metric,
    labels: { ...(bare === true ? {} : spec.match), ...labels },
  })
  const first = failed[0]
  const inTotal = first !== undefined && source.total.some(({ metric }) => metric === first.metric)
  return {
    id: `${sloId(spec)}-answered`,
    part: 'answered',
    what:
      spec.shed === 'bad'
        ? 'answered: neither failed nor refused'
        : 'answered: not failed (refusals left out)',
    total: attempts,
    bad,
    between: null,
    series: {
      good: source.good.map(example),
      bad: first === undefined ? [] : [...(inTotal ? [] : source.good.map(example)), example(first)],
    },
    lazyBad: true,
    notes,
  }
}

/** The sum of several counters of which only the first must exist. */
function zeroed(spec: SloSpec, parts: readonly CounterPart[], window: string): string {
  const [first, ...rest] = parts
  if (first === undefined) return '0'
  const living = increases(spec, [first], window)
  return rest.length === 0
    ? living
    : `(${[living, ...rest.map((one) => lazy(spec, [one], window, living))].join(' + ')})`
}

function lazy(spec: SloSpec, parts: readonly CounterPart[], window: string, living: string): string {
  return `(${increases(spec, parts, window)} or 0 * ${living})`
}

function jointSli(
  spec: SloSpec,
  source: { readonly total: string; readonly good: string; readonly shedMatcher: string },
): Sli {
  const more = [`class=${JSON.stringify(spec.name)}`]
  const count = (metric: string, window: string, extra: readonly string[] = []): string =>
    `sum(increase(${selector(spec, metric, [...more, ...extra])}[${window}]))`
  const attempts = (window: string): string => {
    const all = count(source.total, window)
    return spec.shed === 'bad'
      ? all
      : `${all} - (${count(source.total, window, [source.shedMatcher])} or 0 * ${all})`
  }
  const labels = { ...spec.match, class: spec.name }
  const all = (outcome: string): CountedSeries => ({ name: source.total, labels: { ...labels, outcome } })
  return {
    id: sloId(spec),
    part: 'good',
    what:
      spec.each.length === 0
        ? 'answered'
        : `answered, with ${spec.each.map(describeLimit).join(' and ')}, jointly`,
    total: attempts,
    bad: (window) =>
      `clamp_min(${attempts(window)} - (${count(source.good, window)} or 0 * ${count(source.total, window)}), 0)`,
    between: null,
    series: { good: [all('ok'), { name: source.good, labels }], bad: [all('failed')] },
    lazyBad: false,
    notes: [
      spec.shed === 'bad'
        ? 'a refused request is in the total and not among the good'
        : 'refused requests are left out of the total',
    ],
  }
}

const plainSelector = /^[a-zA-Z_:][\w:]*(?:\{[^{}]*\})?$/

function ownSli(spec: SloSpec): Sli {
  const own = spec.own
  if (own === null || (own.bad === undefined) === (own.good === undefined)) {
    throw new PlimsollError('PLIM_CONFIG', `${sloId(spec)} needs total, and either bad or good`, {
      where: { file: spec.file },
    })
  }
  for (const text of [own.total, own.bad ?? own.good ?? '']) {
    if (!plainSelector.test(text)) {
      throw new PlimsollError('PLIM_CONFIG', 'a counter of an objective is a plain selector', {
        expected: 'a name with labels, such as http_requests_total{code=~"5.."}; windows are put in here',
        received: text,
        where: { file: spec.file },
      })
    }
  }
  const count = (text: string, window: string): string => `sum(increase(${text}[${window}]))`
  const total = (window: string): string => count(own.total, window)
  return {
    id: sloId(spec),
    part: 'good',
    what: own.bad === undefined ? `good: ${own.good}` : `bad: ${own.bad}`,
    total,
    bad: (window) =>
      own.bad === undefined
        ? `clamp_min(${total(window)} - (${count(own.good ?? '', window)} or 0 * ${total(window)}), 0)`
        : `(${count(own.bad, window)} or 0 * ${total(window)})`,
    between: null,
    series: ownSeries(own),
    lazyBad: own.bad !== undefined,
    notes: [],
  }
}

/** Both spellings of a bound: `2` of Go and Rust, `2.0` of Python, `5e-05` where that is shorter. */
export function lePattern(edge: string): string {
  const plain = edge.replaceAll('.', '[.]')
  if (!edge.includes('.')) return `${plain}|${plain}[.]0`
  const short = String(Number(edge))
  return short === edge ? plain : `${plain}|${short.replaceAll('.', '[.]').replaceAll('+', '[+]')}`
}

/** As Python's client library writes it. */
function spelled(edge: string): string {
  return edge.includes('.') ? edge : `${edge}.0`
}

/** The limit in seconds, exact. */
export function limitSeconds(limit: Limit): Rational {
  const match = /^([\d.]+)\s*(us|µs|μs|ms|s)$/.exec(limit.limitText)
  if (match === null) return divide(parseRational(String(limit.limitMs)), rational(1000))
  const scale =
    match[2] === 's' ? rational(1) : match[2] === 'ms' ? rational(1, 1000) : rational(1, 1_000_000)
  return multiply(parseRational(match[1] ?? '0'), scale)
}

/** The bucket at a limit, and its neighbours where there is none. */
export function edgesAround(
  bounds: readonly string[] | null,
  seconds: Rational,
): { readonly at: string | null; readonly below: string | null; readonly above: string | null } {
  let below: string | null = null
  for (const bound of bounds ?? []) {
    const side = compare(parseRational(bound), seconds)
    if (side === 0) return { at: bound, below: null, above: null }
    if (side > 0) return { at: null, below, above: bound }
    below = bound
  }
  return { at: null, below, above: null }
}

function betweenBuckets(
  spec: SloSpec,
  limit: Limit,
  metric: string,
  bounds: readonly string[] | null,
  { below, above }: { readonly below: string | null; readonly above: string | null },
): PlimsollError {
  const engine = spec.engine as Exclude<SloSpec['engine'], 'own'>
  const advice = bucketAdvice(engine, limit.metric, limitSeconds(limit), bounds)
  return new PlimsollError('PLIM_CONFIG', `${metric} has no bucket at ${limit.limitText}`, {
    expected: `one of its bounds in seconds: ${below ?? 'none below'} or ${above ?? 'none above'}`,
    received: describeLimit(limit),
    where: { file: spec.file },
    hint: `--edges pessimistic (or edges: pessimistic in the file) records both sides and alerts on the stricter one${
      advice === null
        ? `; ${catalogues[engine].title} has no setting for its buckets`
        : `; or set a bucket there: ${advice}, and say so under slo: buckets: { ${limit.metric}: [${toDecimalText(limitSeconds(limit), 12)}, …] }`
    }`,
  })
}
