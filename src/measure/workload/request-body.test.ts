import { describe, expect, it } from 'vitest'
import type { ApiKind } from '../wire/api.ts'
import { fullDialect, requestBody, type BodySettings, type Prompt } from './request-body.ts'

const text: Prompt = { kind: 'text', text: 'Hello' }
const messages: Prompt = {
  kind: 'messages',
  messages: [
    { role: 'system', content: 'Be brief' },
    { role: 'user', content: 'Hello' },
  ],
}

function body(
  api: ApiKind,
  over: Partial<BodySettings> = {},
  prompt = text,
  tokens: number | null = 12,
): unknown {
  const settings = {
    api,
    model: 'm',
    dialect: fullDialect,
    stream: true,
    ignoreEos: true,
    continuousUsage: true,
  }
  return JSON.parse(requestBody({ ...settings, temperature: null, extraBody: {}, ...over }, prompt, tokens))
}

const exact = { ignore_eos: true, min_tokens: 12 }

describe('the body of a request', () => {
  it.each([
    [
      'chat asks for usage with every event',
      body('chat'),
      {
        model: 'm',
        messages: [{ role: 'user', content: 'Hello' }],
        max_tokens: 12,
        ...exact,
        stream: true,
        stream_options: { include_usage: true, continuous_usage_stats: true },
      },
    ],
    [
      "OpenAI's responses name the limit otherwise, and send usage unasked",
      body('responses'),
      { model: 'm', input: 'Hello', max_output_tokens: 12, ...exact, stream: true },
    ],
    [
      'Anthropic has the system message beside the others',
      body('anthropic', { ignoreEos: false }, messages),
      {
        model: 'm',
        max_tokens: 12,
        system: 'Be brief',
        messages: [{ role: 'user', content: 'Hello' }],
        stream: true,
      },
    ],
    [
      'Anthropic wants a limit always',
      body('anthropic', {}, text, null),
      { model: 'm', max_tokens: 4096, messages: [{ role: 'user', content: 'Hello' }], stream: true },
    ],
    [
      'TGI streams by its path, and names no model',
      body('tgi', { temperature: 0.5 }),
      {
        inputs: 'Hello',
        parameters: { details: true, max_new_tokens: 12, do_sample: true, temperature: 0.5 },
      },
    ],
    [
      'TGI takes no temperature of 0',
      body('tgi', { temperature: 0 }),
      {
        inputs: 'Hello',
        parameters: { details: true, max_new_tokens: 12, do_sample: false },
      },
    ],
    [
      'llama.cpp',
      body('llamacpp', { temperature: 0 }),
      { prompt: 'Hello', n_predict: 12, ...exact, temperature: 0, stream: true },
    ],
    ['embeddings have no length and no stream', body('embeddings'), { model: 'm', input: 'Hello' }],
    [
      'no stream: no options of one',
      body('completions', { stream: false }),
      { model: 'm', prompt: 'Hello', max_tokens: 12, ...exact, stream: false },
    ],
    [
      'further fields win',
      body('tgi', { extraBody: { parameters: { best_of: 2 } } }),
      { inputs: 'Hello', parameters: { best_of: 2 } },
    ],
  ])('%s', (_, made, expected) => {
    expect(made).toEqual(expected)
  })
})
