import type { Clock } from '../../base/clock.ts'
import type { ResponseFields } from '../wire/response-fields.ts'
import { createTransport } from '../wire/choose-transport.ts'
import { startExchange } from '../wire/exchange.ts'
import type { Timers, Transport } from '../wire/transport.ts'
import type { CalibrationPhase, CalibrationReading } from './thread-messages.ts'

interface ReaderDeps {
  readonly clock: Clock
  readonly timers: Timers
  readonly cpuMs: () => number | null
}

const noLimits = {
  connectTimeoutMs: 2000,
  firstTokenTimeoutMs: null,
  idleTimeoutMs: null,
  totalTimeoutMs: 5000,
}

/** Reads the streams of the loopback fake through the same code as a run's, phase after phase. */
export async function readPhases(
  { port, phases }: { readonly port: number; readonly phases: readonly CalibrationPhase[] },
  deps: ReaderDeps,
): Promise<CalibrationReading[]> {
  const transport = await createTransport(new URL(`http://127.0.0.1:${port}/v1/chat/completions`), {
    clock: deps.clock,
    timers: deps.timers,
    connectTimeoutMs: noLimits.connectTimeoutMs,
  })
  const readings: CalibrationReading[] = []
  try {
    await transport.open(Math.max(...phases.map((phase) => phase.streams)))
    for (const phase of phases) {
      const before = deps.cpuMs()
      const streams = Array.from({ length: phase.streams }, async (_, stream) => {
        const answers: ResponseFields[] = []
        for (let round = 0; round < phase.rounds; round++) {
          const firstMs = 2 + (phase.gapMs * stream) / phase.streams
          answers.push(await readStream(transport, phase, firstMs, deps))
        }
        return answers
      })
      const fields = (await Promise.all(streams)).flat()
      const after = deps.cpuMs()
      readings.push({
        name: phase.name,
        errorsMs: Float64Array.from(phase.name === 'error' ? fields.flatMap(stampErrors) : []),
        events: fields.reduce((sum, { n_output_chunks }) => sum + n_output_chunks, 0),
        cpuMs: before === null || after === null ? null : after - before,
        failed: fields.filter(({ ok }) => !ok).length,
      })
    }
  } finally {
    await transport.close()
  }
  return readings
}

function readStream(
  transport: Transport,
  phase: CalibrationPhase,
  firstMs: number,
  deps: ReaderDeps,
): Promise<ResponseFields> {
  const body = JSON.stringify({ events: phase.events, gap_ms: phase.gapMs, first_ms: firstMs })
  const request = {
    api: 'chat',
    wire: {
      path: '/v1/chat/completions',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(body),
    },
    plannedMs: deps.clock.nowMs(),
    streamAsked: true,
    keepText: phase.name === 'error',
  } as const
  return new Promise((resolve) => {
    startExchange({ transport, clock: deps.clock, timers: deps.timers }, request, noLimits, resolve)
  })
}

/**
 * Stamp − write of each event of a stream of the fake, whose text is the moments of its writes. The stamps come back out of the
 * row: planned + TTFT is the first, each gap leads to the next.
 */
export function stampErrors(
  fields: Pick<ResponseFields, 'planned_ms' | 'ttft_ms' | 'gaps_ms' | 'text'>,
): number[] {
  const writes = (fields.text ?? '').trim().split(' ').map(Number)
  if (fields.ttft_ms === null || fields.planned_ms === null) return []
  let stampMs = fields.planned_ms + fields.ttft_ms
  return writes.slice(0, fields.gaps_ms.length + 1).map((writeMs, i) => {
    if (i > 0) stampMs += fields.gaps_ms[i - 1]!
    return stampMs - writeMs
  })
}
