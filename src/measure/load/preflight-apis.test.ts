import { describe, expect, it } from 'vitest'
import { parsePrometheusText } from '../wire/prometheus-text.ts'
import type { ApiKind } from '../wire/api.ts'
import { resolveEndpoint } from '../wire/target-url.ts'
import { preflight } from './preflight.ts'
import { tokenSources } from './preflight-tokens.ts'
import {
  pathsBeside,
  type PreflightTarget,
  type ProbeAnswer,
  type ProbeFields,
  type ProbeRequest,
} from './probe.ts'

const read: ProbeFields = {
  ttft_ms: 5,
  prompt_tokens: 23,
  completion_tokens: 8,
  tokens_source: 'server',
  event_tokens: null,
  n_output_chunks: 8,
  finish_reason: 'length',
  flags: [],
  error_kind: null,
  error_message: null,
}
const whole: ProbeFields = { ...read, ttft_ms: null, n_output_chunks: 0 }

function target(api: ApiKind, stream = true): PreflightTarget {
  const { pathname } = resolveEndpoint('http://h', api, stream)
  return { url: 'http://h', api, stream, endpointPath: pathname, model: null }
}

/** A server of one endpoint: it refuses the fields `refuses` by name, and lists the models that it has. */
function server(
  asked: PreflightTarget,
  fields: ProbeFields,
  refuses: readonly string[] = [],
  models = ['m'],
) {
  const seen: ProbeRequest[] = []
  return {
    seen,
    sendOnce: (request: ProbeRequest): Promise<ProbeAnswer> => {
      seen.push(request)
      const of = (status: number, body: unknown, its: ProbeFields | null = null): Promise<ProbeAnswer> =>
        Promise.resolve({ status, header: () => undefined, bodyText: JSON.stringify(body), fields: its })
      if (request.path.endsWith('/v1/models') && models.length > 0)
        return of(200, { data: models.map((id) => ({ id })) })
      const answers = [asked.endpointPath, '/generate'].includes(request.path)
      if (!answers) return of(404, { error: { message: 'not here' } })
      const bad = refuses.find((name) => request.body?.includes(`"${name}"`))
      if (bad !== undefined) return of(400, { error: { message: `${bad}: Extra inputs are not permitted` } })
      return of(200, {}, request.answer === true ? fields : null)
    },
  }
}

const deps = { parseMetrics: (text: string) => parsePrometheusText(text) }

describe('where each API is asked', () => {
  it.each([
    ['responses', 'http://h:1', '/v1/responses', '/v1/models', '/metrics'],
    ['anthropic', 'http://h:1/v1', '/v1/messages', '/v1/models', '/metrics'],
    ['anthropic', 'http://h:1/v1/messages', '/v1/messages', '/v1/models', '/metrics'],
    ['tgi', 'http://h:1', '/generate_stream', '/v1/models', '/metrics'],
    ['tgi', 'http://h:1/tgi/v1/', '/tgi/generate_stream', '/tgi/v1/models', '/tgi/metrics'],
    ['llamacpp', 'http://h:1/completion', '/completion', '/v1/models', '/metrics'],
    ['embeddings', 'http://h:1/llm', '/llm/v1/embeddings', '/llm/v1/models', '/llm/metrics'],
    ['chat', 'http://h:1/v1/completions', '/v1/chat/completions', '/v1/models', '/metrics'],
  ] as const)('%s at %s', (api, url, path, models, metrics) => {
    const { pathname } = resolveEndpoint(url, api)
    expect(pathname).toBe(path)
    expect(pathsBeside(pathname)).toMatchObject({ models, metrics })
  })

  it('TGI in one piece is another path', () => {
    expect(resolveEndpoint('http://h', 'tgi', false).pathname).toBe('/generate')
  })
})

describe('the preflight of other APIs', () => {
  it.each([
    ['responses', [], { ignoreEos: true, minTokens: true }],
    ['anthropic', [], { ignoreEos: true, minTokens: true }],
    ['anthropic', ['ignore_eos', 'min_tokens'], { ignoreEos: false, minTokens: false }],
    ['llamacpp', [], { ignoreEos: true, minTokens: false }],
    ['tgi', [], { ignoreEos: false, minTokens: false }],
  ] as const)('%s that refuses [%s]', async (api, refuses, dialect) => {
    const asked = target(api)
    const learnt = await preflight({ ...deps, ...server(asked, read, refuses) }, asked)
    expect(learnt).toMatchObject({ model: 'm', acceptsUsage: true, refused: refuses, dialect })
    expect(learnt.warnings.map(({ kind }) => kind)).toEqual(['metrics_unavailable'])
  })

  it('a native API without a list of models needs no name', async () => {
    const asked = target('tgi')
    expect((await preflight({ ...deps, ...server(asked, read, [], []) }, asked)).model).toBe('tgi')
  })

  it.each(['chat', 'responses', 'anthropic', 'tgi', 'llamacpp'] as const)(
    '%s in one piece: nothing is wrong with an answer without events',
    async (api) => {
      const asked = target(api, false)
      const its = server(asked, whole)
      const learnt = await preflight({ ...deps, ...its }, asked)
      expect(learnt).toMatchObject({ acceptsUsage: true, notStreamed: false })
      const probe = its.seen.find(({ answer }) => answer === true)
      expect(probe).toMatchObject({ stream: false })
      expect(probe?.body).not.toContain('stream_options')
    },
  )

  it('embeddings have no tokens that a server could tell', async () => {
    const asked = target('embeddings', false)
    const none: ProbeFields = { ...whole, completion_tokens: null, tokens_source: null }
    const learnt = await preflight({ ...deps, ...server(asked, none) }, asked)
    expect(learnt.warnings.map(({ kind }) => kind)).toEqual(['metrics_unavailable'])
  })

  it.each([
    ['anthropic', '/v1/messages'],
    ['tgi', '/generate'],
  ] as const)('%s counts a prompt by an answer in one piece', async (api, path) => {
    const asked = target(api)
    const its = server(asked, read)
    const learnt = await preflight({ ...deps, ...its }, asked)
    expect(await tokenSources(its.sendOnce, asked, learnt).usage('three words here')).toBe(23)
    expect(its.seen.at(-1)).toMatchObject({ path, stream: false })
  })
})
