import {
  readGetMetricsRequest,
  readScaledObjectRef,
  scalerService,
  writeIsActive,
  writeMetricSpec,
  writeMetricValue,
  type ScaledObjectRef,
} from '../operate/scale/external-scaler.ts'
import { GrpcError, grpcStatus, startGrpcServer, type GrpcMethods } from '../operate/scale/grpc-server.ts'
import { scalerMetric } from '../operate/scale/scaler-metric.ts'
import { freshDemand, liveDemand, type LiveDemand } from '../operate/scale/live-demand.ts'
import { readEngineFacts } from '../measure/load/metrics-scrape.ts'
import type { Scrape } from '../measure/wire/prometheus-text.ts'
import type { FlowDeps } from './flow-deps.ts'
import { openPages, type PageAddresses } from './watch-pages.ts'

export interface ServeConfig extends Omit<PageAddresses, 'headers' | 'machineUrls'> {
  readonly keyEnv: string
  readonly host: string
  readonly port: number
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null
  /** Requests in flight per replica; a trigger's metadata `target` wins over it. */
  readonly target: number
  /** Requests in flight that are added: the warm pool. */
  readonly reserve: number
  readonly intervalMs: number
  readonly holdMs: number
}

export interface ServeDeps extends FlowDeps {
  /** Called once, with the address that a trigger's `scalerAddress` names. */
  readonly onListening?: (address: string) => void
}

/** Serves KEDA until the signal. What it cannot know it holds, and says so; what it has not known for long it refuses to say. */
export async function serveScaler(config: ServeConfig, deps: ServeDeps): Promise<void> {
  const key = deps.env(config.keyEnv) ?? ''
  const pages = await openPages(
    { ...config, machineUrls: [], headers: key === '' ? {} : { authorization: `Bearer ${key}` } },
    deps,
  )
  let memory = freshDemand
  let demand: LiveDemand = { kind: 'unknown', value: null, active: true, why: 'no look was taken yet' }
  const listeners = new Set<() => void>()
  let looks = 0
  async function look(): Promise<void> {
    const found = await pages.look()
    const replicas = [...found].map(([name, page]) => ({ name, inFlight: inFlightOf(page) }))
    const before = demand
    ;({ demand, memory } = liveDemand(memory, replicas, deps.clock.nowMs(), config))
    if (demand.kind !== before.kind && demand.why !== null) deps.onNotice(`${demand.kind}: ${demand.why}`)
    else if (looks > 0 && demand.kind === 'known' && before.kind !== 'known')
      deps.onNotice(`known again: ${demand.value ?? 0} requests in flight`)
    looks++
    if (demand.active !== before.active) for (const listener of listeners) listener()
  }
  const stopped = new Promise<void>((resolve) => {
    if (deps.signal.aborted) resolve()
    else deps.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  const tls =
    config.tls === null
      ? null
      : {
          cert: await deps.files.readText(config.tls.certFile),
          key: await deps.files.readText(config.tls.keyFile),
        }
  const server = await startGrpcServer(
    methodsOf(config, () => demand, listeners),
    { ...config, tls },
  )
  let timer: ReturnType<typeof setTimeout> | null = null
  try {
    await look()
    deps.onListening?.(server.address)
    const again = (): void => {
      timer = setTimeout(() => void look().then(again, again), config.intervalMs)
    }
    again()
    await stopped
  } finally {
    if (timer !== null) clearTimeout(timer)
    await server.close()
    await pages.close()
  }
}

function inFlightOf(page: Scrape | null): number | null {
  if (page === null) return null
  const { running, waiting } = readEngineFacts(page)
  return running === null ? null : running + (waiting ?? 0)
}

function methodsOf(config: ServeConfig, now: () => LiveDemand, listeners: Set<() => void>): GrpcMethods {
  const target = ({ metadata }: ScaledObjectRef): number => {
    const own = metadata['target']
    if (own === undefined || own === '') return config.target
    const value = Number(own)
    if (Number.isFinite(value) && value > 0) return value
    throw new GrpcError(grpcStatus.invalidArgument, `the trigger's target is "${own}", not a number above 0`)
  }
  const spec = (request: Buffer): Buffer =>
    writeMetricSpec(scalerMetric, target(readScaledObjectRef(request)))
  return {
    unary: {
      [`${scalerService}IsActive`]: (request) => {
        readScaledObjectRef(request)
        return writeIsActive(now().active)
      },
      [`${scalerService}GetMetricSpec`]: spec,
      [`${scalerService}GetMetrics`]: (request) => {
        const { metricName } = readGetMetricsRequest(request)
        const { value, why } = now()
        // An error fails the poll and counts towards KEDA's fallback; a 0 would shrink the fleet.
        if (value === null) throw new GrpcError(grpcStatus.unavailable, why ?? 'unknown')
        return writeMetricValue(metricName === '' ? scalerMetric : metricName, value + config.reserve)
      },
    },
    stream: {
      [`${scalerService}StreamIsActive`]: async (_, send, done) => {
        const tell = (): void => send(writeIsActive(now().active))
        tell()
        listeners.add(tell)
        await over(done)
        listeners.delete(tell)
      },
      [`${scalerService}StreamMetricSpec`]: async (request, send, done) => {
        send(spec(request))
        await over(done)
      },
    },
  }
}

function over(done: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (done.aborted) resolve()
    else done.addEventListener('abort', () => resolve(), { once: true })
  })
}
