import { readFileSync, readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { type Clock, monotonicClock } from '../../base/clock.ts'
import { errorFacts } from '../../base/errors.ts'
import { awsSignature } from '../wire/aws-signature.ts'
import { createTransport } from '../wire/choose-transport.ts'
import { startExchange } from '../wire/exchange.ts'
import { resolveEndpoint } from '../wire/target-url.ts'
import { timeLimits } from '../wire/time-limits.ts'
import type { BodyChunk } from './body-chunk.ts'
import { readPhases } from './calibration-reader.ts'
import { closedSender } from './closed-sender.ts'
import type { Departure, Sender } from './flight.ts'
import { requestId } from './joined-row.ts'
import { openLedger } from './ledger.ts'
import { watchLoopDelay } from './loop-delay.ts'
import type { Ticks } from './metronome.ts'
import { openSender } from './open-sender.ts'
import { cpuShare, threadCpuReader } from './thread-cpu.ts'
import { standBeforeOthers } from './thread-priority.ts'
import { tickGate } from './tick-gate.ts'
import type { Finished, FromWorker, RunSpec, StopReason, ToWorker } from './thread-messages.ts'

/** One worker of a load: it sends its share of a plan, times the answers, and hands them over in batches. */
const port = parentPort!
const base = monotonicClock(
  performance,
  process.hrtime.bigint,
  (workerData as { clockOriginNs: bigint }).clockOriginNs,
)
const timers = { setTimeout, clearTimeout: (handle: unknown) => clearTimeout(handle as NodeJS.Timeout) }
const limits = timeLimits({ ...timers, setImmediate })
const cpuMs = threadCpuReader(
  (path) => readFileSync(path, 'latin1'),
  () => performance.eventLoopUtilization().active,
)
const batchMs = 200
const batchRows = 500

type Content = Pick<Departure, 'body' | 'headers'>

let run: ThreadRun | null = null

interface ThreadRun {
  start(startMs: number): void
  addBodies(chunk: BodyChunk): void
  stop(reason: StopReason): void
  cut(): void
}

standBeforeOthers(readlinkSync, getPriority, setPriority)
port.on('message', (message: ToWorker) => {
  void handle(message).catch((error: unknown) => post({ kind: 'error', error: errorFacts(error) }))
})
post({ kind: 'online' })

async function handle(message: ToWorker): Promise<void> {
  if (message.kind === 'calibrate') {
    const readings = await readPhases(message, { clock: base, timers, cpuMs })
    post({ kind: 'calibrated', readings })
  } else if (message.kind === 'prepare') {
    run = await prepare(message.run, message.ticks)
    post({ kind: 'ready' })
  } else if (message.kind === 'start') run?.start(message.startMs)
  else if (message.kind === 'bodies') run?.addBodies(message.chunk)
  else if (message.kind === 'stop') run?.stop(message.reason)
  else run?.cut()
}

async function prepare(spec: RunSpec, ticks: Ticks | null): Promise<ThreadRun> {
  let startMs = 0
  const clock: Clock = {
    nowMs: () => base.nowMs() - startMs,
    get originMonotonicNs() {
      return base.originMonotonicNs + BigInt(Math.round(startMs * 1e6))
    },
  }
  const { target, answers } = spec
  const endpoint = resolveEndpoint(target.url, target.api)
  const transport = await createTransport(endpoint, {
    clock,
    timers: limits,
    connectTimeoutMs: answers.limits.connectTimeoutMs,
    ...target.tls,
  })
  await transport.open(spec.warmConnections)
  const path = target.path ?? endpoint.pathname + endpoint.search
  const signer = target.signer ?? null
  const headersOf = (index: number, { body, headers: own }: Content): Record<string, string> => {
    const headers = { ...target.headers, 'x-request-id': requestId(spec.idPrefix, index), ...own }
    if (signer === null) return headers
    const request = { method: 'POST', host: endpoint.host, path, headers, body }
    return { ...headers, ...awsSignature(signer, request, Date.now()) }
  }
  const batch = batches()
  let delay: ReturnType<typeof watchLoopDelay> | null = null
  let beganCpuMs: number | null = null
  let health: Extract<FromWorker, { kind: 'ended' }>['health'] | null = null
  let measuredUntil: NodeJS.Timeout | null = null
  let over = false

  function readHealth(): void {
    if (health !== null || delay === null) return
    delay.stop()
    health = {
      loopDelay: delay.sketch.counts,
      loopDelayMaxMs: delay.sketch.maxMs,
      cpuShare: cpuShare(beganCpuMs, cpuMs(), clock.nowMs()),
    }
  }

  const deps = {
    clock,
    timers,
    soon: (callback: () => void) => void setImmediate(callback),
    ledger: openLedger(spec.ledger),
    finish: batch.add,
    start: (
      index: number,
      plannedMs: number,
      content: Content,
      onFinish: Parameters<typeof startExchange>[3],
    ) =>
      startExchange(
        { transport, clock, timers: limits },
        {
          api: target.api,
          wire: {
            path,
            headers: headersOf(index, content),
            body: content.body,
          },
          plannedMs,
          streamAsked: answers.streamAsked ?? true,
          keepText: answers.keepText,
          ...(answers.replicaHeader === null ? {} : { replicaHeader: answers.replicaHeader }),
        },
        answers.limits,
        onFinish,
      ),
  }
  const { share } = spec
  const closed = share.kind === 'closed' ? closedSender(share, spec, deps, end) : null
  const sender: Sender = share.kind === 'closed' ? closed! : openSender(share, spec, deps, end)

  function end(): void {
    over = true
    readHealth()
    if (measuredUntil !== null) clearTimeout(measuredUntil)
    ticks?.port.close()
    batch.close()
    run = null
    void transport.close().finally(() => {
      post({ kind: 'ended', health: health ?? noHealth })
    })
  }

  return {
    start(atMs) {
      startMs = atMs
      const untilBeginMs = -clock.nowMs()
      if (ticks !== null) ticks.port.on('message', tickGate(ticks, sender.tick, deps.soon))
      // Begin a moment early: the senders wait for the exact time of each request themselves.
      setTimeout(
        () => {
          // Stopped before it began.
          if (over) return
          beganCpuMs = cpuMs()
          delay = watchLoopDelay(clock, {
            setInterval,
            clearInterval: (handle) => clearInterval(handle as NodeJS.Timeout),
          })
          if (spec.sendEndMs !== null) measuredUntil = setTimeout(readHealth, spec.sendEndMs)
          sender.begin()
        },
        Math.max(0, untilBeginMs - 5),
      )
    },
    addBodies: (chunk) => closed?.addBodies(chunk),
    stop: (reason) => sender.stop(reason),
    cut: () => sender.cut(),
  }
}

const noHealth = { loopDelay: new Uint32Array(0), loopDelayMaxMs: 0, cpuShare: null }

/** Finished requests go to the main thread together, at most `batchMs` old. */
function batches(): { add(finished: Finished): void; close(): void } {
  let requests: Finished[] = []
  let timer: NodeJS.Timeout | null = null
  function flush(): void {
    if (timer !== null) clearTimeout(timer)
    timer = null
    if (requests.length > 0) post({ kind: 'finished', requests })
    requests = []
  }
  return {
    add(finished) {
      requests.push(finished)
      if (requests.length >= batchRows) flush()
      else timer ??= setTimeout(flush, batchMs)
    },
    close: flush,
  }
}

function post(message: FromWorker): void {
  port.postMessage(message)
}
