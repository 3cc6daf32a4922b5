import { type AnswerForm, type AnswerIdentity, asciiJson, type FinishWord, sse } from './answer-form.ts'
import { tgiErrorJson } from './api-error.ts'
import { detokenize, tokenize } from './tokenizer.ts'

/**
 * TGI's `generate_stream` and `generate` (text-generation-inference, `router/src/lib.rs`): an event a token, also of several that one
 * step made; the last one has the whole text and the details, and nothing follows it.
 */
export function tgiForm({ promptTokens }: AnswerIdentity): AnswerForm {
  let text = ''
  let tokens = 0
  const details = (finish: FinishWord, generated: number): object => ({
    finish_reason: finish === 'stop' ? 'eos_token' : 'length',
    generated_tokens: generated,
    seed: null,
    input_length: promptTokens,
  })
  const event = (word: string, last: FinishWord | null): string => {
    text += word
    tokens++
    return sse({
      index: tokens,
      token: { id: tokenize(word)[0] ?? 0, text: word, logprob: -1, special: false },
      generated_text: last === null ? null : text,
      details: last === null ? null : details(last, tokens),
    })
  }
  return {
    opening: () => [],
    first: () => [],
    tokens(words, count, last) {
      const each = count === 1 ? [words] : Array.from(tokenize(words), (id) => detokenize([id]))
      return each.map((word, i) => event(word, i === each.length - 1 ? last : null)).join('')
    },
    end: () => [],
    failure: (error) => [`data: ${asciiJson(JSON.parse(tgiErrorJson(error)))}\n\n`],
    whole: ({ text: whole, finish, final }) =>
      asciiJson({
        generated_text: whole,
        ...(final === null
          ? {}
          : { details: { ...details(finish, final.completionTokens), prefill: [], tokens: [] } }),
      }),
  }
}
