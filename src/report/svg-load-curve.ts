import { noun } from '../base/noun.ts'
import { formatCount, formatDuration, formatPercent, formatPlain, formatRate } from '../base/units.ts'
import { loadWords } from '../plan/sweep-schedule.ts'
import type { SweepDocument, SweepPoint, WallKind } from './documents.ts'
import { percentileName, percentileOf } from './metric-rows.ts'
import { axes, type Figure, type Plot, type SeriesName } from './svg-figure.ts'
import { coordinate, element, escapeMarkup, label, polyline } from './svg-markup.ts'
import { linearScale, logBounds, logScale, tickCount, tickTime, type Scale } from './svg-scale.ts'

const width = 960
const height = 620
const left = 66
const right = 946
const upper: Plot = { left, right, top: 66, bottom: 270 }
const lower: Plot = { left, right, top: 330, bottom: 574 }

/** The limit of the objective and the percentile and figure that it names: "p90 tpot <= 10ms". */
export interface JudgedTail {
  readonly metric: 'tpot_ms' | 'ttft_ms' | 'e2e_ms'
  /** `p90`, `p99_9`. */
  readonly key: string
  readonly limitMs: number | null
}

/**
 * Load against throughput above and against the judged tail below, with the walls through both: what lies left of all of them may
 * be used. The mark at the capacity is Plimsoll's: a circle with a line through it.
 */
export function loadCurve(document: SweepDocument, tail: JudgedTail): Figure | null {
  const { points, capacity, walls } = document
  const used = points.filter(({ throughput }) => throughput.output_tokens_per_s !== null)
  if (used.length === 0) return null
  const unit = points[0]?.load.kind === 'rate' ? 'req/s' : 'users'
  const standing = (['slo', 'saturation', 'memory'] as const).flatMap((kind) => {
    const wall = walls[kind]
    return wall === null || (kind === 'memory' && unit === 'req/s') ? [] : [{ kind, load: wall.load }]
  })
  const x = loadScale([...used.map(({ load }) => load.value), ...standing.map(({ load }) => load)])
  const best = Math.max(...used.map((point) => tokensOf(point)))
  const throughput = linearScale({
    low: 0,
    high: best * 1.06,
    from: upper.bottom,
    to: upper.top,
    marks: 4,
    widen: true,
    format: tickCount,
  })
  const name = `${tail.metric.slice(0, -3).toUpperCase()} ${percentileName(tail.key)}`
  const values = used.flatMap((point) => tailOf(point, tail) ?? [])
  const latency = logScale({
    ...logBounds([...values, ...(tail.limitMs === null ? [] : [tail.limitMs])]),
    from: lower.bottom,
    to: lower.top,
    format: tickTime,
  })
  const series: SeriesName = tail.metric === 'ttft_ms' ? 'ttft' : tail.metric === 'e2e_ms' ? 'e2e' : 'tpot'
  const body = [
    safe(x, capacity.load),
    axes(upper, { x: { ...x, ticks: [] }, y: throughput, xWords: '', yWords: 'output tokens per second' }),
    axes(lower, {
      x,
      y: latency,
      xWords: `load, ${unit} (log)`,
      yWords: `${name} with its 95 % interval (log)`,
    }),
    ...wallLines(standing, x, document),
    limit(tail, latency),
    throughputCurve(used, x, throughput),
    tailCurve(used, x, latency, tail, series),
    mark(document, x, throughput),
  ].join('')
  return {
    title: 'Load against throughput and latency',
    width,
    height,
    body,
    says: `${formatCount(used.length)} ${noun(used.length, 'load')} from ${formatPlain(used[0]?.load.value ?? 0)} to ${formatPlain(used.at(-1)?.load.value ?? 0)} ${unit}; ${standing.map(({ kind, load }) => `${wallWords[kind]} at ${formatPlain(load)}`).join(', ')}; capacity ${capacity.load === null ? 'none' : formatPlain(capacity.load)}`,
  }
}

const wallWords: Readonly<Record<WallKind, string>> = {
  slo: 'SLO wall',
  saturation: 'saturation wall',
  memory: 'memory wall',
}

/** Marks at powers of two while loads are doubled: those are the loads that were tried. */
function loadScale(loads: readonly number[]): Scale {
  const low = Math.min(...loads) / 1.12
  const high = Math.max(...loads) * 1.25
  const scale = logScale({ low, high, from: left, to: right, format: formatPlain })
  const ticks = [...new Set(loads)].sort((a, b) => a - b)
  const apart: number[] = []
  for (const load of ticks) {
    const before = apart.at(-1)
    if (before === undefined || scale.at(load) - scale.at(before) > 34) apart.push(load)
  }
  return { ...scale, ticks: apart.map((value) => ({ value, label: formatPlain(value) })) }
}

function tokensOf(point: SweepPoint): number {
  return point.throughput.output_tokens_per_s ?? 0
}

function tailOf(point: SweepPoint, { metric, key }: JudgedTail): number | null {
  const summary = point.metrics[metric]
  return summary === undefined ? null : percentileOf(summary, key)
}

function safe(x: Scale, load: number | null): string {
  if (load === null) return ''
  const area = { x: left, y: upper.top, width: x.at(load) - left, height: lower.bottom - upper.top }
  return element('g', { class: 's-good' }, element('rect', { class: 'faint', ...area }))
}

/** Each wall's word has a line of its own and the leftmost the highest, so that no wall runs through a word. */
function wallLines(
  standing: readonly { readonly kind: WallKind; readonly load: number }[],
  x: Scale,
  { walls }: SweepDocument,
): string[] {
  const leftFirst = [...standing].sort((a, b) => a.load - b.load)
  return leftFirst.map(({ kind, load }, at) => {
    const place = x.at(load)
    const y = 16 + at * 15
    const onRight = place + 140 > right
    return element(
      'g',
      { class: `s-${kind} wall` },
      element('title', {}, escapeMarkup(`${wallWords[kind]}: ${walls.why[kind]}`)),
      element('path', { class: 'curve thin', d: `M${coordinate(place)} ${y - 9}V${lower.bottom}` }),
      label(`${wallWords[kind]} ${formatPlain(load)}`, {
        x: place + (onRight ? -7 : 7),
        y,
        'text-anchor': onRight ? 'end' : 'start',
      }),
    )
  })
}

function limit({ limitMs }: JudgedTail, y: Scale): string {
  if (limitMs === null) return ''
  const at = y.at(limitMs)
  return element(
    'g',
    { class: 's-slo limit' },
    element('path', { class: 'curve thin dashed', d: `M${left} ${coordinate(at)}H${right}` }),
    label(`limit ${formatDuration(limitMs, 0)}`, { x: left + 8, y: at - 7 }),
  )
}

function throughputCurve(points: readonly SweepPoint[], x: Scale, y: Scale): string {
  const places = points.map((point) => [x.at(point.load.value), y.at(tokensOf(point))] as const)
  const area = `${polyline(places)}L${coordinate(places.at(-1)?.[0] ?? 0)} ${upper.bottom}L${coordinate(places[0]?.[0] ?? 0)} ${upper.bottom}Z`
  return element(
    'g',
    { class: 's-service' },
    element('path', { class: 'faint', d: area }),
    element('path', { class: 'curve', d: polyline(places) }),
    ...points.map((point, at) => dot(places[at] ?? [0, 0], point)),
  )
}

function dot([cx, cy]: readonly [number, number], point: SweepPoint): string {
  const { goodput, load, suspect, throughput } = point
  const said = [
    loadWords(load),
    `${formatRate(tokensOf(point), 'tok/s')}${throughput.requests_per_s === null ? '' : `, ${formatRate(throughput.requests_per_s)}`}`,
    goodput === null || goodput.share === null ? '' : `${formatPercent(goodput.share)} good`,
    point.passes === 'no' ? 'fails the objective' : '',
    ...suspect,
  ]
  const look = suspect.length > 0 || point.verdict.status === 'INVALID' ? 'hollow' : 'fill'
  return `<circle class="${look}" cx="${coordinate(cx)}" cy="${coordinate(cy)}" r="4.2"><title>${escapeMarkup(said.filter((one) => one !== '').join(' · '))}</title></circle>`
}

function tailCurve(
  points: readonly SweepPoint[],
  x: Scale,
  y: Scale,
  tail: JudgedTail,
  series: SeriesName,
): string {
  const known = points.flatMap((point) => {
    const ms = tailOf(point, tail)
    return ms === null ? [] : [{ point, ms, at: [x.at(point.load.value), y.at(ms)] as const }]
  })
  const whiskers = known.map(({ point, at }) => {
    const [low, high] = point.metrics[tail.metric]?.ci[tail.key] ?? [null, null]
    if (low === null || high === null) return ''
    const d = `M${coordinate(at[0] - 4)} ${coordinate(y.at(high))}h8m-4 0V${coordinate(y.at(low))}m-4 0h8`
    return element('path', { class: 'curve thin', d })
  })
  const dots = known.map(({ point, ms, at }) => {
    const said = `${formatPlain(point.load.value)}: ${formatDuration(ms)}${point.passes === 'no' ? ', fails the objective' : ''}`
    return element(
      'g',
      point.passes === 'no' ? { class: 's-bad' } : {},
      `<circle class="fill" cx="${coordinate(at[0])}" cy="${coordinate(at[1])}" r="4.2"><title>${escapeMarkup(said)}</title></circle>`,
    )
  })
  const curve = element('path', { class: 'curve', d: polyline(known.map(({ at }) => at)) })
  return element('g', { class: `s-${series}` }, curve, ...whiskers, ...dots)
}

/** The Plimsoll mark at the capacity, on the throughput curve. */
function mark({ points, capacity }: SweepDocument, x: Scale, y: Scale): string {
  const point = points.find(({ load }) => load.value === capacity.load)
  if (point === undefined) return ''
  const at = x.at(point.load.value)
  const top = y.at(tokensOf(point))
  const d = `M${coordinate(at - 17)} ${coordinate(top)}h34`
  const requests = point.throughput.requests_per_s
  const words = `capacity ${formatPlain(point.load.value)}: ${formatRate(tokensOf(point), 'tok/s')}${requests === null ? '' : `, ${formatRate(requests)}`}`
  return element(
    'g',
    { class: 's-good wall' },
    `<circle class="curve" cx="${coordinate(at)}" cy="${coordinate(top)}" r="10"/>`,
    element('path', { class: 'curve', d }),
    label(words, { x: at - 22, y: top - 14, 'text-anchor': 'end' }),
  )
}
