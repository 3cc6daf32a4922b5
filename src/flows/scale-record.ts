import { appendServerSamples, type ServerSample } from '../measure/record/server-samples.ts'
import { ReplicaHistory } from '../operate/watch/replica-history.ts'
import type { EngineMetrics } from './engine-metrics.ts'
import type { FlowDeps } from './flow-deps.ts'

const intervalMs = 1000

export interface ServerRecorder {
  /** Looks until the work is over, however it ends. */
  during<T>(work: Promise<T>): Promise<T>
  /** Writes what was seen, on the clock of the run whose zero is given. */
  write(folder: string, originMonotonicNs: bigint): Promise<void>
}

/** Looks at the server's metrics once a second while a load runs. A server that has none is left in peace after the first look. */
export function recordServer(metrics: EngineMetrics, deps: FlowDeps): ServerRecorder {
  const seen: ServerSample[] = []
  const replicas = new Map<string, ReplicaHistory>()
  let timer: ReturnType<typeof setTimeout> | null = null
  let ended = false
  async function look(): Promise<boolean> {
    const atMs = deps.clock.nowMs()
    const pages = await metrics.pages()
    for (const { name, scrape } of pages) {
      let replica = replicas.get(name)
      if (replica === undefined) replicas.set(name, (replica = new ReplicaHistory(name, 0)))
      seen.push(replica.observe(atMs, scrape))
    }
    return seen.some(({ up }) => up)
  }
  const again = (): void => {
    if (ended) return
    timer = setTimeout(() => {
      looking = look().then((any) => void (any && again()), again)
    }, intervalMs)
  }
  let looking: Promise<void> = look().then((any) => void (any && again()), again)
  return {
    async during(work) {
      try {
        return await work
      } finally {
        ended = true
        if (timer !== null) clearTimeout(timer)
        await looking
      }
    },
    async write(folder, originMonotonicNs) {
      if (!seen.some(({ up }) => up)) return
      const zeroMs = Number(originMonotonicNs - deps.clock.originMonotonicNs) / 1e6
      await appendServerSamples(
        folder,
        seen.map((sample) => ({ ...sample, at_ms: Math.round((sample.at_ms - zeroMs) * 1000) / 1000 })),
      )
    },
  }
}
