import { describe, expect, test } from 'vitest'
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
})
