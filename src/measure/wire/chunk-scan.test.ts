import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ChunkFacts, pieceText } from './chunk-facts.ts'
import { parseChunk } from './chunk-parse.ts'
import { scanChunk } from './chunk-scan.ts'

interface Read {
  readonly json: boolean
  readonly [fact: string]: unknown
}

function plain(facts: ChunkFacts, bytes: Uint8Array): Read {
  const { content, reasoning, toolArguments, ...rest } = facts
  return {
    json: true,
    ...rest,
    content: pieceText(content, bytes),
    reasoning: pieceText(reasoning, bytes),
    toolArguments: pieceText(toolArguments, bytes),
  }
}

/** What the scan says, or null where it gives up. The bytes lie inside others, as they do in a read buffer. */
function scanned(bytes: Uint8Array): Read | null {
  const facts = new ChunkFacts()
  const buffer = Buffer.concat([Buffer.from('}"'), bytes, Buffer.from('"}')])
  return scanChunk(buffer, 2, 2 + bytes.length, facts) ? plain(facts, buffer) : null
}

function parsed(bytes: Uint8Array): Read {
  const facts = new ChunkFacts()
  return parseChunk(Buffer.from(bytes).toString('utf8'), facts) ? plain(facts, bytes) : { json: false }
}

/** Where the scan says anything, it must be what the parser says. Gives whether it did. */
function expectAgreement(bytes: Uint8Array): boolean {
  const seen = scanned(bytes)
  expect(seen ?? parsed(bytes)).toEqual(parsed(bytes))
  return seen !== null
}

const chat = (delta: unknown, more: object = {}): object => ({
  id: 'x',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
})

describe('the scan of a streamed JSON event', () => {
  it.each([
    ['content', chat({ content: 'hi' }), { hasOutput: true, hasContent: true, content: 'hi' }],
    [
      'a role and empty content are no output',
      chat({ role: 'assistant', content: '' }),
      { hasOutput: false },
    ],
    ['null content', chat({ content: null }), { hasOutput: false }],
    ['white space is output', chat({ content: '\n' }), { hasOutput: true, content: '\n' }],
    [
      'reasoning',
      chat({ reasoning: 'r', content: null }),
      { hasOutput: true, hasContent: false, reasoning: 'r' },
    ],
    ['reasoning_content', chat({ reasoning_content: 'r' }), { hasOutput: true, reasoning: 'r' }],
    [
      'completion text',
      { choices: [{ text: 't', logprobs: { content: [{ token: 'no' }] } }] },
      { content: 't' },
    ],
    [
      'a tool call by name',
      chat({ tool_calls: [{ function: { name: 'f', arguments: '' } }] }),
      { hasOutput: true },
    ],
    [
      'a tool call without name or arguments',
      chat({ tool_calls: [{ id: 'c', function: { arguments: '' } }] }),
      { hasOutput: false },
    ],
    [
      'arguments that look like an answer',
      chat({ tool_calls: [{ function: { arguments: '{"content":"x"}' } }] }),
      { hasContent: false, toolArguments: '{"content":"x"}' },
    ],
    [
      'an answer that looks like JSON',
      chat({ content: '"usage":{"completion_tokens":9}' }),
      { completionTokens: -1 },
    ],
    [
      'a finish reason',
      chat({}, { finish_reason: 'tool_calls' }),
      { finishReason: 'tool_calls', hasOutput: false },
    ],
    [
      'usage with its details',
      {
        choices: [],
        usage: {
          prompt_tokens: 9,
          completion_tokens: 4,
          prompt_tokens_details: { cached_tokens: 8 },
          completion_tokens_details: { reasoning_tokens: 3 },
        },
      },
      { promptTokens: 9, completionTokens: 4, cachedTokens: 8, reasoningTokens: 3 },
    ],
    [
      'null usage, error and choices',
      { choices: null, usage: null, error: null },
      { promptTokens: -1, error: null },
    ],
    [
      'details that are null',
      { choices: [], usage: { prompt_tokens: 1, completion_tokens: 0, prompt_tokens_details: null } },
      { completionTokens: 0, cachedTokens: -1 },
    ],
    ['escapes and other scripts', chat({ content: 'a"\\\n\u0001é猫🐈' }), { content: 'a"\\\n\u0001é猫🐈' }],
    [
      'nested look-alikes',
      chat({ content: 'a' }, { logprobs: { delta: { content: 'no' }, finish_reason: 'no' } }),
      { content: 'a', finishReason: null },
    ],
  ])('takes %s', (_, event, wanted) => {
    const bytes = Buffer.from(JSON.stringify(event))
    expect(scanned(bytes)).toMatchObject(wanted)
    expect(scanned(bytes)).toEqual(parsed(bytes))
  })

  it.each([
    [
      'an error object',
      '{"error":{"message":"m","code":500}}',
      { error: { code: '500', type: null, message: 'm' } },
    ],
    [
      'an error text',
      '{"error":"bad","error_type":"validation"}',
      { error: { code: null, type: 'validation', message: 'bad' } },
    ],
    [
      'an error of older vLLM',
      '{"object":"error","message":"m","type":"T","code":400}',
      { error: { code: '400', type: 'T', message: 'm' } },
    ],
    [
      'a key told twice: the last counts',
      '{"usage":{"completion_tokens":1},"usage":{"completion_tokens":2}}',
      { completionTokens: 2 },
    ],
    ['an escaped key', '{"ch\\u006fices":[{"delta":{"content":"x"}}]}', { content: 'x' }],
    [
      'content in parts',
      '{"choices":[{"delta":{"content":[{"type":"text","text":"x"}]}}]}',
      { content: 'x', hasContent: true },
    ],
    ['two choices', '{"choices":[{"delta":{"content":"x"}},{"delta":{"content":"y"}}]}', { content: 'xy' }],
    [
      'both names of reasoning',
      '{"choices":[{"delta":{"reasoning":"r","reasoning_content":"r"}}]}',
      { reasoning: 'r' },
    ],
    ['usage inside the choice', '{"choices":[{"usage":{"completion_tokens":3}}]}', { completionTokens: 3 }],
    [
      'arguments as an object',
      '{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":{"a":1}}}]}}]}',
      { toolArguments: '{"a":1}' },
    ],
    ['an older function call', '{"choices":[{"delta":{"function_call":{"name":"f"}}}]}', { hasOutput: true }],
    [
      'counts that are none',
      '{"usage":{"completion_tokens":-1,"prompt_tokens":1.5}}',
      { completionTokens: -1, promptTokens: -1 },
    ],
    ['nothing but an object', '{}', { hasOutput: false }],
  ])('leaves %s to the parser', (_, text, wanted) => {
    expect(parsed(Buffer.from(text))).toMatchObject({ json: true, ...wanted })
    expectAgreement(Buffer.from(text))
  })

  it.each([
    '',
    ': keepalive',
    '[DONE]',
    '1',
    'null',
    '"x"',
    '[]',
    '{',
    '{"a":}',
    '{"a":1,}',
    "{'a':1}",
    '{"a":01}',
    '{"a":"\u0001"}',
    '{"a":"\\x"}',
    '{} {}',
  ])('%j is no event', (text) => {
    const bytes = Buffer.from(text)
    expect(parsed(bytes)).toEqual({ json: false })
    expect(scanned(bytes)).toBeNull()
  })

  const text = fc.oneof(
    fc.constantFrom('', 'a', ' token', '"', '\\', '\n', 'é', '🐈', '\ud83d', '{"content":"x"}', 'error'),
    fc.string({ unit: 'grapheme', maxLength: 8 }),
  )
  const odd = fc.oneof(
    text,
    fc.constant(null),
    fc.nat(9),
    fc.double(),
    fc.boolean(),
    fc.constant([]),
    fc.jsonValue({ maxDepth: 2 }),
  )
  const usually = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    fc.oneof({ weight: 40, arbitrary: value }, { weight: 1, arbitrary: odd })
  /** A key whose value is undefined is not written. */
  const rarely = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })
  const fields = (known: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> =>
    fc.record(
      { ...known, x: odd, object: usually(fc.constant('chat.completion.chunk')) },
      { requiredKeys: [] },
    )
  const call = fields({
    function: usually(fields({ name: usually(text), arguments: usually(text) })),
    index: fc.nat(3),
  })
  const delta = fields({
    content: usually(text),
    reasoning: rarely(text),
    reasoning_content: usually(text),
    tool_calls: usually(fc.array(usually(call), { maxLength: 2 })),
    role: text,
  })
  const count = usually(fc.nat(1e6))
  const usage = fields({
    prompt_tokens: count,
    completion_tokens: count,
    prompt_tokens_details: usually(fields({ cached_tokens: count })),
    completion_tokens_details: usually(fields({ reasoning_tokens: count })),
    reasoning_tokens: rarely(count),
  })
  const choice = fields({
    delta: usually(delta),
    text: usually(text),
    finish_reason: usually(fc.constantFrom('stop', 'length', '', null)),
    index: fc.nat(2),
    usage: rarely(usage),
  })
  const event = fields({
    choices: usually(fc.array(usually(choice), { maxLength: 2 })),
    usage: usually(usage),
    error: fc.oneof(
      { weight: 9, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.constantFrom('bad', {}) },
    ),
  })

  it('says what JSON.parse says, of any event', () => {
    let taken = 0
    fc.assert(
      fc.property(event, fc.constantFrom(undefined, 1, ' \r\n\t'), (value, space) => {
        const bytes = Buffer.from(JSON.stringify(value, null, space))
        if (expectAgreement(bytes)) taken++
      }),
      { numRuns: 3000 },
    )
    expect(taken).toBeGreaterThan(300)
  })

  it('says what JSON.parse says, of bytes that were spoilt', () => {
    expect.hasAssertions()
    fc.assert(
      fc.property(
        event,
        fc.nat(500),
        fc.integer({ min: 0, max: 255 }),
        fc.constantFrom('set', 'cut', 'insert'),
        (value, at, byte, how) => {
          const bytes = [...Buffer.from(JSON.stringify(value))]
          const index = at % bytes.length
          if (how === 'set') bytes[index] = byte
          else if (how === 'cut') bytes.splice(index, 1 + (byte % 4))
          else bytes.splice(index, 0, byte)
          const spoilt = Uint8Array.from(bytes)
          expectAgreement(spoilt)
        },
      ),
      { numRuns: 5000 },
    )
  })
})
