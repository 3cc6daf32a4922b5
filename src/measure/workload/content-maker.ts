import type { Warning } from '../../base/warnings.ts'
import type { TokenCounter } from '../tokens/token-counter.ts'
import type { ApiKind } from '../wire/api.ts'
import type { Prompt } from './request-body.ts'
import type { LoadedWorkload } from './workload.ts'

/** What one request asks, before it is a body. */
export interface RequestContent {
  readonly prompt: Prompt
  readonly promptId: string
  readonly segment: string | null
  readonly session: string | null
  /** From 1, of a session. */
  readonly turn?: number
  readonly promptTokens: number | null
  readonly outputTokens: number | null
  /** Further fields of this request's body alone. */
  readonly extraBody?: Readonly<Record<string, unknown>>
  /** The line that it was made from, where it is kept. */
  readonly row?: Readonly<Record<string, unknown>>
}

export interface ContentMaker {
  /** The content of request `index`: a pure function of it. */
  at(index: number): RequestContent
  /** Requests that use every item once; null where items are made, not read. */
  readonly once: number | null
  /** Whether prompts are made to a length. */
  readonly countsPrompts: boolean
  /** What is to be said of the first `count` requests' lengths. */
  warnings(count: number): readonly Warning[]
}

export interface ContentInput {
  readonly workload: LoadedWorkload
  readonly api: ApiKind
  readonly seed: number | string
  readonly salt: string
  readonly warmPrefix: boolean
  readonly tokens: TokenCounter
  readonly maxModelLen: number | null
}
