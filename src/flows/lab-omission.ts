import type { ClientReading, LabOmission } from '../report/lab-documents.ts'
import { mean } from '../stats/describe.ts'
import { percentile, sortAscending } from '../stats/percentile.ts'
import {
  backfillOmitted,
  scheduledClient,
  stallPercentile,
  waitingClient,
  type StallExperiment,
} from '../stats/stall.ts'

export interface LabOmissionOptions {
  readonly ratePerSecond: number
  readonly durationMs: number
  readonly stallMs: number
  readonly stallStartMs: number
  readonly serviceMs: number
  readonly server: 'parallel' | 'serial'
}

/** One stall, seen by a client that sends by the clock and by two that wait for their answers. */
export function labOmission(options: LabOmissionOptions): LabOmission {
  const intervalMs = 1000 / options.ratePerSecond
  const experiment: StallExperiment = {
    intervalMs,
    requests: Math.max(1, Math.ceil((options.durationMs / intervalMs) * (1 - 1e-12))),
    stallStartMs: options.stallStartMs,
    stallMs: options.stallMs,
    serviceMs: options.serviceMs,
    server: options.server,
  }
  const scheduled = scheduledClient(experiment)
  const waiting = waitingClient(experiment, 'skip')
  const catching = waitingClient(experiment, 'catch_up')
  const sends = scheduled.latenciesMs.map((_, slot) => slot * intervalMs)
  const corrected = sortAscending(backfillOmitted(waiting.latenciesMs, intervalMs))
  return {
    schema: 'plimsoll.lab/1',
    kind: 'omission',
    rate_per_s: options.ratePerSecond,
    duration_ms: options.durationMs,
    stall_start_ms: options.stallStartMs,
    stall_ms: options.stallMs,
    service_ms: options.serviceMs,
    server: options.server,
    clients: [
      reading('scheduled', scheduled, sends, experiment),
      reading('waiting', waiting, sendTimes(waiting.latenciesMs, sends, 'skip'), experiment),
      reading('catching_up', catching, sendTimes(catching.latenciesMs, sends, 'catch_up'), experiment),
    ],
    closed_form_p99_ms: stallPercentile(options.stallMs, scheduled.slow / experiment.requests, 0.99),
    corrected: { samples: corrected.length, p99_ms: percentile(corrected, '99') ?? 0 },
  }
}

/** When a waiting client sent: at its slot, or when the answer before came. */
function sendTimes(
  latenciesMs: readonly number[],
  slots: readonly number[],
  missed: 'skip' | 'catch_up',
): number[] {
  const sent: number[] = []
  let free = 0
  for (const slot of slots) {
    const latency = latenciesMs[sent.length]
    if (latency === undefined) break
    if (missed === 'skip' && slot < free) continue
    const at = Math.max(slot, free)
    sent.push(at)
    free = at + latency
  }
  return sent
}

function reading(
  client: ClientReading['client'],
  { latenciesMs, slow }: ReturnType<typeof scheduledClient>,
  sends: readonly number[],
  { stallStartMs, stallMs }: StallExperiment,
): ClientReading {
  const sorted = sortAscending(latenciesMs)
  const at = (p: string): number => percentile(sorted, p) ?? 0
  return {
    client,
    sent: latenciesMs.length,
    slow,
    mean_ms: mean(latenciesMs) ?? 0,
    p50_ms: at('50'),
    p95_ms: at('95'),
    p99_ms: at('99'),
    max_ms: sorted.at(-1) ?? 0,
    near_stall: latenciesMs.flatMap((latency, index) => {
      const sent = sends[index]!
      return sent >= stallStartMs - stallMs && sent <= stallStartMs + 2 * stallMs
        ? [[sent, latency] as const]
        : []
    }),
  }
}
