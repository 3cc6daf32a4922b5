/**
 * Every code that plimsoll stops with. The first word after PLIM_ says where it happened; `docs/errors.md` has a line for
 * each, checked by a test.
 */
export type ErrorCode =
  | 'PLIM_USAGE' // a flag, verb or value that cannot be used
  | 'PLIM_CONFIG' // plimsoll.yaml, or what it and the flags say together
  | 'PLIM_URL' // an address that is not one of an OpenAI-compatible server
  | 'PLIM_CONNECT' // nothing answers
  | 'PLIM_TLS' // the certificate is not trusted, or TLS was spoken to a plain port
  | 'PLIM_AUTH' // 401 or 403 in the preflight
  | 'PLIM_NOT_FOUND' // 404 in the preflight: wrong path or model
  | 'PLIM_PREFLIGHT' // the server answers, but not so that it can be measured
  | 'PLIM_WORKLOAD' // prompts that cannot be read or made
  | 'PLIM_RUN_FOLDER' // a run folder that cannot be read or written
  | 'PLIM_FILE' // any other file
  | 'PLIM_PROMETHEUS' // a scrape that is not the text format
  | 'PLIM_ENGINE' // the embedded engine cannot start or was asked the impossible
  | 'PLIM_FAULT' // a fault description that cannot be read
  | 'PLIM_OBJECTIVE' // an objective that cannot be read
  | 'PLIM_NUMBER' // a number or quantity that cannot be read, or an impossible input of a formula
  | 'PLIM_STOPPED' // ended early, because nearly everything failed
  | 'PLIM_INTERRUPTED' // Ctrl-C before anything was sent
  | 'PLIM_INTERNAL' // a fault of plimsoll itself

/** Where in a text something was found. `line` and `column` count from 1. */
export interface TextPosition {
  readonly file: string
  readonly line?: number
  readonly column?: number
}

export interface PlimsollErrorOptions {
  /** What would have been right. */
  readonly expected?: string | undefined
  /** What was there instead, shortened to one line. */
  readonly received?: string | undefined
  readonly where?: TextPosition | undefined
  /** What to do next: the flag, edit or command that mends it. */
  readonly hint?: string | undefined
  readonly cause?: unknown
}

/**
 * An error that a user can act on: a stable `code`, a sentence, and where known what was expected, what was received,
 * where, and what to do.
 */
export class PlimsollError extends Error {
  override readonly name = 'PlimsollError'
  readonly code: ErrorCode
  readonly expected: string | undefined
  readonly received: string | undefined
  readonly where: TextPosition | undefined
  readonly hint: string | undefined

  constructor(code: ErrorCode, message: string, options: PlimsollErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.expected = options.expected
    this.received = options.received
    this.where = options.where
    this.hint = options.hint
  }
}

/** What an error says, as plain data: it crosses to another thread or process, and `new PlimsollError` makes an error of it again. */
export interface ErrorFacts extends Omit<PlimsollErrorOptions, 'cause'> {
  readonly code: ErrorCode
  readonly message: string
}

/** What an error says; of one that is none of ours where it was thrown, as a PLIM_INTERNAL. */
export function errorFacts(error: unknown): ErrorFacts {
  if (!(error instanceof PlimsollError)) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { code: 'PLIM_INTERNAL', message }
  }
  const { code, message, expected, received, where, hint } = error
  return { code, message, expected, received, where, hint }
}

/** The error in other words: what `changes` holds stands in place of what it said. It is the cause, unless that is changed too. */
export function restated(
  error: PlimsollError,
  changes: Partial<ErrorFacts> & Pick<PlimsollErrorOptions, 'cause'>,
): PlimsollError {
  const { code, message, ...options } = { ...errorFacts(error), cause: error, ...changes }
  return new PlimsollError(code, message, options)
}

/** `file:line:col`, as editors and terminals link it. */
export function describePosition(where: TextPosition): string {
  if (where.line === undefined) return where.file
  return where.column === undefined
    ? `${where.file}:${where.line}`
    : `${where.file}:${where.line}:${where.column}`
}

/** The error as it is printed on stderr: code and sentence, then one indented line for each further fact. */
export function describeError(error: PlimsollError): string {
  const lines = [`${error.code}  ${error.message}`]
  if (error.where !== undefined) lines.push(`  at ${describePosition(error.where)}`)
  if (error.expected !== undefined) lines.push(`  expected ${error.expected}`)
  if (error.received !== undefined) lines.push(`  received ${oneLine(error.received)}`)
  if (error.hint !== undefined) lines.push(`  ${error.hint}`)
  return lines.join('\n')
}

const longestLine = 300

/** What was there instead may be a binary file or a library's message of several lines: its first line says enough. */
function oneLine(text: string): string {
  const [line = ''] = text.trim().split(/\r?\n/, 1)
  return line.length <= longestLine ? line : `${line.slice(0, longestLine)}…`
}
