import { describe, expect, it } from 'vitest'
import { histogramOf } from '../../src/measure/wire/prometheus-histogram.ts'
import { sumOf } from '../../src/measure/wire/prometheus-counter.ts'
import { quick, type Reply, scrape, start, stream } from './kit.ts'

const drafting = { ...quick, speculative: { draftTokens: 3, acceptRates: [1, 1, 1] } }

/** Words of each event with content, the running total that it carries, and its finish reason. */
function eventsOf(text: string): { words: number; total: number | undefined; finish: string | null }[] {
  return text
    .trim()
    .split('\n\n')
    .filter((event) => event.startsWith('data: {') && !event.includes('"choices":[]'))
    .map((event) => {
      const json = JSON.parse(event.slice(6)) as Partial<Reply> & {
        choices: { delta: { content: string }; finish_reason: string | null }[]
      }
      const content = json.choices[0]?.delta.content ?? ''
      return {
        words: content.split(' ').filter((word) => word !== '').length,
        total: json.usage?.completion_tokens,
        finish: json.choices[0]?.finish_reason ?? null,
      }
    })
    .filter(({ words }) => words > 0)
}

describe('speculative decoding over HTTP', () => {
  it('the tokens of a step are one event, with the running total right on each and the end at the limit', async () => {
    const server = await start({ config: drafting })
    const { text, ended } = await stream(server, {
      max_tokens: 10,
      stream_options: { include_usage: true, continuous_usage_stats: true },
    })
    expect(ended).toBe('whole')
    expect(eventsOf(text)).toEqual([
      { words: 1, total: 1, finish: null },
      { words: 4, total: 5, finish: null },
      { words: 4, total: 9, finish: null },
      { words: 1, total: 10, finish: 'length' },
    ])
  })

  it('the text is the one without drafts', async () => {
    const words = async (config: typeof quick): Promise<string> => {
      const { text } = await stream(await start({ config }), { max_tokens: 10 })
      return [...text.matchAll(/"content":"([^"]*)"/g)].map((found) => found[1]).join('')
    }
    expect(await words(drafting)).toBe(await words(quick))
  })

  it('a cut in the middle of an event leaves what came before it', async () => {
    const answer = await stream(await start({ config: drafting, faults: ['cut stream after token 7'] }))
    expect(eventsOf(answer.text).map(({ words }) => words)).toEqual([1, 4, 2])
    expect(answer.ended).toBe('broken')
  })

  it('/metrics counts drafts as vLLM does, and one gap an event', async () => {
    const server = await start({ config: drafting })
    await stream(server, { max_tokens: 10 })
    const page = await scrape(server)
    expect(sumOf(page, 'vllm:spec_decode_num_drafts_total')).toBe(3)
    expect(sumOf(page, 'vllm:spec_decode_num_draft_tokens_total')).toBe(9)
    expect(sumOf(page, 'vllm:spec_decode_num_accepted_tokens_total')).toBe(9)
    expect(sumOf(page, 'vllm:spec_decode_num_accepted_tokens_per_pos_total', { position: '2' })).toBe(3)
    expect(sumOf(page, 'vllm:generation_tokens_total')).toBe(10)
    expect(histogramOf(page, 'vllm:inter_token_latency_seconds')?.count).toBe(3)
    expect(sumOf(await scrape(await start()), 'vllm:spec_decode_num_drafts_total')).toBeNull()
  })
})
