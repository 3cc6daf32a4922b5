import {
  abcPieces,
  delta,
  done,
  json,
  makeCases,
  okAbc,
  type Piece,
  type Script,
  stop,
  type TextPiece,
  token,
  usage,
} from './make-cases.ts'
import type { ReplayCase } from './run-cases.mjs'

const cjk = Buffer.from(token('猫'))

const scripts: Readonly<Record<string, Script>> = {
  'plain stream, counted by its events': {
    pieces: [...abcPieces, [60, stop + done]],
    end: ['eof', 60],
    expect: {
      ...okAbc,
      done_ms: 60,
      n_chunks: 4,
      completion_tokens: null,
      tpot_ms: null,
      tokens_source: 'events',
    },
  },
  'several tokens in an event': {
    pieces: [...abcPieces, [60, stop + usage(7, 9) + done]],
    end: ['eof', 60],
    expect: {
      ...okAbc,
      done_ms: 60,
      n_chunks: 5,
      prompt_tokens: 7,
      completion_tokens: 9,
      tpot_ms: 5,
      tokens_per_output_chunk: 3,
    },
  },
  'intended long before it was sent': {
    t0: -200,
    pieces: [...abcPieces, [60, stop + usage(1, 3) + done]],
    end: ['eof', 60],
    expect: {
      ...okAbc,
      ttft_ms: 220,
      ttfc_ms: 220,
      e2e_ms: 260,
      done_ms: 260,
      n_chunks: 5,
      prompt_tokens: 1,
      completion_tokens: 3,
      tpot_ms: 20,
    },
  },
  'reset after the end marker': {
    pieces: [...abcPieces, [60, stop + done]],
    end: ['reset', 80],
    expect: { ...okAbc, done_ms: 60, n_chunks: 4 },
  },
  'a slow first token is no idle stream': {
    pieces: [
      [200, token('a')],
      [220, token('b')],
      [220, stop + done],
    ],
    end: ['eof', 220],
    limits: { idle_timeout_ms: 100 },
    expect: {
      ok: true,
      finish_reason: 'stop',
      text: 'ab',
      ttft_ms: 200,
      ttfc_ms: 200,
      e2e_ms: 220,
      done_ms: 220,
      gaps_ms: [20],
      n_chunks: 3,
      n_output_chunks: 2,
    },
  },
  'a finish reason and then silence is an answer': {
    pieces: [...abcPieces, [60, stop]],
    end: ['open', 5_000],
    limits: { total_timeout_ms: 200 },
    expect: { ...okAbc, done_ms: 200, n_chunks: 4 },
  },
  'a byte-order mark': {
    pieces: [[20, `\ufeff${token('a')}${stop}${done}`]],
    end: ['eof', 20],
    expect: {
      ok: true,
      finish_reason: 'stop',
      text: 'a',
      ttft_ms: 20,
      ttfc_ms: 20,
      e2e_ms: 20,
      done_ms: 20,
      n_chunks: 2,
      n_output_chunks: 1,
    },
  },
  'lone carriage returns, the event ends at once': {
    pieces: [...abcPieces, [60, stop + done] as TextPiece].map(([atMs, text]): Piece => [
      atMs,
      text.replaceAll('\n', '\r'),
    ]),
    end: ['eof', 90],
    expect: { ...okAbc, done_ms: 60, n_chunks: 4 },
  },
  'CRLF cut between its two': {
    pieces: [
      [20, token('a').replaceAll('\n', '\r\n').slice(0, -1)],
      [50, `\n${token('b')}${stop}${done}`],
    ],
    end: ['eof', 50],
    expect: {
      ok: true,
      finish_reason: 'stop',
      text: 'ab',
      ttft_ms: 20,
      ttfc_ms: 20,
      e2e_ms: 50,
      done_ms: 50,
      gaps_ms: [30],
      n_chunks: 3,
      n_output_chunks: 2,
    },
  },
  'named events': {
    pieces: [
      [10, 'event: ping\ndata: {"type":"ping"}\n\n'],
      [20, `event: message\n${token('a')}`],
      [30, `data:\n\n${stop}${done}`],
    ],
    end: ['eof', 30],
    expect: {
      ok: true,
      finish_reason: 'stop',
      text: 'a',
      ttft_ms: 20,
      ttfc_ms: 20,
      e2e_ms: 20,
      done_ms: 30,
      n_chunks: 2,
      n_output_chunks: 1,
      n_ignored: 2,
    },
  },
  'a character over three network chunks': {
    pieces: [
      [20, cjk.subarray(0, cjk.indexOf(0xe7) + 1)],
      [40, cjk.subarray(cjk.indexOf(0xe7) + 1, cjk.indexOf(0xe7) + 2)],
      [60, cjk.subarray(cjk.indexOf(0xe7) + 2)],
      [60, stop + done],
    ],
    end: ['eof', 60],
    expect: {
      ok: true,
      finish_reason: 'stop',
      text: '猫',
      ttft_ms: 60,
      ttfc_ms: 60,
      e2e_ms: 60,
      done_ms: 60,
      n_chunks: 2,
      n_output_chunks: 1,
    },
  },
  'a character escaped over two events': {
    pieces: [
      [
        20,
        'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\ndata: {"choices":[{"delta":{"content":"\\ude00"},"finish_reason":"stop"}]}\n\n' +
          done,
      ],
    ],
    end: ['eof', 20],
    expect: {
      ok: true,
      finish_reason: 'stop',
      text: '\u{1f600}',
      ttft_ms: 20,
      ttfc_ms: 20,
      e2e_ms: 20,
      done_ms: 20,
      gaps_ms: [0],
      n_chunks: 2,
      n_output_chunks: 2,
      flags: ['coalesced'],
    },
  },
  'a proxy that holds everything back': {
    pieces: [[90, token('a') + token('b') + token('c') + stop + usage(2, 3) + done]],
    end: ['eof', 90],
    expect: {
      ok: true,
      finish_reason: 'stop',
      text: 'abc',
      prompt_tokens: 2,
      completion_tokens: 3,
      ttft_ms: 90,
      ttfc_ms: 90,
      e2e_ms: 90,
      done_ms: 90,
      tpot_ms: 0,
      gaps_ms: [0, 0],
      n_chunks: 5,
      n_output_chunks: 3,
      flags: ['coalesced'],
    },
  },
  'a tool call': {
    pieces: [
      [20, delta({ role: 'assistant', content: null })],
      [
        40,
        delta({
          tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'look', arguments: '' } }],
        }),
      ],
      [60, delta({ tool_calls: [{ index: 0, function: { arguments: '{"q":' } }] })],
      [80, delta({ tool_calls: [{ index: 0, function: { arguments: '"x"}' } }] })],
      [80, delta({}, 'tool_calls') + done],
    ],
    end: ['eof', 80],
    expect: {
      ok: true,
      finish_reason: 'tool_calls',
      ttft_ms: 40,
      e2e_ms: 80,
      done_ms: 80,
      gaps_ms: [20, 20],
      n_chunks: 5,
      n_output_chunks: 3,
      tool_args: '{"q":"x"}',
      tool_args_len: 9,
    },
  },
  'two choices in one event': {
    pieces: [
      [
        20,
        json({
          choices: [
            { index: 0, delta: { content: 'a' } },
            { index: 1, delta: { content: 'b' }, finish_reason: 'stop' },
          ],
        }) + done,
      ],
    ],
    end: ['eof', 20],
    expect: {
      ok: true,
      finish_reason: 'stop',
      text: 'ab',
      ttft_ms: 20,
      ttfc_ms: 20,
      e2e_ms: 20,
      done_ms: 20,
      n_chunks: 1,
      n_output_chunks: 1,
    },
  },
  'log probabilities that hold the text again': {
    pieces: [
      [
        20,
        json({
          choices: [
            {
              index: 0,
              logprobs: { content: [{ token: 'x', content: 'x', top_logprobs: [] }] },
              delta: { content: 'a' },
              finish_reason: 'stop',
            },
          ],
        }) + done,
      ],
    ],
    end: ['eof', 20],
    expect: {
      ok: true,
      finish_reason: 'stop',
      text: 'a',
      ttft_ms: 20,
      ttfc_ms: 20,
      e2e_ms: 20,
      done_ms: 20,
      n_chunks: 1,
      n_output_chunks: 1,
    },
  },
  'a stream that says it is JSON': {
    http: { status: 200, headers: { 'content-type': 'application/json' } },
    pieces: [...abcPieces, [60, stop + done]],
    end: ['eof', 60],
    expect: { ...okAbc, done_ms: 60, n_chunks: 4, flags: [] },
  },
}

/** Streams that are answers, in shapes that the shared cases do not have. */
export const madeStreams: readonly ReplayCase[] = makeCases(scripts)
