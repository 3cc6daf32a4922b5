import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { credentials, loadPackageDefinition, type ServiceClientConstructor } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type EngineChild, spawnEngineProcess } from '../src/simulate/engine/server/engine-child.ts'
import { readEngineSettings } from '../src/simulate/engine/server/engine-settings.ts'

const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const proto = fileURLToPath(new URL('fixtures/externalscaler.proto', import.meta.url))
const ref = { name: 'llm', namespace: 'serving', scalerMetadata: {} }

let engine: EngineChild
let scaler: ChildProcess
let ask: (method: string, request: object) => Promise<Record<string, unknown>>
let close: () => void

beforeAll(async () => {
  engine = await spawnEngineProcess(readEngineSettings({ port: '0' }))
  const flags = ['--url', engine.url, '--port', '0', '--target', '8', '--interval', '200ms', '--hold', '2s']
  scaler = spawn(process.execPath, [main, 'scale', 'serve', ...flags, '--json'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const lines = createInterface({ input: scaler.stdout! })
  const line = await new Promise<string>((resolve) => lines.once('line', resolve))
  const address = /"([^"]*127\.0\.0\.1:\d+)"/.exec(line)?.[1] ?? ''
  const loaded = loadPackageDefinition(loadSync(proto, { longs: Number })) as unknown as {
    externalscaler: { ExternalScaler: ServiceClientConstructor }
  }
  const client = new loaded.externalscaler.ExternalScaler(address, credentials.createInsecure())
  close = () => client.close()
  ask = (method, request) =>
    new Promise((resolve, reject) => {
      const call = client[method] as (
        request: object,
        done: (error: Error | null, answer: never) => void,
      ) => void
      call.call(client, request, (error, answer) => (error === null ? resolve(answer) : reject(error)))
    })
}, 60_000)

afterAll(async () => {
  close?.()
  scaler?.kill()
  await engine?.stop()
})

it('answers a real gRPC client: the target, the load, and that unknown is not idle', async () => {
  const spec = await ask('GetMetricSpec', ref)
  expect(spec).toEqual({
    metricSpecs: [{ metricName: 'plimsoll_in_flight', targetSize: 8, targetSizeFloat: 8 }],
  })
  const inFlight = async (): Promise<unknown> => {
    const answer = await ask('GetMetrics', { scaledObjectRef: ref, metricName: 'plimsoll_in_flight' })
    return (answer['metricValues'] as { metricValueFloat?: number }[])[0]?.metricValueFloat ?? 0
  }
  expect(await inFlight()).toBe(0)

  // Two requests that take seconds.
  const body = JSON.stringify({ model: 'plimsoll-demo', prompt: 'a b c', max_tokens: 2000, ignore_eos: true })
  const headers = { 'content-type': 'application/json' }
  const busy = new AbortController()
  const asked = [1, 2].map(() =>
    fetch(`${engine.url}/v1/completions`, { method: 'POST', body, headers, signal: busy.signal }).catch(
      () => null,
    ),
  )
  await expect.poll(inFlight, { timeout: 20_000 }).toBe(2)
  expect(await ask('IsActive', ref)).toEqual({ result: true })
  busy.abort()
  await Promise.all(asked)
  await expect.poll(inFlight, { timeout: 20_000 }).toBe(0)

  // The engine is gone: the last total stands, then the poll fails so that the fallback takes over. It never says 0.
  await engine.stop()
  await expect
    .poll(
      () =>
        inFlight().then(
          () => null,
          (error: { code?: number }) => error.code,
        ),
      { timeout: 20_000 },
    )
    .toBe(14)
}, 90_000)
