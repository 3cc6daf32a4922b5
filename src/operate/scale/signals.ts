import { noun } from '../../base/noun.ts'
import { median } from '../../stats/describe.ts'
import { ols } from '../../stats/regression.ts'

/** One signal over time; `value` null where it was not known. */
export interface SignalSeries {
  readonly name: string
  readonly unit: string
  /** Rising time, ms. */
  readonly samples: readonly { readonly atMs: number; readonly value: number | null }[]
}

/** What a signal did before the objective was missed. */
export interface SignalReport {
  readonly name: string
  readonly unit: string
  /** `early`: moved before the breach. `late`: at it or after. `flat`: never moved. `unknown`: too few samples. */
  readonly kind: 'early' | 'late' | 'flat' | 'unknown'
  /** From its first lasting departure from the quiet level to the breach; negative when it came after; null when it never moved. */
  readonly leadMs: number | null
  /** Level and spread of the quiet start. */
  readonly quiet: number | null
  /** The farthest that it went up to the breach (or to the end, where there is none). */
  readonly extreme: number | null
  /** Correlation with the latency over all common times; null where either does not vary. */
  readonly correlation: number | null
  /** In a sentence, with the numbers. */
  readonly why: string
}

export interface SignalAnalysis {
  /** When the latency first went over its limit and stayed for the hold time; null: never. */
  readonly breachAtMs: number | null
  /** Early ones first, by lead time. */
  readonly signals: readonly SignalReport[]
}

export interface SignalOptions {
  /** Limit of the latency, in the unit of its series. */
  readonly limit: number
  /** The breach must last this long, so that one slow request is not one. */
  readonly holdMs: number
}

/** Samples at the start that are taken as quiet: a fifth of those before the breach, at least this many. */
const fewestQuietSamples = 3
/** A signal has moved when it leaves its quiet level by more than this many of its deviations, and by this share of its level. */
const deviations = 4
const leastShare = 0.1

/** Ranks signals by how long before the objective's breach they moved for good. */
export function analyseSignals(
  latency: SignalSeries,
  signals: readonly SignalSeries[],
  options: SignalOptions,
): SignalAnalysis {
  const breachAtMs = firstLasting(latency, options)
  const reports = signals.map((signal) => reportOf(signal, latency, breachAtMs))
  const order = { early: 0, late: 1, flat: 2, unknown: 3 } as const
  return {
    breachAtMs,
    signals: reports.sort(
      (a, b) =>
        order[a.kind] - order[b.kind] || (b.leadMs ?? 0) - (a.leadMs ?? 0) || a.name.localeCompare(b.name),
    ),
  }
}

/** When a series first went over its limit and no known sample of the hold time is back under it. */
export function firstLasting({ samples }: SignalSeries, { limit, holdMs }: SignalOptions): number | null {
  const known = samples.filter(({ value }) => value !== null)
  for (const [index, { atMs, value }] of known.entries()) {
    if ((value ?? 0) <= limit) continue
    const held = known.slice(index).filter((later) => later.atMs <= atMs + holdMs)
    if (held.every((later) => (later.value ?? 0) > limit)) return atMs
  }
  return null
}

function reportOf(signal: SignalSeries, latency: SignalSeries, breachAtMs: number | null): SignalReport {
  const { name, unit } = signal
  const known = signal.samples.flatMap(({ atMs, value }) => (value === null ? [] : [{ atMs, value }]))
  const correlation = correlationOf(signal, latency)
  const before = breachAtMs === null ? known : known.filter(({ atMs }) => atMs <= breachAtMs)
  const quietCount = Math.max(fewestQuietSamples, Math.floor(before.length / 5))
  const nothing = { name, unit, leadMs: null, quiet: null, extreme: null, correlation }
  if (before.length < fewestQuietSamples + 1) {
    return {
      ...nothing,
      kind: 'unknown',
      why: `${before.length} ${noun(before.length, 'sample')}${breachAtMs === null ? '' : ' before the breach'} ${noun(before.length, 'is', 'are')} too few to tell`,
    }
  }
  const quietSamples = before.slice(0, quietCount).map(({ value }) => value)
  const quiet = median(quietSamples) ?? 0
  const spread = (median(quietSamples.map((value) => Math.abs(value - quiet))) ?? 0) * 1.4826
  const band = Math.max(deviations * spread, leastShare * Math.abs(quiet))
  const extreme = before.reduce(
    (farthest, { value }) => (Math.abs(value - quiet) > Math.abs(farthest - quiet) ? value : farthest),
    quiet,
  )
  const movedAt = departure(known, quiet, band, breachAtMs)
  if (movedAt === null) {
    const corr = correlation === null ? '' : `, correlation with the latency ${correlation.toFixed(2)}`
    return {
      ...nothing,
      kind: 'flat',
      quiet,
      extreme,
      why: `did not move: ${figure(quiet)} at rest, at most ${figure(extreme)} before the breach${corr}`,
    }
  }
  const leadMs = breachAtMs === null ? null : breachAtMs - movedAt
  const kind = leadMs === null || leadMs > 0 ? 'early' : 'late'
  return {
    name,
    unit,
    kind,
    leadMs,
    quiet,
    extreme,
    correlation,
    why:
      kind === 'early'
        ? `left ${figure(quiet)} and reached ${figure(extreme)}`
        : `moved only when the objective was already missed`,
  }
}

/**
 * The first time from which the signal stays outside its quiet band on one side, up to the breach; without a breach, to the end. After
 * the breach a first departure counts too, as late.
 */
function departure(
  known: readonly { readonly atMs: number; readonly value: number }[],
  quiet: number,
  band: number,
  breachAtMs: number | null,
): number | null {
  const outside = (value: number): number => (Math.abs(value - quiet) > band ? Math.sign(value - quiet) : 0)
  const until = breachAtMs ?? Number.POSITIVE_INFINITY
  const before = known.filter(({ atMs }) => atMs <= until)
  const side = outside(before.at(-1)?.value ?? quiet)
  if (side !== 0) {
    let first = before.length - 1
    while (first > 0 && outside(before[first - 1]!.value) === side) first--
    return before[first]!.atMs
  }
  return known.find(({ atMs, value }) => atMs > until && outside(value) !== 0)?.atMs ?? null
}

/** Pearson's, over the times at which both are known (nearest sample before); null where either is constant. */
function correlationOf(signal: SignalSeries, latency: SignalSeries): number | null {
  const xs: number[] = []
  const ys: number[] = []
  let at = -1
  for (const { atMs, value } of latency.samples) {
    while (at + 1 < signal.samples.length && signal.samples[at + 1]!.atMs <= atMs) at++
    const other = signal.samples[at]?.value ?? null
    if (value === null || other === null) continue
    xs.push(other)
    ys.push(value)
  }
  const line = ols(xs, ys)
  const back = ols(ys, xs)
  if (line === null || back === null) return null
  const squared = line.slope * back.slope
  if (!Number.isFinite(squared)) return null
  return Math.sign(line.slope) * Math.sqrt(Math.min(1, Math.max(0, squared)))
}

function figure(value: number): string {
  return String(Number(value.toPrecision(3)))
}

/** Why a policy on a signal is refused; null: it may be used. */
export function refuseSignal(
  analysis: SignalAnalysis,
  name: string,
  coldStartMs: number | null,
): string | null {
  const report = analysis.signals.find((signal) => signal.name === name)
  if (report === undefined) return `${name} was not recorded`
  if (report.kind === 'flat') return `${name} ${report.why}`
  if (report.kind === 'unknown') return `${name}: ${report.why}`
  if (report.kind === 'late') return `${name} ${report.why}`
  if (coldStartMs !== null && report.leadMs !== null && report.leadMs < coldStartMs) {
    return `${name} moved ${Math.round(report.leadMs / 1000)} s before the breach, a start takes ${Math.round(coldStartMs / 1000)} s: keep a warm pool, or order by rate`
  }
  return null
}
