import { PlimsollError } from '../base/errors.ts'
import { noun } from '../base/noun.ts'
import { isFailure } from '../measure/load/probe.ts'
import type { FlowDeps } from './flow-deps.ts'
import { openPlainAsker } from './plain-asker.ts'

export interface PromSample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  /** When it was evaluated, seconds since 1970. */
  readonly atS: number
}

/** A Prometheus server that is asked for values as they are now. */
export interface PrometheusServer {
  /** Throws PLIM_PROMETHEUS for a query that it refuses, PLIM_CONNECT where nothing answers. */
  query(expression: string): Promise<readonly PromSample[]>
  /** The one value of a query; null for none, NaN, or an infinity. PLIM_PROMETHEUS for several. */
  value(expression: string): Promise<number | null>
  close(): Promise<void>
}

export async function openPrometheus(url: string, deps: Pick<FlowDeps, 'clock'>): Promise<PrometheusServer> {
  const { url: address, asker } = await openPlainAsker(url, { clock: deps.clock, timeoutMs: 20_000 })
  const root = address.pathname.replace(/\/+$/, '')
  async function query(expression: string): Promise<readonly PromSample[]> {
    const path = `${root}/api/v1/query?query=${encodeURIComponent(expression)}`
    const answer = await asker.sendOnce({ method: 'GET', path, body: null, stream: false })
    if (isFailure(answer)) {
      throw new PlimsollError('PLIM_CONNECT', `no Prometheus answers at ${address.origin}`, {
        received: answer.failure.message,
        hint: `is it up?  curl ${address.origin}${root}/-/ready`,
      })
    }
    return samplesOf(answer.bodyText, answer.status, expression)
  }
  return {
    query,
    async value(expression) {
      const samples = await query(expression)
      if (samples.length > 1) {
        throw new PlimsollError('PLIM_PROMETHEUS', 'a query that should give one value gives several', {
          received: `${samples.length} ${noun(samples.length, 'value')} for ${expression}`,
        })
      }
      const value = samples[0]?.value ?? Number.NaN
      return Number.isFinite(value) ? value : null
    },
    close: () => asker.close(),
  }
}

interface Answer {
  readonly status?: string
  readonly error?: string
  readonly data?: {
    readonly resultType?: string
    readonly result?: unknown
  }
}

type RawSample = {
  readonly metric?: Readonly<Record<string, string>>
  readonly value?: readonly [number, string]
}

function samplesOf(body: string, status: number, expression: string): readonly PromSample[] {
  let answer: Answer
  try {
    answer = JSON.parse(body) as Answer
  } catch (cause) {
    throw new PlimsollError('PLIM_PROMETHEUS', 'this does not answer as a Prometheus server does', {
      received: `HTTP ${status}, ${JSON.stringify(body.slice(0, 60))}`,
      cause,
    })
  }
  if (answer.status !== 'success') {
    throw new PlimsollError('PLIM_PROMETHEUS', 'Prometheus refuses a query', {
      expected: 'PromQL',
      received: `${expression}: ${answer.error ?? `HTTP ${status}`}`,
    })
  }
  const { resultType, result } = answer.data ?? {}
  if (resultType === 'scalar') {
    const [atS, text] = result as [number, string]
    return [{ labels: {}, value: promFloat(text), atS }]
  }
  return ((result ?? []) as readonly RawSample[]).map(({ metric = {}, value = [0, 'NaN'] as const }) => ({
    labels: metric,
    value: promFloat(value[1]),
    atS: value[0],
  }))
}

function promFloat(text: string): number {
  if (/^[+-]?Inf$/.test(text))
    return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  return Number(text)
}
