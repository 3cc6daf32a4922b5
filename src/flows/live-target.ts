import { setTimeout } from 'node:timers/promises'
import type { Warning } from '../base/warnings.ts'
import type { LoadTarget } from '../measure/load/load-options.ts'
import { preflight, type Preflight } from '../measure/load/preflight.ts'
import { failuresWarning, retrying } from '../measure/load/preflight-retries.ts'
import { tokenSources } from '../measure/load/preflight-tokens.ts'
import { pathsBeside, type PreflightTarget, type SendOnce } from '../measure/load/probe.ts'
import { learnTokens } from '../measure/tokens/learn-tokens.ts'
import type { TokenCounter } from '../measure/tokens/token-counter.ts'
import { readTokenizer } from '../measure/tokens/read-tokenizer.ts'
import { errorWithoutSecrets } from '../measure/record/redact.ts'
import { parsePrometheusText } from '../measure/wire/prometheus-text.ts'
import { apis, isStreamed } from '../measure/wire/api.ts'
import { chooseProxy, isLoopback } from '../measure/wire/proxy-choice.ts'
import { resolveEndpoint, splitSocket, withoutCredential } from '../measure/wire/target-url.ts'
import { fillHeaders } from '../measure/workload/header-template.ts'
import type { Dialect } from '../measure/workload/request-body.ts'
import type { RequestTemplates } from '../measure/workload/template-check.ts'
import { spawnEngineProcess, type EngineChild } from '../simulate/engine/server/engine-child.ts'
import { readEngineSettings } from '../simulate/engine/server/engine-settings.ts'
import { credentialsOf } from './credentials.ts'
import { isIdle, openMetrics, type EngineMetrics } from './engine-metrics.ts'
import type { FlowDeps } from './flow-deps.ts'
import type { Asked } from './request-templates.ts'
import type { RunConfig } from './options/run-config.ts'
import type { ServerFacts } from './run-facts.ts'
import { openAsker } from './send-once.ts'

/** A server that answered the preflight, and all that was learnt of it. One for a run, one for all points of a sweep. */
export interface LiveTarget {
  /** The address as it was typed: what the next command repeats. */
  readonly typedUrl: string
  readonly load: LoadTarget
  readonly model: string
  readonly dialect: Dialect
  readonly tokens: TokenCounter
  readonly templates: RequestTemplates
  readonly server: ServerFacts
  readonly metrics: EngineMetrics
  /** Texts that must never be stored or printed. */
  readonly secrets: readonly string[]
  readonly warnings: readonly Warning[]
  close(): Promise<void>
}

/**
 * Starts the embedded engine where no server is named, asks the server what it is and understands, and learns how long prompts
 * are on it.
 * @throws PlimsollError PLIM_URL, PLIM_CONNECT, PLIM_TLS, PLIM_AUTH, PLIM_NOT_FOUND, PLIM_PREFLIGHT, PLIM_ENGINE: why it cannot be loaded.
 */
export async function openTarget(config: RunConfig, deps: FlowDeps, asked: Asked): Promise<LiveTarget> {
  const { key, signer, secrets } = credentialsOf(config, deps.env, asked)
  const engine = config.target.kind === 'embedded' ? await startEngine(config.target, deps) : null
  const typedUrl = engine?.url ?? (config.target.kind === 'server' ? config.target.url : '')
  const { url, socketPath } = splitSocket(typedUrl)
  const closers: (() => Promise<void>)[] = engine === null ? [] : [() => engine.stop()]
  const close = async (): Promise<void> => {
    for (const closer of closers.reverse()) await closer()
  }
  try {
    const endpoint = endpointOf(url, config)
    const headers = {
      'content-type': 'application/json',
      ...(config.api === 'anthropic' && { 'anthropic-version': anthropicVersion }),
      // A signature is the credential then.
      ...(signer === null ? keyHeader(config, key) : {}),
      ...asked.headers,
    }
    const proxy = socketPath !== null ? null : chooseProxy(endpoint, proxyEnvironment(deps))
    const tls = {
      insecure: config.insecure,
      http2: config.http2,
      socketPath,
      ...(proxy === null ? {} : { proxy }),
      ...(config.caFile === null ? {} : { ca: await deps.files.readText(config.caFile) }),
    }
    const timeoutMs = Math.min(
      mostPreflightMs,
      config.timeouts.totalMs ?? Infinity,
      config.timeouts.firstTokenMs ?? Infinity,
    )
    const asker = await openAsker(endpoint, {
      clock: deps.clock,
      api: config.api,
      headers: { ...headers, ...sampleHeaders(config, asked) },
      tls,
      timeoutMs,
      signer,
      wallClock: deps.wallClock,
    })
    closers.push(() => asker.close())
    const { body } = asked.templates
    const probed: PreflightTarget = {
      url: typedUrl,
      api: config.api,
      stream: isStreamed(config.api, config.stream),
      endpointPath: endpoint.pathname + endpoint.search,
      ...(config.endpoint === null ? {} : { typedEndpoint: config.endpoint }),
      model: config.model,
      key: { env: config.keyEnv, present: key !== '' },
      ...(body === null ? {} : { custom: { template: body, facts: asked.sample } }),
    }
    const parseMetrics = (
      text: string,
      contentType: string | undefined,
    ): ReturnType<typeof parsePrometheusText> =>
      parsePrometheusText(text, contentType === undefined ? {} : { contentType })
    const asking = saidToWait(asker.askUntil(deps.signal), { deps, host: endpoint.host, mostMs: timeoutMs })
    const { sendOnce, failures } = retrying(asking, (ms) => pause(ms, deps.signal))
    const learnt = await preflight({ sendOnce, parseMetrics }, probed)
    const tokenizer =
      config.tokenizerPath === null
        ? null
        : await readTokenizer(await deps.files.readText(config.tokenizerPath), config.tokenizerPath)
    const tokens = await learnTokens(tokenSources(sendOnce, probed, learnt), tokenizer)
    const beside = learnt.engine === null ? null : { asker, path: pathsBeside(probed.endpointPath).metrics }
    const metrics = await openMetrics(config.metricsUrls, beside, deps)
    const failed = failuresWarning(failures())
    closers.push(() => metrics.close())
    return {
      typedUrl,
      load: {
        url: endpoint.href,
        path: endpoint.pathname + endpoint.search,
        api: config.api,
        headers,
        tls,
        signer,
      },
      model: learnt.model,
      dialect: learnt.dialect,
      tokens,
      templates: asked.templates,
      server: await serverFacts(config, learnt, metrics, engine),
      metrics,
      secrets,
      warnings: [
        ...learnt.warnings.filter(
          ({ kind }) => kind !== 'metrics_unavailable' || config.metricsUrls.length === 0,
        ),
        ...(failed === null ? [] : [failed]),
        ...targetWarnings(config, endpoint, key, engine !== null),
      ],
      close,
    }
  } catch (error) {
    await close()
    throw errorWithoutSecrets(error, secrets)
  }
}

/** The headers of a first request, for the questions before the run: a gateway may want them of these too. */
function sampleHeaders({ model }: RunConfig, { templates, sample }: Asked): Readonly<Record<string, string>> {
  return fillHeaders(templates.headers, { ...sample, model: model ?? '', outputTokens: null })
}

/** The only version of the Messages API there is (docs.anthropic.com/en/api/versioning). */
const anthropicVersion = '2023-06-01'

/** The key as the API wants it: Anthropic's own in a header of its own name, everyone else's as a bearer token. */
function keyHeader({ api, keyEnv }: RunConfig, key: string): Readonly<Record<string, string>> {
  if (key === '') return {}
  return api === 'anthropic' && keyEnv === 'ANTHROPIC_API_KEY'
    ? { 'x-api-key': key }
    : { authorization: `Bearer ${key}` }
}

/** The longest that one question of the preflight may take, where the run's own limits are not shorter. */
const mostPreflightMs = 60_000

/** Until then nobody is told that an answer is awaited, ms. */
const silentMs = 3000

/** Nobody should sit before a silent terminal: it is said what is awaited, since when, and how long at most. */
function saidToWait(
  sendOnce: SendOnce,
  { deps, host, mostMs }: { readonly deps: FlowDeps; readonly host: string; readonly mostMs: number },
): SendOnce {
  return async (request) => {
    const fromMs = deps.clock.nowMs()
    const what = `waiting for ${host} to answer ${request.method} ${request.path} before any load`
    const timer = setInterval(() => {
      const elapsedMs = deps.clock.nowMs() - fromMs
      if (elapsedMs >= silentMs) deps.onWait?.({ what, elapsedMs, mostMs })
    }, 250)
    try {
      return await sendOnce(request)
    } finally {
      clearInterval(timer)
    }
  }
}

/** Ends early with the run. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => undefined)
}

const proxyVariables = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY']

function proxyEnvironment({ env }: FlowDeps): Record<string, string | undefined> {
  const names = proxyVariables.flatMap((name) => [name, name.toLowerCase()])
  return Object.fromEntries(names.map((name) => [name, env(name)]))
}

function endpointOf(url: string, config: RunConfig): URL {
  const endpoint = resolveEndpoint(url, config.api, isStreamed(config.api, config.stream))
  if (config.endpoint === null) return endpoint
  // A path is one from the root on, with its slash or without.
  const isWhole = /^([a-z]+:\/)?\//i.test(config.endpoint)
  return withoutCredential(new URL(isWhole ? config.endpoint : `/${config.endpoint}`, endpoint))
}

async function startEngine(
  target: Extract<RunConfig['target'], { kind: 'embedded' }>,
  deps: FlowDeps,
): Promise<EngineChild> {
  const settings = readEngineSettings({ port: '0', ...target.settings, fault: target.faults })
  deps.onNotice('no --url: the embedded engine is started and loaded')
  return spawnEngineProcess(settings)
}

async function serverFacts(
  config: RunConfig,
  learnt: Preflight,
  metrics: EngineMetrics,
  engine: EngineChild | null,
): Promise<ServerFacts> {
  const pools = (await metrics.scrape())
    .map((facts) => facts?.kvTokens ?? null)
    .filter((tokens) => tokens !== null)
  const scraped = pools.length === 0 ? null : pools.reduce((sum, tokens) => sum + tokens, 0)
  return {
    engine: engine === null ? (learnt.engine?.engine ?? learnt.server) : null,
    embedded: engine !== null,
    kvTokens: config.kvTokens ?? scraped ?? learnt.kvTokens,
    slots: config.kvTokens === null ? learnt.slots : null,
    maxModelLen: learnt.maxModelLen,
    prefixHitRate: null,
  }
}

function targetWarnings(
  config: RunConfig,
  endpoint: URL,
  key: string,
  embedded: boolean,
): readonly Warning[] {
  const warnings: Warning[] = []
  if (!isStreamed(config.api, config.stream)) {
    warnings.push({
      kind: 'not_streamed',
      message: apis[config.api].generates
        ? 'answers were asked in one piece: E2E and tokens are measured, TTFT, TPOT and gaps are not'
        : 'embeddings have no output tokens: E2E and tokens in are measured, TTFT and TPOT do not exist',
      cause: apis[config.api].generates ? 'asked so by --no-stream' : 'asked so by --api embeddings',
      next: null,
      evidence: { api: config.api },
    })
  }
  if (config.insecure && endpoint.protocol === 'https:') {
    warnings.push({
      kind: 'tls_not_verified',
      message: 'the server’s certificate was not verified (--insecure)',
      cause: null,
      next: '--ca FILE trusts one authority more',
      evidence: {},
    })
  }
  if (key !== '' && endpoint.protocol === 'http:' && !isLoopback(endpoint) && !embedded) {
    warnings.push({
      kind: 'plaintext_key',
      message: `the key of ${config.keyEnv} went over plain HTTP to ${endpoint.host}`,
      cause: null,
      next: 'use https://, or unset the variable if the server needs no key',
      evidence: { host: endpoint.host },
    })
  }
  return warnings
}

/** Waits until the server says that nothing runs or waits, at most `mostMs`; not at all where it does not say. */
export async function settle(target: LiveTarget, deps: FlowDeps, mostMs: number): Promise<void> {
  const untilMs = deps.clock.nowMs() + mostMs
  while (deps.clock.nowMs() < untilMs && !deps.signal.aborted) {
    if (isIdle(await target.metrics.scrape()) !== false) return
    await setTimeout(100)
  }
}
