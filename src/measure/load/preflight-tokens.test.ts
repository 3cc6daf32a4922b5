import { describe, expect, test } from 'vitest'
import { parsePrometheusText } from '../wire/prometheus-text.ts'
import { learnTokens } from '../tokens/learn-tokens.ts'
import type { TokenCounter } from '../tokens/token-counter.ts'
import { tokenSources } from './preflight-tokens.ts'
import { countByServer, preflight } from './preflight.ts'
import type { PreflightTarget, ProbeAnswer, SendOnce } from './probe.ts'

interface Body {
  readonly messages?: readonly { readonly content: string }[]
  readonly prompt?: string
  readonly stream?: boolean
  readonly stream_options?: unknown
}

const target: PreflightTarget = { url: 'x', api: 'chat', endpointPath: '/v1/chat/completions', model: 'm' }

/** A server that counts a text's words, and 8 more for a chat. What it offers of that is given. */
function server(offers: { tokenize: boolean; streamUsage: boolean; usage: boolean }): SendOnce {
  const json = (value: unknown, status = 200): ProbeAnswer => ({
    status,
    header: () => undefined,
    bodyText: typeof value === 'string' ? value : JSON.stringify(value),
    fields: null,
  })
  return ({ path, body: text }) => Promise.resolve(answer(path, JSON.parse(text ?? '{}') as Body))
  function answer(path: string, body: Body): ProbeAnswer {
    if (path === '/tokenize' && offers.tokenize) return json({ count: body.prompt?.split(' ').length })
    if (path !== target.endpointPath) return json({}, 404)
    const usage = {
      prompt_tokens: (body.messages?.[0]?.content.split(' ').length ?? 0) + 8,
      completion_tokens: 1,
    }
    if (body.stream !== true) return json({ choices: [], ...(offers.usage && { usage }) })
    if (body.stream_options !== undefined && !offers.streamUsage)
      return json({ detail: 'stream_options?' }, 400)
    const events = [
      { choices: [{ delta: { content: 'w' } }] },
      ...(offers.streamUsage ? [{ choices: [], usage }] : []),
    ]
    return json(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
  }
}

async function learnt(sendOnce: SendOnce): Promise<TokenCounter> {
  const found = await preflight({ sendOnce, parseMetrics: (text) => parsePrometheusText(text) }, target)
  return learnTokens(tokenSources(sendOnce, target, found))
}

describe('tokenSources', () => {
  const rows: [sentence: string, offers: Parameters<typeof server>[0], kind: string, exact: boolean][] = [
    [
      '/tokenize, and the template from the probe',
      { tokenize: true, streamUsage: true, usage: true },
      'server-tokenize',
      true,
    ],
    [
      '/tokenize, and the template from an unstreamed answer',
      { tokenize: true, streamUsage: false, usage: true },
      'server-tokenize',
      true,
    ],
    ['/tokenize alone', { tokenize: true, streamUsage: false, usage: false }, 'server-tokenize', false],
    [
      'usage of unstreamed answers alone',
      { tokenize: false, streamUsage: false, usage: true },
      'calibrated',
      true,
    ],
    ['nothing', { tokenize: false, streamUsage: false, usage: false }, 'unknown', false],
  ]
  test.each(rows)('%s', async (_sentence, offers, kind, exact) => {
    const counter = await learnt(server(offers))
    expect(counter).toMatchObject({ kind, exact })
    expect(counter.words.leadTokens).toBe(exact ? 9 : 1)
  })

  test('a server without /tokenize counts nothing', async () => {
    const none = server({ tokenize: false, streamUsage: true, usage: true })
    expect(await countByServer(none, target, 'm', 'text')).toBeNull()
  })
})
