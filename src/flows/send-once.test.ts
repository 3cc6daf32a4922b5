import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { performance } from 'node:perf_hooks'
import { expect, test } from 'vitest'
import { monotonicClock } from '../base/clock.ts'
import { preflight } from '../measure/load/preflight.ts'
import { probeDialect } from '../measure/load/probe-dialect.ts'
import type { Scrape } from '../measure/wire/prometheus-text.ts'
import { openAsker } from './send-once.ts'

/** Whoever asks this server, which begins to listen. */
async function asking(server: Server, timeoutMs: number) {
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const asker = await openAsker(new URL(url), {
    clock: monotonicClock(performance, process.hrtime.bigint, process.hrtime.bigint()),
    api: 'chat',
    headers: {},
    tls: {},
    timeoutMs,
  })
  const close = async (): Promise<void> => {
    await asker.close()
    server.closeAllConnections()
    server.close()
  }
  return { url, asker, close }
}

test('a server that obeys no limit and never ends its answer is asked once, and is not waited for', async () => {
  let asked = 0
  const server = createServer((_, response) => {
    asked++
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const event = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'word ' } }] })}\n\n`
    const more = setInterval(() => response.write(event.repeat(100)), 1)
    response.on('close', () => clearInterval(more))
  }).listen(0, '127.0.0.1')
  const { url, asker, close } = await asking(server, 600_000)
  try {
    const target = { url, api: 'chat', endpointPath: '/v1/chat/completions', model: 'm' } as const
    const { learnt, brokeOff, firstTokenMs } = await probeDialect(asker.sendOnce, target, {
      model: 'm',
      text: 'hello',
      models: [],
    })
    expect(brokeOff).toContain('went on long after the 8 tokens')
    expect(firstTokenMs).not.toBeNull()
    expect(learnt.acceptsUsage).toBe(false)
    expect(asked).toBe(1)
  } finally {
    await close()
  }
})

test('a server that lists its models and hangs on the endpoint is not said to be away', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/v1/models') response.end(JSON.stringify({ object: 'list', data: [{ id: 'm' }] }))
  }).listen(0, '127.0.0.1')
  const { url, asker, close } = await asking(server, 300)
  try {
    const target = { url, api: 'chat', endpointPath: '/v1/chat/completions', model: null } as const
    const deps = { sendOnce: asker.sendOnce, parseMetrics: () => ({}) as Scrape }
    await expect(preflight(deps, target)).rejects.toMatchObject({
      code: 'PLIM_CONNECT',
      message: `${url.slice(7)} takes connections, but POST /v1/chat/completions was not answered within 300ms`,
    })
  } finally {
    await close()
  }
})

const word = (text: string): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`

/** What the preflight learns of a server that answers each question so. */
async function probed(answer: (response: ServerResponse) => void) {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    answer(response)
  }).listen(0, '127.0.0.1')
  const { url, asker, close } = await asking(server, 30_000)
  const target = { url, api: 'chat', endpointPath: '/v1/chat/completions', model: 'm' } as const
  try {
    return await probeDialect(asker.sendOnce, target, { model: 'm', text: 'hello', models: [] })
  } finally {
    await close()
  }
}

test('an answer that is cut is told by what came of it', async () => {
  const cut = probed((response) => {
    response.write(word('a').repeat(4), () => response.destroy())
  })
  await expect(cut).rejects.toMatchObject({
    code: 'PLIM_PREFLIGHT',
    message: expect.stringMatching(/the answer broke off after 4 events, \d+ B$/) as string,
  })
})

test('an event of a megabyte is one event', async () => {
  const { brokeOff, endless } = await probed((response) => {
    response.end(`${word('x'.repeat(1_000_000))}data: [DONE]\n\n`)
  })
  expect({ brokeOff, endless }).toEqual({ brokeOff: null, endless: false })
})

test('an event that is larger than any is told by its limit', async () => {
  const large = probed((response) => {
    response.end(word('x'.repeat(17_000_000)))
  })
  await expect(large).rejects.toMatchObject({ received: 'an event is larger than 16.8 MB' })
})

test('a slow answer without an end is not heard to the limit of time', async () => {
  const { endless } = await probed((response) => {
    const more = setInterval(() => response.write(word('a')), 2)
    response.on('close', () => clearInterval(more))
  })
  expect(endless).toBe(true)
})
