import { createParser } from 'eventsource-parser'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type SseEventName, type SseHandler, SseScanner } from './sse-scanner.ts'

interface Seen {
  readonly events: string[]
  comments: number
  readonly errors: string[]
}

/** Scans pieces; the piece's index stands in for its time. Events are written `name@time:data`. */
function scan(pieces: readonly Uint8Array[], finish = false, limit = 1_000_000): Seen & { within: boolean } {
  const seen: Seen = { events: [], comments: 0, errors: [] }
  const text = (bytes: Uint8Array, start: number, end: number): string =>
    Buffer.from(bytes.subarray(start, end)).toString('utf8')
  const handler: SseHandler = {
    onEvent: (bytes, start, end, name: SseEventName, atMs) => {
      seen.events.push(`${name}@${atMs}:${text(bytes, start, end)}`)
    },
    tryEvent: () => -1,
    onComment: () => void seen.comments++,
    onErrorField: (bytes, start, end) => void seen.errors.push(text(bytes, start, end)),
  }
  const scanner = new SseScanner(handler, limit)
  let within = true
  pieces.forEach((piece, index) => {
    // A reader's buffer is reused: whatever the scanner keeps, it must have copied.
    const buffer = Buffer.concat([Buffer.from('xx'), piece, Buffer.from('yy')])
    within = scanner.push(buffer, 2, 2 + piece.length, index) && within
    buffer.fill(0)
  })
  if (finish) scanner.finish(pieces.length)
  return { ...seen, within }
}

const utf8 = (...texts: string[]): Uint8Array[] => texts.map((text) => Buffer.from(text))

describe('the event stream scanner', () => {
  it.each([
    ['LF', ['data: a\n\n'], ['message@0:a']],
    ['CRLF', ['data: a\r\n\r\n'], ['message@0:a']],
    ['CR', ['data: a\r\r'], ['message@0:a']],
    ['a lone CR ends a line at once', ['data: a\r', '\r', '\n'], ['message@1:a']],
    ['a CRLF cut in two is one line end', ['data: a\r', '\ndata: b\r', '\n\r', '\n'], ['message@2:a\nb']],
    ['mixed ends', ['data: a\n\r\ndata: b\r\rdata: c\r\n\n'], ['message@0:a', 'message@0:b', 'message@0:c']],
    ['no space after the colon, or three', ['data:a\n\ndata:   b\n\n'], ['message@0:a', 'message@0:  b']],
    ['a field without a colon', ['data\n\n'], ['message@0:']],
    ['empty data', ['data:\n\n'], ['message@0:']],
    ['data over lines', ['data: a\ndata\ndata: b\n\n'], ['message@0:a\n\nb']],
    ['blank lines make nothing', ['\n\n\r\n\rid: 1\n\nevent: x\n\n'], []],
    ['a byte-order mark', ['\ufeffdata: a\n\n'], ['message@0:a']],
    ['a byte-order mark only once', ['\ufeff\ufeffdata: a\n\n'], []],
    ['other fields', ['id: 1\nretry: 10\nfoo: bar\ndata: a\n\n'], ['message@0:a']],
    ['a field that only begins like data', ['dataset: a\n\n'], []],
    [
      'event names',
      ['event: error\ndata: a\n\nevent: ping\ndata: b\n\nevent:message\ndata: c\n\n'],
      ['error@0:a', 'foreign@0:b', 'message@0:c'],
    ],
    ['a name is forgotten with its event', ['event: ping\n\ndata: a\n\n'], ['message@0:a']],
    ['an event is timed by the piece that completes it', ['da', 'ta: a', '\n', '\n'], ['message@3:a']],
    ['an unfinished event is none yet', ['data: a\n'], []],
  ])('%s', (_, texts, events) => {
    expect(scan(utf8(...texts)).events).toEqual(events)
  })

  it('counts comments, a lone colon too, and finds error lines', () => {
    expect(scan(utf8(': ping\n\n:\n\n', ':x\ndata: a\n\nerror: {"code":1}\n'))).toMatchObject({
      comments: 3,
      events: ['message@1:a'],
      errors: ['{"code":1}'],
    })
  })

  it('cuts a byte-order mark anywhere', () => {
    const bytes = Buffer.from('\ufeffdata: a\n\n')
    expect(scan([...bytes].map((byte) => Uint8Array.of(byte))).events).toEqual(['message@11:a'])
  })

  it('keeps bytes that only began like a byte-order mark', () => {
    expect(scan([Uint8Array.of(0xef), Buffer.from('\ndata: a\n\n')]).events).toEqual(['message@1:a'])
  })

  it('takes an unterminated last event when the stream ends', () => {
    expect(scan(utf8('data: a\n\ndata: [DO', 'NE]'), true).events).toEqual([
      'message@0:a',
      'message@2:[DONE]',
    ])
    expect(scan(utf8('data: a\n'), true).events).toEqual(['message@1:a'])
  })

  it('refuses an event beyond the limit, in one line or many, and reads up to it', () => {
    expect(scan(utf8('data: ', 'x'.repeat(900), '\n\n'), false, 1000)).toMatchObject({ within: true })
    expect(scan(utf8('data: ', 'x'.repeat(1100)), false, 1000)).toMatchObject({ within: false })
    expect(scan(utf8(...Array.from({ length: 200 }, () => 'data: 123456789\n')), false, 1000).within).toBe(
      false,
    )
  })

  it('gives the same whatever the pieces, and the same as another parser', () => {
    const line = fc.oneof(
      fc.constantFrom(
        'data: {"a":1}',
        'data:x',
        'data',
        ': c',
        'id: 7',
        'event: message',
        'data: é🐈',
        '',
        'foo',
      ),
      fc.string({ maxLength: 12 }).map((text) => `data: ${text.replace(/[\r\n]/g, '')}`),
    )
    const stream = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 24 })
    fc.assert(
      fc.property(stream, fc.array(fc.nat(300), { maxLength: 30 }), (lines, cuts) => {
        const bytes = Buffer.from(lines.map(([text, end]) => text + end).join(''))
        const at = [0, ...cuts.filter((cut) => cut < bytes.length), bytes.length].sort((a, b) => a - b)
        const pieces = at.slice(1).map((end, index) => bytes.subarray(at[index]!, end))
        const whole = scan([bytes])
        const data = (seen: Seen): string[] => seen.events.map((event) => event.replace(/@\d+/, ''))
        const cut = scan(pieces)
        expect(data(cut)).toEqual(data(whole))
        expect(cut.comments).toBe(whole.comments)
        const oracle: string[] = []
        const parser = createParser({ onEvent: (event) => oracle.push(`message:${event.data}`) })
        parser.feed(bytes.toString('utf8'))
        // The other parser holds a last CR back until it sees what follows; the line end that makes it look may also end an event
        // that is not ended yet.
        parser.feed('\n')
        expect(oracle.slice(0, whole.events.length)).toEqual(data(whole))
      }),
      { numRuns: 300 },
    )
  })
})
