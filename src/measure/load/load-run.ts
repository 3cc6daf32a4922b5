import type { RequestRow } from '../record/request-row.ts'
import { earlyStopWatch } from './early-stop.ts'
import { healthWatch } from './health.ts'
import type { LoadInstrument } from './instrument.ts'
import { crashedRow, joinedRow } from './joined-row.ts'
import { counterOf, type Ledger } from './ledger.ts'
import type { LoadDeps, LoadOptions, LoadResult, LoadStop } from './load-options.ts'
import { deathHelp, type LoadWorker } from './load-worker.ts'
import { windowEndMs } from './load-window.ts'
import { progressTracker } from './progress.ts'
import type { RequestSource } from './request-source.ts'
import type { Finished, StopReason, ToWorker, UnsentReason } from './thread-messages.ts'

interface RunParts {
  readonly options: LoadOptions
  readonly deps: LoadDeps
  readonly instrument: LoadInstrument
  readonly workers: readonly LoadWorker[]
  readonly source: RequestSource
  readonly ledger: Ledger
  /** The run's origin on `deps.clock`. */
  readonly startMs: number
  readonly sendEndMs: number | null
}

const progressEveryMs = 250
const bodiesEveryMs = 20

/** Starts prepared workers at once; the function that comes back waits for the end and says how it went. */
export function loadRun(parts: RunParts): (sameMachine: boolean) => Promise<LoadResult> {
  const { options, deps, workers, source, ledger, startMs } = parts
  const { window, idPrefix, plan } = options
  const nowMs = (): number => deps.clock.nowMs() - startMs
  const health = healthWatch(deps.host)
  const progress = progressTracker(source.planned, parts.sendEndMs ?? source.plannedMs?.at(-1) ?? null)
  const earlyStop = earlyStopWatch(options.earlyStop)
  const rowed = indexSet()
  const ended = new Set<LoadWorker>()
  let stopped: LoadStop | null = null
  let stoppedAtMs = Number.POSITIVE_INFINITY
  let stopReason: UnsentReason = 'window_ended'
  let lastDoneMs = 0
  let fault: unknown = null
  let dead: number | null = null

  function emit(index: number, row: RequestRow): void {
    if (!rowed.add(index)) return
    source.forget(index)
    health.addRow(row)
    progress.add(row)
    if (row.planned_ms !== null && row.done_ms !== null) {
      lastDoneMs = Math.max(lastDoneMs, row.planned_ms + row.done_ms)
    }
    deps.onRow(row)
    const stop = earlyStop(row)
    if (stop !== null) stopAll('stopped_early', stop)
  }

  function emitFinished(finished: Finished, worker: number | null): void {
    emit(finished.index, joinedRow(source.columns(finished.index), finished, worker, window, idPrefix))
  }

  function tellAll(message: ToWorker): void {
    for (const worker of workers) if (!worker.dead && !ended.has(worker)) worker.send(message)
  }

  function stopAll(reason: StopReason, stop: LoadStop): void {
    if (stopped !== null) return
    stopped = stop
    stoppedAtMs = nowMs()
    stopReason = reason
    tellAll({ kind: 'stop', reason })
  }

  function abort(error: unknown): void {
    if (fault !== null) return
    fault = error
    tellAll({ kind: 'cut' })
  }

  /** Calls back into the run must not throw through a message handler: an error there ends the run. */
  function guarded(act: () => void): void {
    try {
      act()
    } catch (error) {
      abort(error)
    }
  }

  function listen(worker: LoadWorker, number: number, over: () => void): void {
    const finish = (): void => {
      ended.add(worker)
      if (ended.size === workers.length) over()
    }
    const died = (reason: string): void => {
      if (ended.has(worker)) return
      dead = number
      finish()
      stopAll('stopped_early', crashStop(number, reason))
    }
    worker.listen({
      onMessage(message) {
        if (message.kind === 'finished') {
          guarded(() => message.requests.forEach((finished) => emitFinished(finished, number)))
        } else if (message.kind === 'ended') {
          health.addWorker(message.health)
          finish()
        } else if (message.kind === 'error') {
          died(message.error.message)
          void worker.kill()
        }
      },
      onDeath: died,
    })
    if (worker.dead) died('it exited')
  }

  function feedBodies(): void {
    const next = Atomics.load(ledger.counters, counterOf.next)
    const users = plan.kind === 'closed' ? plan.users : 0
    const ahead = users + 64 + 25 * Math.max(0, next - lastNext)
    lastNext = next
    for (const chunk of source.bodiesAhead(next, ahead)) tellAll({ kind: 'bodies', chunk })
  }
  let lastNext = 0

  function showProgress(): void {
    const sent = Atomics.load(ledger.counters, counterOf.sent)
    const inFlight = Atomics.load(ledger.counters, counterOf.inFlight)
    deps.onProgress?.(progress.at(nowMs(), { sent, inFlight }))
  }

  /** Rows for what no worker could tell of: requests that were never taken, and those of a thread that died. */
  function emitRest(): number {
    const taken =
      plan.kind === 'open'
        ? plan.requests.length
        : Math.min(Atomics.load(ledger.counters, counterOf.next), plan.count ?? Number.POSITIVE_INFINITY)
    const total = plan.kind === 'open' ? taken : (plan.count ?? taken)
    for (const index of source.beyond)
      emitFinished({ index, unsent: 'window_ended', plannedMs: source.columns(index).plannedMs }, null)
    for (let index = 0; index < total; index++) {
      if (rowed.has(index)) continue
      const columns = source.columns(index)
      const at = index % ledger.sentMs.length
      const plannedMs = columns.plannedMs ?? ledger.plannedMs[at]!
      const sentMs = ledger.sentMs[at]!
      if (index < taken && !Number.isNaN(sentMs)) {
        emit(index, crashedRow(columns, { plannedMs, sentMs }, dead ?? 0, window, idPrefix))
      } else {
        // Of a session that was begun, the turns that nobody came to.
        const unsent = index < taken && dead !== null ? 'worker_crashed' : stopReason
        const known = index < taken && !Number.isNaN(plannedMs)
        emitFinished({ index, unsent, plannedMs: known ? plannedMs : null }, index < taken ? dead : null)
      }
    }
    return total
  }

  const over = new Promise<void>((resolve) => workers.forEach((worker, i) => listen(worker, i, resolve)))
  const onAbort = (): void => stopAll('interrupted', interrupted(nowMs()))
  const onCut = (): void => {
    onAbort()
    tellAll({ kind: 'cut' })
  }
  guarded(feedBodies)
  tellAll({ kind: 'start', startMs })
  const originMonotonicNs = deps.clock.originMonotonicNs + BigInt(Math.round(startMs * 1e6))
  guarded(() => deps.onStart?.(originMonotonicNs))
  deps.signal?.addEventListener('abort', onAbort)
  deps.cutSignal?.addEventListener('abort', onCut)
  const timers = [
    setInterval(() => guarded(showProgress), progressEveryMs),
    ...(plan.kind === 'closed' ? [setInterval(() => guarded(feedBodies), bodiesEveryMs)] : []),
  ]
  const alarms = [
    setTimeout(() => health.begin(deps.clock.nowMs()), Math.max(0, -nowMs())),
    ...(parts.sendEndMs === null
      ? []
      : [setTimeout(() => health.end(deps.clock.nowMs()), parts.sendEndMs - nowMs())]),
  ]
  if (deps.signal?.aborted === true) onAbort()
  if (deps.cutSignal?.aborted === true) onCut()

  return async (sameMachine) => {
    await over
    for (const timer of timers) clearInterval(timer)
    for (const alarm of alarms) clearTimeout(alarm)
    deps.signal?.removeEventListener('abort', onAbort)
    deps.cutSignal?.removeEventListener('abort', onCut)
    health.end(deps.clock.nowMs())
    if (fault !== null) throw fault
    const planned = emitRest()
    if (fault !== null) throw fault
    showProgress()
    return {
      health: health.result(parts.instrument.calibration, workers.length, sameMachine),
      planned,
      originMonotonicNs,
      startedAtMs: startMs,
      windowStartMs: window.warmupMs,
      windowEndMs: windowEndMs(window, plan, {
        lastDoneMs,
        sent: Atomics.load(ledger.counters, counterOf.sent),
        stoppedAtMs,
      }),
      endedAtMs: nowMs(),
      stopped,
    }
  }
}

function interrupted(atMs: number): LoadStop {
  return {
    why: 'interrupted',
    message: `interrupted after ${(Math.max(0, atMs) / 1000).toFixed(1)} s`,
    evidence: { at_ms: atMs },
  }
}

function crashStop(worker: number, reason: string): LoadStop {
  const help = deathHelp(reason)
  const said = reason.split('\n', 1)[0]!
  return {
    why: 'worker_crashed',
    message: `worker thread ${worker} died: ${said}${help === null ? '' : ` (${help})`}`,
    evidence: { worker, reason },
  }
}

/** A set of small whole numbers. `add` tells whether it was new. */
function indexSet(): { has(index: number): boolean; add(index: number): boolean } {
  let marks = new Uint8Array(1024)
  return {
    has: (index) => marks[index] === 1,
    add(index) {
      if (marks[index] === 1) return false
      if (index >= marks.length) {
        const larger = new Uint8Array(Math.max(index + 1, 2 * marks.length))
        larger.set(marks)
        marks = larger
      }
      marks[index] = 1
      return true
    },
  }
}
