import { PlimsollError } from '../base/errors.ts'
import type { Warning } from '../base/warnings.ts'
import type { LoadTarget } from '../measure/load/load-options.ts'
import { learnWordCosts } from '../measure/tokens/learn-word-costs.ts'
import { tokenCounter, unknownTokenCounter, type TokenCounter } from '../measure/tokens/token-counter.ts'
import { serverRoot } from '../measure/wire/target-url.ts'
import { fullDialect, type Dialect } from '../measure/workload/request-body.ts'
import { spawnEngineProcess, type EngineChild } from '../simulate/engine/server/engine-child.ts'
import { readEngineSettings } from '../simulate/engine/server/engine-settings.ts'
import type { FlowDeps } from './flow-deps.ts'
import type { RunConfig } from './options/run-config.ts'
import type { ServerFacts } from './run-facts.ts'
import { openAsker, type Asker } from './send-once.ts'

/** A server that answered the preflight, and all that was learnt of it. One for a run, one for all points of a sweep. */
export interface LiveTarget {
  readonly load: LoadTarget
  readonly model: string
  readonly dialect: Dialect
  readonly tokens: TokenCounter
  readonly server: ServerFacts
  /** Texts that must never be stored or printed. */
  readonly secrets: readonly string[]
  readonly warnings: readonly Warning[]
  readonly asker: Asker
  close(): Promise<void>
}

export async function openTarget(config: RunConfig, deps: FlowDeps): Promise<LiveTarget> {
  const engine = config.target.kind === 'embedded' ? await startEngine(config.target, deps) : null
  const url = engine?.url ?? (config.target.kind === 'server' ? config.target.url : '')
  const key = deps.env(config.keyEnv) ?? null
  const headers = {
    'content-type': 'application/json',
    ...(key === null || key === '' || engine !== null ? {} : { authorization: `Bearer ${key}` }),
    ...config.headers,
  }
  const tls = { insecure: config.insecure }
  const asker = await openAsker(serverRoot(url), { clock: deps.clock, headers, tls, timeoutMs: 30_000 })
  const close = async (): Promise<void> => {
    await asker.close()
    await engine?.stop()
  }
  try {
    const answer = await asker.ask({ method: 'GET', path: '/v1/models' })
    if (answer.kind === 'failed') throw new PlimsollError('PLIM_CONNECT', answer.message)
    const models = JSON.parse(answer.body) as { data: { id: string; max_model_len?: number }[] }
    const model = config.model ?? models.data[0]?.id ?? 'default'
    const tokens = await learnTokens(asker, config.api, model)
    return {
      load: { url, api: config.api, headers, tls },
      model,
      dialect: fullDialect,
      tokens,
      server: {
        engine: null,
        embedded: engine !== null,
        kvTokens: config.kvTokens ?? engine?.kvTokens ?? null,
        maxModelLen: models.data[0]?.max_model_len ?? null,
      },
      secrets: key === null || key === '' ? [] : [key],
      warnings: [],
      asker,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function startEngine(
  target: Extract<RunConfig['target'], { kind: 'embedded' }>,
  deps: FlowDeps,
): Promise<EngineChild & { readonly kvTokens: number }> {
  const settings = readEngineSettings({ port: '0', ...target.settings, fault: target.faults })
  deps.onNotice('no --url: the embedded engine is started and loaded')
  const { numGpuBlocks, blockSize } = settings.config
  return { ...(await spawnEngineProcess(settings)), kvTokens: (numGpuBlocks - 1) * blockSize }
}

async function learnTokens(asker: Asker, api: 'chat' | 'completions', model: string): Promise<TokenCounter> {
  const count = async (text: string): Promise<number> => {
    const body =
      api === 'chat' ? { model, messages: [{ role: 'user', content: text }] } : { model, prompt: text }
    const answer = await asker.ask({ method: 'POST', path: '/tokenize', body: JSON.stringify(body) })
    if (answer.kind === 'failed' || answer.status !== 200)
      throw new PlimsollError('PLIM_PREFLIGHT', 'no /tokenize')
    return (JSON.parse(answer.body) as { count: number }).count
  }
  try {
    const words = await learnWordCosts(count)
    const exact = words.worstErrorTokens === 0
    return tokenCounter({
      kind: 'server-tokenize',
      words,
      exact,
      basis: `learnt from /tokenize in ${words.calls} calls`,
    })
  } catch {
    return unknownTokenCounter('the server has no /tokenize')
  }
}
