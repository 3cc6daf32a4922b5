import { PlimsollError } from '../../base/errors.ts'
import { apis } from '../wire/api.ts'
import { errorText, timesTried, type PreflightTarget, type ProbeAnswer } from './probe.ts'

/** What was asked, for the sentence: its path, and what would have been right. */
interface AskedOf {
  readonly path: string
  readonly expected: string
  /** What helps where only this question fails. */
  readonly around: string
}

/**
 * The sentence for an answer by a status that ends the preflight, whatever its body is: who says it, what it says and what to do.
 * Statuses by RFC 9110 §15; 429 by RFC 6585 §4; 529 is Anthropic's "overloaded".
 */
export function refusedByStatus(answer: ProbeAnswer, target: PreflightTarget, asked: AskedOf): PlimsollError {
  const { status } = answer
  const { url } = target
  const refused = (
    message: string,
    hint: string,
    code: 'PLIM_PREFLIGHT' | 'PLIM_AUTH' | 'PLIM_NOT_FOUND' = 'PLIM_PREFLIGHT',
  ) =>
    new PlimsollError(code, `${message} (${status})`, {
      expected: asked.expected,
      received: `${asked.path} answers ${said(answer)}`,
      hint,
    })
  if (isRedirect(status)) return redirected(answer, target, asked)
  if (status === 401 || status === 403) return unauthorized(answer, target)
  if (status === 407) {
    return refused(
      `the proxy before ${url} refuses the request`,
      'its user and password stand in HTTPS_PROXY or HTTP_PROXY: http://USER:PASSWORD@HOST:PORT',
      'PLIM_AUTH',
    )
  }
  if (status === 404 || status === 405 || status === 410) {
    return refused(
      `there is no ${asked.path} at ${url}${fromEndpoint(target)}`,
      `${pathAdvice(target)}${or(asked.around)}`,
      'PLIM_NOT_FOUND',
    )
  }
  if (isBusy(status)) return busy(answer, target, asked)
  if (status === 502 || status === 504) {
    return refused(
      `a proxy answers at ${url}, and nothing behind it`,
      'is the inference server behind it up, and its model loaded?',
    )
  }
  if (status >= 500) return refused(`${url} fails at ${asked.path}`, `its log says why${or(asked.around)}`)
  if (status === 402)
    return refused(`${url} wants to be paid first`, 'is there credit on the account of the key?')
  if (status >= 400)
    return refused(`${url} refuses ${asked.path}`, `what it says it received tells why${or(asked.around)}`)
  return refused(
    `${url} answers ${asked.path} with nothing to read`,
    `is this the address of the inference server itself?${or(asked.around)}`,
  )
}

function or(around: string): string {
  return around === '' ? '' : `; ${around}`
}

/** 300 is a choice, 304 an answer to a condition that was not set: neither is to be followed, and both say where they come from. */
function isRedirect(status: number): boolean {
  return status >= 300 && status < 400
}

function isBusy(status: number): boolean {
  return status === 429 || status === 503 || status === 529
}

/** The status, and what the body says in one line of at most 200 characters. */
export function said({ status, bodyText, tried }: ProbeAnswer): string {
  const text = errorText(bodyText)
  const often = timesTried(tried)
  return text === null ? `${status} without a message${often}` : `${status}${often}: ${text}`
}

function busy(answer: ProbeAnswer, { url }: PreflightTarget, { path, expected }: AskedOf): PlimsollError {
  // llama.cpp and TGI answer 503 while they load.
  const loads = /\bload(ing)?\b.*\bmodel\b|\bmodel\b.*\bload(ing)?\b/i.test(errorText(answer.bodyText) ?? '')
  const wait = waitOf(answer.header('retry-after'))
  return new PlimsollError(
    'PLIM_PREFLIGHT',
    loads
      ? `${url} is still loading its model (${answer.status})`
      : `${url} refuses requests before any load (${answer.status})`,
    {
      expected,
      received: `${path} answers ${said(answer)}`,
      hint: `${loads ? 'begin when it is ready' : 'let it come to rest first'}${wait}`,
    },
  )
}

/** `Retry-After` is a number of seconds or a date (RFC 9110 §10.2.3). */
function waitOf(header: string | undefined): string {
  if (header === undefined || header.trim() === '') return ''
  const value = bounded(header)
  return /^\d+$/.test(value) ? `; it asks to wait ${value} s` : `; it asks to wait until ${value}`
}

function redirected(
  answer: ProbeAnswer,
  target: PreflightTarget,
  { path, expected }: AskedOf,
): PlimsollError {
  const location = answer.header('location')
  const place = location === undefined || location.trim() === '' ? null : bounded(location)
  return new PlimsollError(
    'PLIM_PREFLIGHT',
    place === null
      ? `${target.url} sends ${path} elsewhere, and does not say where (${answer.status})`
      : `${target.url} sends ${path} elsewhere: to ${place} (${answer.status})`,
    {
      expected,
      received:
        place === null ? `${answer.status} without a Location` : `${answer.status} with Location: ${place}`,
      hint: movedAdvice(place, path),
    },
  )
}

/** The same path elsewhere is the server's new address; another path is a page: a login, a portal. */
function movedAdvice(place: string | null, path: string): string {
  const bare = path.replace(/\?.*$/, '')
  const moved = place === null ? null : /^(https?:\/\/[^/?#]+)([^?#]*)/i.exec(place)
  const [, origin = '', at = ''] = moved ?? []
  const version = /^(.*\/v\d+[a-z0-9]*)\//.exec(at)?.[1]
  if (origin !== '' && at.replace(/\/$/, '').endsWith(bare) && version !== undefined) {
    return `redirects are not followed under load: --url ${origin}${version}`
  }
  return 'redirects are not followed: give the address of the inference server itself, not that of a login or a gateway before it'
}

function bounded(header: string): string {
  const text = header.replace(/\s+/g, ' ').trim()
  return text.length > 200 ? `${text.slice(0, 199)}…` : text
}

export function unauthorized(answer: ProbeAnswer, target: PreflightTarget): PlimsollError {
  const { key } = target
  return new PlimsollError('PLIM_AUTH', `${target.url} refuses the key (${answer.status})`, {
    expected: 'a key that the server knows',
    received: errorText(answer.bodyText) ?? `status ${answer.status} without a message`,
    hint:
      key === undefined
        ? 'set the environment variable of the key, or name another with --key-env'
        : key.present
          ? `the key is that of ${key.env}; --key-env names another variable`
          : `${key.env} is not set; export it, or name another variable with --key-env`,
  })
}

/** Whose path it is that a sentence tells of, where a person gave one: the path that was asked may be made from it. */
export function fromEndpoint({ typedEndpoint }: PreflightTarget): string {
  return typedEndpoint === undefined ? '' : `, asked because of --endpoint ${typedEndpoint}`
}

/** What to try when the path is wrong. */
export function pathAdvice(target: PreflightTarget): string {
  if (target.typedEndpoint !== undefined) {
    return `--endpoint is the whole path from / on, as the server has it; without it ${apis[target.api].path} is asked`
  }
  return /\/v\d/.test(target.endpointPath)
    ? 'give --url up to and with /v1 (http://HOST:PORT/v1), or the whole path with --endpoint'
    : 'the path has no /v1: --endpoint /v1/… or a --url that ends in /v1'
}
