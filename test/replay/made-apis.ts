import { answer, makeCases, okAbc, type Script, type TextPiece } from './make-cases.ts'
import type { ReplayCase } from './run-cases.mjs'

/** The answers of the other APIs, as their servers send them: the row must be that of a chat that said the same. */

const named = (value: { readonly type: string } & Readonly<Record<string, unknown>>): string =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`
const anthropicStart = named({
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [],
    stop_reason: null,
    usage: { input_tokens: 5, cache_read_input_tokens: 2, output_tokens: 1 },
  },
})
const anthropicDelta = (delta: object, index = 0): string =>
  named({ type: 'content_block_delta', index, delta })
const anthropicText = (text: string): string => anthropicDelta({ type: 'text_delta', text })
const anthropicBlock = named({
  type: 'content_block_start',
  index: 0,
  content_block: { type: 'text', text: '' },
})
const anthropicEnd = (reason: string, tokens: number): string =>
  named({ type: 'content_block_stop', index: 0 }) +
  named({
    type: 'message_delta',
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: tokens },
  }) +
  named({ type: 'message_stop' })

const responseText = (delta: string): string =>
  named({ type: 'response.output_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta })
const responseStart =
  named({ type: 'response.created', response: { id: 'r', status: 'in_progress', usage: null } }) +
  named({
    type: 'response.output_item.added',
    output_index: 0,
    item: { type: 'message', status: 'in_progress', content: [] },
  })
const responseEnd = (status: string, more: object, tokens: readonly [number, number]): string =>
  named({
    type: `response.${status}`,
    response: {
      status,
      error: null,
      incomplete_details: null,
      ...more,
      usage: {
        input_tokens: tokens[0],
        output_tokens: tokens[1],
        input_tokens_details: { cached_tokens: 2 },
        output_tokens_details: { reasoning_tokens: 1 },
      },
    },
  })

export const abcOver = (piece: (text: string, count: number) => string): readonly TextPiece[] => [
  [20, piece('a', 1)],
  [40, piece('b', 2)],
  [60, piece('c', 3)],
]

export const json = (body: object, status = 200): Pick<Script, 'http' | 'pieces' | 'end'> =>
  answer(status, JSON.stringify(body), 'application/json')

export const whole: Readonly<Record<string, unknown>> = {
  ok: true,
  ttfc_ms: null,
  ttft_ms: null,
  tpot_ms: null,
  gaps_ms: [],
  e2e_ms: 20,
  done_ms: 25,
}

const scripts: Readonly<Record<string, Script>> = {
  "Anthropic's messages: cached tokens belong to the prompt": {
    api: 'anthropic',
    pieces: [
      [10, anthropicStart + anthropicBlock + named({ type: 'ping' })],
      ...abcOver(anthropicText),
      [70, anthropicEnd('end_turn', 3)],
    ],
    end: ['eof', 70],
    expect: {
      ...okAbc,
      done_ms: 70,
      n_chunks: 8,
      n_ignored: 1,
      prompt_tokens: 7,
      cached_tokens: 2,
      completion_tokens: 3,
      tpot_ms: 20,
      tokens_source: 'server',
    },
  },
  "Anthropic's thinking comes before its text, and the limit is a length": {
    api: 'anthropic',
    pieces: [
      [20, anthropicStart + anthropicDelta({ type: 'thinking_delta', thinking: 'hm' })],
      [30, anthropicDelta({ type: 'signature_delta', signature: 'x' })],
      [40, anthropicText('a')],
      [60, anthropicEnd('max_tokens', 2)],
    ],
    end: ['eof', 60],
    expect: {
      ok: true,
      finish_reason: 'length',
      text: 'a',
      reasoning_text: 'hm',
      ttft_ms: 20,
      ttfc_ms: 40,
      e2e_ms: 40,
      done_ms: 60,
      tpot_ms: 20,
      gaps_ms: [20],
      n_chunks: 7,
      n_output_chunks: 2,
      prompt_tokens: 7,
      completion_tokens: 2,
    },
  },
  "Anthropic's tool call: its name is output, then its arguments": {
    api: 'anthropic',
    pieces: [
      [
        20,
        anthropicStart +
          named({
            type: 'content_block_start',
            index: 0,
            content_block: { type: 'tool_use', id: 't', name: 'get', input: {} },
          }),
      ],
      [40, anthropicDelta({ type: 'input_json_delta', partial_json: '{"a":1}' })],
      [60, anthropicEnd('tool_use', 4)],
    ],
    end: ['eof', 60],
    expect: {
      ok: true,
      finish_reason: 'tool_calls',
      tool_args_len: 7,
      ttft_ms: 20,
      ttfc_ms: null,
      e2e_ms: 40,
      done_ms: 60,
      tpot_ms: 20 / 3,
      gaps_ms: [20],
      n_chunks: 6,
      n_output_chunks: 2,
      prompt_tokens: 7,
      completion_tokens: 4,
    },
  },
  'Anthropic is overloaded in the middle': {
    api: 'anthropic',
    pieces: [
      [20, anthropicStart + anthropicText('a')],
      [40, named({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })],
    ],
    end: ['eof', 45],
    expect: {
      error_kind: 'in_band_error',
      error_type: 'overloaded_error',
      error_message: 'Overloaded',
      text: 'a',
      ttft_ms: 20,
      ttfc_ms: 20,
      e2e_ms: 20,
      n_chunks: 3,
      n_output_chunks: 1,
      prompt_tokens: 7,
    },
  },
  'Anthropic cut before its end: the first usage is no total': {
    api: 'anthropic',
    pieces: [[20, anthropicStart + anthropicText('a')]],
    end: ['eof', 40],
    expect: {
      error_kind: 'truncated',
      text: 'a',
      ttft_ms: 20,
      ttfc_ms: 20,
      e2e_ms: 20,
      n_chunks: 2,
      n_output_chunks: 1,
      prompt_tokens: 7,
      completion_tokens: null,
    },
  },
  'Anthropic in one piece': {
    api: 'anthropic',
    stream: false,
    ...json({
      type: 'message',
      content: [{ type: 'text', text: 'abc' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 7, output_tokens: 3 },
    }),
    expect: {
      ...whole,
      finish_reason: 'stop',
      text: 'abc',
      prompt_tokens: 7,
      completion_tokens: 3,
      flags: [],
    },
  },
  "OpenAI's responses": {
    api: 'responses',
    pieces: [
      [10, responseStart],
      ...abcOver(responseText),
      [70, named({ type: 'response.output_text.done', text: 'abc' }) + responseEnd('completed', {}, [7, 3])],
    ],
    end: ['open', 200],
    expect: {
      ...okAbc,
      done_ms: 70,
      n_chunks: 7,
      prompt_tokens: 7,
      cached_tokens: 2,
      completion_tokens: 3,
      reasoning_tokens: 1,
      tpot_ms: 20,
    },
  },
  'a response that reasons, calls and is cut by its limit': {
    api: 'responses',
    pieces: [
      [20, named({ type: 'response.reasoning_text.delta', delta: 'hm' })],
      [
        40,
        named({
          type: 'response.output_item.added',
          item: { type: 'function_call', name: 'get', arguments: '' },
        }),
      ],
      [60, named({ type: 'response.function_call_arguments.delta', delta: '{}' })],
      [70, responseEnd('incomplete', { incomplete_details: { reason: 'max_output_tokens' } }, [7, 5])],
    ],
    end: ['eof', 70],
    expect: {
      ok: true,
      finish_reason: 'length',
      reasoning_text: 'hm',
      tool_args_len: 2,
      ttft_ms: 20,
      ttfc_ms: null,
      e2e_ms: 60,
      done_ms: 70,
      tpot_ms: 10,
      gaps_ms: [20, 20],
      n_chunks: 4,
      n_output_chunks: 3,
      prompt_tokens: 7,
      completion_tokens: 5,
    },
  },
  'a response that fails': {
    api: 'responses',
    pieces: [
      [
        20,
        responseStart +
          named({
            type: 'response.failed',
            response: { status: 'failed', error: { code: 'server_error', message: 'no room' } },
          }),
      ],
    ],
    end: ['eof', 20],
    expect: {
      error_kind: 'in_band_error',
      error_code: 'server_error',
      error_message: 'no room',
      n_chunks: 3,
    },
  },
  'a response in one piece': {
    api: 'responses',
    stream: false,
    ...json({
      object: 'response',
      status: 'completed',
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'abc' }] }],
      usage: { input_tokens: 7, output_tokens: 3 },
    }),
    expect: {
      ...whole,
      finish_reason: 'stop',
      text: 'abc',
      prompt_tokens: 7,
      completion_tokens: 3,
      flags: [],
    },
  },
  'a whole response although a stream was asked': {
    api: 'responses',
    ...json({
      status: 'completed',
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'abc' }] }],
      usage: { input_tokens: 7, output_tokens: 3 },
    }),
    expect: {
      ...whole,
      finish_reason: 'stop',
      text: 'abc',
      prompt_tokens: 7,
      completion_tokens: 3,
      flags: ['not_streamed'],
    },
  },
}

export const madeApis: readonly ReplayCase[] = makeCases(scripts)
