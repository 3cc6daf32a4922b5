import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../../../base/clock.ts'
import { PlimsollError } from '../../../base/errors.ts'
import { randomStream } from '../../../base/random.ts'
import {
  type ExposedMetric,
  expositionFormat,
  writeExposition,
} from '../../../measure/wire/prometheus-exposition.ts'
import { createEngine } from '../engine.ts'
import type { EngineConfig } from '../engine-config.ts'
import { type FaultTimeline, faultTimeline, parseFault } from '../faults.ts'
import { asciiJson } from './answer-json.ts'
import type { OutputLength } from './answer-text.ts'
import { type ApiError, ApiFailure, apiErrorJson, notFound } from './api-error.ts'
import { parseDetokenizeRequest, parseTokenizeRequest } from './completion-request.ts'
import { EngineDriver } from './engine-driver.ts'
import { EngineMetrics } from './engine-metrics.ts'
import { generate, type GenerationDeps } from './generation.ts'
import { detokenize } from './tokenizer.ts'
import { openTruthLog, type RequestTruth, type TruthLog } from './truth-log.ts'

export interface EngineServerOptions {
  readonly config: EngineConfig
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  readonly modelName: string
  readonly seed: number | string
  readonly outputLength: OutputLength
  /** As `--fault` takes them; their times count from the zero of `clock`. */
  readonly faults: readonly string[]
  /** NDJSON file with what really happened to each request. */
  readonly truthPath: string | null
  /** The engine's time; its zero is the zero of every fault. */
  readonly clock: Clock
  /** CLOCK_MONOTONIC, ns: the stamps of the truth file. */
  readonly hrtimeNs: () => bigint
  readonly wallClockMs: () => number
  readonly maxBodyBytes?: number
  readonly maxUnreadBytes?: number
}

export interface EngineServer {
  /** `http://127.0.0.1:8000` */
  readonly url: string
  /** Drops what is under way, writes the truth of it, and closes. */
  close(): Promise<void>
}

const routes: Readonly<Record<string, 'GET' | 'POST'>> = {
  '/v1/chat/completions': 'POST',
  '/v1/completions': 'POST',
  '/v1/models': 'GET',
  '/health': 'GET',
  '/ping': 'GET',
  '/version': 'GET',
  '/metrics': 'GET',
  '/tokenize': 'POST',
  '/detokenize': 'POST',
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

class EngineService {
  private readonly options: EngineServerOptions
  private readonly truthLog: TruthLog | null
  private readonly engine: ReturnType<typeof createEngine>
  private readonly driver: EngineDriver
  private readonly metrics: EngineMetrics
  private readonly timeline: FaultTimeline
  /** What `/metrics` shows while it is frozen. */
  private frozen: readonly ExposedMetric[] | null = null
  private readonly open = new Map<number, RequestTruth>()
  private readonly createdS: number
  private readonly maxBodyBytes: number
  private requests = 0

  constructor(options: EngineServerOptions, truthLog: TruthLog | null) {
    this.options = options
    this.truthLog = truthLog
    this.metrics = new EngineMetrics(options.modelName, options.config)
    this.timeline = faultTimeline(
      options.faults.map((fault) => parseFault(fault)),
      randomStream(options.seed, 'faults'),
    )
    this.engine = createEngine(options.config, randomStream(options.seed, 'engine'), {
      events: 'tokens',
      disturbance: this.timeline.disturbance(),
      onStep: (step) => {
        this.freezeIfDue(step.endMs)
        this.metrics.onStep(step)
      },
    })
    this.driver = new EngineDriver(this.engine, options.clock, (event) => this.metrics.onEvent(event))
    this.createdS = options.wallClockMs() / 1000
    this.maxBodyBytes = options.maxBodyBytes ?? 32 * 1024 * 1024
  }

  stop(): void {
    this.driver.stop()
    for (const truth of this.open.values()) this.truthLog?.write({ ...truth, outcome: 'closed' })
    this.open.clear()
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const receivedNs = this.options.hrtimeNs()
    const arrivalMs = this.options.clock.nowMs()
    const number = this.requests++
    const header = request.headers['x-request-id']
    const requestId = typeof header === 'string' && header !== '' ? header : `req-${number}`
    response.setHeader('x-request-id', requestId)
    const path = (request.url ?? '/').split('?', 1)[0] as string
    const method = request.method ?? 'GET'
    const allowed = routes[path]
    response.once('finish', () =>
      this.metrics.answered(allowed === undefined ? 'none' : path, method, response.statusCode),
    )
    if (allowed === undefined) {
      const message = `There is nothing at ${path}; this engine serves ${Object.keys(routes).join(', ')}.`
      this.refuseUnread(request, response, notFound(message).error)
    } else if (method !== allowed && !(method === 'HEAD' && allowed === 'GET')) {
      const error = {
        status: 405,
        type: 'MethodNotAllowedError',
        message: `${path} takes ${allowed}.`,
        param: null,
      }
      this.refuseUnread(request, response, { ...error, headers: { allow: allowed } })
    } else if (allowed === 'GET') {
      request.resume()
      this.answerGet(path, request, response)
    } else {
      this.readBody(request, response, (body) => {
        if (path === '/tokenize' || path === '/detokenize') this.answerTokens(path, body, response)
        else this.answerGeneration(path, body, response, { number, requestId, receivedNs, arrivalMs })
      })
    }
  }

  private answerGet(path: string, request: IncomingMessage, response: ServerResponse): void {
    const { modelName, config } = this.options
    if (path === '/metrics') this.answerMetrics(request, response)
    else if (path === '/v1/models') {
      const model = {
        id: modelName,
        object: 'model',
        created: Math.floor(this.createdS),
        owned_by: 'plimsoll',
        root: modelName,
        parent: null,
        max_model_len: config.maxModelLen,
        permission: [],
      }
      sendJson(response, 200, { object: 'list', data: [model] })
    } else if (path === '/version') sendJson(response, 200, { version: 'plimsoll-engine' })
    else response.end()
  }

  private answerMetrics(request: IncomingMessage, response: ServerResponse): void {
    const nowMs = this.options.clock.nowMs()
    if (this.timeline.metrics(nowMs).kind === 'dropped') {
      const message = 'The metrics cannot be had (a fault that was asked for).'
      sendError(response, { status: 503, type: 'ServiceUnavailableError', message, param: null })
      return
    }
    this.freezeIfDue(nowMs)
    const { openMetrics, contentType } = expositionFormat(request.headers.accept)
    const metrics = this.frozen ?? this.metrics.exposed(this.engine.stats())
    response.setHeader('content-type', contentType)
    response.end(writeExposition(metrics, { openMetrics, createdS: this.createdS }))
  }

  /** Keeps the metrics of the first moment of a freeze, and lets go of them after its last. */
  private freezeIfDue(atMs: number): void {
    if (this.timeline.metrics(atMs).kind !== 'frozen') this.frozen = null
    else this.frozen ??= structuredClone(this.metrics.exposed(this.engine.stats()))
  }

  private answerTokens(path: string, body: string, response: ServerResponse): void {
    const { modelName, config } = this.options
    try {
      if (path === '/detokenize') {
        sendJson(response, 200, { prompt: detokenize(parseDetokenizeRequest(body, modelName)) })
        return
      }
      const ids = Array.from(parseTokenizeRequest(body, modelName))
      sendJson(response, 200, {
        count: ids.length,
        max_model_len: config.maxModelLen,
        tokens: ids,
        token_strs: null,
      })
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error
      sendError(response, error.error)
    }
  }

  private answerGeneration(
    path: string,
    body: string,
    response: ServerResponse,
    at: { number: number; requestId: string; receivedNs: bigint; arrivalMs: number },
  ): void {
    const truth: RequestTruth = {
      id: at.requestId,
      receivedNs: at.receivedNs,
      writesNs: [],
      writeTokens: [],
      outcome: 'ok',
      httpStatus: null,
    }
    this.open.set(at.number, truth)
    const deps: GenerationDeps = {
      driver: this.driver,
      metrics: this.metrics,
      modelName: this.options.modelName,
      maxModelLen: this.options.config.maxModelLen,
      seed: this.options.seed,
      outputLength: this.options.outputLength,
      hrtimeNs: this.options.hrtimeNs,
      wallClockMs: this.options.wallClockMs,
      maxUnreadBytes: this.options.maxUnreadBytes ?? 4 * 1024 * 1024,
      refuse: (error) => sendError(response, error),
    }
    generate(
      {
        kind: path === '/v1/chat/completions' ? 'chat' : 'completions',
        number: at.number,
        requestId: at.requestId,
        arrivalMs: at.arrivalMs,
        body,
        truth,
        ended: () => {
          if (this.open.delete(at.number)) this.truthLog?.write(truth)
        },
      },
      response,
      this.timeline.requestEffects(at.number, at.arrivalMs, this.engine.stats().waiting),
      deps,
    )
  }

  private readBody(request: IncomingMessage, response: ServerResponse, done: (body: string) => void): void {
    const parts: Buffer[] = []
    let bytes = 0
    const declared = Number(request.headers['content-length'] ?? 0)
    if (declared > this.maxBodyBytes) {
      this.refuseUnread(request, response, this.tooLarge())
      return
    }
    request.on('data', (part: Buffer) => {
      bytes += part.length
      if (bytes > this.maxBodyBytes) {
        request.removeAllListeners('data')
        this.refuseUnread(request, response, this.tooLarge())
      } else parts.push(part)
    })
    request.on('end', () => {
      if (bytes <= this.maxBodyBytes) done(Buffer.concat(parts).toString('utf8'))
    })
  }

  private tooLarge(): ApiError {
    return {
      status: 413,
      type: 'RequestTooLargeError',
      message: `The body is over ${this.maxBodyBytes} bytes.`,
      param: null,
    }
  }

  /** Answers without having read the body: the connection cannot be used again. */
  private refuseUnread(request: IncomingMessage, response: ServerResponse, error: ApiError): void {
    response.setHeader('connection', 'close')
    request.resume()
    sendError(response, error)
  }
}

function sendError(response: ServerResponse, error: ApiError): void {
  for (const [name, value] of Object.entries(error.headers ?? {})) response.setHeader(name, value)
  sendText(response, error.status, apiErrorJson(error))
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  sendText(response, status, asciiJson(body))
}

function sendText(response: ServerResponse, status: number, body: string): void {
  response.statusCode = status
  response.setHeader('content-type', 'application/json')
  response.setHeader('content-length', Buffer.byteLength(body))
  response.end(body)
}
