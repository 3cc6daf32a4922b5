import { PlimsollError } from '../../base/errors.ts'
import { apis } from '../wire/api.ts'
import { notAnLlmServer, unreachable } from './preflight-errors.ts'
import { refusedByStatus, said, unauthorized } from './preflight-status.ts'
import {
  errorText,
  isFailure,
  pathsBeside,
  type PreflightTarget,
  type ProbeAnswer,
  type SendOnce,
} from './probe.ts'

/** What `GET /v1/models` says. */
export interface ServerModels {
  readonly names: readonly string[]
  /** Longest prompt and answer together, tokens, by model (vLLM and SGLang say it; llama.cpp a slot's context). */
  readonly maxModelLen: Readonly<Record<string, number>>
  /** Why there is no list, where there is none. */
  readonly missing: string | null
  /** The answer, where its status is not 200. */
  readonly refusal: ProbeAnswer | null
  readonly serverHeader: string | null
}

/**
 * Asks for the models. A server without the list is none the worse (`missing` says why); one that does not answer, refuses the
 * key, or shows a web page instead is.
 * @throws PlimsollError PLIM_CONNECT, PLIM_TLS, PLIM_AUTH, PLIM_PREFLIGHT.
 */
export async function askModels(sendOnce: SendOnce, target: PreflightTarget): Promise<ServerModels> {
  const path = pathsBeside(target.endpointPath).models
  const answer = await sendOnce({ method: 'GET', path, body: null, stream: false, needed: true })
  if (isFailure(answer)) throw unreachable(answer.failure, target, { method: 'GET', path })
  if (answer.status === 401 || answer.status === 403) throw unauthorized(answer, target)
  const nothing = {
    names: [],
    maxModelLen: {},
    refusal: answer.status === 200 ? null : answer,
    serverHeader: answer.header('server') ?? null,
  }
  if (answer.status !== 200) {
    return { ...nothing, missing: `${path} answers ${said(answer)}` }
  }
  const entries = entriesOf(answer.bodyText)
  if (entries === null) {
    if (/^\s*</.test(answer.bodyText)) {
      throw notAnLlmServer(
        target,
        `${path} is a web page`,
        errorText(answer.bodyText) ?? 'a page without words',
      )
    }
    return {
      ...nothing,
      missing: `${path} is not a list of models: ${errorText(answer.bodyText) ?? 'it is empty'}`,
    }
  }
  const maxModelLen: Record<string, number> = {}
  for (const { id, limit } of entries) if (limit !== null) maxModelLen[id] = limit
  return {
    ...nothing,
    names: entries.map(({ id }) => id),
    maxModelLen,
    missing: entries.length === 0 ? `${path} is empty` : null,
  }
}

/**
 * The model to ask for: the given one, or the server's first (servers list LoRA adapters behind their base model).
 * @throws PlimsollError PLIM_PREFLIGHT where it is neither given nor to be learnt, PLIM_AUTH and PLIM_NOT_FOUND where a status says why.
 */
export function chooseModel(models: ServerModels, target: PreflightTarget): string {
  // Native APIs have no field for it: any name does.
  const model = target.model ?? models.names[0] ?? (apis[target.api].native ? target.api : undefined)
  if (model !== undefined) return model
  if (models.refusal !== null) {
    throw refusedByStatus(models.refusal, target, {
      path: pathsBeside(target.endpointPath).models,
      expected: 'an OpenAI-compatible server, which lists its models there',
      around:
        target.typedEndpoint === undefined
          ? 'a server that lists no models needs --model NAME'
          : 'models are looked for beside it: a server that lists none there needs --model NAME',
    })
  }
  throw new PlimsollError('PLIM_PREFLIGHT', `${target.url} does not say which model it serves`, {
    expected: 'a list of models, or --model',
    received: models.missing ?? 'nothing',
    hint: '--model NAME',
  })
}

function entriesOf(
  bodyText: string,
): readonly { readonly id: string; readonly limit: number | null }[] | null {
  let parsed: unknown
  try {
    parsed = JSON.parse(bodyText)
  } catch {
    return null
  }
  const list = Array.isArray(parsed) ? parsed : (parsed as { data?: unknown } | null)?.data
  if (!Array.isArray(list)) return null
  return list.flatMap((entry: unknown) => {
    if (typeof entry !== 'object' || entry === null) return []
    const { id, max_model_len, context_length, meta } = entry as Record<string, unknown>
    if (typeof id !== 'string') return []
    const slot = (meta as { n_ctx?: unknown } | null | undefined)?.n_ctx
    const limit = [max_model_len, context_length, slot].find(
      (value) => Number.isSafeInteger(value) && (value as number) > 0,
    )
    return [{ id, limit: (limit as number | undefined) ?? null }]
  })
}
