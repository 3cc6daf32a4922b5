import { describe, expect, it } from 'vitest'
import { HeadError, parseHead } from './http1-head.ts'

const parse = (...lines: string[]): ReturnType<typeof parseHead> => parseHead(lines.join('\r\n'))

describe('a response head', () => {
  it.each([
    ['chunked', ['transfer-encoding: chunked'], { kind: 'chunked' }],
    [
      'chunked wins over a length',
      ['content-length: 3', 'Transfer-Encoding: gzip, Chunked'],
      { kind: 'chunked' },
    ],
    ['a coding that is not chunked ends with the connection', ['transfer-encoding: gzip'], { kind: 'close' }],
    ['a length', ['Content-Length:  12 '], { kind: 'length', bytes: 12 }],
    ['a length told twice alike', ['content-length: 5', 'content-length: 5'], { kind: 'length', bytes: 5 }],
    ['nothing said: until the close', [], { kind: 'close' }],
  ])('frames its body: %s', (_, fields, framing) => {
    expect(parse('HTTP/1.1 200 OK', ...fields).framing).toEqual(framing)
  })

  it.each([
    ['1.1 stays', 'HTTP/1.1 200 OK', 'x: y', true],
    ['1.1 with close does not', 'HTTP/1.1 200 OK', 'Connection: Close', false],
    ['1.0 does not', 'HTTP/1.0 200 OK', 'x: y', false],
    ['1.0 with keep-alive stays', 'HTTP/1.0 200 OK', 'connection: Keep-Alive', true],
  ])('keeps its connection: %s', (_, status, field, keepAlive) => {
    expect(parse(status, field, 'content-length: 0').keepAlive).toBe(keepAlive)
  })

  it('knows how long the server will wait', () => {
    expect(parse('HTTP/1.1 200', 'Keep-Alive: timeout=5, max=100').idleMs).toBe(5000)
  })

  it('joins folded and repeated fields, and has no body for 204', () => {
    const head = parse('HTTP/1.1 204 No Content', 'a: 1', 'A: 2', 'b: x', '  y')
    expect([head.headers.get('a'), head.headers.get('b'), head.framing.kind]).toEqual(['1, 2', 'x y', 'none'])
  })

  it.each([
    ['another protocol', ['SSH-2.0-OpenSSH_9.2']],
    ['HTTP/2 in the clear', ['HTTP/2 200']],
    ['a status that is none', ['HTTP/1.1 20x OK']],
    ['a field without a name', ['HTTP/1.1 200 OK', ': x']],
    ['a field without a colon', ['HTTP/1.1 200 OK', 'hello']],
    ['two lengths', ['HTTP/1.1 200 OK', 'content-length: 1', 'content-length: 2']],
    ['a negative length', ['HTTP/1.1 200 OK', 'content-length: -1']],
  ])('refuses %s', (_, lines) => {
    expect(() => parse(...lines)).toThrow(HeadError)
  })
})
