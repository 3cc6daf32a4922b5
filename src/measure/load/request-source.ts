import type { PlannedRequest } from '../workload/planned-request.ts'
import { type BodyChunk, packBodies } from './body-chunk.ts'
import type { PlannedColumns } from './joined-row.ts'
import type { LoadPlan } from './load-options.ts'
import type { WorkerShare } from './thread-messages.ts'

/** A plan as the main thread deals it out to workers and remembers it for the rows. */
export interface RequestSource {
  /** Requests that exist beforehand; null where the window's length decides. */
  readonly planned: number | null
  readonly shares: readonly WorkerShare[]
  /** Intended sends of an open loop that will be sent, ascending; null in a closed loop. */
  readonly plannedMs: Float64Array | null
  /** Requests of an open loop that the window never reaches. */
  readonly beyond: readonly number[]
  columns(index: number): PlannedColumns
  /** The request has its row: its columns need not be kept. */
  forget(index: number): void
  /** Bodies that a closed loop whose next index is `next` will soon need, up to `ahead` beyond it. */
  bodiesAhead(next: number, ahead: number): readonly BodyChunk[]
}

const chunkRequests = 64

/** Request i (or session i) of an open loop and slot i of a closed one go to worker i mod `workers`. */
export function requestSource(plan: LoadPlan, workers: number, sendEndMs: number | null): RequestSource {
  return plan.kind === 'open' ? openSource(plan, workers, sendEndMs) : closedSource(plan, workers)
}

function openSource(
  { requests, turns = 1 }: Extract<LoadPlan, { kind: 'open' }>,
  workers: number,
  sendEndMs: number | null,
): RequestSource {
  const starts = requests.filter((_, index) => index % turns === 0)
  const begun = starts.filter(({ plannedMs }) => sendEndMs === null || (plannedMs ?? 0) < sendEndMs).length
  const reached = Math.min(requests.length, begun * turns)
  const shares = Array.from({ length: workers }, (_, worker): WorkerShare => {
    const mine: PlannedRequest[] = []
    const indexes: number[] = []
    for (let session = worker; session < begun; session += workers) {
      for (let i = session * turns; i < Math.min(reached, (session + 1) * turns); i++) {
        mine.push(requests[i]!)
        indexes.push(i)
      }
    }
    return {
      kind: 'open',
      indexes: Int32Array.from(indexes),
      plannedMs: Float64Array.from(mine, ({ plannedMs }) => plannedMs ?? Number.NaN),
      bodies: packBodies(mine),
      turns,
    }
  })
  return {
    planned: requests.length,
    shares,
    plannedMs: Float64Array.from({ length: begun }, (_, i) => starts[i]!.plannedMs ?? 0),
    beyond: Array.from({ length: requests.length - reached }, (_, i) => reached + i),
    columns: (index) => requests[index]!,
    forget: () => undefined,
    bodiesAhead: () => [],
  }
}

function closedSource(plan: Extract<LoadPlan, { kind: 'closed' }>, workers: number): RequestSource {
  const kept = new Map<number, PlannedColumns>()
  let made = 0
  const shares = Array.from({ length: workers }, (_, worker): WorkerShare => {
    const slots: number[] = []
    for (let slot = worker; slot < plan.users; slot += workers) slots.push(slot)
    return {
      kind: 'closed',
      slots: Int32Array.from(slots),
      startMs: Float64Array.from(slots, (slot) => (slot * plan.staggerMs) / plan.users),
      count: plan.count,
      turns: plan.turns ?? 1,
    }
  })
  return {
    planned: plan.count,
    shares,
    plannedMs: null,
    beyond: [],
    columns: (index) => kept.get(index) ?? plan.requestAt(index),
    forget: (index) => void kept.delete(index),
    bodiesAhead(next, ahead) {
      const until = Math.min(next + ahead, plan.count ?? Number.POSITIVE_INFINITY)
      const chunks: BodyChunk[] = []
      while (made < until) {
        const first = made
        const size = Math.min(chunkRequests, (plan.count ?? Number.POSITIVE_INFINITY) - first)
        const requests = Array.from({ length: size }, (_, i) => plan.requestAt(first + i))
        for (const { body: _, ...columns } of requests) kept.set(made++, columns)
        chunks.push(packBodies(requests, first))
      }
      return chunks
    },
  }
}
