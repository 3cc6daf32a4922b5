import { percentile, sortAscending } from '../../stats/percentile.ts'
import type { ServerSample } from '../record/server-samples.ts'
import type { RunWindow } from './run-window.ts'

/** Mean and largest of a gauge over the looks of the window; a fleet's requests are added up, of its KV pools the fullest counts. */
export interface GaugeUse {
  readonly mean: number
  readonly max: number
}

/** What the server said of itself inside the measurement window. Null is what its metrics do not show. */
export interface ServerUse {
  /** Looks at a page, and those of them that failed. */
  readonly looks: number
  readonly failed: number
  readonly replicas: readonly string[]
  /** What a look took, ms: how far its figures may be off in time. */
  readonly scrape_ms: { readonly p50: number | null; readonly max: number | null }
  readonly running: GaugeUse | null
  readonly waiting: GaugeUse | null
  /** Share of the KV pool, 0..1. */
  readonly kv_usage: GaugeUse | null
  /** Growth of the counters between the first and the last look of the window; a counter that fell was started anew from 0. */
  readonly preemptions: number | null
  readonly prompt_tokens: number | null
  readonly generation_tokens: number | null
  readonly prefix_hits: number | null
  readonly prefix_queries: number | null
}

export type Counter = 'preemptions' | 'prompt_tokens' | 'generation_tokens' | 'prefix_hits' | 'prefix_queries'

/** Null: nobody looked inside the window. */
export function serverUse(samples: readonly ServerSample[], window: RunWindow): ServerUse | null {
  const inside = samplesInside(samples, window)
  if (inside.length === 0) return null
  const byReplica = byName(inside)
  const took = sortAscending(inside.map(({ scrape_ms }) => scrape_ms).filter((ms) => ms !== null))
  const counted = (counter: Counter): number | null => {
    const grown = [...byReplica.values()].map((looks) => growth(looks, counter))
    return grown.some((each) => each === null)
      ? null
      : grown.reduce<number>((sum, each) => sum + (each ?? 0), 0)
  }
  return {
    looks: inside.length,
    failed: inside.filter(({ up }) => !up).length,
    replicas: [...byReplica.keys()],
    scrape_ms: { p50: percentile(took, '50'), max: took.at(-1) ?? null },
    running: gauge(inside, 'running', 'sum'),
    waiting: gauge(inside, 'waiting', 'sum'),
    kv_usage: gauge(inside, 'kv_usage', 'most'),
    preemptions: counted('preemptions'),
    prompt_tokens: counted('prompt_tokens'),
    generation_tokens: counted('generation_tokens'),
    prefix_hits: counted('prefix_hits'),
    prefix_queries: counted('prefix_queries'),
  }
}

export function samplesInside(
  samples: readonly ServerSample[],
  { startMs, endMs }: RunWindow,
): readonly ServerSample[] {
  return samples.filter(({ at_ms }) => at_ms >= startMs && at_ms < endMs)
}

/** The looks at each replica. */
export function byName(samples: readonly ServerSample[]): ReadonlyMap<string, readonly ServerSample[]> {
  const found = new Map<string, ServerSample[]>()
  for (const sample of samples) {
    const list = found.get(sample.replica)
    if (list === undefined) found.set(sample.replica, [sample])
    else list.push(sample)
  }
  return found
}

/** A gauge at one moment, over all replicas; null: not told. `tookMs` is what the slowest look of the moment took. */
export interface GaugePoint {
  readonly atMs: number
  readonly value: number | null
  readonly tookMs: number | null
}

/** Looks of one moment are one figure; a moment at which a replica was silent has no sum. In order of time. */
export function gaugeSeries(
  samples: readonly ServerSample[],
  field: 'running' | 'waiting' | 'kv_usage',
  how: 'sum' | 'most',
): readonly GaugePoint[] {
  const moments = new Map<number, ServerSample[]>()
  for (const sample of samples) {
    const list = moments.get(sample.at_ms)
    if (list === undefined) moments.set(sample.at_ms, [sample])
    else list.push(sample)
  }
  return [...moments]
    .sort(([a], [b]) => a - b)
    .map(([atMs, looks]) => {
      const known = looks.map((look) => look[field]).filter((value) => value !== null)
      const took = looks.flatMap(({ scrape_ms }) => scrape_ms ?? [])
      const isUnknown = known.length === 0 || (how === 'sum' && known.length < looks.length)
      const value = how === 'sum' ? known.reduce((sum, each) => sum + each, 0) : Math.max(...known)
      return { atMs, value: isUnknown ? null : value, tookMs: took.length === 0 ? null : Math.max(...took) }
    })
}

function gauge(
  samples: readonly ServerSample[],
  field: 'running' | 'waiting' | 'kv_usage',
  how: 'sum' | 'most',
): GaugeUse | null {
  const values = gaugeSeries(samples, field, how)
    .map(({ value }) => value)
    .filter((value) => value !== null)
  if (values.length === 0) return null
  return {
    mean: values.reduce((sum, value) => sum + value, 0) / values.length,
    max: values.reduce((most, value) => Math.max(most, value)),
  }
}

/** How much a counter grew over the looks; null for fewer than two that tell it. */
export function growth(looks: readonly ServerSample[], counter: Counter): number | null {
  const told = looks.map((look) => look[counter]).filter((value) => value !== null)
  if (told.length < 2) return null
  let sum = 0
  for (let i = 1; i < told.length; i++) {
    const step = (told[i] as number) - (told[i - 1] as number)
    sum += step < 0 ? (told[i] as number) : step
  }
  return sum
}
