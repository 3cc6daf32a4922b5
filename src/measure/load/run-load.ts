import { PlimsollError } from '../../base/errors.ts'
import { openInstrument, workerCount } from './instrument.ts'
import type { LoadDeps, LoadOptions, LoadResult } from './load-options.ts'
import { isSameMachine } from './host.ts'
import { loadRun } from './load-run.ts'
import { createLedger } from './ledger.ts'
import { sendEndMs } from './load-window.ts'
import { type Metronome, startMetronome } from './metronome.ts'
import { requestSource } from './request-source.ts'
import { resolveEndpoint } from '../wire/target-url.ts'

/** How long behind the word "start" a run's origin lies: every thread has heard it by then. */
const leadMs = 40
/** Requests of a closed loop that may be unheard of in the main thread at once; more than 200 ms of any rate. */
const closedLedger = 131_072

/**
 * Sends a plan and hands over one row for each of its requests, whatever became of them: also after an abort, a dead worker, an
 * early stop or the end of the window.
 *
 * @throws PlimsollError PLIM_CONFIG for a plan that never ends; PLIM_CONNECT, PLIM_TLS, PLIM_URL when no connection can be made,
 * before anything was sent; PLIM_INTERNAL for a fault of the threads before the start.
 */
export async function runLoad(options: LoadOptions, deps: LoadDeps): Promise<LoadResult> {
  checkOptions(options)
  const { plan, maxConnections, limits, keepText, replicaHeader, streamAsked = true } = options
  const atMost = Math.min(
    plan.kind === 'closed' ? plan.users : Math.max(1, plan.requests.length),
    maxConnections ?? Number.POSITIVE_INFINITY,
  )
  const wanted = workerCount(options.workers, deps.host.cores, atMost)
  const instrument = deps.instrument ?? (await openInstrument({ workers: wanted }, deps.clock))
  const workers = instrument.workers.slice(0, wanted)
  const ends = sendEndMs(options.window)
  const source = requestSource(plan, workers.length, ends)
  let metronome: Metronome | null = null
  try {
    const sameMachine = isSameMachine(deps.host, resolveEndpoint(options.target.url, options.target.api))
    const ledger = createLedger(plan.kind === 'open' ? Math.max(1, plan.requests.length) : closedLedger)
    if (source.plannedMs !== null) {
      metronome = await startMetronome(source.plannedMs, workers.length, deps.clock.originMonotonicNs)
    }
    for (const [i, worker] of workers.entries()) {
      const ticks = metronome?.ticks[i] ?? null
      const run = {
        target: options.target,
        answers: { limits, streamAsked, keepText, replicaHeader },
        share: source.shares[i]!,
        ledger: ledger.buffer,
        maxInFlight: maxConnections === null ? null : shareOf(maxConnections, i, workers.length),
        warmConnections: shareOf(warmConnections(options, workers.length), i, workers.length),
        idPrefix: options.idPrefix,
        sendEndMs: ends,
        drainMs: options.window.drainMs,
      }
      worker.send({ kind: 'prepare', run, ticks }, ticks === null ? [] : [ticks.port])
    }
    const ready = await Promise.allSettled(workers.map((worker) => worker.reply('ready')))
    const refused = ready.find((one) => one.status === 'rejected')
    if (refused !== undefined) {
      for (const worker of workers) if (!worker.dead) worker.send({ kind: 'cut' })
      throw refused.reason
    }
    const startMs = deps.clock.nowMs() + leadMs
    const run = loadRun({ options, deps, instrument, workers, source, ledger, startMs, sendEndMs: ends })
    metronome?.start(startMs)
    return await run(await sameMachine)
  } finally {
    metronome?.stop()
    if (deps.instrument === undefined) await instrument.close()
  }
}

/** Part `i` of `total` dealt out to `parts`. */
function shareOf(total: number, i: number, parts: number): number {
  return Math.floor(total / parts) + (i < total % parts ? 1 : 0)
}

/** A server with few threads is starved by connections that idle (llama.cpp): an open loop opens its own as it needs them. */
function warmConnections({ plan, warmConnections, maxConnections }: LoadOptions, workers: number): number {
  const asked = warmConnections ?? (plan.kind === 'closed' ? plan.users : workers)
  return Math.min(asked, maxConnections ?? Number.POSITIVE_INFINITY)
}

function checkOptions({ plan, window }: LoadOptions): void {
  if (plan.kind === 'closed' && plan.count === null && window.measureMs === null) {
    throw new PlimsollError('PLIM_CONFIG', 'a closed loop needs a number of requests or a duration', {
      expected: 'a count, or a window with a length',
      received: 'neither',
      hint: 'give --num-prompts or --duration',
    })
  }
}
