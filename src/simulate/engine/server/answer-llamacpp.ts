import { type AnswerForm, type AnswerIdentity, asciiJson, type EndedAnswer, sse } from './answer-form.ts'
import { apiErrorJson } from './api-error.ts'
import { tokenize } from './tokenizer.ts'

/**
 * llama.cpp's own `/completion` (`tools/server/README.md`): an event a token with running counts; the one with `stop: true` has no text,
 * and says why it ended and what came from the cache (`timings.cache_n`). There is no `[DONE]`.
 */
export function llamacppForm({ model, promptTokens }: AnswerIdentity): AnswerForm {
  let tokens = 0
  const ended = ({ text, finish, final }: EndedAnswer, content: string): object => ({
    index: 0,
    content,
    tokens: [],
    id_slot: 0,
    stop: true,
    model,
    tokens_predicted: final?.completionTokens ?? tokens,
    tokens_evaluated: promptTokens,
    has_new_line: text.includes('\n'),
    truncated: false,
    stop_type: finish === 'stop' ? 'eos' : 'limit',
    stopping_word: '',
    tokens_cached: promptTokens + (final?.completionTokens ?? tokens),
    timings: {
      cache_n: final?.cachedTokens ?? 0,
      prompt_n: promptTokens - (final?.cachedTokens ?? 0),
      predicted_n: final?.completionTokens ?? tokens,
    },
  })
  return {
    opening: () => [],
    first: () => [],
    tokens(text, count) {
      tokens += count
      return sse({
        index: 0,
        content: text,
        tokens: Array.from(tokenize(text)),
        stop: false,
        id_slot: 0,
        tokens_predicted: tokens,
        tokens_evaluated: promptTokens,
      })
    },
    end: (answer) => [sse(ended(answer, ''))],
    failure: (error) => [`data: ${apiErrorJson(error)}\n\n`],
    whole: (answer) => asciiJson(ended(answer, answer.text)),
  }
}
