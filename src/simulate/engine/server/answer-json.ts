import {
  type AnswerForm,
  type AnswerIdentity,
  asciiJson,
  type EndedAnswer,
  type FinishWord,
  type UsageCounts,
} from './answer-form.ts'
import { type ApiError, apiErrorJson } from './api-error.ts'

/**
 * Chat and completions, as vLLM shapes them. The events of a `chat` stream are: a first one with the role and no content; one for the
 * tokens of each step; the last token by length carries `finish_reason`, while a stop of the model's own is an event with empty content, as its end
 * token has no text; then usage with `choices: []`, if asked for, and `[DONE]`.
 */
export function openAiForm(kind: 'chat' | 'completions', identity: AnswerIdentity): AnswerForm {
  return new OpenAiForm(kind, identity)
}

class OpenAiForm implements AnswerForm {
  private readonly head: string
  private readonly tokenHead: string
  private readonly tokenTail: string
  private readonly chat: boolean
  private readonly identity: AnswerIdentity
  private readonly id: string

  constructor(kind: 'chat' | 'completions', identity: AnswerIdentity) {
    this.chat = kind === 'chat'
    this.identity = identity
    this.id = `${this.chat ? 'chatcmpl' : 'cmpl'}-${identity.id}`
    const object = this.chat ? 'chat.completion.chunk' : 'text_completion'
    this.head = `data: {"id":${asciiJson(this.id)},"object":"${object}","created":${identity.createdS},"model":${asciiJson(identity.model)},"choices":[`
    this.tokenHead = `${this.head}{"index":0,${this.chat ? '"delta":{"content":' : '"text":'}`
    this.tokenTail = `${this.chat ? '}' : ''},"logprobs":null,"finish_reason":`
  }

  opening(): readonly string[] {
    return []
  }

  first(running: UsageCounts | null): readonly string[] {
    if (!this.chat) return []
    const role = '"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null'
    return [`${this.head}{"index":0,${role}}]${usageField(running)}}\n\n`]
  }

  tokens(text: string, _count: number, last: FinishWord | null, running: UsageCounts | null): string {
    return this.event(text, last === 'length' ? last : null, running)
  }

  end({ finish, running, final }: EndedAnswer): readonly string[] {
    return [
      ...(finish === 'stop' ? [this.event('', 'stop', running)] : []),
      ...(final === null ? [] : [`${this.head}]${usageField(final)}}\n\n`]),
      doneEvent,
    ]
  }

  failure(error: ApiError): readonly string[] {
    return [`data: ${apiErrorJson(error)}\n\n`, doneEvent]
  }

  whole({ text, finish, final }: EndedAnswer): string {
    return asciiJson({
      id: this.id,
      object: this.chat ? 'chat.completion' : 'text_completion',
      created: this.identity.createdS,
      model: this.identity.model,
      choices: [
        {
          index: 0,
          ...(this.chat ? { message: { role: 'assistant', content: text } } : { text }),
          logprobs: null,
          finish_reason: finish,
          stop_reason: null,
        },
      ],
      ...(final === null ? {} : { usage: usageJson(final) }),
    })
  }

  private event(text: string, finish: FinishWord | null, running: UsageCounts | null): string {
    const reason = finish === null ? 'null' : `"${finish}","stop_reason":null`
    return `${this.tokenHead}${asciiJson(text)}${this.tokenTail}${reason}}]${usageField(running)}}\n\n`
  }
}

const doneEvent = 'data: [DONE]\n\n'

function usageField(usage: UsageCounts | null): string {
  return usage === null ? '' : `,"usage":${JSON.stringify(usageJson(usage))}`
}

function usageJson(usage: UsageCounts): object {
  return {
    prompt_tokens: usage.promptTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    completion_tokens: usage.completionTokens,
    ...(usage.cachedTokens === null ? {} : { prompt_tokens_details: { cached_tokens: usage.cachedTokens } }),
  }
}
