import * as fc from 'fast-check'
import OpenAI, { NotFoundError } from 'openai'
import { describe, expect, test } from 'vitest'
import type { EngineServer } from '../../src/simulate/engine/server/engine-server.ts'
import { model, post, scrape, start } from './kit.ts'
import { sumOf } from '../../src/measure/wire/prometheus-counter.ts'

function client(server: EngineServer): OpenAI {
  return new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 })
}

const exact = { ignore_eos: true } as object

/** What one POST answers, as text. */
async function raw(
  server: EngineServer,
  path: string,
  body: object,
): Promise<{ status: number; text: string }> {
  const response = await fetch(server.url + path, { method: 'POST', body: JSON.stringify(body) })
  return { status: response.status, text: await response.text() }
}

/** The data of server-sent events, and the names that stand before them. */
function eventsOf(
  text: string,
): readonly { readonly name: string | null; readonly data: Record<string, unknown> }[] {
  const blocks = text.split('\n\n').filter((block) => block !== '')
  return blocks.map((block) => {
    const lines = block.split('\n')
    const name = lines.find((line) => line.startsWith('event: '))?.slice(7) ?? null
    const data = lines.find((line) => line.startsWith('data: '))?.slice(6) ?? '{}'
    return { name, data: JSON.parse(data) as Record<string, unknown> }
  })
}

describe('the openai client, unchanged', () => {
  test('streams a response: numbered events, the text, the usage', async () => {
    const server = await start()
    const input = 'say something about the sea'
    const stream = client(server).responses.stream({ model, input, max_output_tokens: 12, ...exact })
    const types: string[] = []
    for await (const event of stream) {
      expect(event.sequence_number).toBe(types.push(event.type) - 1)
    }
    expect([...new Set(types)]).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.incomplete',
    ])
    expect(types.filter((type) => type === 'response.output_text.delta')).toHaveLength(12)
    const response = await stream.finalResponse()
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    })
    expect(response.usage).toMatchObject({ input_tokens: 14, output_tokens: 12, total_tokens: 26 })
    const whole = await client(server).responses.create({ model, input, max_output_tokens: 12, ...exact })
    expect(whole.output_text).toBe(response.output_text)
    expect(whole.output_text).not.toBe('')
  })

  test('reads messages and instructions of a response as a chat', async () => {
    const server = await start()
    const asked = { model, max_output_tokens: 4, ...exact }
    const parts = [{ type: 'input_text' as const, text: 'say something about the sea' }]
    const alone = await client(server).responses.create({
      ...asked,
      input: [{ role: 'user', content: parts }],
    })
    const told = await client(server).responses.create({
      ...asked,
      input: [{ role: 'user', content: parts }],
      instructions: 'be brief',
    })
    expect(alone.usage?.input_tokens).toBe(14)
    // A message of two tokens, and the template's four.
    expect(told.usage?.input_tokens).toBe(20)
  })

  test('embeds, as floats and as the base64 that the client asks for by itself', async () => {
    const server = await start()
    const input = 'the sea is wide'
    const asked = await client(server).embeddings.create({ model, input, dimensions: 8 })
    const floats = await client(server).embeddings.create({
      model,
      input: [input],
      dimensions: 8,
      encoding_format: 'float',
    })
    const [vector, same] = [asked.data[0]!.embedding, floats.data[0]!.embedding]
    expect(vector).toHaveLength(8)
    expect(Math.hypot(...vector)).toBeCloseTo(1, 6)
    expect(Array.from(vector)).toEqual(same)
    expect(asked.usage).toEqual({ prompt_tokens: 4, total_tokens: 4 })
    const other = await client(server).embeddings.create({ model, input: 'another', dimensions: 8 })
    expect(Array.from(other.data[0]!.embedding)).not.toEqual(same)
  })

  test('understands what is wrong with them', async () => {
    const openai = client(await start())
    await expect(openai.responses.create({ model: 'nope', input: 'x' })).rejects.toThrow(NotFoundError)
    await expect(openai.embeddings.create({ model, input: ['a', 'b'] })).rejects.toThrow(
      'one input a request',
    )
    await expect(openai.embeddings.create({ model, input: 'a', dimensions: 5000 })).rejects.toThrow(
      'at most 4096',
    )
  })
})

describe('a stream of', () => {
  test('Anthropic’s messages: in their order, with the prompt apart from what was cached', async () => {
    const server = await start()
    const long = 'word '.repeat(64).trim()
    const body = {
      model,
      max_tokens: 3,
      system: [{ type: 'text', text: 'be brief' }],
      messages: [{ role: 'user', content: long }],
      stream: true,
      ...exact,
    }
    await raw(server, '/v1/messages', body)
    const events = eventsOf((await raw(server, '/v1/messages', body)).text)
    expect(events.map(({ name }) => name)).toEqual([
      'message_start',
      'content_block_start',
      ...Array.from({ length: 3 }, () => 'content_block_delta'),
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    expect(events.every(({ name, data }) => data['type'] === name)).toBe(true)
    const { delta, usage } = events.at(-2)!.data as {
      delta: object
      usage: { input_tokens: number; cache_read_input_tokens: number; output_tokens: number }
    }
    expect(delta).toMatchObject({ stop_reason: 'max_tokens' })
    expect(usage.output_tokens).toBe(3)
    // be brief: 2 + 4; the user's 64 + 4; the answer's opening 4. Whole blocks of 16 are found again.
    expect(usage.input_tokens + usage.cache_read_input_tokens).toBe(78)
    expect(usage.cache_read_input_tokens).toBe(64)
  })

  test('TGI: an event a token, the last with the text and the details', async () => {
    const server = await start()
    const body = { inputs: 'one two three', parameters: { max_new_tokens: 4, ...exact } }
    const events = eventsOf((await raw(server, '/generate_stream', body)).text)
    expect(events.map(({ data }) => data['index'])).toEqual([1, 2, 3, 4])
    const texts = events.map(({ data }) => (data['token'] as { text: string }).text)
    expect(events.at(-1)!.data).toMatchObject({
      generated_text: texts.join(''),
      details: { finish_reason: 'length', generated_tokens: 4, input_length: 3 },
    })
    const whole = JSON.parse((await raw(server, '/generate', body)).text) as object
    expect(whole).toEqual({ generated_text: texts.join('') })
    const details = { ...body, parameters: { ...body.parameters, details: true } }
    expect(JSON.parse((await raw(server, '/generate', details)).text)).toMatchObject({
      details: { generated_tokens: 4, input_length: 3 },
    })
  })

  test('llama.cpp’s completion: running counts, and an end without text', async () => {
    const server = await start()
    const body = { prompt: 'one two three', n_predict: 3, stream: true, ...exact }
    const events = eventsOf((await raw(server, '/completion', body)).text)
    expect(events.map(({ data }) => [data['tokens_predicted'], data['stop']])).toEqual([
      [1, false],
      [2, false],
      [3, false],
      [3, true],
    ])
    expect(events.at(-1)!.data).toMatchObject({
      content: '',
      stop_type: 'limit',
      tokens_evaluated: 3,
      timings: { cache_n: 0, prompt_n: 3, predicted_n: 3 },
    })
  })
})

test('errors are worded as each API words them', async () => {
  const server = await start()
  const said = async (path: string, body: object): Promise<unknown> =>
    JSON.parse((await raw(server, path, body)).text)
  expect(await said('/v1/messages', { model, messages: [] })).toEqual({
    type: 'error',
    error: { type: 'invalid_request_error', message: 'max_tokens: Field required' },
  })
  expect(await said('/v1/messages', { model: 'x', max_tokens: 1, messages: [] })).toMatchObject({
    error: { type: 'not_found_error' },
  })
  expect(await said('/generate', { inputs: '' })).toEqual({
    error: 'The prompt is empty.',
    error_type: 'validation',
  })
  expect(await said('/completion', {})).toMatchObject({ error: { type: 'BadRequestError', param: 'prompt' } })
})

test('every API is the same engine: the same prompt costs the same tokens and gives the same text', async () => {
  const server = await start()
  const n = 6
  const word = fc.constantFrom('sea', 'tide', 'keel', 'moon', 'wave')
  await fc.assert(
    fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 20 }), async (words) => {
      const prompt = words.join(' ')
      const before = sumOf(await scrape(server), 'vllm:prompt_tokens_total') ?? 0
      const tgi = await post(server, '/generate', {
        inputs: prompt,
        parameters: { max_new_tokens: n, ...exact },
      })
      const llama = await post(server, '/completion', { prompt, n_predict: n, ...exact })
      const openAi = await post(server, '/v1/completions', { prompt, max_tokens: n, ...exact })
      const text = (openAi.json.choices[0] as unknown as { text: string }).text
      expect((tgi.json as unknown as { generated_text: string }).generated_text).toBe(text)
      expect((llama.json as unknown as { content: string }).content).toBe(text)
      const after = sumOf(await scrape(server), 'vllm:prompt_tokens_total') ?? 0
      expect(after - before).toBe(3 * words.length)
    }),
    { numRuns: 10 },
  )
})
