import { describe, expect, test } from 'vitest'
import { describeError, PlimsollError } from '../../base/errors.ts'
import { askModels, chooseModel } from './preflight-models.ts'
import { probeDialect } from './probe-dialect.ts'
import type { PreflightTarget, ProbeAnswer, ProbeFailure, SendOnce } from './probe.ts'

const target: PreflightTarget = {
  url: 'http://localhost:8001',
  api: 'chat',
  endpointPath: '/v1/chat/completions',
  model: null,
  key: { env: 'OPENAI_API_KEY', present: true },
}

type Headers = Readonly<Record<string, string>>

function answer(status: number, bodyText: string, headers: Headers = {}): ProbeAnswer {
  return { status, bodyText, header: (name) => headers[name], fields: null }
}

async function stopped(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof PlimsollError)) throw new Error(`no PlimsollError but ${String(error)}`)
  return describeError(error)
}

const always =
  (given: ProbeAnswer | ProbeFailure): SendOnce =>
  () =>
    Promise.resolve(given)

/** What the list of models stops with, where no --model is given. */
const ofModels = (given: ProbeAnswer | ProbeFailure): Promise<string> =>
  stopped(askModels(always(given), target).then((models) => chooseModel(models, target)))

/** What the small request stops with. */
const ofProbe = (given: ProbeAnswer | ProbeFailure): Promise<string> =>
  stopped(probeDialect(always(given), target, { model: 'm', text: 'hello', models: [] }))

const bodies: readonly [string, string, string][] = [
  ['an empty body', '', 'without a message'],
  ['OpenAI’s error', '{"error":{"message":"no such thing","type":"x"}}', 'no such thing'],
  ['FastAPI’s detail', '{"detail":"no such thing"}', 'no such thing'],
  ['FastAPI’s list of details', '{"detail":[{"loc":["body"],"msg":"no such thing"}]}', 'no such thing'],
  ['a lone message', '{"message":"no such thing"}', 'no such thing'],
  ['an error as text', '{"error":"no such thing"}', 'no such thing'],
  ['JSON of something else', '{"hello":"no such thing"}', 'no such thing'],
  ['plain text', 'no such\n  thing', 'no such thing'],
  ['a page', '<html><style>a{}</style><h1>no such</h1> thing</html>', 'no such thing'],
  ['a body cut in the middle', '{"error":{"message":"no such thing', 'no such thing'],
  ['a very long body', `no such thing ${'x'.repeat(100_000)}`, 'no such thing'],
  ['bytes that are no text', '\u0000\u001B[2J\uFFFD no such thing', 'no such thing'],
]

/** Status, code, sentence, and a word of what to do. */
const statuses: readonly [number, string, string, RegExp][] = [
  [204, 'PLIM_PREFLIGHT', 'with nothing to read', /inference server itself/],
  [206, 'PLIM_PREFLIGHT', 'with nothing to read', /inference server itself/],
  [301, 'PLIM_PREFLIGHT', 'elsewhere', /redirects are not followed/],
  [302, 'PLIM_PREFLIGHT', 'elsewhere', /redirects are not followed/],
  [307, 'PLIM_PREFLIGHT', 'elsewhere', /redirects are not followed/],
  [308, 'PLIM_PREFLIGHT', 'elsewhere', /redirects are not followed/],
  [401, 'PLIM_AUTH', 'refuses the key', /--key-env/],
  [402, 'PLIM_PREFLIGHT', 'wants to be paid', /credit/],
  [403, 'PLIM_AUTH', 'refuses the key', /--key-env/],
  [404, 'PLIM_NOT_FOUND', 'there is no /v1/', /--endpoint/],
  [405, 'PLIM_NOT_FOUND', 'there is no /v1/', /--endpoint/],
  [407, 'PLIM_AUTH', 'the proxy before', /HTTPS_PROXY/],
  [408, 'PLIM_PREFLIGHT', 'refuses /v1/', /tells why/],
  [410, 'PLIM_NOT_FOUND', 'there is no /v1/', /--endpoint/],
  [413, 'PLIM_PREFLIGHT', 'refuses /v1/', /tells why/],
  [429, 'PLIM_PREFLIGHT', 'refuses requests before any load', /come to rest/],
  [500, 'PLIM_PREFLIGHT', 'fails at /v1/', /its log says why/],
  [502, 'PLIM_PREFLIGHT', 'nothing behind it', /up, and its model loaded/],
  [503, 'PLIM_PREFLIGHT', 'refuses requests before any load', /come to rest/],
  [504, 'PLIM_PREFLIGHT', 'nothing behind it', /up, and its model loaded/],
  [529, 'PLIM_PREFLIGHT', 'refuses requests before any load', /come to rest/],
  [599, 'PLIM_PREFLIGHT', 'fails at /v1/', /its log says why/],
]
/** The probe asks these again more plainly; they stop it in the end. */
const plainer: typeof statuses = [
  [400, 'PLIM_PREFLIGHT', 'refuses /v1/', /tells why/],
  [422, 'PLIM_PREFLIGHT', 'refuses /v1/', /tells why/],
  [501, 'PLIM_PREFLIGHT', 'fails at /v1/', /its log says why/],
]

describe.each([
  ['the list of models', ofModels],
  ['the small request', ofProbe],
] as const)('%s: every status with every body', (_, ask) => {
  const outcomes = [...statuses, ...plainer].flatMap(([status, code, sentence, advice]) =>
    bodies.map(([name, body, text]) => ({ status, code, sentence, advice, name, body, text })),
  )
  test.each(outcomes)('$status with $name', async ({ status, code, sentence, advice, body, text }) => {
    const told = await ask(answer(status, body))
    expect(told).toMatch(new RegExp(`^${code}  `))
    expect(told).toContain(sentence)
    expect(told).toContain(String(status))
    expect(told).toMatch(advice)
    expect(told).not.toContain('does not say which model')
    expect(told.length).toBeLessThan(900)
    // A redirect's body is a page that says the same.
    if (status >= 400) expect(told).toContain(text)
  })

  test.each([
    ['connection_refused', 'connect ECONNREFUSED 10.0.0.1:80', 'PLIM_CONNECT'],
    ['connection_reset', 'read ECONNRESET', 'PLIM_CONNECT'],
    ['timeout_connect', 'no connection', 'PLIM_CONNECT'],
    ['timeout_total', 'no answer within 60 s', 'PLIM_CONNECT'],
    ['truncated', 'closed inside the response', 'PLIM_CONNECT'],
    ['protocol', 'not HTTP', 'PLIM_CONNECT'],
    ['dns', 'getaddrinfo ENOTFOUND a', 'PLIM_CONNECT'],
    ['tls', 'self-signed certificate', 'PLIM_TLS'],
    ['something_new', 'never seen', 'PLIM_CONNECT'],
  ])('no answer at all: %s', async (kind, message, code) => {
    expect(await ask({ failure: { kind, message } })).toMatch(new RegExp(`^${code}  .*\\S\\n`))
  })
})

describe('a list of models that is none', () => {
  test.each([
    ['an empty body', '', 'is not a list of models: it is empty'],
    ['an empty list', '{"data":[]}', '/v1/models is empty'],
    [
      'an error inside a 200',
      '{"error":{"message":"still starting"}}',
      'is not a list of models: still starting',
    ],
    ['text', 'ok', 'is not a list of models: ok'],
    ['a number', '7', 'is not a list of models: 7'],
    ['null', 'null', 'is not a list of models: null'],
    ['entries without names', '{"data":[{"object":"model"},3,null]}', '/v1/models is empty'],
  ])('%s', async (_, body, told) => {
    const sentence = await ofModels(answer(200, body))
    expect(sentence).toContain('does not say which model it serves')
    expect(sentence).toContain(told)
  })

  test.each([429, 500, 503, 302])('with a model given, %i at the list does not matter', async (status) => {
    const named = { ...target, model: 'm' }
    const models = await askModels(always(answer(status, 'no')), named)
    expect(chooseModel(models, named)).toBe('m')
  })
})

describe('what a server says beside its status', () => {
  test.each<[string, number, Headers, string, string]>([
    ['seconds to wait', 429, { 'retry-after': '7' }, '', 'it asks to wait 7 s'],
    [
      'a date to wait for',
      503,
      { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' },
      '',
      'it asks to wait until Wed, 21 Oct 2026 07:28:00 GMT',
    ],
    ['llama.cpp loads', 503, {}, '{"error":{"message":"Loading model"}}', 'is still loading its model (503)'],
    [
      'the same server on TLS',
      301,
      { location: 'https://llm.example.com/v1/models' },
      '',
      'redirects are not followed under load: --url https://llm.example.com/v1',
    ],
    [
      'a path before it',
      308,
      { location: 'https://llm.example.com/eu/v1/models/' },
      '',
      '--url https://llm.example.com/eu/v1',
    ],
    [
      'a login',
      302,
      { location: 'https://login.example.com/?next=%2Fv1%2Fmodels' },
      '<a>Found</a>',
      'elsewhere: to https://login.example.com/?next=%2Fv1%2Fmodels (302)',
    ],
    ['nowhere', 302, {}, '', 'does not say where (302)'],
    ['somewhere relative', 302, { location: '/login' }, '', 'elsewhere: to /login (302)'],
    ['somewhere endless', 302, { location: `/${'a'.repeat(9000)}` }, '', `${'a'.repeat(198)}… (302)`],
  ])('%s', async (_, status, headers, body, told) => {
    expect(await ofModels(answer(status, body, headers))).toContain(told)
  })
})

describe('a 404 by a server that lists its models', () => {
  const probing = (body: string): Promise<string> =>
    stopped(probeDialect(always(answer(404, body)), target, { model: 'm', text: 'hello', models: ['m'] }))

  test('about a model that it lists blames the path, not the name', async () => {
    const told = await probing('{"error":{"message":"The model `m` does not exist."}}')
    expect(told).toBe(
      [
        'PLIM_NOT_FOUND  /v1/models lists the model m, and POST /v1/chat/completions answers 404 for it',
        '  expected an answer of chat completions by the model that is listed',
        '  received 404: The model `m` does not exist.',
        '  does the model serve another API or path? --api completions, or --endpoint PATH; behind a router, is a worker up that has it?',
      ].join('\n'),
    )
  })
})

test('a server that fails each time says how often it was asked', async () => {
  expect(await ofProbe({ ...answer(500, 'boom'), tried: 4 })).toContain(
    'received /v1/chat/completions answers 500, 4 times of 4: boom',
  )
})

test('an answer that breaks off is not blamed on the address', async () => {
  const failure = {
    kind: 'truncated',
    message: 'closed inside the response',
    heard: { events: 4, bytes: 1200 },
    tried: 4,
  }
  const told = await ofProbe({ failure })
  expect(told).toContain('but the answer broke off after 4 events, 1.2 kB')
  expect(told).toContain('received closed inside the response (truncated), 4 times of 4')
  expect(told).not.toMatch(/TLS|https/)
})
