import { describe, expect, test } from 'vitest'
import { nearest } from './preflight-errors.ts'
import { errorText, pathsBeside } from './probe.ts'

describe('probes', () => {
  test.each([
    ['/v1/chat/completions', '/v1/models', '/tokenize', '/metrics'],
    ['/llm/v1/completions', '/llm/v1/models', '/llm/tokenize', '/llm/metrics'],
    [
      '/openai/chat/completions?api-version=1',
      '/openai/models?api-version=1',
      '/openai/tokenize',
      '/openai/metrics',
    ],
  ])('paths beside %s', (endpoint, models, tokenize, metrics) => {
    expect(pathsBeside(endpoint)).toEqual({ models, tokenize, metrics })
  })

  test.each([
    ['{"error":{"message":"a  b"}}', 'a b'],
    ['{"detail":"Not Found"}', 'Not Found'],
    ['{"detail":[{"loc":["body"],"msg":"x"}]}', '[{"loc":["body"],"msg":"x"}]'],
    ['{"object":"error","message":"m"}', 'm'],
    ['<h1>Bad</h1>  Gateway', 'Bad Gateway'],
    ['', null],
  ])('errorText of %s', (body, text) => expect(errorText(body)).toBe(text))

  test.each([
    ['llama', ['meta/Llama-3', 'qwen'], null],
    ['Llama-3', ['qwen', 'meta/Llama-3'], 'meta/Llama-3'],
    ['qwen3-8', ['Qwen/Qwen3-8B', 'gemma'], 'Qwen/Qwen3-8B'],
    ['zzzzzz', ['a', 'b'], null],
  ])('nearest to %s of %o', (typed, names, found) => expect(nearest(typed, names)).toBe(found))
})
