/**
 * When requests are to be sent, as a value. Open-loop pacers say when whatever the server does; a closed loop (`concurrency`)
 * sends when a slot becomes free and therefore cannot show overload.
 */
export type Pacer =
  | { readonly kind: 'constant'; readonly ratePerSecond: number }
  | { readonly kind: 'poisson'; readonly ratePerSecond: number }
  /** Gamma gaps with coefficient of variation `cv`: 1 is Poisson, 0 constant, above 1 bursty. */
  | { readonly kind: 'gamma'; readonly ratePerSecond: number; readonly cv: number }
  | {
      readonly kind: 'ramp'
      readonly fromPerSecond: number
      readonly toPerSecond: number
      readonly durationMs: number
    }
  | {
      readonly kind: 'steps'
      readonly steps: readonly { readonly ratePerSecond: number; readonly durationMs: number }[]
    }
  /** `size` requests at once, then again every `everyMs` (once only where null). `inf` of other tools is one burst of all. */
  | { readonly kind: 'burst'; readonly size: number; readonly everyMs: number | null }
  | { readonly kind: 'concurrency'; readonly users: number; readonly thinkTimeMs: number }

export type OpenLoopPacer = Exclude<Pacer, { kind: 'concurrency' }>

export function isOpenLoop(pacer: Pacer): pacer is OpenLoopPacer {
  return pacer.kind !== 'concurrency'
}
