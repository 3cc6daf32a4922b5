import { readFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { samplesOf, sumOf } from '../../src/measure/wire/prometheus-counter.ts'
import { histogramOf } from '../../src/measure/wire/prometheus-histogram.ts'
import { parsePrometheusText } from '../../src/measure/wire/prometheus-text.ts'
import type { EngineServer } from '../../src/simulate/engine/server/engine-server.ts'
import { type Reply, hrtimeNs, messages, model, post, quick, scrape, start } from './kit.ts'

function client(server: EngineServer): OpenAI {
  return new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 })
}

describe('the openai client, unchanged', () => {
  it('streams a chat', async () => {
    const server = await start()
    const stream = await client(server).chat.completions.create({
      model,
      messages,
      max_tokens: 12,
      stream: true,
      stream_options: { include_usage: true },
      ...({ ignore_eos: true } as object),
    })
    const chunks: OpenAI.ChatCompletionChunk[] = []
    for await (const chunk of stream) chunks.push(chunk)
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '' })
    const contents = chunks.slice(1, -1).map((chunk) => chunk.choices[0]?.delta.content)
    expect(contents).toHaveLength(12)
    expect(contents.every((content) => (content ?? '').length > 0)).toBe(true)
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('length')
    expect(chunks.at(-1)?.choices).toEqual([])
    expect(chunks.at(-1)?.usage).toMatchObject({ completion_tokens: 12, prompt_tokens: 14, total_tokens: 26 })
  })

  it('completes a chat whole, with the same text as the stream', async () => {
    const server = await start()
    const whole = await client(server).chat.completions.create({ model, messages, max_completion_tokens: 9 })
    const stream = await client(server).chat.completions.create({
      model,
      messages,
      max_tokens: 9,
      stream: true,
    })
    let text = ''
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
    expect(whole.choices[0]?.message.content).toBe(text)
    expect(whole.usage?.completion_tokens).toBe(9)
    expect(whole.object).toBe('chat.completion')
  })

  it('completes and streams texts', async () => {
    const server = await start()
    const whole = await client(server).completions.create({ model, prompt: 'one two three', max_tokens: 5 })
    expect(whole.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 5 })
    const stream = await client(server).completions.create({
      model,
      prompt: 'one two three',
      max_tokens: 5,
      stream: true,
    })
    let text = ''
    for await (const chunk of stream) text += chunk.choices[0]?.text ?? ''
    expect(text).toBe(whole.choices[0]?.text)
  })

  it('lists the model with its length', async () => {
    const server = await start()
    const models = await client(server).models.list()
    expect(models.data[0]).toMatchObject({ id: model, max_model_len: 4096 })
  })

  it('understands what is wrong', async () => {
    const server = await start()
    const openai = client(server)
    await expect(openai.chat.completions.create({ model, messages, n: 2 })).rejects.toMatchObject({
      status: 400,
      param: 'n',
    })
    await expect(openai.chat.completions.create({ model: 'gpt', messages })).rejects.toMatchObject({
      status: 404,
    })
    await expect(openai.chat.completions.create({ model, messages, max_tokens: 5000 })).rejects.toThrow(
      /4096/,
    )
  })
})

describe('answers', () => {
  it('stop by themselves at a length drawn from seed and prompt', async () => {
    const server = await start()
    const lengths: number[] = []
    for (const content of ['a', 'b', 'c', 'a']) {
      const { json } = await post(server, '/v1/chat/completions', { messages: [{ role: 'user', content }] })
      expect(json.choices[0]?.finish_reason).toBe('stop')
      lengths.push(json.usage.completion_tokens)
    }
    expect(lengths[3]).toBe(lengths[0])
    expect(new Set(lengths).size).toBeGreaterThan(1)
  })

  it('carry running totals where asked, on every event', async () => {
    const server = await start()
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({
        messages,
        max_tokens: 3,
        ignore_eos: true,
        stream: true,
        stream_options: { include_usage: true, continuous_usage_stats: true },
      }),
    })
    const events = (await response.text()).trim().split('\n\n')
    const totals = events
      .slice(0, -1)
      .map((event) => (JSON.parse(event.slice(6)) as Reply).usage.completion_tokens)
    expect(totals).toEqual([0, 1, 2, 3, 3])
    expect(events.at(-1)).toBe('data: [DONE]')
  })

  it('report what the prefix cache had', async () => {
    const server = await start()
    const prompt = 'word '.repeat(100).trim()
    const ask = async (): Promise<number> =>
      (await post(server, '/v1/completions', { prompt, max_tokens: 2 })).json.usage.prompt_tokens_details
        .cached_tokens
    expect([await ask(), await ask()]).toEqual([0, 96])
  })

  it('find their own words in the prefix cache in the next turn', async () => {
    const server = await start()
    const first = await post(server, '/v1/chat/completions', { messages, max_tokens: 50, ignore_eos: true })
    const { content } = first.json.choices[0]?.message ?? { content: '' }
    const next = [...messages, { role: 'assistant', content }, { role: 'user', content: 'go on' }]
    const second = await post(server, '/v1/chat/completions', { messages: next, max_tokens: 1 })
    // 14 tokens of prompt and 49 computed ones of the answer: three full blocks of 16.
    expect(second.json.usage.prompt_tokens_details.cached_tokens).toBe(48)
  })

  it.each([
    ['a body that is not JSON', '{', 400],
    ['no messages', { messages: [] }, 400],
    ['max_tokens of 0', { messages, max_tokens: 0 }, 400],
    ['min_tokens over max_tokens', { messages, max_tokens: 1, min_tokens: 2 }, 400],
    ['stream_options without a stream', { messages, stream_options: { include_usage: true } }, 400],
    ['an image', { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] }, 400],
    ['a stop that is a number', { messages, stop: 4 }, 400],
    ['a prompt over the context', { messages: [{ role: 'user', content: 'a '.repeat(4200) }] }, 400],
  ])('refuse %s with an error object', async (_, body, status) => {
    const server = await start()
    const answer = await post(server, '/v1/chat/completions', body)
    expect(answer.status).toBe(status)
    expect(Object.keys(answer.json.error).sort()).toEqual(['code', 'message', 'param', 'type'])
    expect(answer.json.error.code).toBe(status)
  })

  it('refuse what can never fit the pool, with the blocks in the message', async () => {
    const server = await start({ config: { ...quick, numGpuBlocks: 5 } })
    const answer = await post(server, '/v1/completions', { prompt: 'a '.repeat(70).trim(), max_tokens: 30 })
    expect(answer.status).toBe(400)
    expect(answer.json.error.message).toContain('needs 7 blocks, has 4')
  })

  it('shed with 503 and Retry-After when too many wait', async () => {
    const server = await start({ config: { ...quick, maxNumWaiting: 0, maxNumSeqs: 1 } })
    const long = post(server, '/v1/completions', { prompt: 'a', max_tokens: 200, ignore_eos: true })
    const all = await Promise.all(
      Array.from({ length: 3 }, () => post(server, '/v1/completions', { prompt: 'b', max_tokens: 1 })),
    )
    expect(all.filter(({ status }) => status === 503).length).toBeGreaterThan(0)
    await long
  })

  it('bound the body and answer unknown paths and methods', async () => {
    const server = await start({ maxBodyBytes: 1000 })
    expect((await post(server, '/v1/completions', { prompt: 'x'.repeat(2000) })).status).toBe(413)
    expect((await post(server, '/v1/nothing', {})).status).toBe(404)
    expect((await fetch(`${server.url}/v1/completions`)).status).toBe(405)
    expect((await fetch(`${server.url}/health`)).status).toBe(200)
  })
})

describe('odd clients', () => {
  /** Sends bytes over a bare socket and collects what comes back until `until` is in it, or the end. */
  async function raw(server: EngineServer, bytes: string, until?: string): Promise<string> {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.write(bytes)
    let text = ''
    for await (const part of socket) {
      text += String(part)
      if (until !== undefined && text.includes(until)) break
    }
    return text
  }
  const body = JSON.stringify({ prompt: 'a', max_tokens: 3, ignore_eos: true, stream: true })
  const head = `host: x\r\ncontent-length: ${body.length}\r\n`

  it('get a body that ends with the connection over HTTP/1.0', async () => {
    const answer = await raw(await start(), `POST /v1/completions HTTP/1.0\r\n${head}\r\n${body}`)
    expect(answer).toMatch(/\r\n\r\ndata: \{/)
    expect(answer.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  it('pipeline two streams on one connection and get them in order', async () => {
    const one = `POST /v1/completions HTTP/1.1\r\nx-request-id: first\r\n${head}\r\n${body}`
    const two = `POST /v1/completions HTTP/1.1\r\nx-request-id: second\r\nconnection: close\r\n${head}\r\n${body}`
    const answer = await raw(await start(), one + two)
    const [first, second] = answer.split('HTTP/1.1 200 OK').slice(1)
    expect([first, second].map((part) => part?.match(/"text":"[^"]/g)?.length)).toEqual([3, 3])
    expect(first).toContain('x-request-id: first')
    expect(second).toContain('x-request-id: second')
  })

  it('are dropped when they read nothing of a long answer', async () => {
    const truthPath = join(await mkdtemp(join(tmpdir(), 'plimsoll-')), 'truth.ndjson')
    const server = await start({
      truthPath,
      maxUnreadBytes: 1,
      config: { ...quick, stepTime: { ...quick.stepTime, baseMs: 0.02 }, maxModelLen: 131_072 },
    })
    const long = JSON.stringify({ prompt: 'a', max_tokens: 100_000, ignore_eos: true, stream: true })
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(`POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: ${long.length}\r\n\r\n${long}`)
    socket.pause()
    await expect
      .poll(
        async () => sumOf(await scrape(server), 'vllm:request_success_total', { finished_reason: 'abort' }),
        { timeout: 20_000 },
      )
      .toBe(1)
    socket.destroy()
    await server.close()
    expect(readFileSync(truthPath, 'utf8')).toContain('"outcome":"slow_client"')
  })
})

describe('/tokenize', () => {
  it('counts a text and a chat as usage will', async () => {
    const server = await start()
    expect((await post(server, '/tokenize', { model, prompt: 'one two three' })).json).toMatchObject({
      count: 3,
      max_model_len: 4096,
    })
    const { json } = await post(server, '/tokenize', { model, messages })
    const answer = await post(server, '/v1/chat/completions', { messages, max_tokens: 1 })
    expect(answer.json.usage.prompt_tokens).toBe(json.count)
    const texts = await post(server, '/tokenize', { prompt: 'one twelve', return_token_strs: true })
    expect(texts.json.token_strs).toEqual(['one', ' twelve'])
    expect((await post(server, '/detokenize', { tokens: json.tokens.slice(3, 8) })).json.prompt).toBe(
      'say something about the',
    )
  })
})

describe('/metrics', () => {
  it('shows vLLM’s names with what happened', async () => {
    const server = await start()
    await post(server, '/v1/completions', { prompt: 'a b c', max_tokens: 5, ignore_eos: true })
    const page = await scrape(server)
    expect(sumOf(page, 'vllm:prompt_tokens_total')).toBe(3)
    expect(sumOf(page, 'vllm:generation_tokens_total')).toBe(5)
    expect(sumOf(page, 'vllm:request_success_total', { finished_reason: 'length' })).toBe(1)
    expect(sumOf(page, 'vllm:num_requests_running')).toBe(0)
    expect(histogramOf(page, 'vllm:time_to_first_token_seconds')?.count).toBe(1)
    expect(histogramOf(page, 'vllm:inter_token_latency_seconds')?.count).toBe(4)
    expect(samplesOf(page, 'vllm:cache_config_info')[0]?.labels).toMatchObject({
      num_gpu_blocks: '27500',
      block_size: '16',
    })
    const types = Object.fromEntries(page.families.map((family) => [family.name, family.type]))
    expect(types['vllm:iteration_tokens_total']).toBe('histogram')
    expect(types['vllm:num_preemptions_total']).toBe('counter')
  })

  it('speaks OpenMetrics when asked', async () => {
    const server = await start()
    const response = await fetch(`${server.url}/metrics`, {
      headers: { accept: 'application/openmetrics-text' },
    })
    const page = parsePrometheusText(await response.text(), {
      contentType: response.headers.get('content-type') ?? '',
      strict: true,
    })
    expect(page.openMetrics).toBe(true)
    expect(page.families.map((family) => family.name)).toContain('vllm:prompt_tokens')
  })
})

describe('truth and disconnects', () => {
  interface Truth {
    id: string
    received_ns: number
    writes_ns: number[]
    write_tokens: number[]
    outcome: string
  }

  it('writes a line per request with a stamp per token', async () => {
    const truthPath = join(await mkdtemp(join(tmpdir(), 'plimsoll-')), 'truth.ndjson')
    const server = await start({ truthPath, maxBodyBytes: 2000 })
    const before = hrtimeNs()
    const ask = async (id: string, stream: boolean): Promise<string | null> => {
      const response = await fetch(`${server.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'x-request-id': id },
        body: JSON.stringify({ messages, max_tokens: 20, ignore_eos: true, stream }),
      })
      await response.text()
      return response.headers.get('x-request-id')
    }
    expect(await Promise.all([ask('one', true), ask('two', false)])).toEqual(['one', 'two'])
    await post(server, '/v1/chat/completions', { messages, n: 2 })
    await post(server, '/v1/chat/completions', 'x'.repeat(3000))
    const after = hrtimeNs()
    await server.close()
    const lines = readFileSync(truthPath, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Truth)
    const byId = Object.fromEntries(lines.map((line) => [line.id, line]))
    expect(byId['one']?.write_tokens).toEqual(Array.from({ length: 20 }, () => 1))
    expect(byId['two']?.write_tokens).toEqual([20])
    expect(lines.map((line) => line.outcome).sort()).toEqual(['ok', 'ok', 'refused', 'refused'])
    const stamps = [byId['one']?.received_ns ?? 0, ...(byId['one']?.writes_ns ?? [])]
    expect(stamps).toEqual(stamps.toSorted((a, b) => a - b))
    expect(stamps[0]).toBeGreaterThan(Number(before))
    expect(stamps.at(-1)).toBeLessThan(Number(after))
  })

  it('aborts the request of a client that goes away', async () => {
    const truthPath = join(await mkdtemp(join(tmpdir(), 'plimsoll-')), 'truth.ndjson')
    const server = await start({ truthPath })
    await new Promise<void>((resolve) => {
      const request = httpRequest(`${server.url}/v1/completions`, { method: 'POST' }, (response) => {
        response.once('data', () => request.destroy())
        response.once('error', () => resolve())
        response.once('close', () => resolve())
      })
      request.end(JSON.stringify({ prompt: 'a', max_tokens: 3000, ignore_eos: true, stream: true }))
    })
    await expect
      .poll(async () =>
        sumOf(await scrape(server), 'vllm:request_success_total', { finished_reason: 'abort' }),
      )
      .toBe(1)
    expect(sumOf(await scrape(server), 'vllm:num_requests_running')).toBe(0)
    await server.close()
    expect(readFileSync(truthPath, 'utf8')).toContain('"outcome":"aborted"')
  })
})
