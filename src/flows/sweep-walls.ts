import type { Warning } from '../base/warnings.ts'
import { isClientBound } from '../judge/verdict.ts'
import type { Rows } from '../measure/record/rows.ts'
import { memoryWall } from '../plan/kv-pool.ts'
import { capacity, saturationWall, sloWall, type WallPoint } from '../plan/walls.ts'
import { isCut } from './cut-point.ts'
import type { ServerFacts } from './run-facts.ts'
import type { MemoryWall, SweepDocument, SweepPoint, WallKind } from '../report/documents.ts'
import { failureShares, failureWords } from '../report/failure-words.ts'
import { nearestRank } from '../stats/percentile.ts'

type Walls = Pick<SweepDocument, 'walls' | 'capacity' | 'peak'> & { readonly warnings: readonly Warning[] }

/**
 * The memory wall from the KV pool and the tokens that the measured requests held when they ended. A pool that is cut in slots
 * (llama.cpp) holds a request in each, however short it is.
 */
export function memoryWallOf(
  rows: Rows,
  { kvTokens, slots }: Pick<ServerFacts, 'kvTokens' | 'slots'>,
): MemoryWall | null {
  if (kvTokens === null) return null
  if (slots !== null) {
    return { load: slots, load_p99: slots, kv_tokens: kvTokens, tokens_per_request: kvTokens / slots }
  }
  const held = rows
    .filter((row) => row.ok && row.prompt_tokens !== null && row.completion_tokens !== null)
    .map((row) => (row.prompt_tokens ?? 0) + (row.completion_tokens ?? 0))
    .sort((a, b) => a - b)
  if (held.length === 0) return null
  const mean = held.reduce((sum, tokens) => sum + tokens, 0) / held.length
  const p99 = held[nearestRank(held.length, '99') - 1] ?? 0
  return {
    load: memoryWall(kvTokens, mean),
    load_p99: p99 > 0 ? memoryWall(kvTokens, p99) : null,
    kv_tokens: kvTokens,
    tokens_per_request: mean,
  }
}

/**
 * The three walls and the capacity of the points so far (DESIGN §3). Points whose numbers the client set, or that were cut short, are
 * left out. `memory` is in requests in flight; without `kvTokens` the server does not tell its pool.
 */
export function sweepWalls(
  points: readonly SweepPoint[],
  memory: MemoryWall | null,
  kvTokens: number | null,
  objective: string | null,
): Walls {
  const whole = points.filter((point) => !isCut(point))
  const counted = whole.filter(({ verdict }) => !isClientBound(verdict))
  const usable = counted.some(hasAnswers) ? counted : []
  const wallPoints = usable.map(wallPoint)
  const saturation = saturationWall(wallPoints)
  const slo = sloWall(wallPoints)
  const found = capacity(wallPoints, saturation, slo, memory?.load ?? null)
  const share =
    saturation.load === null || !saturation.peakThroughput
      ? 0
      : (wallPoints.find(({ load }) => load === saturation.load)?.throughput ?? 0) / saturation.peakThroughput
  const unusable = points.length > 0 && whole.length === 0 ? allCut : whyNone(whole, usable)
  const why: Record<WallKind, string> = {
    saturation:
      unusable ??
      (saturation.load === null
        ? 'not found: no answer has output tokens'
        : saturation.reached
          ? `the first load with 95 % of the best throughput`
          : usable.length === 1
            ? 'not known: one load alone does not show where throughput stops rising'
            : 'not reached: of the loads that count the last is the best, and throughput still rose'),
    slo: unusable ?? sloReason(slo, objective),
    memory:
      memory === null
        ? kvTokens === null
          ? 'unknown: the server does not tell its KV pool; --kv-tokens does'
          : 'unknown: no request told its tokens'
        : `${memory.kv_tokens.toLocaleString('en-US')} KV tokens ÷ ${Math.round(memory.tokens_per_request).toLocaleString('en-US')} a request`,
  }
  return {
    walls: {
      saturation:
        saturation.reached && saturation.load !== null
          ? {
              load: saturation.load,
              output_tokens_per_s:
                wallPoints.find(({ load }) => load === saturation.load)?.throughput ?? null,
              share_of_best: share,
            }
          : null,
      slo:
        slo !== null && slo.load !== null && slo.reached && objective !== null
          ? { load: slo.load, indicative: slo.indicative, objective }
          : null,
      memory,
      why,
    },
    capacity: {
      load: found.load,
      binding: found.binding,
      censored: found.atLeast,
      indicative: restsOnEstimate(found, slo, wallPoints),
      why: unusable ?? capacityReason(found, why),
    },
    peak:
      saturation.peakLoad === null || saturation.peakThroughput === null
        ? null
        : { load: saturation.peakLoad, output_tokens_per_s: saturation.peakThroughput },
    warnings: wallWarnings(slo, memory, kvTokens),
  }
}

const allCut = 'no point was measured to its end'
const allClientBound = 'no point can be used: the client set the numbers of each'

/** Why there are neither walls nor a peak; null where there may be. A server that fails is news, however busy the client was. */
function whyNone(points: readonly SweepPoint[], usable: readonly SweepPoint[]): string | null {
  if (points.length === 0 || usable.length > 0) return null
  if (points.some(hasAnswers)) return allClientBound
  const words = failureWords(failureShares(points))
  return `no request was answered in any measured window${words === null ? '' : `: ${words}`}`
}

/** What nothing came back from supports no wall; embeddings have no tokens, and answers may outlast the window. */
function hasAnswers({ throughput }: SweepPoint): boolean {
  return (throughput.requests_per_s ?? 0) > 0 || (throughput.output_tokens_per_s ?? 0) > 0
}

function wallPoint(point: SweepPoint): WallPoint {
  return {
    load: point.load.value,
    throughput: point.throughput.output_tokens_per_s ?? 0,
    ...(point.in_flight === null ? {} : { inFlight: point.in_flight }),
    passes: point.passes === null ? null : point.passes !== 'no',
    indicative: point.passes === 'indicative',
  }
}

/** Whether the SLO wall that binds, or the point itself where another wall binds or none was reached, passed by its estimate alone. */
function restsOnEstimate(
  { load, binding }: ReturnType<typeof capacity>,
  slo: ReturnType<typeof sloWall>,
  points: readonly WallPoint[],
): boolean {
  if (binding === 'slo') return slo?.indicative === true
  return points.some((point) => point.load === load && point.indicative === true)
}

function sloReason(slo: ReturnType<typeof sloWall>, objective: string | null): string {
  if (objective === null || slo === null) return 'no objective was given'
  if (slo.load === null) return `no tested load meets ${objective}`
  return slo.reached
    ? `the last load that meets ${objective}`
    : `not reached: every load that counts meets ${objective}`
}

function capacityReason(found: ReturnType<typeof capacity>, why: Record<WallKind, string>): string {
  if (found.load === null) return found.binding === null ? 'nothing was measured' : why[found.binding]
  if (found.binding === null) return 'no wall was reached: it is at least the last tested load'
  return `the ${found.binding === 'slo' ? 'SLO' : found.binding} wall binds: ${why[found.binding]}`
}

function wallWarnings(
  slo: ReturnType<typeof sloWall>,
  memory: MemoryWall | null,
  kvTokens: number | null,
): readonly Warning[] {
  const warnings: Warning[] = []
  if (slo !== null && slo.passingAbove.length > 0) {
    warnings.push({
      kind: 'non_monotone_sweep',
      message: `${slo.passingAbove.join(', ')} passed above a load that failed; not used`,
      cause: 'noise at the limit, or a server that changes with time',
      next: 'repeat the sweep, with longer points: --duration-per-point 30s',
      evidence: { passing_above: slo.passingAbove.join(',') },
    })
  }
  if (slo?.indicative === true) {
    warnings.push({
      kind: 'wall_indicative',
      message: 'the SLO wall is indicative: a point at it is decided by its estimate alone',
      cause: 'too few independent samples for a one-sided 95 % end',
      next: '--duration-per-point 60s',
      evidence: { load: slo.load },
    })
  }
  if (memory === null && kvTokens === null) {
    warnings.push({
      kind: 'kv_pool_unknown',
      message: 'the memory wall is unknown: the server does not tell its KV pool',
      cause: 'no vllm:cache_config_info or its like in /metrics',
      next: '--kv-tokens N (the engine prints it when it starts)',
      evidence: {},
    })
  }
  return warnings
}
