import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { awsSignature } from '../src/measure/wire/aws-signature.ts'
import type { RunDocument } from '../src/report/documents.ts'
import { exportRows } from './fixtures/product.ts'

// The ways to a server, each with a whole run over it.

const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const pem = (name: string): string =>
  readFileSync(new URL(`replay/localhost-${name}.pem`, import.meta.url), 'utf8')
const identity = { key: pem('key'), cert: pem('cert') }
const signer = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'a-secret-that-nobody-may-see',
  sessionToken: 'a-session-that-nobody-may-see',
  region: 'eu-west-1',
  service: 'bedrock',
}
const awsEnvironment = {
  AWS_ACCESS_KEY_ID: signer.accessKeyId,
  AWS_SECRET_ACCESS_KEY: signer.secretAccessKey,
  AWS_SESSION_TOKEN: signer.sessionToken,
  AWS_REGION: signer.region,
}

interface Asked {
  readonly version: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly path: string
  readonly body: string
}

let folder = ''
let asked: Asked[] = []
let servers: Server[] = []
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-ways-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))
afterEach(() => {
  for (const server of servers) server.close()
  servers = []
  asked = []
})

type Request = IncomingMessage | Http2ServerRequest
type Response = ServerResponse | Http2ServerResponse

/** A chat of three tokens, whatever is asked. */
function chat(request: Request, given: Response): void {
  const response = given as ServerResponse
  let body = ''
  request.on('data', (chunk: Buffer) => (body += chunk.toString()))
  request.on('end', () => {
    const path = request.url ?? ''
    asked.push({ version: request.httpVersion, headers: request.headers, path, body })
    if (path === '/v1/models') return response.end('{"data":[{"id":"m"}]}')
    if (path === '/v1/embeddings') {
      const data = [{ object: 'embedding', index: 0, embedding: [0.1] }]
      return response.end(JSON.stringify({ data, usage: { prompt_tokens: 20, total_tokens: 20 } }))
    }
    if (path !== '/v1/chat/completions') return response.writeHead(404).end('{}')
    const usage = { prompt_tokens: body.length, completion_tokens: 3 }
    const message = { message: { content: 'abc' }, finish_reason: 'stop' }
    if (!body.includes('"stream":true')) return response.end(JSON.stringify({ choices: [message], usage }))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const write = (event: object): unknown => response.write(`data: ${JSON.stringify(event)}\n\n`)
    for (const content of ['a', 'b', 'c']) write({ choices: [{ delta: { content } }] })
    write({ choices: [{ delta: {}, finish_reason: 'stop' }], usage })
    return response.end('data: [DONE]\n\n')
  })
}

async function listen(server: Server, where: string | number): Promise<number> {
  servers.push(server)
  await new Promise<void>((resolve) => {
    if (typeof where === 'string') server.listen(where, resolve)
    else server.listen(where, '127.0.0.1', resolve)
  })
  return typeof where === 'string' ? 0 : (server.address() as AddressInfo).port
}

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const all = [
    'run',
    ...(args.includes('--num-prompts') ? [] : ['--num-prompts', '6']),
    ...(args.includes('--request-rate') ? [] : ['--request-rate', '20']),
    '--prompt',
    '20',
    '--output',
    '3',
    '--yes',
    ...args,
  ]
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [main, ...all, '--json'],
      { cwd: folder, env: { ...process.env, ...env } },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })
}

function documentOf({ stdout, stderr }: Ended): RunDocument {
  expect(stderr).not.toContain('error')
  return JSON.parse(stdout) as RunDocument
}

describe('the ways to a server', () => {
  test.each([
    ['unix:', (path: string) => `unix:${path}`],
    ['http+unix://', (path: string) => `http+unix://${encodeURIComponent(path)}/v1`],
  ])('a unix socket by %s', async (name, address) => {
    const path = join(folder, `${name.length}.sock`)
    await listen(createServer(chat as RequestListener), path)
    const document = documentOf(await run(['--url', address(path)]))
    expect(document.counts).toMatchObject({ planned: 6, ok: 6 })
    expect(document.target.url).toBe(address(path))
    expect(asked.at(-1)?.headers['host']).toBe('localhost')
  })

  test('a model and its adapters are asked by weight, and the row says which', async () => {
    const port = await listen(createServer(chat as RequestListener), 0)
    const out = join(folder, 'adapters')
    const models = [
      '--model',
      'base:2,adapter-a:1,adapter-b:1',
      '--num-prompts',
      '40',
      '--request-rate',
      '80',
    ]
    const document = documentOf(await run(['--url', `http://127.0.0.1:${port}`, ...models, '--out', out]))
    expect(document.counts).toMatchObject({ planned: 40, ok: 40 })
    const sent = asked.filter(({ path }) => path === '/v1/chat/completions').slice(-40)
    const counts: Record<string, number> = {}
    for (const { body } of sent) {
      const { model } = JSON.parse(body) as { readonly model: string }
      counts[model] = (counts[model] ?? 0) + 1
    }
    expect(Object.keys(counts).sort()).toEqual(['adapter-a', 'adapter-b', 'base'])
    expect(counts['base']).toBeGreaterThan(10)
    const segments = (await exportRows(out)).map(({ segment }) => segment)
    expect(segments.filter((segment) => segment === 'base')).toHaveLength(counts['base'] ?? 0)
  })

  test('the key of the environment goes out as a bearer, and nothing keeps it', async () => {
    const port = await listen(createServer(chat as RequestListener), 0)
    const out = join(folder, 'bearer')
    const key = 'sk-that-nobody-may-see'
    const ended = await run(['--url', `http://127.0.0.1:${port}`, '--key-env', 'THE_KEY', '--out', out], {
      THE_KEY: key,
    })
    expect(documentOf(ended).counts).toMatchObject({ ok: 6 })
    const sent = asked.filter(({ path }) => path === '/v1/chat/completions')
    expect(new Set(sent.map(({ headers }) => headers['authorization']))).toEqual(new Set([`Bearer ${key}`]))
    const kept = readdirSync(out).map((name) => readFileSync(join(out, name), 'latin1'))
    expect([ended.stdout, ended.stderr, ...kept].filter((text) => text.includes(key))).toEqual([])
  })

  test('JUnit XML and annotations of a run, beside its document', async () => {
    const port = await listen(createServer(chat as RequestListener), 0)
    const file = join(folder, 'run.xml')
    const slo = ['--slo', 'e2e < 1us, good 50%']
    const ended = await run(['--url', `http://127.0.0.1:${port}`, ...slo, '--junit', file, '--ci', 'github'])
    const xml = readFileSync(file, 'utf8')
    expect(xml).toMatch(/<testsuite[^>]* failures="[12]"/)
    expect(xml).toContain('e2e &lt; 1us')
    expect(ended.stderr).toMatch(/^::error /m)
    expect(JSON.parse(ended.stdout)).toMatchObject({ schema: 'plimsoll.run/1' })
  })

  test('embeddings have no first token and no output, which is not zero of it', async () => {
    const port = await listen(createServer(chat as RequestListener), 0)
    const document = documentOf(await run(['--url', `http://127.0.0.1:${port}`, '--api', 'embeddings']))
    expect(document.counts).toMatchObject({ planned: 6, ok: 6 })
    expect(document.metrics).toMatchObject({ e2e_ms: { n: 6 }, ttft_ms: { n: 0 } })
    expect(document.throughput.output_tokens_per_s).toBeNull()
    const kinds = document.warnings.map(({ kind }) => kind)
    expect(kinds).toContain('not_streamed')
    expect(kinds).not.toContain('tokens_not_from_server')
  })

  test('answers in one piece: tokens and E2E, no first token, and it is said', async () => {
    const port = await listen(createServer(chat as RequestListener), 0)
    const document = documentOf(await run(['--url', `http://127.0.0.1:${port}`, '--no-stream']))
    expect(document.counts).toMatchObject({ planned: 6, ok: 6 })
    expect(document.metrics).toMatchObject({
      e2e_ms: { n: 6 },
      ttft_ms: { n: 0 },
      completion_tokens: { p50: 3 },
    })
    expect(document.warnings.map(({ kind }) => kind)).toContain('not_streamed')
    expect(asked.every(({ body }) => !body.includes('stream_options'))).toBe(true)
  })

  test('HTTP/2 for every request of the run', async () => {
    const port = await listen(createSecureServer({ ...identity, allowHTTP1: true }, chat), 0)
    const document = documentOf(await run(['--url', `https://localhost:${port}`, '--insecure', '--http2']))
    expect(document.counts).toMatchObject({ planned: 6, ok: 6 })
    expect(new Set(asked.map(({ version }) => version))).toEqual(new Set(['2.0']))
  })

  test('a server that does not speak HTTP/2 is not measured under its name', async () => {
    const port = await listen(createTlsServer(identity, chat as RequestListener), 0)
    const ended = await run(['--url', `https://localhost:${port}`, '--insecure', '--http2'])
    expect(ended.code).not.toBe(0)
    expect(ended.stderr).toContain('HTTP/2')
    expect(asked).toEqual([])
    const plain = await run(['--url', 'http://127.0.0.1:9', '--http2'])
    expect(plain).toMatchObject({ code: 2, stdout: '' })
    expect(plain.stderr).toContain('HTTP/2 is spoken over TLS only')
  })

  test('each request is signed for AWS, and the credentials are nowhere to be seen', async () => {
    const port = await listen(createServer(chat as RequestListener), 0)
    const out = join(folder, 'signed')
    const ended = await run(['--url', `http://127.0.0.1:${port}`, '--aws-sigv4', 'bedrock', '--out', out], {
      ...awsEnvironment,
      OPENAI_API_KEY: 'not-sent-beside-it',
    })
    expect(documentOf(ended).counts).toMatchObject({ planned: 6, ok: 6 })
    const sent = asked.filter(({ path }) => path === '/v1/chat/completions')
    for (const { headers, path, body } of sent) {
      const wallMs = Date.parse(
        String(headers['x-amz-date']).replace(/(....)(..)(..T..)(..)/, '$1-$2-$3:$4:'),
      )
      const signed = /SignedHeaders=([^,]+)/.exec(String(headers['authorization']))?.[1]?.split(';') ?? []
      const own = signed.filter((name) => !name.startsWith('x-amz-') && name !== 'host')
      const given = Object.fromEntries(own.map((name) => [name, String(headers[name])]))
      const request = { method: 'POST', host: `127.0.0.1:${port}`, path, headers: given, body }
      expect(awsSignature(signer, request, wallMs)['authorization']).toBe(headers['authorization'])
    }
    const files = readdirSync(out).map((name) => readFileSync(join(out, name), 'latin1'))
    for (const text of [ended.stdout, ended.stderr, ...files]) {
      expect(text).not.toContain(signer.secretAccessKey)
      expect(text).not.toContain(signer.sessionToken)
    }
  })

  test('a signature without credentials is refused before anything is sent', async () => {
    const none = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', AWS_REGION: 'eu-west-1' }
    const ended = await run(['--url', 'http://127.0.0.1:9', '--aws-sigv4', 'bedrock'], none)
    expect(ended.stdout).toBe('')
    expect(ended.stderr).toContain('AWS_ACCESS_KEY_ID is not set')
  })
})

interface Message {
  readonly role: string
  readonly content: string
}

const ways: readonly (readonly [string, () => Promise<readonly string[]>])[] = [
  [
    'plain HTTP',
    async () => ['--url', `http://127.0.0.1:${await listen(createServer(chat as RequestListener), 0)}`],
  ],
  [
    'a unix socket',
    async () => {
      const path = join(folder, 'sessions.sock')
      await listen(createServer(chat as RequestListener), path)
      return ['--url', `unix:${path}`]
    },
  ],
  [
    'TLS',
    async () => {
      const port = await listen(createTlsServer(identity, chat as RequestListener), 0)
      return ['--url', `https://localhost:${port}`, '--insecure']
    },
  ],
  [
    'HTTP/2',
    async () => {
      const port = await listen(createSecureServer({ ...identity, allowHTTP1: true }, chat), 0)
      return ['--url', `https://localhost:${port}`, '--insecure', '--http2']
    },
  ],
]
const loops = [
  ['an open loop', ['--request-rate', '20']],
  ['a closed loop', ['--request-rate', 'inf', '--concurrency', '2']],
] as const

describe('sessions of three turns over every way', () => {
  test.each(ways.flatMap(([way, open]) => loops.map(([loop, load]) => [way, loop, open, load] as const)))(
    '%s, %s',
    async (_way, _loop, open, load) => {
      const target = await open()
      const document = documentOf(await run([...target, ...load, '--turns', '3', '--turn-think', '20ms']))
      expect(document.counts).toMatchObject({ planned: 6, ok: 6 })
      const sent = asked.filter(({ path }) => path === '/v1/chat/completions').slice(-6)
      const talks = sent.map(({ body }) => (JSON.parse(body) as { messages: readonly Message[] }).messages)
      const firsts = [...new Set(talks.map((talk) => talk[0]!.content))]
      expect(firsts).toHaveLength(2)
      for (const first of firsts) {
        const turns = talks.filter((talk) => talk[0]!.content === first)
        // In the order in which they came: each sends what was said before it, and one thing more.
        expect(turns.map((talk) => talk.map(({ role }) => role[0]).join(''))).toEqual(['u', 'uau', 'uauau'])
        expect(turns[1]!.slice(0, 1)).toEqual(turns[0])
        expect(turns[2]!.slice(0, 3)).toEqual(turns[1])
      }
    },
  )
})
