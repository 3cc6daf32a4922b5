// Runs every `sse-*` case of a directory through the product's own exchange, against a server that replays the case.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
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
    cases.push(readCase(directory, file))
  }
  return { cases, others: [...others] }
}

/** A case that cannot be read is one that fails, with the `problem`. */
function readCase(directory, file) {
  const name = file.replace(/\.json$/, '')
  try {
    const sidecar = JSON.parse(readFileSync(join(directory, file), 'utf8'))
    const stream = join(directory, sidecar.stream ?? `${name}.sse`)
    const needed = (sidecar.chunks ?? []).length > 0 || existsSync(stream)
    return { id: sidecar.id ?? name, sidecar, body: needed ? readFileSync(stream) : Buffer.alloc(0) }
  } catch (error) {
    return { id: name, problem: String(error) }
  }
}

/**
 * Runs the cases. `product` is `{createTransport, startExchange, clock, timers}`. A case that failed by its stamps alone, or that
 * the server could not play as written because the machine was busy, is played again by itself, up to four times. Gives `{id, passed, reasons[]}` in order.
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
      for (let again = 0; again < 4 && mayBeTheMachine(result); again++) {
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

/** Writes this late may have run into each other: what was played is not the case. */
const playedBadlyMs = 5

function mayBeTheMachine({ wrong, late, serverLateMs }) {
  if (wrong.length === 0) return late.length > 0
  return serverLateMs > playedBadlyMs
}

let plays = 0

async function runCase(
  { id, sidecar, body, problem },
  server,
  { createTransport, startExchange, clock, timers },
) {
  if (problem !== undefined) return { wrong: [problem], late: [], serverLateMs: 0 }
  const limits = sidecar.limits ?? {}
  const connectTimeoutMs = limits.connect_timeout_ms ?? null
  // Of its own each time: what is late of an earlier time is not taken for this one's.
  const name = `${id}~${plays++}`
  server.add(name, {
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
  let running
  const finished = new Promise((resolve) => {
    running = startExchange(
      { transport, clock, timers },
      {
        api: request.api,
        wire: {
          path: `/${name}${path}`,
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
    )
  })
  // A reader that waits for what never comes fails its case, not the whole run.
  const last = Math.max(sidecar.expect.done_ms ?? 0, ...(sidecar.chunks ?? []).map((chunk) => chunk.at_ms))
  const patience = setTimeout(() => running.abort('cancelled'), last + 15_000)
  const row = await finished
  clearTimeout(patience)
  await transport.close()
  const serverLateMs = row.sent_ms === null ? 0 : server.latenessMs(name, row.sent_ms)
  return { ...checkCase(sidecar.expect, row, serverLateMs), serverLateMs }
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
