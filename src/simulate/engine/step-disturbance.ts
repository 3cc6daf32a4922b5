import { PlimsollError } from '../../base/errors.ts'
import type { EngineDisturbance, PoolChange } from './engine-interface.ts'
import type { Fault } from './fault.ts'

/** A step that outlasts so many beginnings and ends of windows would never end. */
const mostChanges = 100_000

/** A time in which steps go forward at `rate` of their speed; 0 is a standstill. */
interface Window {
  readonly fromMs: number
  readonly toMs: number
  readonly rate: number
}

/** Windows of one fault in order of their beginnings, made as time comes near. */
class WindowSource {
  /** Begun or next, none ended; the last one begins later than every time asked for. */
  readonly open: Window[] = []
  private readonly starts: Iterator<number>
  private readonly lengthMs: number
  private readonly rate: number
  private ended = false

  constructor(starts: Iterable<number>, lengthMs: number, rate: number) {
    this.starts = starts[Symbol.iterator]()
    this.lengthMs = lengthMs
    this.rate = rate
  }

  moveTo(atMs: number): void {
    for (let i = this.open.length - 1; i >= 0; i--) {
      if ((this.open[i] as Window).toMs <= atMs) this.open.splice(i, 1)
    }
    while (!this.ended && (this.open.at(-1)?.fromMs ?? Number.NEGATIVE_INFINITY) <= atMs) {
      const next = this.starts.next()
      if (next.done === true) {
        this.ended = true
        return
      }
      const toMs = next.value + this.lengthMs
      if (toMs > atMs) this.open.push({ fromMs: next.value, toMs, rate: this.rate })
    }
  }
}

/** Steps that a fault makes longer by their number: the next `steps` from each start on. */
class StepSource {
  readonly factor: number
  private readonly starts: Iterator<number>
  private readonly steps: number
  private nextMs: number | null
  private untilIndex = 0

  constructor(starts: Iterable<number>, steps: number, factor: number) {
    this.starts = starts[Symbol.iterator]()
    this.steps = steps
    this.factor = factor
    this.nextMs = this.take()
  }

  /** Whether the step number `index` that starts at `startMs` is one of them. */
  hits(index: number, startMs: number): boolean {
    while (this.nextMs !== null && this.nextMs <= startMs) {
      this.untilIndex = Math.max(this.untilIndex, index + this.steps)
      this.nextMs = this.take()
    }
    return index < this.untilIndex
  }

  get quietUntilMs(): number {
    return this.nextMs ?? Number.POSITIVE_INFINITY
  }

  private take(): number | null {
    const next = this.starts.next()
    return next.done === true ? null : next.value
  }
}

/**
 * Stalls, slow phases and pool changes as an engine meets them; null when there are none. `startsOf[i]` gives the times of
 * fault i anew at each call. The value is for one engine, whose steps come in order.
 */
export function disturbSteps(
  faults: readonly Fault[],
  startsOf: ReadonlyArray<() => Iterable<number>>,
): EngineDisturbance | null {
  const windows: WindowSource[] = []
  const steps: StepSource[] = []
  faults.forEach((fault, i) => {
    const starts = startsOf[i]
    if (starts === undefined) return
    if (fault.kind === 'stall') windows.push(new WindowSource(starts(), fault.durationMs, 0))
    if (fault.kind !== 'slow') return
    if (fault.steps !== null) steps.push(new StepSource(starts(), fault.steps, fault.factor))
    else {
      windows.push(new WindowSource(starts(), fault.durationMs ?? Number.POSITIVE_INFINITY, 1 / fault.factor))
    }
  })
  const poolChanges = poolChangesOf(faults)
  if (windows.length === 0 && steps.length === 0 && poolChanges.length === 0) return null

  function rateAt(atMs: number): { readonly rate: number; readonly changeMs: number } {
    let rate = 1
    let changeMs = Number.POSITIVE_INFINITY
    for (const source of windows) {
      source.moveTo(atMs)
      for (const window of source.open) {
        if (window.fromMs > atMs) changeMs = Math.min(changeMs, window.fromMs)
        else {
          rate *= window.rate
          changeMs = Math.min(changeMs, window.toMs)
        }
      }
    }
    return { rate, changeMs }
  }

  return {
    poolChanges,
    undisturbedUntilMs(index, startMs) {
      let untilMs = Number.POSITIVE_INFINITY
      for (const source of steps) {
        if (source.hits(index, startMs)) return startMs
        untilMs = Math.min(untilMs, source.quietUntilMs)
      }
      const { rate, changeMs } = rateAt(startMs)
      return rate === 1 ? Math.min(untilMs, changeMs) : startMs
    },
    stepEndMs(index, startMs, workMs) {
      let left = workMs
      for (const source of steps) if (source.hits(index, startMs)) left *= source.factor
      let atMs = startMs
      for (let changes = 0; changes < mostChanges; changes++) {
        const { rate, changeMs } = rateAt(atMs)
        const endMs = rate > 0 ? atMs + left / rate : Number.POSITIVE_INFINITY
        if (endMs <= changeMs) return endMs
        left -= (changeMs - atMs) * rate
        atMs = changeMs
      }
      throw new PlimsollError('PLIM_FAULT', 'the stalls leave no time in which a step could end', {
        expected: 'pauses between them',
        received: faults.map((fault) => fault.text).join('; '),
      })
    },
  }
}

/** What is lost of the pool after each change, summed over the faults. */
function poolChangesOf(faults: readonly Fault[]): PoolChange[] {
  const edges: Array<{ atMs: number; share: number; blocks: number }> = []
  for (const fault of faults) {
    if (fault.kind !== 'kv') continue
    edges.push({ atMs: fault.atMs, share: fault.lostShare, blocks: fault.lostBlocks })
    if (fault.untilMs !== null) {
      edges.push({ atMs: fault.untilMs, share: -fault.lostShare, blocks: -fault.lostBlocks })
    }
  }
  edges.sort((a, b) => a.atMs - b.atMs)
  let lostShare = 0
  let lostBlocks = 0
  return edges.map(({ atMs, share, blocks }) => {
    lostShare += share
    lostBlocks += blocks
    return { atMs, lostShare, lostBlocks }
  })
}
