import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PlimsollError } from '../../base/errors.ts'
import { streamedRow } from './made-rows.ts'
import {
  errorWithoutSecrets,
  isSecretName,
  redact,
  redactText,
  redactUrl,
  rowWithoutSecrets,
  withoutSecrets,
} from './redact.ts'

describe('names of secrets', () => {
  test.each([
    'Authorization',
    'authorization',
    'Proxy-Authorization',
    'api_key',
    'apiKey',
    'X-API-Key',
    'x-my-api-key',
    'openai.api-key',
    'password',
    'client_secret',
    'access_token',
    'token',
    'Cookie',
    'Set-Cookie',
    'sig',
    'Ocp-Apim-Subscription-Key',
  ])('%s is one', (name) => expect(isSecretName(name)).toBe(true))

  test.each([
    'max_tokens',
    'tokens_source',
    'prompt_tokens',
    'tokenizer',
    'key_env',
    'keyboard',
    'session',
    'salt',
    'monkey',
    'Content-Type',
    'author',
  ])('%s is none', (name) => expect(isSecretName(name)).toBe(false))
})

describe('addresses', () => {
  test.each([
    ['http://localhost:8000/v1', 'http://localhost:8000/v1'],
    ['https://me:pass@host/v1', 'https://[redacted]@host/v1'],
    ['https://me@host', 'https://[redacted]@host'],
    ['http://h/v1?api_key=abc&x=1', 'http://h/v1?api_key=[redacted]&x=1'],
    ['http://h/v1?x=1&access%5Ftoken=abc#t', 'http://h/v1?x=1&access%5Ftoken=[redacted]#t'],
    ['http://h/#access_token=abc', 'http://h/#access_token=[redacted]'],
    ['http://h/a@b?to=me@x', 'http://h/a@b?to=me@x'],
    ['say http://u:p@h now', 'say http://[redacted]@h now'],
    ['http://h/?bad=%E0%A4%A', 'http://h/?bad=%E0%A4%A'],
  ])('%s → %s', (given, wanted) => expect(redactUrl(given)).toBe(wanted))
})

test('texts lose bearer credentials and well-known keys', () => {
  expect(redactText('sent Bearer abcdef123456, got 401')).toBe('sent Bearer [redacted], got 401')
  expect(redactText('Incorrect API key provided: sk-proj-abcd1234EFGH.')).toBe(
    'Incorrect API key provided: [redacted].',
  )
  expect(redactText('ttft < 500ms and tpot < 30ms')).toBe('ttft < 500ms and tpot < 30ms')
})

test('a config keeps its form and loses its secrets', () => {
  expect(
    redact(
      {
        target: {
          url: 'http://u:p@h/v1',
          key: { env: 'OPENAI_API_KEY' },
          headers: { Authorization: 'Bearer s3cret', 'X-Trace': 'on', 'api-key': ['a', 'b'] },
        },
        headers: ['X-Api-Key: abc', 'X-Other: fine', 'Authorization=Basic Zm9vOmJhcg=='],
        apiKey: null,
        maxTokens: 5,
        note: 'uses hush-hush twice: hush-hush',
      },
      ['hush-hush'],
    ),
  ).toEqual({
    target: {
      url: 'http://[redacted]@h/v1',
      key: { env: 'OPENAI_API_KEY' },
      headers: { Authorization: '[redacted]', 'X-Trace': 'on', 'api-key': '[redacted]' },
    },
    headers: ['X-Api-Key: [redacted]', 'X-Other: fine', 'Authorization=[redacted]'],
    apiKey: null,
    maxTokens: 5,
    note: 'uses [redacted] twice: [redacted]',
  })
})

test('whatever the data, a given secret is nowhere in what comes out, and redacting twice changes nothing', () => {
  const secret = 'S3CRET-value'
  const leaf = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.constant(`x ${secret} y`),
  )
  const data = fc.object({ values: [leaf], maxDepth: 4, withNullPrototype: false })
  fc.assert(
    fc.property(data, (value) => {
      const once = redact(value, [secret])
      expect(JSON.stringify(Object.values(once))).not.toContain(secret)
      expect(redact(once, [secret])).toEqual(once)
    }),
  )
})

test.each([
  ['in the middle', 'no right for long-secret here', 'no right for [redacted] here'],
  ['cut off at the end of a text that was shortened', 'no right for long-s…', 'no right for [redacted]…'],
  ['no part of it', 'no right for it…', 'no right for it…'],
])('a secret %s is taken out', (_, text, safe) => {
  expect(withoutSecrets(text, ['long-secret'])).toBe(safe)
  const row = streamedRow(
    { id: 'r', plannedMs: 0, ttftMs: 1, gapsMs: [] },
    { error_code: text, text, replica: text },
  )
  expect(rowWithoutSecrets(row, ['long-secret'])).toEqual({
    ...row,
    error_code: safe,
    text: safe,
    replica: safe,
  })
  expect(rowWithoutSecrets(row, [])).toBe(row)
  const error = new PlimsollError('PLIM_AUTH', text, { received: text, hint: 'h' })
  expect(errorWithoutSecrets(error, ['long-secret'])).toMatchObject({
    code: 'PLIM_AUTH',
    message: safe,
    received: safe,
    hint: 'h',
  })
})
