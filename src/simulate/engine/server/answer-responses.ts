import { type AnswerForm, type AnswerIdentity, asciiJson, type EndedAnswer, sse } from './answer-form.ts'

/**
 * OpenAI's Responses API (platform.openai.com/docs/api-reference/responses-streaming): named events with running numbers; one message,
 * one text part; `response.completed`, or `response.incomplete` where the limit ended it, has the usage. There is no `[DONE]`.
 */
export function responsesForm(identity: AnswerIdentity): AnswerForm {
  const item = { id: `msg_${identity.id}`, type: 'message', role: 'assistant' }
  const at = { item_id: item.id, output_index: 0, content_index: 0 }
  let number = 0
  const event = (type: string, fields: object): string =>
    sse({ type, sequence_number: number++, ...fields }, type)
  const response = (status: string, fields: object): object => ({
    id: `resp_${identity.id}`,
    object: 'response',
    created_at: identity.createdS,
    status,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model: identity.model,
    output: [],
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    usage: null,
    ...fields,
  })
  const ended = ({ text, finish, final }: EndedAnswer): object =>
    response(statusOf(finish), {
      incomplete_details: finish === 'length' ? { reason: 'max_output_tokens' } : null,
      output: [message(finish, text)],
      usage: final === null ? null : usageOf(final),
    })
  const part = (text: string): object => ({ type: 'output_text', text, annotations: [] })
  const message = (finish: EndedAnswer['finish'], text: string): object => ({
    ...item,
    status: statusOf(finish),
    content: [part(text)],
  })
  return {
    opening: () => [
      event('response.created', { response: response('in_progress', {}) }),
      event('response.in_progress', { response: response('in_progress', {}) }),
    ],
    first: () => [
      event('response.output_item.added', {
        output_index: 0,
        item: { ...item, status: 'in_progress', content: [] },
      }),
      event('response.content_part.added', { ...at, part: part('') }),
    ],
    tokens: (text) => event('response.output_text.delta', { ...at, delta: text, logprobs: [] }),
    end(answer) {
      const { text, finish } = answer
      return [
        event('response.output_text.done', { ...at, text, logprobs: [] }),
        event('response.content_part.done', { ...at, part: part(text) }),
        event('response.output_item.done', { output_index: 0, item: message(finish, text) }),
        event(`response.${statusOf(finish)}`, { response: ended(answer) }),
      ]
    },
    failure: ({ message: said }) => [
      event('response.failed', {
        response: response('failed', { error: { code: 'server_error', message: said } }),
      }),
    ],
    whole: (answer) => asciiJson(ended(answer)),
  }
}

function statusOf(finish: EndedAnswer['finish']): 'completed' | 'incomplete' {
  return finish === 'length' ? 'incomplete' : 'completed'
}

function usageOf({
  promptTokens,
  completionTokens,
  cachedTokens,
}: NonNullable<EndedAnswer['final']>): object {
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: cachedTokens ?? 0 },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: promptTokens + completionTokens,
  }
}
