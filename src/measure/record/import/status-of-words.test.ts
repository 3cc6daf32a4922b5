import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { statusOfWords } from './status-of-words.ts'

describe('a message that names a status', () => {
  test.each([
    ['the number alone', '503', 503],
    ['a number and what it means', '503: overloaded', 503],
    ['aiohttp', "429, message='Too Many Requests', url='http://10.0.0.5:8000/v1'", 429],
    ['httpx', "Server error '503 Service Unavailable' for url 'http://host:8443/v1/chat'", 503],
    ['httpx of the caller', "Client error '404 Not Found' for url 'http://host/v1'", 404],
    ['requests', '502 Server Error: Bad Gateway for url: http://host', 502],
    ['urllib', 'HTTP Error 500: Internal Server Error', 500],
    ['openai', "Error code: 429 - {'error': {'message': 'Rate limit', 'code': 'rate_limit'}}", 429],
    ['a status line', 'HTTP/1.1 504 Gateway Timeout', 504],
    ['in words', 'request failed with status 400', 400],
    ['status code', 'Received status code: 529 (overloaded)', 529],
    ['a variable', 'status_code=413 body=...', 413],
    ['JSON', '{"error":{"code": 429,"message":"slow down"}}', 429],
    ['a phrase and its number', 'Service Unavailable (503)', 503],
    ['a phrase alone', 'Too Many Requests', 429],
    ['a kind', 'http_503', 503],
  ])('%s', (_sentence, message, status) => expect(statusOfWords(message)).toBe(status))
})

describe('three digits that are none', () => {
  test.each([
    ['a port', 'connect ECONNREFUSED 10.0.0.5:443'],
    ['a port in an address', 'Cannot connect to host 127.0.0.1:503 ssl:default'],
    ['a time limit', 'timed out after 500 ms'],
    ['a time limit in seconds', 'Timeout on reading data from socket after 450 s'],
    ['tokens', 'prompt of 512 tokens exceeds 429'],
    ['an exit code', 'process ended with exit code 400'],
    ['part of a longer number', 'HTTP 5031'],
    ['a version', 'HTTP/1.1 stream reset, id 503'],
    ['an id', 'request 404f2 was lost'],
    ['a decimal number', 'took 503.2 seconds'],
    ['nothing', ''],
  ])('%s', (_sentence, message) => expect(statusOfWords(message)).toBeNull())
  test('null', () => expect(statusOfWords(null)).toBeNull())
})

test('what is found is between 400 and 599, whatever the message', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.integer().map(String)), (message) => {
      const found = statusOfWords(message)
      expect(found === null || (found >= 400 && found < 600)).toBe(true)
    }),
  )
})
