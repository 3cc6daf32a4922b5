import { describe, expect, test } from 'vitest'
import { describeError, PlimsollError } from '../../base/errors.ts'
import { parsePrometheusText } from '../wire/prometheus-text.ts'
import { preflight, type Preflight } from './preflight.ts'
import {
  type PreflightTarget,
  type ProbeAnswer,
  type ProbeFailure,
  type ProbeFields,
  type ProbeRequest,
} from './probe.ts'

type Json = Readonly<Record<string, unknown>>
type Server = (request: ProbeRequest, body: Json) => Partial<ProbeAnswer> | ProbeFailure | null

const target: PreflightTarget = {
  url: 'http://localhost:8001',
  api: 'chat',
  endpointPath: '/v1/chat/completions',
  model: null,
}

async function ask(
  server: Server,
  change: Partial<PreflightTarget> = {},
): Promise<Preflight & { asked: ProbeRequest[] }> {
  const asked: ProbeRequest[] = []
  const result = await preflight(
    {
      parseMetrics: (text) => parsePrometheusText(text),
      sendOnce: (request) => {
        asked.push(request)
        const answer = server(request, request.body === null ? {} : (JSON.parse(request.body) as Json))
        const full = {
          status: 404,
          header: () => undefined,
          bodyText: '{"detail":"Not Found"}',
          fields: null,
          ...answer,
        }
        return Promise.resolve(answer !== null && 'failure' in answer ? answer : full)
      },
    },
    { ...target, ...change },
  )
  return { ...result, asked }
}

async function refusal(server: Server, change: Partial<PreflightTarget> = {}): Promise<string> {
  const error: unknown = await ask(server, change)
    .then(() => null)
    .catch((thrown: unknown) => thrown)
  if (!(error instanceof PlimsollError)) throw new Error(`no PlimsollError but ${String(error)}`)
  return describeError(error)
}

const json = (value: unknown, status = 200): Partial<ProbeAnswer> => ({
  status,
  bodyText: JSON.stringify(value),
})

const whole: ProbeFields = {
  ttft_ms: 5,
  prompt_tokens: null,
  completion_tokens: 3,
  tokens_source: 'server',
  event_tokens: null,
  n_output_chunks: 3,
  finish_reason: null,
  flags: [],
  error_kind: null,
  error_message: null,
}
const brokenOff = { error_kind: 'in_band_error', error_message: 'no such format' } as const

/** An answer of `length` words, one an event, with the usage that was asked for. */
function stream(body: Json, length: number, finish = 'length', promptTokens = 25): Partial<ProbeAnswer> {
  const options = body['stream_options'] as Json | undefined
  const usage = (completion: number): Json => ({ prompt_tokens: promptTokens, completion_tokens: completion })
  const events: Json[] = Array.from({ length }, (_, i) => ({
    choices: [{ delta: { content: 'word ' } }],
    ...(options?.['continuous_usage_stats'] === true && { usage: usage(i + 1) }),
  }))
  events.push({ choices: [{ delta: {}, finish_reason: finish }] })
  if (options?.['include_usage'] === true) events.push({ choices: [], usage: usage(length) })
  return {
    status: 200,
    bodyText: events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') + 'data: [DONE]\n\n',
  }
}

const limitOf = (body: Json): number => (body['max_completion_tokens'] ?? body['max_tokens']) as number

const vllm: Server = ({ path }, body) => {
  if (path === '/v1/models')
    return json({ data: [{ id: 'Qwen/Qwen3-8B', max_model_len: 4096 }, { id: 'lora-a' }] })
  if (path === '/v1/chat/completions') return stream(body, limitOf(body))
  if (path === '/tokenize') return json({ count: (body['prompt'] as string).split(' ').length, tokens: [] })
  if (path === '/metrics') {
    return {
      status: 200,
      bodyText: [
        '# TYPE vllm:cache_config_info gauge',
        'vllm:cache_config_info{block_size="16",num_gpu_blocks="2588"} 1',
        '# TYPE vllm:num_requests_running gauge',
        'vllm:num_requests_running{model_name="m"} 3',
        '',
      ].join('\n'),
    }
  }
  return null
}

describe('preflight', () => {
  test('learns all of a vLLM server in four requests', async () => {
    const found = await ask(vllm)
    expect(found.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /v1/models',
      'POST /v1/chat/completions',
      'POST /tokenize',
      'GET /metrics',
    ])
    expect(found).toMatchObject({
      model: 'Qwen/Qwen3-8B',
      models: ['Qwen/Qwen3-8B', 'lora-a'],
      maxModelLen: 4096,
      dialect: {
        outputLimit: 'max_tokens',
        ignoreEos: true,
        minTokens: true,
        streamUsage: true,
        continuousUsage: true,
      },
      acceptsUsage: true,
      acceptsContinuousUsage: true,
      acceptsIgnoreEos: true,
      acceptsMaxCompletionTokens: true,
      plain: false,
      refused: [],
      tokenize: true,
      kvTokens: 2587 * 16,
      probe: { words: 16, promptTokens: 25 },
      warnings: [],
    })
    expect(found.engine).toMatchObject({ engine: 'vllm', running: 3 })
  })

  test('a server that answers 422 to a field that it does not know is asked without it', async () => {
    const server: Server = (request, body) => {
      if (request.path === '/v1/models') return json({ error: 'CacheNotFound' }, 500)
      const odd = ['ignore_eos', 'min_tokens'].filter((name) => name in body)
      if (odd.length > 0) return json({ detail: `Unexpected fields in the request: {'${odd[0]}'}` }, 422)
      return request.path === '/v1/chat/completions' ? stream(body, 8) : null
    }
    const found = await ask(server, { model: 'm' })
    expect(found).toMatchObject({
      refused: ['ignore_eos', 'min_tokens'],
      dialect: { ignoreEos: false, minTokens: false, streamUsage: true },
      acceptsIgnoreEos: false,
      acceptsMaxCompletionTokens: false,
      plain: false,
    })
  })

  test('a server that refuses without saying what is asked as plainly as can be', async () => {
    const server: Server = ({ path }, body) => {
      if (path !== '/v1/chat/completions') return path === '/v1/models' ? json({ data: [{ id: 'm' }] }) : null
      const plain = Object.keys(body).every((key) =>
        ['model', 'messages', 'max_tokens', 'stream'].includes(key),
      )
      return plain ? stream(body, 8) : json({ error: { message: 'bad request' } }, 400)
    }
    const found = await ask(server)
    expect(found).toMatchObject({
      plain: true,
      acceptsUsage: false,
      dialect: { streamUsage: false },
      tokenize: false,
    })
    expect(found.warnings.map(({ kind }) => kind)).toEqual(['tokens_not_from_server', 'metrics_unavailable'])
    expect(found.asked.filter(({ path }) => path === '/v1/chat/completions')).toHaveLength(2)
  })

  test('a server that wants the newer limit alone gets it', async () => {
    const server: Server = ({ path }, body) => {
      if (path !== '/v1/chat/completions') return path === '/v1/models' ? json({ data: [{ id: 'o' }] }) : null
      if ('max_tokens' in body) {
        return json(
          { error: { message: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead." } },
          400,
        )
      }
      if ('ignore_eos' in body)
        return json({ error: { message: 'Unrecognized request argument supplied: ignore_eos' } }, 400)
      if ('min_tokens' in body)
        return json({ error: { message: 'Unrecognized request argument supplied: min_tokens' } }, 400)
      return stream(body, limitOf(body))
    }
    const found = await ask(server)
    expect(found).toMatchObject({
      dialect: { outputLimit: 'max_completion_tokens', ignoreEos: false, minTokens: false },
      acceptsMaxCompletionTokens: true,
    })
  })

  test.each(['stop', 'eos_token'])(
    'stopping short (%s) although told to ignore the end is seen',
    async (finish) => {
      const found = await ask((request, body) =>
        request.path === '/v1/chat/completions' ? stream(body, 2, finish) : vllm(request, body),
      )
      expect(found.acceptsIgnoreEos).toBe(false)
    },
  )

  test('an answer in one piece is a finding, not a failure', async () => {
    const found = await ask((request, body) =>
      request.path === '/v1/chat/completions'
        ? json({
            choices: [{ message: { content: 'all at once' }, finish_reason: 'length' }],
            usage: { prompt_tokens: 20, completion_tokens: 4 },
          })
        : vllm(request, body),
    )
    expect(found.notStreamed).toBe(true)
    expect(found.warnings.map(({ kind }) => kind)).toEqual(['not_streamed'])
  })

  test('an answer that breaks off is asked for again, and teaches nothing if it breaks off each time', async () => {
    const broken = (after: number): Server => {
      let left = after
      return ({ path }, body) => {
        if (path === '/v1/models') return json({ data: [{ id: 'x' }] })
        if (path !== '/v1/chat/completions') return null
        return left-- > 0
          ? { status: 200, bodyText: '', fields: { ...whole, tokens_source: 'events', ...brokenOff } }
          : stream(body, 4)
      }
    }
    const mended = await ask(broken(1))
    expect(mended).toMatchObject({ acceptsUsage: true })
    const never = await ask(broken(9))
    expect(never.warnings[0]).toMatchObject({
      kind: 'tokens_not_from_server',
      message: 'whether the server sends usage with a stream is not known',
      cause: 'its answers to the probe broke off: no such format',
    })
    expect(never.asked.filter(({ method }) => method === 'POST')).toHaveLength(3 + 1)
  })

  test('llama.cpp counts by content, and its pool is that of its slots', async () => {
    const server: Server = ({ path }, body) => {
      if (path === '/v1/models')
        return {
          ...json({ data: [{ id: 'x.gguf', meta: { n_ctx: 2048, n_ctx_train: 131_072 } }] }),
          header: () => 'llama.cpp',
        }
      if (path === '/v1/chat/completions') return stream(body, 8)
      if (path === '/tokenize') return json({ tokens: (body['content'] as string).split('') })
      if (path === '/props') return json({ total_slots: 4 })
      return path === '/metrics'
        ? json({ error: { message: 'This server does not support metrics endpoint' } }, 501)
        : null
    }
    const found = await ask(server)
    expect(found).toMatchObject({
      model: 'x.gguf',
      maxModelLen: 2048,
      tokenize: true,
      kvTokens: 8192,
      slots: 4,
      engine: null,
      server: 'llama.cpp',
    })
    expect(found.warnings[0]?.cause).toBe('llama-server shows them with --metrics')
  })
})

describe('what stops a run is a sentence', () => {
  const refused =
    (message: string): Server =>
    () => ({ failure: { kind: 'connection_refused', message } })

  test('nothing there, on both addresses', async () => {
    expect(await refusal(refused('connect ECONNREFUSED 127.0.0.1:8001; connect ECONNREFUSED ::1:8001'))).toBe(
      `PLIM_CONNECT  nothing answers at 127.0.0.1:8001 or [::1]:8001 (connection refused on both)
  is the server up, and is this its address and port?  curl http://localhost:8001/v1/models      without a server: the same without --url loads the embedded engine`,
    )
  })

  test('nothing there, on one', async () => {
    expect(await refusal(refused('connect ECONNREFUSED 10.0.0.1:80'), { url: '10.0.0.1/v1' })).toBe(
      `PLIM_CONNECT  nothing answers at 10.0.0.1:80 (connection refused)
  is the server up, and is this its address and port?  curl http://10.0.0.1/v1/models      without a server: the same without --url loads the embedded engine`,
    )
  })

  test('a name that nobody knows', async () => {
    const server: Server = () => ({ failure: { kind: 'dns', message: 'getaddrinfo ENOTFOUND nowhere' } })
    expect(await refusal(server, { url: 'http://nowhere:1' })).toContain(
      'PLIM_CONNECT  no address is known for nowhere:1',
    )
  })

  test('a certificate that is not trusted', async () => {
    const server: Server = () => ({ failure: { kind: 'tls', message: 'self-signed certificate' } })
    expect(await refusal(server)).toMatch(
      /^PLIM_TLS .*\n.*\n {2}received self-signed certificate\n {2}--ca FILE/,
    )
  })

  test('a key that is missing', async () => {
    const server: Server = () => json({ error: 'Unauthorized' }, 401)
    expect(await refusal(server, { key: { env: 'OPENAI_API_KEY', present: false } })).toBe(
      `PLIM_AUTH  http://localhost:8001 refuses the key (401)
  expected a key that the server knows
  received Unauthorized
  OPENAI_API_KEY is not set; export it, or name another variable with --key-env`,
    )
  })

  test('a key that is refused by the endpoint alone', async () => {
    const server: Server = (request, body) =>
      request.path === '/v1/chat/completions' ? json({ error: 'no' }, 403) : vllm(request, body)
    expect(await refusal(server, { key: { env: 'KEY', present: true } })).toContain('PLIM_AUTH')
  })

  test('a model that the server does not have', async () => {
    const server: Server = (request, body) =>
      request.path === '/v1/chat/completions'
        ? json({ error: { message: 'The model `qwen3-8b` does not exist.' } }, 404)
        : vllm(request, body)
    expect(await refusal(server, { model: 'qwen3-8b' })).toBe(
      `PLIM_NOT_FOUND  the server has no model qwen3-8b
  expected one of Qwen/Qwen3-8B, lora-a
  received The model \`qwen3-8b\` does not exist.
  did you mean --model Qwen/Qwen3-8B?`,
    )
  })

  test('a wrong path', async () => {
    expect(await refusal(() => null)).toBe(
      `PLIM_NOT_FOUND  there is no /v1/models at http://localhost:8001 (404)
  expected an OpenAI-compatible server, which lists its models there
  received /v1/models answers 404: Not Found
  give --url up to and with /v1 (http://HOST:PORT/v1), or the whole path with --endpoint; a server that lists no models needs --model NAME`,
    )
    expect(await refusal(() => null, { model: 'm' })).toContain('there is no /v1/chat/completions at')
  })

  test('a server without chat', async () => {
    const server: Server = (request, body) =>
      request.path === '/v1/chat/completions' ? null : vllm(request, body)
    expect(await refusal(server)).toContain('try --api completions')
  })

  test('a web page', async () => {
    const server: Server = () => ({
      status: 200,
      bodyText: '<html><style>b{}</style><h1>Welcome to nginx!</h1></html>',
    })
    expect(await refusal(server)).toMatch(
      /^PLIM_PREFLIGHT .*\/v1\/models is a web page\n.*\n {2}received Welcome to nginx!/,
    )
  })

  test('an answer without output', async () => {
    const server: Server = (request, body) =>
      request.path === '/v1/chat/completions' ? json({ hello: 'world' }) : vllm(request, body)
    expect(await refusal(server)).toContain('not as an OpenAI-compatible server')
  })

  test('a server that is full before any load', async () => {
    const server: Server = (request, body) =>
      request.path === '/v1/chat/completions'
        ? {
            ...json({ error: { message: 'Too many requests' } }, 429),
            header: (name) => (name === 'retry-after' ? '7' : undefined),
          }
        : vllm(request, body)
    expect(await refusal(server)).toContain('let it come to rest first; it asks to wait 7 s')
  })

  test('a request that is refused however plain it is, within four attempts', async () => {
    let attempts = 0
    const server: Server = (request, body) => {
      if (request.path !== '/v1/chat/completions') return vllm(request, body)
      attempts++
      return json({ error: { message: 'max_tokens and max_completion_tokens are both wrong' } }, 400)
    }
    expect(await refusal(server)).toContain('refuses /v1/chat/completions (400)')
    expect(attempts).toBeLessThanOrEqual(4)
  })

  test('no model to be learnt', async () => {
    expect(await refusal(({ path }) => (path === '/v1/models' ? json({ data: [] }) : null))).toContain(
      'does not say which model it serves',
    )
  })
})
