import { type AnswerForm, type AnswerIdentity, asciiJson, type EndedAnswer, sse } from './answer-form.ts'
import { anthropicErrorJson } from './api-error.ts'

/**
 * Anthropic's Messages API (docs.anthropic.com/en/api/messages-streaming): one text block; `message_delta` has why it stopped and the
 * usage, of which `input_tokens` leaves out what came from the cache. As in vLLM's, the message begins with the first token.
 */
export function anthropicForm(identity: AnswerIdentity): AnswerForm {
  const message = (fields: object): object => ({
    id: `msg_${identity.id}`,
    type: 'message',
    role: 'assistant',
    model: identity.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...fields,
  })
  const event = (type: string, fields: object): string => sse({ type, ...fields }, type)
  return {
    opening: () => [],
    first: () => [
      event('message_start', {
        message: message({ usage: { input_tokens: identity.promptTokens, output_tokens: 0 } }),
      }),
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ],
    tokens: (text) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    end: ({ finish, final }) => [
      event('content_block_stop', { index: 0 }),
      event('message_delta', {
        delta: { stop_reason: stopReason[finish], stop_sequence: null },
        ...(final === null ? {} : { usage: usageOf(final) }),
      }),
      event('message_stop', {}),
    ],
    failure: (error) => [`event: error\ndata: ${asciiJson(JSON.parse(anthropicErrorJson(error)))}\n\n`],
    whole: ({ text, finish, final }) =>
      asciiJson(
        message({
          content: [{ type: 'text', text }],
          stop_reason: stopReason[finish],
          ...(final === null ? {} : { usage: usageOf(final) }),
        }),
      ),
  }
}

const stopReason = { stop: 'end_turn', length: 'max_tokens' } as const

function usageOf({
  promptTokens,
  completionTokens,
  cachedTokens,
}: NonNullable<EndedAnswer['final']>): object {
  return {
    input_tokens: promptTokens - (cachedTokens ?? 0),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedTokens ?? 0,
    output_tokens: completionTokens,
  }
}
