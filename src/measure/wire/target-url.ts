import { PlimsollError } from '../../base/errors.ts'
import { redactText } from '../record/redact.ts'
import { type ApiKind, apiPath, apiPaths, apis } from './api.ts'

/**
 * The endpoint behind a base URL as people type it: with or without scheme (`http` then), trailing slash, version segment or the
 * whole path. A query is kept (gateways put API versions there: Azure's `api-version`), a fragment dropped. IPv6 needs its brackets.
 *
 * @throws PlimsollError PLIM_URL for anything that is not an http(s) address, and for one that holds a credential.
 * @example resolveEndpoint('localhost:8000', 'chat').href // 'http://localhost:8000/v1/chat/completions'
 */
export function resolveEndpoint(baseUrl: string, api: ApiKind, stream = true): URL {
  const url = parseAddress(baseUrl)
  const prefix = versionedPrefix(url.pathname)
  url.pathname = (apis[api].native ? prefix.replace(version, '') : prefix) + apiPath(api, stream)
  return url
}

/** The address above the API's version segment: where `/metrics`, `/health` and `/tokenize` are. Ends with a slash. */
export function serverRoot(baseUrl: string): URL {
  const url = parseAddress(baseUrl)
  url.pathname = versionedPrefix(url.pathname).replace(version, '') + '/'
  url.search = ''
  return url
}

/**
 * A unix socket in an address: `unix:/run/llm.sock`, or `http+unix://%2Frun%2Fllm.sock/v1` where a path follows. The address that is then
 * asked names `localhost`.
 */
export function splitSocket(url: string): { readonly url: string; readonly socketPath: string | null } {
  const text = url.trim()
  const bare = /^unix:(?:\/\/)?(\/.+)$/i.exec(text)
  if (bare !== null) return { url: 'http://localhost', socketPath: bare[1]! }
  const escaped = /^http\+unix:\/\/([^/?#]+)(.*)$/i.exec(text)
  if (escaped === null) return { url, socketPath: null }
  try {
    return { url: `http://localhost${escaped[2]!}`, socketPath: decodeURIComponent(escaped[1]!) }
  } catch (cause) {
    throw refused(text, 'the path of the unix socket cannot be read', 'http+unix://%2Frun%2Fllm.sock', cause)
  }
}

const nativePaths: ReadonlySet<string> = new Set(
  Object.values(apis).flatMap(({ native, path, wholePath }) =>
    native ? [path, ...(wholePath === undefined ? [] : [wholePath])] : [],
  ),
)
const version = /\/v\d+[a-z0-9]*$/

/** `/llm/v1` from `/llm`, `/llm/v1/` or `/llm/v1/chat/completions`. */
function versionedPrefix(pathname: string): string {
  let path = pathname.replace(/\/{2,}/g, '/').replace(/\/$/, '')
  const known = apiPaths.find((each) => path.endsWith(each))
  if (known !== undefined) {
    path = path.slice(0, -known.length)
    // The path of an OpenAI API is taken as it is; a native one has no version before it.
    if (!nativePaths.has(known)) return path
  }
  if (!version.test(path)) path += '/v1'
  return path
}

/**
 * The address, where it holds no credential.
 * @throws PlimsollError PLIM_URL for one that does.
 */
export function withoutCredential(url: URL): URL {
  if (url.username !== '' || url.password !== '') {
    throw refused(
      `${url.protocol}//…@${url.host}${url.pathname}`,
      'an address with a user or password would be written to reports',
      keyAdvice,
    )
  }
  if (redactText(url.href) !== url.href) {
    throw refused(url.href, 'an address with a key in it would be written to reports', keyAdvice)
  }
  return url
}

const keyAdvice =
  "give the key by its variable, OPENAI_API_KEY or that of --key-env NAME; under another header: --header 'api-key: {{env.NAME}}'"

/**
 * An address, `http` where it names no scheme. An address goes into messages, run folders, reports and the next command, so one that
 * holds a credential (a user, a password, a parameter that is named or made like a key) is refused.
 * @throws PlimsollError PLIM_URL
 */
export function parseAddress(address: string): URL {
  return withoutCredential(httpAddress(address))
}

/**
 * An address of any server, `http` where it names no scheme.
 * @throws PlimsollError PLIM_URL for what is none.
 */
export function httpAddress(address: string): URL {
  const text = address.trim()
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase()
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') {
    throw refused(text, `plimsoll speaks http and https, not ${scheme}`, null)
  }
  const full = scheme === undefined ? `http://${text}` : text
  const authority = /^[^:]+:\/\/([^/?#]*)/.exec(full)?.[1] ?? ''
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  if (!host.startsWith('[') && host.split(':').length > 2) {
    throw refused(text, 'an IPv6 address needs brackets', 'write it as http://[::1]:8000')
  }
  const port = /:(\d*)$/.exec(host.replace(/^\[.*\]/, ''))?.[1] ?? ''
  if (Number(port) > 65_535) {
    throw refused(text, `there is no port ${port}: ports are 1 to 65535`, null)
  }
  let url: URL
  try {
    url = new URL(full)
  } catch (cause) {
    throw refused(text, 'this is not an address', 'give it as http://HOST:PORT or https://HOST/PATH', cause)
  }
  url.hash = ''
  return url
}

function refused(received: string, why: string, hint: string | null, cause?: unknown): PlimsollError {
  return new PlimsollError('PLIM_URL', why, {
    expected: 'the base URL of an OpenAI-compatible server, like http://localhost:8000',
    received: redactText(received),
    ...(hint === null ? {} : { hint }),
    ...(cause === undefined ? {} : { cause }),
  })
}
