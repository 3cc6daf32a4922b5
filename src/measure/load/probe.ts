import { type ApiKind, apiPaths } from '../wire/api.ts'
import type { ResponseFields } from '../wire/response-fields.ts'
import type { BodyTemplate } from '../workload/body-template.ts'
import type { RequestFacts } from '../workload/placeholder.ts'

/** One request of the preflight, before anything is measured. */
export interface ProbeRequest {
  readonly method: 'GET' | 'POST'
  /** Path and query on the target's origin. */
  readonly path: string
  readonly body: string | null
  readonly stream: boolean
  /** An answer in one piece of the API itself: read it as one, for its fields. */
  readonly answer?: boolean
  /** The run cannot do without it: where the server fails, it is asked again. */
  readonly needed?: boolean
}

/** What the preflight needs of the row's fields; a probe whose stream was not observed has none. */
export type ProbeFields = Pick<
  ResponseFields,
  | 'ttft_ms'
  | 'prompt_tokens'
  | 'completion_tokens'
  | 'tokens_source'
  | 'event_tokens'
  | 'n_output_chunks'
  | 'finish_reason'
  | 'flags'
  | 'error_kind'
  | 'error_message'
>

export interface ProbeAnswer {
  readonly status: number
  readonly header: (name: string) => string | undefined
  readonly bodyText: string
  readonly fields: ProbeFields | null
  /** How often it was asked, where the server failed each time. */
  readonly tried?: number
}

/** No answer at all. */
export interface ProbeFailure {
  readonly failure: NoAnswer
}

export interface NoAnswer {
  /** The transport's (`connection_refused`, `dns`, `tls`, `timeout_connect`, …), or that of the limit that was over. */
  readonly kind: string
  readonly message: string
  /** The limit that was over, ms; absent where nothing was waited for too long. */
  readonly withinMs?: number
  /** What had come of an answer of status 200 when it broke off. */
  readonly heard?: { readonly events: number; readonly bytes: number }
  /** How often it was asked, where the answer broke off each time. */
  readonly tried?: number
}

export type SendOnce = (request: ProbeRequest) => Promise<ProbeAnswer | ProbeFailure>

/** Where the load will go. */
export interface PreflightTarget {
  /** As it was typed; for messages. */
  readonly url: string
  readonly api: ApiKind
  /** Answers are asked in one piece (`--no-stream`, embeddings); true unless given. */
  readonly stream?: boolean
  /** Path (and query) of the endpoint on its origin: `/v1/chat/completions`. */
  readonly endpointPath: string
  /** `--endpoint` as it was typed; absent where the API's own path is asked. */
  readonly typedEndpoint?: string
  /** Null: the server says. */
  readonly model: string | null
  /** The environment variable of the key, and whether it holds one; for the message of a 401. */
  readonly key?: { readonly env: string; readonly present: boolean }
  /** The template of its bodies, and what stands for a run's request in it. */
  readonly custom?: {
    readonly template: BodyTemplate
    readonly facts: Omit<RequestFacts, 'model' | 'outputTokens'>
  }
}

/** The paths beside the endpoint: `/v1/models`; and above the API's version, `/tokenize` and `/metrics`. */
export function pathsBeside(endpointPath: string): {
  readonly models: string
  readonly tokenize: string
  readonly metrics: string
} {
  const [path = '', query] = endpointPath.split('?', 2)
  const bare = path.replace(/\/$/, '')
  const known = apiPaths.find((each) => bare.endsWith(each)) ?? ''
  const prefix = known === '' ? path : bare.slice(0, -known.length)
  const root = prefix.replace(/\/v\d+[a-z0-9]*$/, '')
  const after = query === undefined ? '' : `?${query}`
  // A native API has no version before it, the list of models has.
  const listed = nativePath.test(known) ? `${root}/v1` : prefix
  return { models: `${listed}/models${after}`, tokenize: `${root}/tokenize`, metrics: `${root}/metrics` }
}

const nativePath = /^\/(generate(_stream)?|completion)$/

export function isFailure(answer: ProbeAnswer | ProbeFailure): answer is ProbeFailure {
  return 'failure' in answer
}

/** ", 4 times of 4"; nothing where it was asked once. */
export function timesTried(tried: number | undefined): string {
  return tried === undefined || tried === 1 ? '' : `, ${tried} times of ${tried}`
}

/** The message of an OpenAI-shaped, FastAPI-shaped or plain error body, in one line; null for an empty one. */
export function errorText(bodyText: string): string | null {
  let found: unknown = bodyText
  try {
    const parsed = JSON.parse(bodyText) as { error?: unknown; detail?: unknown; message?: unknown } | null
    const inner = parsed?.error ?? parsed?.detail ?? parsed?.message
    found = (inner as { message?: unknown } | null | undefined)?.message ?? inner ?? bodyText
  } catch {
    // A page: its words without the tags.
    found = bodyText.replace(/<(style|script)[\s\S]*?<\/\1>|<[^>]*>/gi, ' ')
  }
  const text = (typeof found === 'string' ? found : (JSON.stringify(found) ?? '')).replace(/\s+/g, ' ').trim()
  if (text === '') return null
  return text.length > 200 ? `${text.slice(0, 199)}…` : text
}
