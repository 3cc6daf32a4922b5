/** What a request of its name is answered with: bytes of `body` at their times, then the end. */
export interface ReplayScript {
  readonly http: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly raw?: boolean
  }
  /** Null: the head never comes. */
  readonly headersAtMs: number | null
  readonly chunks: readonly { readonly at_ms: number; readonly offset: number; readonly bytes: number }[]
  readonly body: Buffer
  readonly end: { readonly kind: 'eof' | 'reset' | 'open'; readonly at_ms: number }
}

export declare function startReplayServer(now: () => number): Promise<{
  readonly url: string
  readonly add: (name: string, script: ReplayScript) => void
  readonly latenessMs: (name: string, sentMs: number) => number
  readonly close: () => Promise<void>
}>
