// Runs every `sse-*` case of a directory through the product's own exchange, against a server that replays the case.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkCase } from './case-check.mjs'
import { startReplayServer } from './replay-server.mjs'

/** Cases begin this far apart: together enough to be quick, apart enough not to connect all at once. */
const spacingMs = 10

/** The `sse-*` sidecars of a directory, and the ids of everything else that looks like a case. */
export function readCases(directory) {
  const files = readdirSync(directory).sort()
  const cases = []
  const others = new Set()
  for (const file of files) {
    if (file === 'manifest.json' || file === 'README.md') continue
    if (!/^sse-.*\.json$/.test(file)) {
      if (!file.startsWith('sse-')) others.add(file.replace(/\..*$/, ''))
      continue
    }
    const sidecar = JSON.parse(readFileSync(join(directory, file), 'utf8'))
    cases.push({
      id: sidecar.id ?? file.replace(/\.json$/, ''),
      sidecar,
      body: bodyOf(directory, file, sidecar),
    })
  }
  return { cases, others: [...others] }
}

function bodyOf(directory, file, sidecar) {
  const path = join(directory, sidecar.stream ?? file.replace(/\.json$/, '.sse'))
  try {
    return readFileSync(path)
  } catch (error) {
    if ((sidecar.chunks ?? []).length === 0) return Buffer.alloc(0)
    throw error
  }
}

/**
 * Runs the cases. `product` is `{createTransport, startExchange, clock, timers}`. A case whose stamps alone are off is run again,
 * by itself, up to twice. Gives `{id, passed, reasons[]}` in order.
 */
export async function runCases(cases, product, onResult = () => {}) {
  const server = await startReplayServer(() => product.clock.nowMs())
  try {
    const first = await Promise.all(
      cases.map(async (one, index) => {
        await sleep(index * spacingMs)
        return runCase(one, server, product)
      }),
    )
    const results = []
    for (const [index, one] of cases.entries()) {
      let result = first[index]
      for (let again = 0; again < 2 && result.wrong.length === 0 && result.late.length > 0; again++) {
        result = await runCase(one, server, product)
      }
      const reasons = [...result.wrong, ...result.late]
      results.push({ id: one.id, passed: reasons.length === 0, reasons })
      onResult(results.at(-1))
    }
    return results
  } finally {
    await server.close()
  }
}

async function runCase({ id, sidecar, body }, server, { createTransport, startExchange, clock, timers }) {
  const limits = sidecar.limits ?? {}
  const connectTimeoutMs = limits.connect_timeout_ms ?? null
  server.add(id, {
    http: sidecar.http ?? { status: 200, headers: {} },
    headersAtMs:
      sidecar.http === null ? null : sidecar.headers_at_ms === undefined ? 0 : sidecar.headers_at_ms,
    chunks: sidecar.chunks ?? [],
    body,
    end: sidecar.end,
  })
  const transport = await createTransport(new URL(server.url), { clock, timers, connectTimeoutMs })
  const request = sidecar.request ?? { api: 'chat', stream: true }
  const path = request.api === 'completions' ? '/v1/completions' : '/v1/chat/completions'
  const row = await new Promise((resolve) =>
    startExchange(
      { transport, clock, timers },
      {
        api: request.api,
        wire: {
          path: `/${id}${path}`,
          headers: { 'content-type': 'application/json' },
          body: '{"stream":true}',
        },
        plannedMs: clock.nowMs() + (sidecar.t0_ms ?? 0),
        streamAsked: request.stream !== false,
        keepText: true,
      },
      {
        connectTimeoutMs,
        firstTokenTimeoutMs: limits.first_token_timeout_ms ?? null,
        idleTimeoutMs: limits.idle_timeout_ms ?? null,
        totalTimeoutMs: limits.total_timeout_ms ?? null,
      },
      resolve,
    ),
  )
  await transport.close()
  return checkCase(sidecar.expect, row, server.latenessMs(id))
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
