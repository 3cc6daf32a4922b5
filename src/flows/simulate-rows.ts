import { streamedRow, unsentRow } from '../measure/record/made-rows.ts'
import { startManifest, type JsonObject } from '../measure/record/manifest.ts'
import type { RequestRow } from '../measure/record/request-row.ts'
import type { Rows } from '../measure/record/rows.ts'
import { pickRows } from '../measure/record/row-list.ts'
import { rowStore } from '../measure/record/row-store.ts'
import { writeRun } from '../measure/record/run-folder.ts'
import { describeObjective } from '../measure/metrics/objective.ts'
import type { FleetResult } from '../simulate/fleet/simulate-fleet.ts'
import type { FlowDeps } from './flow-deps.ts'
import type { NamedFleet } from './simulate-spec.ts'

/** How each end that is not an answer stands in a row. */
const ends: Readonly<
  Record<
    Exclude<FleetResult['outcome'], 'ok'>,
    readonly [outcome: RequestRow['outcome'], kind: string | null, status: number | null]
  >
> = {
  shed: ['shed', 'refused', 429],
  queue_timeout: ['shed', 'queue_timeout', 503],
  client_timeout: ['failed', 'timeout', null],
  replica_lost: ['failed', 'reset', null],
  refused: ['failed', 'never_fits', 400],
  failed: ['failed', 'engine', 500],
  censored: ['censored', null, null],
}

/** A simulated request as the row that a live one would have given. */
export function simulatedRow(result: FleetResult): RequestRow {
  const { facts, tokenTimesMs: times, sentMs } = result
  const common = {
    id: `sim-${result.number}`,
    planned_ms: sentMs,
    sent_ms: sentMs,
    lag_ms: 0,
    prompt_tokens: result.promptTokens,
    asked_output_tokens: result.outputTokens,
    replica: result.replica === null ? null : String(result.replica),
    flags: ['simulated'] as const,
  }
  if (result.outcome === 'ok' && facts !== null && times !== null) {
    const gaps = Array.from(times.subarray(1), (at, i) => at - (times[i] as number))
    return streamedRow(
      { id: common.id, plannedMs: sentMs, ttftMs: (times[0] as number) - sentMs, gapsMs: gaps },
      { ...common, cached_tokens: facts.cachedTokens, completion_tokens: facts.outputTokens },
    )
  }
  const [outcome, kind, status] = ends[result.outcome === 'ok' ? 'failed' : result.outcome]
  return {
    ...unsentRow,
    ...common,
    outcome,
    done_ms: result.endMs - sentMs,
    error_kind: kind,
    http_status: status,
  }
}

/** The rows of a simulation as their ends become known. */
export interface SimulatedRows {
  add(result: FleetResult): void
  /** In the order in which they first arrived. */
  inOrder(): Rows
}

/** `scratch`: the folder for their gaps once those are many; null: everything is held. */
export function simulatedRows(scratch: string | null): SimulatedRows {
  const store = rowStore({ folder: scratch })
  const numbers: number[] = []
  return {
    add(result) {
      store.push(simulatedRow(result))
      numbers.push(result.number)
    },
    inOrder() {
      const indices = Uint32Array.from(numbers, (_, at) => at)
      return pickRows(
        store.rows(),
        indices.sort((a, b) => (numbers[a] as number) - (numbers[b] as number)),
      )
    },
  }
}

/** A run folder like any other, which `show`, `compare` and `export` read. */
export async function writeSimulatedRun(
  path: string,
  { policy, spec }: NamedFleet,
  rows: Rows,
  deps: Pick<FlowDeps, 'version' | 'machine'>,
): Promise<void> {
  const objective = spec.objective === null ? null : describeObjective(spec.objective)
  const manifest = startManifest({
    name: policy,
    versions: { plimsoll: deps.version, node: deps.machine.node },
    config: {
      simulated: true,
      objectives:
        objective === null
          ? []
          : [{ name: null, text: objective, good: null, form: 'plimsoll', shedIsBad: true }],
    } as JsonObject,
    seed: spec.seed,
    salt: null,
    pacer: null,
    workload: null,
    target: null,
    // The same seed gives the same bytes: no time of day is in them.
    clock: { origin_monotonic_ns: 0, started_at: null },
    planned: rows.length,
    window: {
      warmup_s: 0,
      measure_s: spec.durationMs / 1000,
      drain_s: spec.drainMs / 1000,
      start_ms: 0,
      end_ms: spec.durationMs,
      how: 'given',
    },
    objective,
  })
  await writeRun(path, manifest, rows)
}
