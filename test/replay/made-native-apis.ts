import { abcOver, json, whole } from './made-apis.ts'
import { makeCases, okAbc, type Script } from './make-cases.ts'
import type { ReplayCase } from './run-cases.mjs'

/** The answers of engines' own APIs, and embeddings. */

const plain = (value: object): string => `data: ${JSON.stringify(value)}\n\n`

const tgiToken = (text: string, more: object = {}, special = false): string =>
  `data:${JSON.stringify({ index: 1, token: { id: 9, text, logprob: -0.1, special }, generated_text: null, details: null, ...more })}\n\n`

const llamaPiece = (content: string, predicted: number, more: object = {}): string =>
  plain({ index: 0, content, tokens: [1], stop: false, id_slot: -1, tokens_predicted: predicted, ...more })
const llamaEnd = (predicted: number, type: string): string =>
  llamaPiece('', predicted, {
    stop: true,
    stop_type: type,
    tokens_evaluated: 7,
    timings: { cache_n: 3, prompt_n: 4, predicted_n: predicted },
  })

const scripts: Readonly<Record<string, Script>> = {
  'TGI: a token an event, the end in the last': {
    api: 'tgi',
    pieces: [
      [20, tgiToken('a')],
      [40, tgiToken('b')],
      [
        60,
        tgiToken('c', {
          generated_text: 'abc',
          details: { finish_reason: 'length', generated_tokens: 3, input_length: 7 },
        }),
      ],
    ],
    end: ['eof', 65],
    expect: {
      ...okAbc,
      finish_reason: 'length',
      done_ms: 60,
      n_chunks: 3,
      prompt_tokens: 7,
      completion_tokens: 3,
      event_tokens: [1, 1, 1],
      tpot_ms: 20,
    },
  },
  'TGI: a special token counts and is no output': {
    api: 'tgi',
    pieces: [
      [20, tgiToken('a')],
      [40, tgiToken('b')],
      [
        60,
        tgiToken(
          '</s>',
          { generated_text: 'ab', details: { finish_reason: 'eos_token', generated_tokens: 3 } },
          true,
        ),
      ],
    ],
    end: ['eof', 60],
    expect: {
      ok: true,
      finish_reason: 'stop',
      text: 'ab',
      ttft_ms: 20,
      ttfc_ms: 20,
      e2e_ms: 40,
      done_ms: 60,
      gaps_ms: [20],
      n_chunks: 3,
      n_output_chunks: 2,
      completion_tokens: 3,
      tpot_ms: 10,
    },
  },
  'TGI fails in the middle': {
    api: 'tgi',
    pieces: [
      [20, tgiToken('a')],
      [40, plain({ error: 'Request failed during generation: oops', error_type: 'generation' })],
    ],
    end: ['eof', 45],
    expect: {
      error_kind: 'in_band_error',
      error_type: 'generation',
      text: 'a',
      ttft_ms: 20,
      ttfc_ms: 20,
      e2e_ms: 20,
      n_chunks: 2,
      n_output_chunks: 1,
      completion_tokens: 1,
    },
  },
  'TGI is full': {
    api: 'tgi',
    ...json({ error: 'Model is overloaded', error_type: 'overloaded' }, 429),
    expect: { error_kind: 'http_429', error_type: 'overloaded', outcome: 'shed' },
  },
  'TGI in one piece, in a list': {
    api: 'tgi',
    stream: false,
    ...json([{ generated_text: 'abc', details: { finish_reason: 'length', generated_tokens: 3 } }]),
    expect: { ...whole, finish_reason: 'length', text: 'abc', completion_tokens: 3, flags: [] },
  },
  'llama.cpp: running totals, the end told by stop': {
    api: 'llamacpp',
    pieces: [...abcOver(llamaPiece), [70, llamaEnd(3, 'limit')]],
    end: ['open', 200],
    expect: {
      ...okAbc,
      finish_reason: 'length',
      done_ms: 70,
      n_chunks: 4,
      prompt_tokens: 7,
      cached_tokens: 3,
      completion_tokens: 3,
      event_tokens: [1, 1, 1],
      tpot_ms: 20,
    },
  },
  'llama.cpp: an event may hold several tokens': {
    api: 'llamacpp',
    pieces: [
      [20, llamaPiece('a', 2)],
      [60, llamaPiece('bc', 5)],
      [70, llamaEnd(5, 'eos')],
    ],
    end: ['eof', 70],
    expect: {
      ok: true,
      finish_reason: 'stop',
      text: 'abc',
      ttft_ms: 20,
      ttfc_ms: 20,
      e2e_ms: 60,
      done_ms: 70,
      gaps_ms: [40],
      n_chunks: 3,
      n_output_chunks: 2,
      prompt_tokens: 7,
      completion_tokens: 5,
      event_tokens: [2, 3],
      tpot_ms: 10,
    },
  },
  'llama.cpp cut before its end': {
    api: 'llamacpp',
    pieces: [[20, llamaPiece('a', 1)]],
    end: ['eof', 40],
    expect: {
      error_kind: 'truncated',
      text: 'a',
      ttft_ms: 20,
      ttfc_ms: 20,
      e2e_ms: 20,
      n_chunks: 1,
      n_output_chunks: 1,
      completion_tokens: 1,
    },
  },
  'embeddings: no first token, no output tokens': {
    api: 'embeddings',
    stream: false,
    ...json({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.1, -0.2] }],
      usage: { prompt_tokens: 7, total_tokens: 7 },
    }),
    expect: { ...whole, prompt_tokens: 7, completion_tokens: null, tokens_source: null, flags: [] },
  },
  'embeddings that are empty': {
    api: 'embeddings',
    stream: false,
    ...json({ object: 'list', data: [], usage: { prompt_tokens: 7, total_tokens: 7 } }),
    expect: { error_kind: 'no_output', prompt_tokens: 7 },
  },
  'embeddings that are refused': {
    api: 'embeddings',
    stream: false,
    ...json({ error: { message: 'input is too large', type: 'invalid_request_error', code: 500 } }, 500),
    expect: { error_kind: 'http_500', error_message: 'input is too large' },
  },
}

export const madeNativeApis: readonly ReplayCase[] = makeCases(scripts)
