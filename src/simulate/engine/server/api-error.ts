import type { ApiKind } from '../../../measure/wire/api.ts'

/** An answer other than 200, in the shape that OpenAI's API and vLLM give it: `{"error": {message, type, param, code}}`. */
export interface ApiError {
  readonly status: number
  readonly type: string
  readonly message: string
  /** The field of the request that is to blame, or null. */
  readonly param: string | null
  readonly headers?: Readonly<Record<string, string>>
}

/** Thrown while a request is read; the server answers with it. */
export class ApiFailure extends Error {
  readonly error: ApiError

  constructor(error: ApiError) {
    super(error.message)
    this.error = error
  }
}

export function badRequest(message: string, param: string | null = null): ApiFailure {
  return new ApiFailure({ status: 400, type: 'BadRequestError', message, param })
}

export function notFound(message: string, param: string | null = null): ApiFailure {
  return new ApiFailure({ status: 404, type: 'NotFoundError', message, param })
}

/** `code` is the HTTP status as a number, as vLLM has it. */
export function apiErrorJson(error: ApiError): string {
  const { message, type, param, status } = error
  return JSON.stringify({ error: { message, type, param, code: status } })
}

/** As Anthropic's API words it (docs.anthropic.com/en/api/errors). */
export function anthropicErrorJson({ status, message }: ApiError): string {
  const type = anthropicTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  return JSON.stringify({ type: 'error', error: { type, message } })
}

const anthropicTypes: Readonly<Record<number, string>> = {
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  529: 'overloaded_error',
}

/** As TGI's router words it (`router/src/server.rs`): the message itself, and a kind. */
export function tgiErrorJson({ status, message }: ApiError): string {
  const kind = status === 429 || status === 503 ? 'overloaded' : status < 500 ? 'validation' : 'generation'
  return JSON.stringify({ error: message, error_type: kind })
}

export function errorJsonOf(api: ApiKind | null, error: ApiError): string {
  if (api === 'anthropic') return anthropicErrorJson(error)
  return api === 'tgi' ? tgiErrorJson(error) : apiErrorJson(error)
}
