/** The JSON of answers, as vLLM shapes it. Everything is ASCII (others escaped), so that a byte is a character. */
export interface AnswerIdentity {
  readonly kind: 'chat' | 'completions'
  readonly id: string
  readonly model: string
  /** Seconds since 1970. */
  readonly createdS: number
}

export interface UsageCounts {
  readonly promptTokens: number
  readonly completionTokens: number
  /** Null while it is not known: running totals come without. */
  readonly cachedTokens: number | null
}

export type FinishWord = 'stop' | 'length'

/**
 * The events of one stream. Of a `chat` stream they are: a first one with the role and no content; one for the tokens of each step; the last token
 * by length carries `finish_reason`, while a stop of the model's own is an event with empty content, as its end token has no
 * text; then usage with `choices: []`, if asked for, and `[DONE]`.
 */
export class StreamEvents {
  private readonly head: string
  private readonly tokenHead: string
  private readonly tokenTail: string
  private readonly kind: 'chat' | 'completions'

  constructor(identity: AnswerIdentity) {
    this.kind = identity.kind
    const object = identity.kind === 'chat' ? 'chat.completion.chunk' : 'text_completion'
    this.head = `data: {"id":${asciiJson(identity.id)},"object":"${object}","created":${identity.createdS},"model":${asciiJson(identity.model)},"choices":[`
    this.tokenHead = `${this.head}{"index":0,${identity.kind === 'chat' ? '"delta":{"content":' : '"text":'}`
    this.tokenTail = `${identity.kind === 'chat' ? '}' : ''},"logprobs":null,"finish_reason":`
  }

  role(usage: UsageCounts | null): string {
    return `${this.head}{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]${this.usage(usage)}}\n\n`
  }

  /** One event of tokens. `text` must need no escapes but those of JSON. */
  token(text: string, finish: FinishWord | null, usage: UsageCounts | null): string {
    const reason = finish === null ? 'null' : `"${finish}","stop_reason":null`
    return `${this.tokenHead}${asciiJson(text)}${this.tokenTail}${reason}}]${this.usage(usage)}}\n\n`
  }

  finalUsage(usage: UsageCounts): string {
    return `${this.head}]${this.usage(usage)}}\n\n`
  }

  get hasRole(): boolean {
    return this.kind === 'chat'
  }

  private usage(usage: UsageCounts | null): string {
    return usage === null ? '' : `,"usage":${JSON.stringify(usageJson(usage))}`
  }
}

export const doneEvent = 'data: [DONE]\n\n'

/** The whole answer of a request that did not ask for a stream. */
export function wholeAnswer(
  identity: AnswerIdentity,
  text: string,
  finish: FinishWord,
  usage: UsageCounts | null,
): string {
  const chat = identity.kind === 'chat'
  return asciiJson({
    id: identity.id,
    object: chat ? 'chat.completion' : 'text_completion',
    created: identity.createdS,
    model: identity.model,
    choices: [
      {
        index: 0,
        ...(chat ? { message: { role: 'assistant', content: text } } : { text }),
        logprobs: null,
        finish_reason: finish,
        stop_reason: null,
      },
    ],
    ...(usage === null ? {} : { usage: usageJson(usage) }),
  })
}

function usageJson(usage: UsageCounts): object {
  return {
    prompt_tokens: usage.promptTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    completion_tokens: usage.completionTokens,
    ...(usage.cachedTokens === null ? {} : { prompt_tokens_details: { cached_tokens: usage.cachedTokens } }),
  }
}

/** JSON with everything outside ASCII escaped. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
