import type { Warning } from '../../base/warnings.ts'
import { joined } from '../tokens/learn-word-costs.ts'
import { plainWords, promptLead } from '../tokens/vocabulary.ts'
import { apis } from '../wire/api.ts'
import type { Scrape } from '../wire/prometheus-text.ts'
import { readEngineFacts, type EngineFacts } from './metrics-scrape.ts'
import { askModels, chooseModel, type ServerModels } from './preflight-models.ts'
import { probeDialect, type LearntDialect, type ProbedDialect } from './probe-dialect.ts'
import { isFailure, pathsBeside, type PreflightTarget, type SendOnce } from './probe.ts'

export interface PreflightDeps {
  readonly sendOnce: SendOnce
  /** The text of `/metrics` to families (`parsePrometheusText`). */
  readonly parseMetrics: (text: string, contentType: string | undefined) => Scrape
}

/** What a server is, learnt from a handful of small requests before it is loaded. */
export interface Preflight extends LearntDialect {
  readonly model: string
  /** All that the server lists; empty where it lists none. */
  readonly models: readonly string[]
  /** Longest prompt and answer together, tokens; null: not said. */
  readonly maxModelLen: number | null
  /** Whether `/tokenize` counts. */
  readonly tokenize: boolean
  readonly firstTokenMs: number | null
  /** The probe's prompt, and the server's count of it. */
  readonly probe: { readonly text: string; readonly words: number; readonly promptTokens: number | null }
  /** From `/metrics`, null where there is none: engine, KV pool, running and waiting. */
  readonly engine: EngineFacts | null
  /** KV pool, tokens: from `/metrics`, or llama.cpp's slots × their context; null: unknown. */
  readonly kvTokens: number | null
  /** llama.cpp's parallel slots: no more requests than these run at once, whatever their length. Null elsewhere. */
  readonly slots: number | null
  readonly server: string | null
  /** Its answer went on long after what was asked, so what comes at the end of one is not known. */
  readonly endless: boolean
  readonly warnings: readonly Warning[]
}

/** Words of the probe's prompt. Not salted: a probe may hit a cache, and no measured prompt begins like it. */
export const probeWords: readonly string[] = plainWords.slice(0, 16)

/**
 * Learns what the target is and understands: `GET /v1/models`, one short streamed answer (asked again more plainly if it is
 * refused), one `/tokenize`, one `/metrics`.
 * @throws PlimsollError PLIM_CONNECT, PLIM_TLS, PLIM_AUTH, PLIM_NOT_FOUND, PLIM_PREFLIGHT: the run cannot begin, and why.
 */
export async function preflight(deps: PreflightDeps, target: PreflightTarget): Promise<Preflight> {
  const models = await askModels(deps.sendOnce, target)
  const model = chooseModel(models, target)
  const text = promptLead + joined(probeWords)
  const probed = await probeDialect(deps.sendOnce, target, { model, text, models: models.names })
  const tokenize = (await countByServer(deps.sendOnce, target, model, text)) !== null
  const engine = await askMetrics(deps, target)
  const maxModelLen = models.maxModelLen[model] ?? null
  const slots = models.serverHeader === 'llama.cpp' ? await askSlots(deps.sendOnce, target) : null
  return {
    model,
    models: models.names,
    maxModelLen,
    ...probed.learnt,
    tokenize,
    firstTokenMs: probed.firstTokenMs,
    probe: { text, words: probeWords.length, promptTokens: probed.promptTokens },
    engine,
    kvTokens: engine?.kvTokens ?? (slots === null || maxModelLen === null ? null : slots * maxModelLen),
    slots,
    server: models.serverHeader,
    endless: probed.endless,
    warnings: warningsOf(probed, engine, models, target),
  }
}

/**
 * The server's own count of a text, by `/tokenize` as vLLM, SGLang (`prompt`), llama.cpp (`content`) and TGI (`inputs`) take it, beginning
 * marks included; null where there is no such thing.
 */
export async function countByServer(
  sendOnce: SendOnce,
  target: PreflightTarget,
  model: string,
  text: string,
): Promise<number | null> {
  const body = JSON.stringify({
    model,
    prompt: text,
    content: text,
    inputs: text,
    add_special_tokens: true,
    add_special: true,
  })
  const path = pathsBeside(target.endpointPath).tokenize
  const answer = await sendOnce({ method: 'POST', path, body, stream: false, needed: true })
  if (isFailure(answer) || answer.status !== 200) return null
  try {
    const parsed: unknown = JSON.parse(answer.bodyText)
    if (Array.isArray(parsed)) return parsed.length
    const { count, tokens } = parsed as { count?: unknown; tokens?: unknown }
    if (Number.isSafeInteger(count)) return count as number
    return Array.isArray(tokens) ? tokens.length : null
  } catch {
    return null
  }
}

async function askMetrics(deps: PreflightDeps, target: PreflightTarget): Promise<EngineFacts | null> {
  const path = pathsBeside(target.endpointPath).metrics
  const answer = await deps.sendOnce({ method: 'GET', path, body: null, stream: false })
  if (isFailure(answer) || answer.status !== 200) return null
  try {
    return readEngineFacts(deps.parseMetrics(answer.bodyText, answer.header('content-type')))
  } catch {
    // Some other page: as good as none.
    return null
  }
}

/** llama.cpp's parallel slots, by its `/props`. */
async function askSlots(sendOnce: SendOnce, target: PreflightTarget): Promise<number | null> {
  const path = pathsBeside(target.endpointPath).metrics.replace(/metrics$/, 'props')
  const answer = await sendOnce({ method: 'GET', path, body: null, stream: false })
  if (isFailure(answer) || answer.status !== 200) return null
  try {
    const slots = (JSON.parse(answer.bodyText) as { total_slots?: unknown }).total_slots
    return Number.isSafeInteger(slots) && (slots as number) > 0 ? (slots as number) : null
  } catch {
    return null
  }
}

function warningsOf(
  probed: ProbedDialect,
  engine: EngineFacts | null,
  models: ServerModels,
  target: PreflightTarget,
): readonly Warning[] {
  const warnings: Warning[] = []
  if (probed.endless) {
    warnings.push({
      kind: 'answer_endless',
      message: `before the load ${probed.brokeOff}`,
      cause: 'the server obeys neither max_tokens nor its like',
      next: '--timeout-total bounds each request',
      evidence: {},
    })
  }
  if (!probed.learnt.acceptsUsage && apis[target.api].generates) {
    warnings.push({
      kind: 'tokens_not_from_server',
      message:
        probed.brokeOff === null
          ? 'the server sends no usage with a stream, so tokens are counted as events'
          : 'whether the server sends usage with a stream is not known',
      cause: probed.learnt.refused.includes('stream_options')
        ? 'it refuses stream_options'
        : probed.brokeOff === null
          ? null
          : `its answers to the probe broke off: ${probed.brokeOff}`,
      next: '--tokenizer PATH counts them from the text',
      evidence: { refused: probed.learnt.refused.join(', ') },
    })
  }
  if (probed.learnt.notStreamed) {
    warnings.push({
      kind: 'not_streamed',
      message:
        'the server answers in one piece although a stream was asked: no TTFT, TPOT or goodput can be measured',
      cause: 'a proxy that buffers, or a server that does not stream',
      next: 'try the inference server’s own address',
      evidence: {},
    })
  }
  if (engine === null) {
    warnings.push({
      kind: 'metrics_unavailable',
      message: 'the server shows no /metrics: queue, batch and cache hits cannot be reported',
      cause: models.serverHeader === 'llama.cpp' ? 'llama-server shows them with --metrics' : null,
      next: '--metrics-url URL',
      evidence: {},
    })
  }
  return warnings
}
