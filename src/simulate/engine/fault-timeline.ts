import { exponential, randomStream, type Random } from '../../base/random.ts'
import type { EngineDisturbance } from './engine-interface.ts'
import type { Fault, Recurrence, RequestScope } from './fault.ts'
import { disturbSteps } from './step-disturbance.ts'

/** What happens to one request. */
export interface RequestEffects {
  /** Answered with this status instead of being served. */
  readonly reject: { readonly status: number; readonly retryAfterMs: number | null } | null
  /** After so many tokens the body ends, the connection is reset, an error object is sent; null is never. */
  readonly cutAfterTokens: number | null
  readonly resetAfterTokens: number | null
  readonly errorAfterTokens: number | null
  /** Bytes that are held back until they are so many; null sends each event at once. */
  readonly bufferBytes: number | null
  readonly noUsage: boolean
}

/** Faults over time. Every question has one answer, whoever asks, in whatever order. */
export interface FaultTimeline {
  /** For `createEngine`; one engine each. Null where no fault touches the engine. */
  disturbance(): EngineDisturbance | null
  /** For the `index`-th request, which arrives at `atMs` when `waiting` requests wait. */
  requestEffects(index: number, atMs: number, waiting: number): RequestEffects
  metrics(
    atMs: number,
  ): { readonly kind: 'live' | 'dropped' } | { readonly kind: 'frozen'; readonly sinceMs: number }
}

/**
 * `random` is drawn from once. Each fault has a stream of its own, named by its text, so that adding or removing one does not
 * move the others.
 */
export function faultTimeline(faults: readonly Fault[], random: Random): FaultTimeline {
  const seed = random.nextUint32()
  const named = faults.map((fault, at) => ({
    fault,
    name: `${fault.text}#${faults.slice(0, at).filter((other) => other.text === fault.text).length}`,
  }))

  function hits(scope: RequestScope, name: string, index: number, atMs: number): boolean {
    if (!within(scope, atMs)) return false
    return scope.probability >= 1 || randomStream(seed, name, index).next() < scope.probability
  }

  return {
    disturbance: () =>
      disturbSteps(
        faults,
        named.map(({ fault, name }) => {
          const recurs = 'recurs' in fault ? fault.recurs : null
          return () => (recurs === null ? [] : times(recurs, randomStream(seed, name)))
        }),
      ),
    requestEffects(index, atMs, waiting) {
      let reject: RequestEffects['reject'] = null
      let cutAfterTokens: number | null = null
      let resetAfterTokens: number | null = null
      let errorAfterTokens: number | null = null
      let bufferBytes: number | null = null
      let noUsage = false
      for (const { fault, name } of named) {
        if (!('scope' in fault) || !hits(fault.scope, name, index, atMs)) continue
        if (fault.kind === 'reject') {
          if (fault.waitingOver === null || waiting > fault.waitingOver) {
            reject ??= { status: fault.status, retryAfterMs: fault.retryAfterMs }
          }
        } else if (fault.kind === 'cut') cutAfterTokens = lower(cutAfterTokens, fault.afterTokens)
        else if (fault.kind === 'reset') resetAfterTokens = lower(resetAfterTokens, fault.afterTokens)
        else if (fault.kind === 'error_object') errorAfterTokens = lower(errorAfterTokens, fault.afterTokens)
        else if (fault.kind === 'buffer') bufferBytes = Math.max(bufferBytes ?? 0, fault.bytes)
        else noUsage = true
      }
      return { reject, cutAfterTokens, resetAfterTokens, errorAfterTokens, bufferBytes, noUsage }
    },
    metrics(atMs) {
      let sinceMs: number | null = null
      for (const fault of faults) {
        if (fault.kind !== 'freeze_metrics' && fault.kind !== 'drop_metrics') continue
        if (!within(fault, atMs)) continue
        if (fault.kind === 'drop_metrics') return { kind: 'dropped' }
        sinceMs = lower(sinceMs, fault.fromMs)
      }
      return sinceMs === null ? { kind: 'live' } : { kind: 'frozen', sinceMs }
    },
  }
}

function within(span: { readonly fromMs: number; readonly untilMs: number | null }, atMs: number): boolean {
  return atMs >= span.fromMs && (span.untilMs === null || atMs < span.untilMs)
}

function lower(a: number | null, b: number): number {
  return a === null ? b : Math.min(a, b)
}

/** The times of a recurrence, ascending; endless unless it has an end. */
function* times(recurs: Recurrence, random: Random): Generator<number> {
  if (recurs.kind === 'once') {
    yield recurs.atMs
    return
  }
  let atMs = recurs.fromMs
  for (;;) {
    atMs += recurs.everyMs * (recurs.random ? exponential(random) : 1)
    if (recurs.untilMs !== null && atMs >= recurs.untilMs) return
    yield atMs
  }
}
