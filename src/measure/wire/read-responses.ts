import type { AnswerReader } from './answer-reader.ts'
import type { ChunkFacts } from './chunk-facts.ts'
import { errorFacts } from './error-facts.ts'
import { addOutput, countOf, fieldsOf, isFields, listOf, type JsonFields } from './json-fields.ts'

/**
 * OpenAI's Responses API (platform.openai.com/docs/api-reference/responses-streaming): typed events, of which the `*.delta` carry
 * output, and one of `response.completed`, `response.incomplete` and `response.failed` ends the answer with its usage.
 */
export const responsesReader: AnswerReader = {
  event(value, facts) {
    const type = typeof value['type'] === 'string' ? value['type'] : ''
    switch (type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        addOutput(facts, 'content', value['delta'])
        return 'event'
      case 'response.reasoning_text.delta':
      case 'response.reasoning.delta':
      case 'response.reasoning_summary_text.delta':
        addOutput(facts, 'reasoning', value['delta'])
        return 'event'
      case 'response.function_call_arguments.delta':
      case 'response.mcp_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        addOutput(facts, 'toolArguments', value['delta'])
        return 'event'
      case 'response.output_item.added': {
        // A call is named here; its arguments follow as deltas.
        const item = fieldsOf(value['item'])
        if (isCall(item) && typeof item['name'] === 'string' && item['name'] !== '') facts.hasOutput = true
        return 'event'
      }
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        readEnd(fieldsOf(value['response']), facts)
        return 'last'
      case 'error':
        facts.error = errorFacts(value['error'] ?? value, true)
        return 'event'
      default:
        return type.startsWith('response.') ? 'event' : 'ignored'
    }
  },

  whole(value, facts) {
    readEnd(value, facts)
    for (const item of listOf(value['output'])) {
      if (isCall(item)) {
        addOutput(facts, 'toolArguments', item['arguments'] ?? item['input'])
        facts.hasOutput ||= typeof item['name'] === 'string' && item['name'] !== ''
      }
      const channel = item['type'] === 'reasoning' ? 'reasoning' : 'content'
      for (const part of [...listOf(item['content']), ...listOf(item['summary'])]) {
        addOutput(facts, channel, part['text'] ?? part['refusal'])
      }
    }
  },
}

function isCall(item: JsonFields): boolean {
  return typeof item['type'] === 'string' && item['type'].endsWith('_call')
}

/** The response object as it stands at the end. */
function readEnd(response: JsonFields, facts: ChunkFacts): void {
  const { usage, status, error } = response
  if (isFields(error)) facts.error = errorFacts(error, true)
  else if (status === 'failed') facts.error = { code: null, type: null, message: 'the response failed' }
  else if (status === 'incomplete') {
    const reason = fieldsOf(response['incomplete_details'])['reason']
    facts.finishReason =
      reason === 'max_output_tokens' || reason === 'max_tokens'
        ? 'length'
        : typeof reason === 'string'
          ? reason
          : 'incomplete'
  } else if (status === 'completed') facts.finishReason = 'stop'
  if (!isFields(usage)) return
  facts.promptTokens = countOf(usage['input_tokens'])
  facts.completionTokens = countOf(usage['output_tokens'])
  facts.cachedTokens = countOf(fieldsOf(usage['input_tokens_details'])['cached_tokens'])
  facts.reasoningTokens = countOf(fieldsOf(usage['output_tokens_details'])['reasoning_tokens'])
}
