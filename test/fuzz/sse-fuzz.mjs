// Fuzzes the reader of a response body: streams of proper, odd and broken events, cut anywhere, truncated, spoilt. Whatever comes
// in must not throw, must not hold more bytes than the limit allows, and must give the same in one piece as in many.

/** Largest event that the fuzzed readers take; small, so that the limit is met often. */
const maxEventBytes = 2_048

const events = [
  '{"choices":[{"delta":{"content":"a"}}]}',
  '{"id":"x","choices":[{"index":0,"delta":{"content":" é猫🐈\\n\\u00e9"},"finish_reason":null}],"usage":null}',
  '{"choices":[{"delta":{"reasoning_content":"r"}}]}',
  '{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{\\"content\\":1}"}}]}}]}',
  '{"choices":[{"text":"t"}],"usage":{"prompt_tokens":1,"completion_tokens":7}}',
  '{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":1}}}',
  '{"choices":[{"delta":{},"finish_reason":"stop"}]}',
  '{"choices":[{"delta":{"content":[{"text":"p"}]}},{"delta":{"content":"q"}}]}',
  '{"error":{"message":"m","code":500}}',
  '{"error":"e"}',
  '{"choices":[{"delta":{"content":"x"}}]',
  '[DONE]',
  ': keepalive',
  '',
  'null',
  '[[[[[[',
  '{"a":'.repeat(80),
  '"\\ud83d"',
]
const fields = [
  'id: 1',
  'event: ping',
  'event: error',
  'event: message',
  'retry: 10',
  ': c',
  ':',
  'error: {"code":1}',
  'foo',
  'data',
]
const lineEnds = ['\n', '\r\n', '\r']
const openings = ['', '', '', '\ufeff', '\n', '{"choices":[{"message":{"content":"w"}}]}', '[']

/**
 * Runs `count` inputs of `seed`. `product` is `{ResponseObserver, ChunkedBody, randomStream}`. Throws an error that holds the
 * input when something is wrong; gives how many of the inputs were streams with output.
 */
export function fuzz({ ResponseObserver, ChunkedBody, randomStream }, count, seed, onProgress = () => {}) {
  const random = randomStream(seed, 'sse-fuzz')
  const below = (limit) => random.nextUint32() % limit
  const pick = (list) => list[below(list.length)]
  let withOutput = 0
  for (let index = 0; index < count; index++) {
    const bytes = makeStream(below, pick)
    const clean = below(4) > 0
    const pieces = cut(bytes, below)
    let whole
    try {
      whole = read(ResponseObserver, [bytes], clean)
      compare(whole, read(ResponseObserver, pieces, clean))
      if (below(4) === 0) readChunked(ChunkedBody, bytes, pieces, below)
    } catch (error) {
      const input = pieces.map((piece) => Buffer.from(piece).toString('base64')).join(' ')
      throw new Error(`input ${index} of seed ${seed} (${clean ? 'closed' : 'reset'}): ${input}`, {
        cause: error,
      })
    }
    if (whole.outputs > 0) withOutput++
    if (index % 10_000 === 9_999) onProgress(index + 1)
  }
  return { withOutput }
}

function makeStream(below, pick) {
  let text = pick(openings)
  const lines = below(24)
  for (let line = 0; line < lines; line++) {
    const end = pick(lineEnds)
    const kind = below(10)
    if (kind < 6) text += `data:${below(3) > 0 ? ' ' : ''}${pick(events)}${end}${below(8) > 0 ? end : ''}`
    else if (kind < 9) text += `${pick(fields)}${end}`
    else text += end
  }
  if (below(12) === 0) text += `data: ${'y'.repeat(below(3_000))}`
  const bytes = Buffer.from(text)
  const kept = below(3) === 0 ? bytes.subarray(0, below(bytes.length + 1)) : bytes
  const spoilt = Buffer.from(kept)
  const spoils = below(3) === 0 ? below(6) : 0
  for (let i = 0; i < spoils && spoilt.length > 0; i++) spoilt[below(spoilt.length)] = below(256)
  return spoilt
}

function cut(bytes, below) {
  const pieces = []
  const most = 1 + below(below(2) === 0 ? 4 : 200)
  for (let at = 0; at < bytes.length;) {
    const size = 1 + below(most)
    pieces.push(bytes.subarray(at, at + size))
    at += size
  }
  return pieces
}

function read(ResponseObserver, pieces, clean) {
  const observer = new ResponseObserver({ keepText: true, maxEventBytes })
  const buffer = Buffer.alloc(65_536)
  let within = true
  for (const piece of pieces) {
    // A read buffer is used again: what the reader keeps must be a copy.
    buffer.set(piece, 3)
    within = observer.onBody(buffer, 3, 3 + piece.length, 1)
    if (!within) break
    if (observer.heldBytes > maxEventBytes) throw new Error(`holds ${observer.heldBytes} bytes`)
  }
  if (within) observer.close(clean, 1)
  return {
    within,
    mode: observer.mode,
    outputs: observer.stamps.length,
    totals: observer.totals,
    ended: observer.endMarkerAtMs !== null,
    finishReason: observer.finishReason,
    error: observer.error,
    usage: [
      observer.promptTokens,
      observer.completionTokens,
      observer.cachedTokens,
      observer.reasoningTokens,
    ],
    counts: [observer.chunks, observer.comments, observer.ignored],
    cutEvent: observer.cutEvent,
    texts: [observer.text, observer.reasoningText, observer.toolArguments],
  }
}

/** A stream that goes over the limit is given up; where exactly depends on its pieces, so the rest is not compared. */
function compare(whole, pieced) {
  if (!whole.within || !pieced.within) return
  const [one, other] = [JSON.stringify(whole), JSON.stringify(pieced)]
  if (one !== other) throw new Error(`in one piece ${one}, in many ${other}`)
}

/** The same bytes as a chunked body: first proper, then spoilt. */
function readChunked(ChunkedBody, bytes, pieces, below) {
  const frames = pieces.map((piece) =>
    Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]),
  )
  const wire = Buffer.concat([...frames, Buffer.from('0\r\n\r\n')])
  const decoded = decode(ChunkedBody, cut(wire, below))
  if (!decoded.done || !decoded.bytes.equals(bytes))
    throw new Error(`chunked: ${decoded.problem ?? 'other bytes'}`)
  wire[below(wire.length)] = below(256)
  const whole = decode(ChunkedBody, [wire])
  const pieced = decode(ChunkedBody, cut(wire, below))
  if (whole.done !== pieced.done || whole.problem !== pieced.problem || !whole.bytes.equals(pieced.bytes)) {
    throw new Error(`chunked: in one piece ${whole.problem}, in many ${pieced.problem}`)
  }
}

function decode(ChunkedBody, pieces) {
  const decoder = new ChunkedBody()
  const parts = []
  for (const piece of pieces) {
    decoder.push(piece, 0, piece.length, (from, start, end) =>
      parts.push(Buffer.from(from.subarray(start, end))),
    )
    if (decoder.done || decoder.problem !== null) break
  }
  return { bytes: Buffer.concat(parts), done: decoder.done, problem: decoder.problem }
}
