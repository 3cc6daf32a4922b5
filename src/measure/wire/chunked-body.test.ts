import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ChunkedBody } from './chunked-body.ts'

function decode(pieces: readonly Uint8Array[]): {
  body: string
  done: boolean
  problem: string | null
  rest: number
} {
  const decoder = new ChunkedBody()
  let body = ''
  let rest = 0
  for (const piece of pieces) {
    if (decoder.problem !== null) break
    const stop = decoder.push(piece, 0, piece.length, (bytes, start, end) => {
      body += Buffer.from(bytes.subarray(start, end)).toString('latin1')
    })
    rest += piece.length - stop
  }
  return { body, done: decoder.done, problem: decoder.problem, rest }
}

const whole = (text: string): Uint8Array[] => [Buffer.from(text, 'latin1')]

describe('the chunked coding', () => {
  it.each([
    ['one chunk', '3\r\nabc\r\n0\r\n\r\n', 'abc', true],
    ['capital digits and leading zeros', '00A\r\n0123456789\r\n0\r\n\r\n', '0123456789', true],
    ['extensions, quoted ones too', '3;a=b;c="x;y"\r\nabc\r\n0;last\r\n\r\n', 'abc', true],
    ['blanks after a size', '3  \r\nabc\r\n0\r\n\r\n', 'abc', true],
    ['trailers', '3\r\nabc\r\n0\r\nx-sum: 1\r\ny: 2\r\n\r\n', 'abc', true],
    ['bare line feeds', '3\nabc\n0\n\n', 'abc', true],
    ['cut inside a chunk', '5\r\nab', 'ab', false],
    ['cut before the last line', '1\r\na\r\n0\r\n', 'a', false],
  ])('%s', (_, text, body, done) => {
    expect(decode(whole(text))).toEqual({ body, done, problem: null, rest: 0 })
  })

  it.each([
    ['no size at all', '\r\nabc'],
    ['a size that is no number', 'xyz\r\n'],
    ['a negative size', '-1\r\n'],
    ['a size beyond any memory', 'fffffffffffffff\r\n'],
    ['more data than its size', '1\r\nabc\r\n'],
    ['an endless extension', `1;${'x'.repeat(20_000)}`],
    ['an endless trailer', `0\r\n${'x: y\r\n'.repeat(5_000)}`],
  ])('refuses %s', (_, text) => {
    expect(decode(whole(text)).problem).not.toBeNull()
  })

  it('stops behind the body and leaves what follows', () => {
    expect(decode(whole('1\r\na\r\n0\r\n\r\nHTTP/1.1'))).toMatchObject({ body: 'a', done: true, rest: 8 })
  })

  it('gives the same whatever the pieces', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1, maxLength: 30 }), { maxLength: 8 }),
        fc.array(fc.nat(400), { maxLength: 40 }),
        (chunks, cuts) => {
          const wire = Buffer.concat([
            ...chunks.map((chunk) => {
              const bytes = Buffer.from(chunk)
              return Buffer.concat([
                Buffer.from(`${bytes.length.toString(16)};e\r\n`),
                bytes,
                Buffer.from('\r\n'),
              ])
            }),
            Buffer.from('0\r\nt: v\r\n\r\n'),
          ])
          const expected = Buffer.from(chunks.join('')).toString('latin1')
          expect(decode(pieces(wire, cuts))).toEqual({ body: expected, done: true, problem: null, rest: 0 })
        },
      ),
    )
  })
})

function pieces(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const at = [0, ...cuts.filter((cut) => cut < bytes.length), bytes.length].sort((a, b) => a - b)
  return at.slice(1).map((end, index) => bytes.subarray(at[index]!, end))
}
