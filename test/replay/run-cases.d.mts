import type { Clock } from '../../src/base/clock.ts'
import type { createTransport } from '../../src/measure/wire/choose-transport.ts'
import type { startExchange } from '../../src/measure/wire/exchange.ts'
import type { Timers } from '../../src/measure/wire/transport.ts'

export interface ReplayCase {
  readonly id: string
  readonly sidecar: { readonly end: { readonly kind: 'eof' | 'reset' | 'open'; readonly at_ms: number } }
  readonly body: Buffer
}

export interface CaseResult {
  readonly id: string
  readonly passed: boolean
  readonly reasons: readonly string[]
}

export interface Product {
  readonly createTransport: typeof createTransport
  readonly startExchange: typeof startExchange
  readonly clock: Clock
  readonly timers: Timers
}

export declare function readCases(directory: string): {
  readonly cases: readonly ReplayCase[]
  readonly others: readonly string[]
}

export declare function runCases(
  cases: readonly ReplayCase[],
  product: Product,
  onResult?: (result: CaseResult) => void,
): Promise<readonly CaseResult[]>
