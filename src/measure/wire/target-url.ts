import { PlimsollError } from '../../base/errors.ts'
import { type ApiKind, apiPath, apiPaths, apis } from './api.ts'

/**
 * The endpoint behind a base URL as people type it: with or without scheme (`http` then), trailing slash, version segment or the
 * whole path. A query is kept (gateways put API versions there), a fragment dropped. IPv6 needs its brackets.
 *
 * @throws PlimsollError PLIM_URL for anything that is not an http(s) address.
 * @example resolveEndpoint('localhost:8000', 'chat').href // 'http://localhost:8000/v1/chat/completions'
 */
export function resolveEndpoint(baseUrl: string, api: ApiKind, stream = true): URL {
  const url = parseBaseUrl(baseUrl)
  const prefix = versionedPrefix(url.pathname)
  url.pathname = (apis[api].native ? prefix.replace(version, '') : prefix) + apiPath(api, stream)
  return url
}

/** The address above the API's version segment: where `/metrics`, `/health` and `/tokenize` are. Ends with a slash. */
export function serverRoot(baseUrl: string): URL {
  const url = parseBaseUrl(baseUrl)
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

function parseBaseUrl(baseUrl: string): URL {
  const text = baseUrl.trim()
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
  let url: URL
  try {
    url = new URL(full)
  } catch (cause) {
    throw refused(text, 'this is not an address', 'give it as http://HOST:PORT or https://HOST/PATH', cause)
  }
  if (url.username !== '' || url.password !== '') {
    throw refused(
      `${url.protocol}//…@${url.host}${url.pathname}`,
      'an address with a user or password would be written to reports',
      'pass the credentials as a header or by the API key variable',
    )
  }
  url.hash = ''
  return url
}

function refused(received: string, why: string, hint: string | null, cause?: unknown): PlimsollError {
  return new PlimsollError('PLIM_URL', why, {
    expected: 'the base URL of an OpenAI-compatible server, like http://localhost:8000',
    received,
    ...(hint === null ? {} : { hint }),
    ...(cause === undefined ? {} : { cause }),
  })
}
