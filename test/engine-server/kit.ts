import { type IncomingHttpHeaders, request as httpRequest } from 'node:http'
import { performance } from 'node:perf_hooks'
import { afterEach } from 'vitest'
import { monotonicClock } from '../../src/base/clock.ts'
import { type Scrape, parsePrometheusText } from '../../src/measure/wire/prometheus-text.ts'
import { defaultEngineConfig, type EngineConfig } from '../../src/simulate/engine/engine-config.ts'
import {
  type EngineServer,
  type EngineServerOptions,
  startEngineServer,
} from '../../src/simulate/engine/server/engine-server.ts'

export const hrtimeNs = (): bigint => process.hrtime.bigint()
const open: EngineServer[] = []

/** Steps of 1 ms, so that the tests are quick. */
export const quick: EngineConfig = {
  ...defaultEngineConfig,
  stepTime: { ...defaultEngineConfig.stepTime, baseMs: 1, perTokenMs: 0 },
  maxModelLen: 4096,
}

export async function start(options: Partial<EngineServerOptions> = {}): Promise<EngineServer> {
  const server = await startEngineServer({
    config: quick,
    host: '127.0.0.1',
    port: 0,
    modelName: 'plimsoll-demo',
    seed: 1,
    outputLength: { kind: 'lognormal', meanTokens: 40 },
    faults: [],
    truthPath: null,
    clock: monotonicClock(performance, hrtimeNs),
    hrtimeNs,
    wallClockMs: () => Date.now(),
    ...options,
  })
  open.push(server)
  return server
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

export const model = 'plimsoll-demo'
export const messages: { role: 'user'; content: string }[] = [
  { role: 'user', content: 'say something about the sea' },
]

/** The parts of answers that these tests look at. */
export interface Reply {
  choices: { finish_reason: string; message: { content: string } }[]
  usage: {
    prompt_tokens: number
    completion_tokens: number
    prompt_tokens_details: { cached_tokens: number }
  }
  error: { message: string; code: number }
  count: number
  tokens: number[]
  token_strs: string[]
  prompt: string
}

export async function post(
  server: EngineServer,
  path: string,
  body: unknown,
): Promise<{ status: number; json: Reply }> {
  const response = await fetch(server.url + path, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, json: (await response.json()) as Reply }
}

export async function scrape(server: EngineServer): Promise<Scrape> {
  const response = await fetch(`${server.url}/metrics`)
  return parsePrometheusText(await response.text(), {
    contentType: response.headers.get('content-type') ?? '',
    strict: true,
  })
}

/** The raw bytes of a streamed answer, and how the connection ended. */
export function stream(
  server: EngineServer,
  body: object = {},
): Promise<{
  status: number
  headers: IncomingHttpHeaders
  text: string
  chunks: number
  ended: 'whole' | 'broken'
}> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${server.url}/v1/chat/completions`,
      { method: 'POST', agent: false },
      (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('error', () => {})
        response.on('close', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(parts).toString(),
            chunks: parts.length,
            ended: response.complete ? 'whole' : 'broken',
          }),
        )
      },
    )
    // Where a reset overtakes the head, as Node 24 reads it, there is no response to see it on.
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET') reject(error)
      else resolve({ status: 0, headers: {}, text: '', chunks: 0, ended: 'broken' })
    })
    request.end(
      JSON.stringify({
        messages,
        max_tokens: 20,
        ignore_eos: true,
        stream: true,
        stream_options: { include_usage: true },
        ...body,
      }),
    )
  })
}

export const tokensIn = (text: string): number => text.match(/"content":"[^"]/g)?.length ?? 0
