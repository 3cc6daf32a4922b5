import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { exportRows, run, scratch, start, startEngine } from './fixtures/product.ts'

// Bodies and headers of one's own, through the whole of the command, to a gateway that wants them and passes on to the engine.

const examples = fileURLToPath(new URL('../examples/traffic/', import.meta.url))

interface Seen {
  readonly headers: IncomingMessage['headers']
  readonly body: Readonly<Record<string, unknown>>
}

/** A gateway that takes `{tenant, request}` with a key for the tenant, and nothing else. */
async function gateway(engine: string): Promise<{ readonly url: string; readonly seen: Seen[] }> {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const { headers, url = '', method = 'GET' } = request
      const text = Buffer.concat(parts).toString()
      const body = (text === '' || url === '/tokenize' ? {} : JSON.parse(text)) as Seen['body']
      const inner = body['request']
      const asks = url.endsWith('/completions')
      if (asks) seen.push({ headers, body })
      if (asks && (headers['x-key'] !== `key-of-${String(body['tenant'])}` || inner === undefined)) {
        response
          .writeHead(400)
          .end(JSON.stringify({ error: { message: `not for ${String(headers['x-key'])}` } }))
        return
      }
      const onward = httpRequest(engine + url, { method, agent: false }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      })
      onward.end(asks ? JSON.stringify(inner) : text)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

const rows = [
  { id: 'a', prompt: 'Say "yes",\nplease', tenant: 'north', key: 'key-of-north', output_tokens: 3 },
  { id: 'b', prompt: '{{prompt}} \\ ☃', tenant: 'south', key: 'key-of-south', output_tokens: 5 },
]

describe.each([
  ['an open loop', ['--request-rate', '20', '--num-prompts', '6']],
  ['a closed loop', ['--concurrency', '2', '--num-prompts', '6', '--workers', '2']],
])('%s', (_sentence, load) => {
  test('sends each row in the template, with its own header', async () => {
    const cwd = scratch()
    const engine = await startEngine([], cwd)
    const { url, seen } = await gateway(engine.url)
    writeFileSync(join(cwd, 'rows.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'))
    writeFileSync(
      join(cwd, 'body.json'),
      '{ "tenant": "{{row.tenant}}", "request": "{{body}}", "n": "{{index}}" }',
    )
    const { document, folder } = await run(
      [
        ...load,
        ...`--url ${url} --dataset-path rows.jsonl --body-template body.json --warm-prefix --header`.split(
          ' ',
        ),
        'X-Key: {{row.key}}',
        'X-Token: {{env.GATE}}',
      ],
      { cwd, env: { GATE: 'open-sesame-1' } },
    )
    expect(document.counts).toMatchObject({ planned: 6, ok: 6 })
    const asked = seen.filter(({ body }) => (body['request'] as { max_tokens: number }).max_tokens < 8)
    const measured = asked.slice(-6)
    expect(new Set(measured.map(({ body }) => body['n']))).toEqual(new Set([0, 1, 2, 3, 4, 5]))
    for (const { headers, body } of measured) {
      const row = rows[(body['n'] as number) % 2]!
      expect(headers).toMatchObject({ 'x-key': row.key, 'x-token': 'open-sesame-1' })
      expect(body).toMatchObject({
        tenant: row.tenant,
        request: {
          model: 'plimsoll-demo',
          messages: [{ role: 'user', content: row.prompt }],
          max_tokens: row.output_tokens,
          stream: true,
        },
      })
    }
    expect(document.workload).toBe('jsonl rows.jsonl, in the template body.json')
    const kept = await exportRows(folder)
    // Users may send at the same moment: in no order of theirs.
    const threes = kept.filter(({ completion_tokens }) => completion_tokens === 3)
    expect([threes.length, kept.length]).toEqual([3, 6])
    // Neither the environment's secret nor a row's credential is written.
    const manifest = readFileSync(join(folder, 'run.json'), 'utf8')
    expect(manifest).toContain('[redacted]')
    expect(manifest).not.toMatch(/open-sesame|key-of-/)
  })
})

test('rows without a prompt are fine where the template asks for none', async () => {
  const cwd = scratch()
  writeFileSync(join(cwd, 'rows.jsonl'), '{"question": "Why is the sea salty?"}')
  writeFileSync(
    join(cwd, 'body.json'),
    '{"model": "{{model}}", "prompt": "Q: {{row.question}}", "max_tokens": 4, "stream": true}',
  )
  const { document } = await run(
    ['--api', 'completions', '--dataset-path', 'rows.jsonl', '--body-template', 'body.json', '-n', '2'],
    { cwd },
  )
  expect(document.counts).toMatchObject({ planned: 2, ok: 2 })
})

test('the example runs on the embedded engine', async () => {
  const out = join(scratch(), 'run')
  const { stdout } = await start(
    ['run', '--config', 'template.yaml', '--out', out, '--no-progress', '--json'],
    {
      cwd: examples,
    },
  ).ended
  expect(JSON.parse(stdout)).toMatchObject({ counts: { planned: 8, ok: 8 } })
  const kept = await exportRows(out)
  expect(kept.map(({ segment, completion_tokens }) => [segment, completion_tokens])).toEqual(
    Array.from({ length: 4 }, () => [
      ['free', 24],
      ['paid', 12],
    ]).flat(),
  )
  expect(kept.every(({ tokens_source }) => tokens_source === 'server')).toBe(true)
})

test('a header whose placeholder stands for nothing is refused at its place in the file', async () => {
  const cwd = scratch()
  writeFileSync(join(cwd, 'p.yaml'), "target:\n  headers:\n    X-Tenant: '{{segmnt}}'\n")
  const { code, stderr } = await start(['run', '--config', 'p.yaml'], { cwd }).ended
  expect(code).toBe(2)
  expect(stderr).toContain('p.yaml:3:15')
  expect(stderr).toContain('did you mean {{segment}}?')
})

test('the key of a gateway that is not set is asked for by name', async () => {
  const { code, stderr } = await start(['run', '--header', 'X-Key: {{env.NOT_THERE}}'], { cwd: scratch() })
    .ended
  expect(code).toBe(2)
  expect(stderr).toContain('environment variable NOT_THERE')
})
