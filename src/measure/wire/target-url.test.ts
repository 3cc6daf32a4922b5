import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { PlimsollError } from '../../base/errors.ts'
import { resolveEndpoint, serverRoot, splitSocket } from './target-url.ts'

interface UrlCase {
  readonly base_urls: readonly string[]
}

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../../test/cases/${name}`, import.meta.url), 'utf8'))

/** The endpoint, or `reject` for a PLIM_URL error; any other error is thrown on. */
function resolved(base: string): string {
  try {
    return resolveEndpoint(base, 'chat').href
  } catch (error) {
    if (error instanceof PlimsollError && error.code === 'PLIM_URL') return 'reject'
    throw error
  }
}

describe('the endpoint behind a base URL', () => {
  const input = read('http-02-redirects-and-urls.in.json') as UrlCase
  const { expect: wanted } = read('http-02-redirects-and-urls.expect.json') as { expect: { urls: string[] } }
  it.each(input.base_urls.map((base, index) => [base, wanted.urls[index]!]))(
    '%s leads to %s',
    (base, url) => {
      expect(resolved(base)).toBe(url)
    },
  )

  it.each([
    ['a host name alone', 'gpu-7', 'http://gpu-7/v1/chat/completions'],
    ['blanks around it', '  localhost:8000  ', 'http://localhost:8000/v1/chat/completions'],
    ['a bare IPv6 address in brackets', '[::1]:8000', 'http://[::1]:8000/v1/chat/completions'],
    ['a bare IPv6 address without brackets', '::1:8000', 'reject'],
    ['doubled slashes', 'http://h:1//v1//', 'http://h:1/v1/chat/completions'],
    ['another version segment', 'https://h/api/v3', 'https://h/api/v3/chat/completions'],
    ["the other API's whole path", 'http://h/v1/completions', 'http://h/v1/chat/completions'],
    [
      'a query is kept, a fragment is not',
      'https://h/v1?api-version=2#x',
      'https://h/v1/chat/completions?api-version=2',
    ],
    ['a scheme in capitals', 'HTTP://h:1', 'http://h:1/v1/chat/completions'],
    ['a port that is none', 'http://h:99999', 'reject'],
    ['a user and password', 'http://u:p@h', 'reject'],
    ['nothing', '', 'reject'],
    ['a websocket', 'ws://h', 'reject'],
  ])('%s', (_, base, url) => {
    expect(resolved(base)).toBe(url)
  })

  it.each([
    ['a user and password', 'http://me:SECRET1@h'],
    ['a parameter named like a key', 'http://h:9?api_key=SECRET1'],
    ['a parameter beside a harmless one', 'https://h/v1?api-version=2&subscription-key=SECRET1'],
    ['a value made like a key', 'https://h/v1?x=sk-SECRET1SECRET1'],
    ['in an address that is none besides', 'http://h:99999?api_key=SECRET1'],
    ['in one of no host', 'http://?token=SECRET1'],
    ['in one of another scheme', 'ws://me:SECRET1@h?token=SECRET1'],
  ])('a credential is refused and not repeated: %s', (_, base) => {
    expect(() => resolveEndpoint(base, 'chat')).toThrow(
      expect.objectContaining({
        code: 'PLIM_URL',
        received: expect.not.stringContaining('SECRET1') as string,
      }) as Error,
    )
  })

  it('a credential that is refused is told the way to give it', () => {
    expect(() => resolveEndpoint('http://h?api_key=x', 'chat')).toThrow(
      expect.objectContaining({ hint: expect.stringMatching(/--key-env.*--header/) as string }) as Error,
    )
  })

  it('a port that is none is named with its range', () => {
    expect(() => resolveEndpoint('http://localhost:99999', 'chat')).toThrow(
      'there is no port 99999: ports are 1 to 65535',
    )
  })

  it.each([
    ['http://localhost:8000/v1', 'http://localhost:8000/'],
    ['https://gw.example/llm/v1/chat/completions?x=1', 'https://gw.example/llm/'],
    ['localhost:8000', 'http://localhost:8000/'],
  ])('the root of %s is %s', (base, root) => {
    expect(serverRoot(base).href).toBe(root)
  })

  it.each([
    ['unix:/run/llm.sock', 'http://localhost', '/run/llm.sock'],
    ['unix:///run/llm.sock', 'http://localhost', '/run/llm.sock'],
    ['http+unix://%2Frun%2Fllm.sock/v1?x=1', 'http://localhost/v1?x=1', '/run/llm.sock'],
    ['http://unix:8000', 'http://unix:8000', null],
    ['unix:8000', 'unix:8000', null],
  ])('the socket in %s', (typed, url, socketPath) => {
    expect(splitSocket(typed)).toEqual({ url, socketPath })
  })

  it('a socket whose path cannot be read', () => {
    expect(() => splitSocket('http+unix://%zz')).toThrow('the path of the unix socket cannot be read')
  })
})
