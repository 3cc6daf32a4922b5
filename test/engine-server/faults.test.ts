import { performance } from 'node:perf_hooks'
import { describe, expect, it } from 'vitest'
import { sumOf } from '../../src/measure/wire/prometheus-counter.ts'
import { type Reply, messages, post, quick, scrape, start, stream, tokensIn } from './kit.ts'

describe('faults over HTTP', () => {
  it('cut: the body ends without its end', async () => {
    const answer = await stream(await start({ faults: ['cut stream after token 7'] }))
    expect({ tokens: tokensIn(answer.text), ended: answer.ended }).toEqual({ tokens: 7, ended: 'broken' })
    expect(answer.text).not.toContain('[DONE]')
  })

  it('reset: the connection is reset, and the engine lets go', async () => {
    const server = await start({ faults: ['reset after token 5'] })
    const answer = await stream(server)
    expect(tokensIn(answer.text)).toBeLessThanOrEqual(5)
    expect(answer.ended).toBe('broken')
    await expect
      .poll(async () => sumOf(await scrape(server), 'vllm:num_requests_running'), { timeout: 10_000 })
      .toBe(0)
  })

  it('429 with Retry-After', async () => {
    const answer = await stream(await start({ faults: ['429 100% retry after 3s'] }))
    expect([answer.status, answer.headers['retry-after']]).toEqual([429, '3'])
    expect((JSON.parse(answer.text) as Reply).error.code).toBe(429)
  })

  it('an error object in the middle of the stream, then [DONE]', async () => {
    const answer = await stream(await start({ faults: ['error object mid-stream after token 4'] }))
    expect(tokensIn(answer.text)).toBe(4)
    expect(answer.text).toContain('data: {"error":{')
    expect(answer.text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(answer.ended).toBe('whole')
  })

  it('buffered output: everything arrives at the end, in few pieces', async () => {
    const answer = await stream(await start({ faults: ['buffer output 16KB'] }))
    expect(tokensIn(answer.text)).toBe(20)
    expect(answer.chunks).toBe(1)
  })

  it('no usage', async () => {
    const server = await start({ faults: ['no usage'] })
    expect((await stream(server)).text).not.toContain('usage')
    expect(
      (await post(server, '/v1/chat/completions', { messages, max_tokens: 2 })).json.usage,
    ).toBeUndefined()
  })

  it('frozen and dropped metrics', async () => {
    const server = await start({ faults: ['freeze metrics at 0s'] })
    const before = sumOf(await scrape(server), 'vllm:generation_tokens_total')
    await stream(server)
    expect(sumOf(await scrape(server), 'vllm:generation_tokens_total')).toBe(before)
    const dropping = await start({ faults: ['drop metrics at 0s'] })
    expect((await fetch(`${dropping.url}/metrics`)).status).toBe(503)
  })

  it('a stall: the stream stands still and goes on', async () => {
    const server = await start({ faults: ['stall 400ms at 100ms'] })
    const begin = performance.now()
    const answer = await stream(server, { max_tokens: 150 })
    expect(tokensIn(answer.text)).toBe(150)
    expect(performance.now() - begin).toBeGreaterThan(400)
  })

  it('a pool that shrinks ends what no longer fits with an error object', async () => {
    const server = await start({ config: { ...quick, numGpuBlocks: 201 }, faults: ['kv -95% at 1s'] })
    const answer = await stream(server, { max_tokens: 3000 })
    expect(answer.text).toContain('data: {"error":{')
  })
})
