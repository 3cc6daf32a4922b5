import { describe, expect, test } from 'vitest'
import { tokenCounter } from '../tokens/token-counter.ts'
import { plainWords } from '../tokens/vocabulary.ts'
import { makePlan, type PlanInput } from './make-plan.ts'
import type { PlannedRequest } from './planned-request.ts'
import { readBatch } from './read-batch.ts'
import { fullDialect } from './request-body.ts'

const line = (body: object, change: object = {}): string =>
  JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body, ...change })
const hello = {
  model: 'gpt-4o',
  messages: [{ role: 'user', content: 'hello' }],
  max_tokens: 7,
  temperature: 0,
}

function requests(change: Partial<PlanInput>): readonly PlannedRequest[] {
  const plan = makePlan({
    workload: { kind: 'random', prompt: { kind: 'fixed', tokens: 50 }, output: { kind: 'fixed', tokens: 5 } },
    pacer: { kind: 'constant', ratePerSecond: 5 },
    api: 'chat',
    model: 'm',
    count: 2000,
    durationMs: null,
    seed: 1,
    salt: 's',
    warmPrefix: true,
    ignoreEos: false,
    continuousUsage: false,
    stream: true,
    temperature: null,
    extraBody: {},
    tokens: tokenCounter({
      kind: 'tokenizer',
      words: { words: plainWords, costs: 1, leadTokens: 1 },
      exact: true,
      basis: 'test',
    }),
    dialect: fullDialect,
    maxModelLen: null,
    ...change,
  })
  if (plan.kind !== 'open') throw new Error('closed')
  return plan.requests
}

describe('OpenAI batch files', () => {
  test('a request is sent as it stands, but for the model, the stream and the name of the limit', () => {
    const items = readBatch(`\uFEFF${line(hello)}\r\n\n`, 'b.jsonl')
    const [request] = requests({
      workload: { kind: 'items', name: 'b', items, output: null, order: 'file', skipped: {} },
      count: 1,
      extraBody: { top_p: 0.5 },
    })
    expect(request).toMatchObject({ promptId: 'a', askedOutputTokens: 7 })
    expect(JSON.parse(request!.body)).toEqual({
      model: 'm',
      messages: hello.messages,
      max_tokens: 7,
      temperature: 0,
      top_p: 0.5,
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  test.each([
    ['no JSON', '{"body"'],
    ['a list', '[]'],
    ['no body', line(hello, { body: 5 })],
    ['another endpoint', line(hello, { url: '/v1/embeddings' })],
    ['no prompt', line({ model: 'x' })],
    ['a limit that is none', line({ ...hello, max_tokens: 0 })],
    ['messages without roles', line({ messages: [{}] })],
  ])('%s is told where it stands', (_sentence, text) => {
    expect(() => readBatch(`${line(hello)}\n${text}`, 'b.jsonl')).toThrow(
      expect.objectContaining({
        code: 'PLIM_WORKLOAD',
        where: { file: 'b.jsonl', line: 2, column: expect.any(Number) as number },
      }),
    )
  })

  test('an empty file is refused', () => expect(() => readBatch('\n', 'b')).toThrow('no requests'))

  test('two endpoints in one file are refused', () => {
    const other = line({ prompt: 'x' }, { url: '/v1/completions' })
    expect(() => readBatch(`${line(hello)}\n${other}`, 'b')).toThrow('two endpoints')
  })
})

describe('several models', () => {
  test('are asked by weight; each is the segment where there is no other', () => {
    const planned = requests({
      models: [
        { name: 'a', weight: 3 },
        { name: 'b', weight: 1 },
        { name: 'off', weight: 0 },
      ],
    })
    const asked = planned.map(({ body }) => (JSON.parse(body) as { model: string }).model)
    const first = asked.filter((model) => model === 'a').length
    expect(Math.abs(first - 1500)).toBeLessThan(4 * Math.sqrt(2000 * 0.75 * 0.25))
    expect(new Set(asked)).toEqual(new Set(['a', 'b']))
    expect(planned.map(({ segment }) => segment)).toEqual(asked)
  })

  test('without weights are refused', () => {
    expect(() => requests({ models: [{ name: 'a', weight: 0 }] })).toThrow('cannot be drawn')
  })
})
