import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PlimsollError } from '../../../base/errors.ts'
import { type EngineServerOptions, EngineService } from './engine-service.ts'
import { openTruthLog } from './truth-log.ts'

export type { EngineServerOptions } from './engine-service.ts'

export interface EngineServer {
  /** `http://127.0.0.1:8000` */
  readonly url: string
  /** CLOCK_MONOTONIC at the zero from which faults are timed, in nanoseconds. */
  readonly originMonotonicNs: bigint
  /** Drops what is under way, writes the truth of it, and closes. */
  close(): Promise<void>
}

/** Starts the simulated engine behind OpenAI's API. Throws PLIM_ENGINE where it cannot listen, PLIM_FILE for the truth file. */
export async function startEngineServer(options: EngineServerOptions): Promise<EngineServer> {
  const truthLog =
    options.truthPath === null ? null : openTruthLog(options.truthPath, { setTimeout, clearTimeout })
  const service = new EngineService(options, truthLog)
  const server = createServer({ noDelay: true, keepAliveTimeout: 65_000 }, (request, response) => {
    service.handle(request, response)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(listenError(options, cause)))
    server.listen(options.port, options.host, resolve)
  })
  const { address, port, family } = server.address() as AddressInfo
  let closing: Promise<void> | null = null
  async function close(): Promise<void> {
    service.stop()
    await new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
    truthLog?.close()
  }
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    originMonotonicNs: service.originMonotonicNs,
    close: () => (closing ??= close()),
  }
}

function listenError(options: EngineServerOptions, cause: NodeJS.ErrnoException): PlimsollError {
  const taken = cause.code === 'EADDRINUSE'
  return new PlimsollError('PLIM_ENGINE', `the engine cannot listen on ${options.host}:${options.port}`, {
    received: taken ? 'the port is taken' : cause.message,
    hint: taken ? 'give another --port, or 0 for any that is free' : 'give another --host or --port',
    cause,
  })
}
