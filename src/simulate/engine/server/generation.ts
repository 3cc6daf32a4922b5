import type { ServerResponse } from 'node:http'
import type { EngineEvent } from '../engine-interface.ts'
import type { RequestEffects } from '../fault-timeline.ts'
import type { AnswerForm, EndedAnswer, FinishWord, UsageCounts } from './answer-form.ts'
import { AnswerStream } from './answer-stream.ts'
import { answerWords, drawOutputTokens, type OutputLength, promptKey } from './answer-text.ts'
import { type ApiError, ApiFailure } from './api-error.ts'
import type { CompletionRequest } from './completion-request.ts'
import { parseGeneration } from './dialect-request.ts'
import type { EngineDriver, RequestListener } from './engine-driver.ts'
import type { EnginePage } from './engine-page.ts'
import { answerForm } from './form-of-api.ts'
import { tokenize } from './tokenizer.ts'
import type { RequestTruth } from './truth-log.ts'

/** What a generation needs of its server. */
export interface GenerationDeps {
  readonly driver: EngineDriver
  readonly metrics: EnginePage
  readonly modelName: string
  readonly maxModelLen: number
  readonly seed: number | string
  readonly outputLength: OutputLength
  readonly hrtimeNs: () => bigint
  readonly wallClockMs: () => number
  readonly maxUnreadBytes: number
  /** Sends an error answer. */
  readonly refuse: (error: ApiError) => void
}

export interface IncomingGeneration {
  readonly kind: CompletionRequest['kind']
  readonly path: string
  /** The engine's own number for it, unique. */
  readonly number: number
  /** Its `x-request-id`. */
  readonly requestId: string
  readonly arrivalMs: number
  readonly body: string
  readonly truth: RequestTruth
  /** Called once, when nothing more will happen. */
  readonly ended: () => void
}

/** An answer's tokens are given to the prefix cache under their own ids up to here; longer answers are rare and cost time. */
const cachedAnswerTokens = 4096

/** Answers one generation request, from its body to the last byte. */
export function generate(
  incoming: IncomingGeneration,
  response: ServerResponse,
  effects: RequestEffects,
  deps: GenerationDeps,
): void {
  const { truth } = incoming
  let request: CompletionRequest
  try {
    request = parseGeneration(incoming, deps.modelName)
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error
    refuseWith(error.error)
    return
  }
  if (effects.reject !== null) {
    refuseWith(rejection(effects.reject))
    return
  }
  const plan = planAnswer(request, deps)
  const answer = new Answer(incoming, request, plan, response, effects, deps)
  const result = deps.driver.submit(
    {
      id: incoming.number,
      arrivalMs: incoming.arrivalMs,
      promptTokenIds: request.promptIds,
      outputTokens: plan.outputTokens,
      maxTokens: request.maxTokens,
      outputTokenIds: tokenize(plan.words.slice(0, cachedAnswerTokens).join('')),
    },
    answer,
  )
  if (result.kind === 'refused') {
    const shed = result.code === 'shed'
    refuseWith({
      status: shed ? 503 : 400,
      type: shed ? 'ServiceUnavailableError' : 'BadRequestError',
      message: `The engine refuses the request: ${result.message}.`,
      param: null,
      ...(shed ? { headers: { 'retry-after': '1' } } : {}),
    })
    return
  }
  deps.metrics.accepted(incoming.number, incoming.arrivalMs, request.stream)
  deps.metrics.askedMaxTokens(request.maxTokens)
  answer.begin()

  function refuseWith(error: ApiError): void {
    truth.outcome = 'refused'
    truth.httpStatus = error.status
    deps.refuse(error)
    incoming.ended()
  }
}

/** The error of a fault that refuses requests, as a server words it that means it. */
function rejection(reject: NonNullable<RequestEffects['reject']>): ApiError {
  const { status, retryAfterMs } = reject
  const headers: Record<string, string> = {}
  if (retryAfterMs !== null) headers['retry-after'] = String(Math.ceil(retryAfterMs / 1000))
  return {
    status,
    type:
      status === 429 ? 'RateLimitError' : status === 503 ? 'ServiceUnavailableError' : 'InternalServerError',
    message:
      status === 429 ? 'Too many requests (a fault that was asked for).' : `A fault answers ${status}.`,
    param: null,
    headers,
  }
}

interface AnswerPlan {
  /** What the engine is to give out, the model's length and the request's limit not yet applied. */
  readonly outputTokens: number
  /** What it will give out, and why it ends there. */
  readonly length: number
  readonly finish: FinishWord
  /** The text, a word a token. */
  readonly words: readonly string[]
}

function planAnswer(request: CompletionRequest, deps: GenerationDeps): AnswerPlan {
  const key = promptKey(request.promptIds)
  const seed = request.seed === null ? deps.seed : `${deps.seed}/${request.seed}`
  const room = Math.max(1, deps.maxModelLen - request.promptIds.length)
  const limit = Math.min(request.maxTokens ?? room, room)
  const drawn = Math.max(request.minTokens, drawOutputTokens(deps.outputLength, seed, key), 1)
  const outputTokens = request.ignoreEos ? limit : drawn
  const length = Math.min(outputTokens, limit)
  const words = Array.from({ length }, answerWords(seed, key))
  return { outputTokens, length, finish: outputTokens < limit ? 'stop' : 'length', words }
}

/** One answer under way: the engine's tokens in, bytes out. */
class Answer implements RequestListener {
  private readonly incoming: IncomingGeneration
  private readonly request: CompletionRequest
  private readonly plan: AnswerPlan
  private readonly response: ServerResponse
  private readonly effects: RequestEffects
  private readonly deps: GenerationDeps
  private readonly form: AnswerForm
  private stream: AnswerStream | null = null
  private tokens = 0
  private over = false

  constructor(
    incoming: IncomingGeneration,
    request: CompletionRequest,
    plan: AnswerPlan,
    response: ServerResponse,
    effects: RequestEffects,
    deps: GenerationDeps,
  ) {
    this.incoming = incoming
    this.request = request
    this.plan = plan
    this.response = response
    this.effects = effects
    this.deps = deps
    const identity = {
      id: incoming.requestId,
      model: deps.modelName,
      createdS: Math.floor(deps.wallClockMs() / 1000),
      promptTokens: request.promptIds.length,
    }
    this.form = answerForm(request.kind, identity, {
      asked: request.embedding,
      promptKey: promptKey(request.promptIds),
    })
  }

  /** The engine has taken the request: the head of a stream goes out before its first token, as from vLLM. */
  begin(): void {
    const { response, incoming, deps, effects } = this
    incoming.truth.httpStatus = 200
    response.once('close', () => {
      if (!this.over) this.finish('aborted')
    })
    if (this.request.stream) {
      this.stream = new AnswerStream(response, {
        hrtimeNs: deps.hrtimeNs,
        truth: incoming.truth,
        bufferBytes: effects.bufferBytes ?? 0,
        maxUnreadBytes: deps.maxUnreadBytes,
      })
      this.sendAll(this.form.opening())
    }
    this.breakIfDue()
  }

  onTokens(count: number): void {
    if (count === 1) this.onEvent(1)
    else this.onSeveral(count)
  }

  /** Tokens up to one after which something is to happen are an event of their own. */
  private onSeveral(count: number): void {
    for (let left = count; left > 0 && !this.over;) {
      const together = Math.min(left, this.tokensToBreak())
      this.onEvent(together)
      left -= together
    }
  }

  /** Tokens until something is to happen in the middle of the answer. */
  private tokensToBreak(): number {
    const { errorAfterTokens, resetAfterTokens, cutAfterTokens } = this.effects
    let least = Number.POSITIVE_INFINITY
    for (const at of [errorAfterTokens, resetAfterTokens, cutAfterTokens]) {
      if (at !== null && at > this.tokens) least = Math.min(least, at - this.tokens)
    }
    return least
  }

  /** Tokens of one step, which are one event of the stream. */
  private onEvent(count: number): void {
    const { stream, form, plan } = this
    const from = this.tokens
    const text = count === 1 ? (plan.words[from] ?? '') : plan.words.slice(from, from + count).join('')
    if (from === 0) this.sendAll(form.first(this.runningUsage()))
    this.tokens += count
    if (stream !== null) {
      const last = this.tokens === plan.length ? plan.finish : null
      if (!stream.send(form.tokens(text, count, last, this.runningUsage()), count)) {
        stream.reset()
        this.finish('slow_client')
        return
      }
    }
    if (!this.over) this.breakIfDue()
  }

  onFinished(event: Extract<EngineEvent, { kind: 'finished' }>): void {
    if (this.over) return
    if (event.reason === 'error' || event.reason === 'abort') {
      this.fail(`The engine ended the request: ${event.message ?? event.reason}.`)
      return
    }
    const { stream, request, effects, plan } = this
    const told = !effects.noUsage && request.includeUsage
    const ended: EndedAnswer = {
      text: plan.words.join(''),
      finish: plan.finish,
      running: this.runningUsage(),
      final: told ? { ...this.usage(), cachedTokens: event.facts.cachedTokens } : null,
    }
    if (stream === null) {
      this.endWhole(ended)
      return
    }
    this.sendAll(this.form.end(ended))
    stream.end()
    this.finish('ok')
  }

  /** Events that carry no token. */
  private sendAll(events: readonly string[]): void {
    for (const event of events) this.stream?.send(event, 0)
  }

  private endWhole(ended: EndedAnswer): void {
    const { response, incoming, plan } = this
    const body = this.form.whole(ended)
    response.setHeader('content-type', 'application/json')
    response.setHeader('content-length', body.length)
    incoming.truth.writesNs.push(this.deps.hrtimeNs())
    incoming.truth.writeTokens.push(plan.length)
    response.end(body, 'latin1')
    this.finish('ok')
  }

  /** What the faults say happens after this many tokens. */
  private breakIfDue(): void {
    const { effects, response, stream, tokens } = this
    if (effects.errorAfterTokens === tokens) {
      this.fail('The engine failed in the middle of the answer (a fault that was asked for).')
    } else if (effects.resetAfterTokens === tokens) {
      if (stream !== null) stream.reset()
      else response.socket?.resetAndDestroy()
      this.finish('reset')
    } else if (effects.cutAfterTokens === tokens) {
      if (stream !== null) stream.cut()
      else response.socket?.destroy()
      this.finish('cut')
    }
  }

  /** An error after the head has gone out is an event of the stream; before, it is an answer of its own. */
  private fail(message: string): void {
    const error: ApiError = { status: 500, type: 'InternalServerError', message, param: null }
    if (this.stream === null) {
      this.incoming.truth.httpStatus = 500
      this.deps.refuse(error)
    } else {
      this.sendAll(this.form.failure(error))
      this.stream.end()
    }
    this.finish('error')
  }

  private finish(outcome: RequestTruth['outcome']): void {
    this.over = true
    this.incoming.truth.outcome = outcome
    if (outcome !== 'ok') this.deps.driver.abort(this.incoming.number)
    this.incoming.ended()
  }

  private usage(): UsageCounts {
    return {
      promptTokens: this.request.promptIds.length,
      completionTokens: this.tokens,
      cachedTokens: null,
    }
  }

  private runningUsage(): UsageCounts | null {
    return this.request.continuousUsage && !this.effects.noUsage ? this.usage() : null
  }
}
