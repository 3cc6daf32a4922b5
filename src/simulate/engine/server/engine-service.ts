import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../../base/clock.ts'
import { randomStream } from '../../../base/random.ts'
import type { ApiKind } from '../../../measure/wire/api.ts'
import {
  type ExposedMetric,
  expositionFormat,
  writeExposition,
} from '../../../measure/wire/prometheus-exposition.ts'
import type { EngineConfig } from '../engine-config.ts'
import { createEngine } from '../engine.ts'
import { parseFault } from '../fault-grammar.ts'
import { type FaultTimeline, faultTimeline } from '../fault-timeline.ts'
import type { OutputLength } from './answer-text.ts'
import { ApiFailure, notFound } from './api-error.ts'
import { parseDetokenizeRequest, parseTokenizeRequest } from './completion-request.ts'
import { EngineDriver } from './engine-driver.ts'
import { enginePage, type EnginePage } from './engine-page.ts'
import { generate, type GenerationDeps } from './generation.ts'
import { machineStandIns } from './machine-stand-ins.ts'
import { readBody, refuseUnread, sendError, sendJson } from './http-answer.ts'
import { detokenize } from './tokenizer.ts'
import type { RequestTruth, TruthLog } from './truth-log.ts'

export interface EngineServerOptions {
  readonly config: EngineConfig
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  readonly modelName: string
  readonly seed: number | string
  readonly outputLength: OutputLength
  /** As `--fault` takes them; their times count from the moment when this server was started. */
  readonly faults: readonly string[]
  /** NDJSON file with what really happened to each request. */
  readonly truthPath: string | null
  readonly clock: Clock
  /** CLOCK_MONOTONIC, ns: the stamps of the truth file. */
  readonly hrtimeNs: () => bigint
  readonly wallClockMs: () => number
  readonly maxBodyBytes?: number
  readonly maxUnreadBytes?: number
}

/** Where each API is asked: all of them reach the one engine. */
const generations: Readonly<Record<string, ApiKind>> = {
  '/v1/chat/completions': 'chat',
  '/v1/completions': 'completions',
  '/v1/responses': 'responses',
  '/v1/messages': 'anthropic',
  '/v1/embeddings': 'embeddings',
  '/generate': 'tgi',
  '/generate_stream': 'tgi',
  '/completion': 'llamacpp',
}

const routes: Readonly<Record<string, 'GET' | 'POST'>> = {
  ...Object.fromEntries(Object.keys(generations).map((path) => [path, 'POST' as const])),
  '/v1/models': 'GET',
  '/health': 'GET',
  '/ping': 'GET',
  '/version': 'GET',
  '/metrics': 'GET',
  '/tokenize': 'POST',
  '/detokenize': 'POST',
}

/** The engine behind the APIs that plimsoll speaks, one method a route. Whoever listens hands it the requests. */
export class EngineService {
  private readonly options: EngineServerOptions
  /** The engine's time: that of `options.clock` since the start. */
  private readonly clock: Clock
  private readonly truthLog: TruthLog | null
  private readonly engine: ReturnType<typeof createEngine>
  private readonly driver: EngineDriver
  private readonly metrics: EnginePage
  private readonly timeline: FaultTimeline
  /** What `/metrics` shows while it is frozen. */
  private frozen: readonly ExposedMetric[] | null = null
  private readonly open = new Map<number, RequestTruth>()
  private readonly createdS: number
  private readonly maxBodyBytes: number
  private requests = 0
  /** Generation requests so far: which of them a fault hits must not hang on who scrapes between them. */
  private generations = 0

  constructor(options: EngineServerOptions, truthLog: TruthLog | null) {
    this.options = options
    this.truthLog = truthLog
    const startMs = options.clock.nowMs()
    this.clock = {
      originMonotonicNs: options.clock.originMonotonicNs + BigInt(Math.round(startMs * 1e6)),
      nowMs: () => options.clock.nowMs() - startMs,
    }
    this.metrics = enginePage(options.modelName, options.config)
    this.timeline = faultTimeline(
      options.faults.map((fault) => parseFault(fault)),
      randomStream(options.seed, 'faults'),
    )
    this.engine = createEngine(options.config, randomStream(options.seed, 'engine'), {
      events: 'tokens',
      disturbance: this.timeline.disturbance(),
      acceptance: randomStream(options.seed, 'acceptance'),
      onStep: (step) => {
        this.freezeIfDue(step.endMs)
        this.metrics.onStep(step, () => this.engine.stats())
      },
    })
    this.driver = new EngineDriver(this.engine, this.clock, (event) => this.metrics.onEvent(event))
    this.createdS = options.wallClockMs() / 1000
    this.maxBodyBytes = options.maxBodyBytes ?? 32 * 1024 * 1024
  }

  get originMonotonicNs(): bigint {
    return this.clock.originMonotonicNs
  }

  stop(): void {
    this.driver.stop()
    for (const truth of this.open.values()) this.truthLog?.write({ ...truth, outcome: 'closed' })
    this.open.clear()
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const receivedNs = this.options.hrtimeNs()
    const arrivalMs = this.clock.nowMs()
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
      refuseUnread(request, response, notFound(message).error)
    } else if (method !== allowed && !(method === 'HEAD' && allowed === 'GET')) {
      const error = {
        status: 405,
        type: 'MethodNotAllowedError',
        message: `${path} takes ${allowed}.`,
        param: null,
      }
      refuseUnread(request, response, { ...error, headers: { allow: allowed } })
    } else if (allowed === 'GET') {
      request.resume()
      this.answerGet(path, request, response)
    } else {
      const kind = generations[path]
      const truth = kind === undefined ? null : this.openTruth(number, requestId, receivedNs, response)
      readBody(request, response, this.maxBodyBytes, (body) => {
        try {
          if (truth === null || kind === undefined) this.answerTokens(path, body, response)
          else this.answerGeneration(kind, path, body, response, { number, truth, arrivalMs })
        } catch (error) {
          this.fault(error, response)
        }
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
    const nowMs = this.clock.nowMs()
    if (this.timeline.metrics(nowMs).kind === 'dropped') {
      const message = 'The metrics cannot be had (a fault that was asked for).'
      sendError(response, { status: 503, type: 'ServiceUnavailableError', message, param: null })
      return
    }
    this.freezeIfDue(nowMs)
    const { openMetrics, contentType } = expositionFormat(request.headers.accept)
    const metrics = [...(this.frozen ?? this.metrics.exposed(this.engine.stats())), ...machineStandIns(nowMs)]
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
      const request = parseTokenizeRequest(body, modelName)
      const ids = Array.from(request.ids)
      sendJson(response, 200, {
        count: ids.length,
        max_model_len: config.maxModelLen,
        tokens: ids,
        token_strs: request.wantsTexts ? ids.map((id) => detokenize([id])) : null,
      })
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error
      sendError(response, error.error)
    }
  }

  private answerGeneration(
    kind: ApiKind,
    path: string,
    body: string,
    response: ServerResponse,
    at: { number: number; truth: RequestTruth; arrivalMs: number },
  ): void {
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
      refuse: (error) => sendError(response, error, kind),
    }
    generate(
      {
        kind,
        path,
        number: at.number,
        requestId: at.truth.id,
        arrivalMs: at.arrivalMs,
        body,
        truth: at.truth,
        ended: () => this.closeTruth(at.number),
      },
      response,
      this.timeline.requestEffects(this.generations++, at.arrivalMs, this.engine.stats().waiting),
      deps,
    )
  }

  /** What happens to a generation request, from its head on: also when its body never comes, or is too large. */
  private openTruth(number: number, id: string, receivedNs: bigint, response: ServerResponse): RequestTruth {
    const truth: RequestTruth = {
      id,
      receivedNs,
      writesNs: [],
      writeTokens: [],
      outcome: 'aborted',
      httpStatus: null,
    }
    this.open.set(number, truth)
    response.once('close', () => {
      if (response.writableFinished && truth.outcome === 'aborted') {
        truth.outcome = 'refused'
        truth.httpStatus = response.statusCode
      }
      this.closeTruth(number)
    })
    return truth
  }

  private closeTruth(number: number): void {
    const truth = this.open.get(number)
    if (truth !== undefined) this.truthLog?.write(truth)
    this.open.delete(number)
  }

  /** A fault of ours costs this answer, not the server. */
  private fault(error: unknown, response: ServerResponse): void {
    if (response.headersSent) {
      response.destroy()
      return
    }
    const message = `A fault of the simulated engine: ${error instanceof Error ? error.message : String(error)}`
    sendError(response, { status: 500, type: 'InternalServerError', message, param: null })
  }
}
