import { writeServerFile } from '../measure/record/server-file.ts'
import { appendServerSamples, dropServerSamples } from '../measure/record/server-journal.ts'
import type { ServerSample } from '../measure/record/server-samples.ts'
import { ReplicaHistory } from '../operate/watch/replica-history.ts'
import type { EngineMetrics } from './engine-metrics.ts'
import type { FlowDeps } from './flow-deps.ts'
import { stored } from './stored.ts'

const intervalMs = 1000

export interface ServerRecorder {
  /** Looks until the work is over, however it ends. */
  during<T>(work: Promise<T>): Promise<T>
  /** From now on each look is also written to the folder's growing file, so that a run that is killed keeps what was seen. */
  keepIn(folder: string, originMonotonicNs: bigint): void
  /** Writes what was seen, on the clock of the run whose zero is given, and gives it; nothing where no page was ever read. */
  write(folder: string, originMonotonicNs: bigint): Promise<readonly ServerSample[]>
}

/** Looks at the server's metrics once a second while a load runs. A server that has none is left in peace after the first look. */
export function recordServer(metrics: EngineMetrics, deps: FlowDeps): ServerRecorder {
  const seen: ServerSample[] = []
  const replicas = new Map<string, ReplicaHistory>()
  let timer: ReturnType<typeof setTimeout> | null = null
  let ended = false
  let kept = 0
  let keep: ((samples: readonly ServerSample[]) => void) | null = null
  let keeping: Promise<void> = Promise.resolve()

  function onClockOf(originMonotonicNs: bigint, samples: readonly ServerSample[]): ServerSample[] {
    const zeroMs = Number(originMonotonicNs - deps.clock.originMonotonicNs) / 1e6
    return samples.map((sample) => ({ ...sample, at_ms: rounded(sample.at_ms - zeroMs) }))
  }

  function keepNew(): void {
    if (keep === null || !seen.some(({ up }) => up)) return
    keep(seen.slice(kept))
    kept = seen.length
  }

  async function look(): Promise<boolean> {
    const atMs = deps.clock.nowMs()
    const pages = await metrics.pages()
    for (const { name, scrape, tookMs } of pages) {
      let replica = replicas.get(name)
      if (replica === undefined) replicas.set(name, (replica = new ReplicaHistory(name, 0)))
      seen.push(replica.observe(atMs, scrape, rounded(tookMs)))
    }
    keepNew()
    return seen.some(({ up }) => up)
  }
  const startMs = deps.clock.nowMs()
  const again = (): void => {
    if (ended) return
    // On whole seconds after the first look, so that looks do not drift; one that took longer leaves a second out.
    const sinceMs = deps.clock.nowMs() - startMs
    timer = setTimeout(
      () => {
        looking = look().then((any) => void (any && again()), again)
      },
      Math.max(1, intervalMs - (sinceMs % intervalMs)),
    )
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
    keepIn(folder, originMonotonicNs) {
      keep = (samples) => {
        keeping = keeping
          .then(() => appendServerSamples(folder, onClockOf(originMonotonicNs, samples)))
          // A full disk stops the run at its journal, or when its files are written: not here.
          .catch(() => undefined)
      }
      keepNew()
    },
    async write(folder, originMonotonicNs) {
      await keeping
      if (!seen.some(({ up }) => up)) return []
      const samples = onClockOf(originMonotonicNs, seen)
      await stored(
        deps,
        async () => {
          await writeServerFile(folder, samples)
          await dropServerSamples(folder)
        },
        undefined,
      )
      return samples
    },
  }
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
