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
