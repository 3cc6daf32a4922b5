import { PlimsollError } from '../../base/errors.ts'
import { blocksAtMost, type EngineConfig } from './engine-config.ts'
import type { EngineRequest, SubmitResult } from './engine-interface.ts'
import type { RequestState } from './request-state.ts'

/** Throws PLIM_ENGINE for counts that are no counts. */
export function checkRequest(request: EngineRequest): void {
  requireCount('prompt tokens', request.promptTokenIds.length)
  requireCount('output tokens', request.outputTokens)
  if (request.maxTokens !== undefined && request.maxTokens !== null) {
    requireCount('max_tokens', request.maxTokens)
  }
}

/** Why the request cannot be taken, with `usable` blocks in the pool and `waiting` requests in line; else null. */
export function refusal(
  request: EngineRequest,
  config: EngineConfig,
  usable: number,
  waiting: number,
): SubmitResult | null {
  const promptTokens = request.promptTokenIds.length
  const asked = request.maxTokens ?? 1
  const { maxModelLen, maxNumBatchedTokens, maxNumWaiting } = config
  if (promptTokens + asked > maxModelLen) {
    return refuse(
      'too_long',
      `asks for ${promptTokens} prompt and ${asked} output tokens; the context is ${maxModelLen} tokens`,
    )
  }
  if (!config.enableChunkedPrefill && promptTokens > maxNumBatchedTokens) {
    return refuse(
      'too_long',
      `has ${promptTokens} prompt tokens; a step holds ${maxNumBatchedTokens} and prompts are not chunked`,
    )
  }
  const blocks = blocksAtMost(config, promptTokens, outputLimit(request, config))
  if (blocks > usable) return refuse('never_fits', `needs ${blocks} blocks, has ${usable}`)
  if (maxNumWaiting !== null && waiting >= maxNumWaiting) {
    return refuse('shed', `${waiting} requests wait; the limit is ${maxNumWaiting}`)
  }
  return null
}

/** The request as the scheduler sees it, in `state`. `number` is its own among all of this engine. */
export function admitState(
  state: RequestState,
  request: EngineRequest,
  config: EngineConfig,
  nowMs: number,
  number: number,
): RequestState {
  const limit = outputLimit(request, config)
  return state.begin(
    request,
    limit,
    hardLimit(request, config),
    Math.max(nowMs, request.arrivalMs + config.frontEndMs),
    blocksAtMost(config, request.promptTokenIds.length, limit),
    config.enablePrefixCaching,
    number,
    config.blockSize,
  )
}

/** The length at which vLLM stops whatever the model says: `max_tokens`, and the end of the context. */
function hardLimit(request: EngineRequest, config: EngineConfig): number {
  const rest = config.maxModelLen - request.promptTokenIds.length
  return request.maxTokens === undefined || request.maxTokens === null
    ? rest
    : Math.min(rest, request.maxTokens)
}

function outputLimit(request: EngineRequest, config: EngineConfig): number {
  return Math.min(request.outputTokens, hardLimit(request, config))
}

function refuse(code: 'never_fits' | 'too_long' | 'shed', message: string): SubmitResult {
  return { kind: 'refused', code, message }
}

function requireCount(what: string, count: number): void {
  if (Number.isSafeInteger(count) && count >= 1) return
  throw new PlimsollError('PLIM_ENGINE', `a request with ${count} ${what}`, {
    expected: 'a whole number, at least 1',
    received: String(count),
  })
}
