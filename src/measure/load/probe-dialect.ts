import type { ApiKind } from '../wire/api.ts'
import { asksFor } from '../workload/body-template.ts'
import { type Dialect, plainDialect, requestBody } from '../workload/request-body.ts'
import {
  listedModelNotFound,
  notAnLlmServer,
  refusedProbe,
  serverError,
  unknownModel,
  unreachable,
  wrongPath,
} from './preflight-errors.ts'
import { unauthorized } from './preflight-status.ts'
import {
  errorText,
  isFailure,
  type PreflightTarget,
  type ProbeAnswer,
  type ProbeFields,
  type SendOnce,
} from './probe.ts'

/** What a server understands. */
export interface LearntDialect {
  /** What to send: fields that were refused are left out. */
  readonly dialect: Dialect
  readonly acceptsUsage: boolean
  /** Running usage with every event. */
  readonly acceptsContinuousUsage: boolean
  /** Whether `ignore_eos` held an answer to its full length; null where the probe could not show it. */
  readonly acceptsIgnoreEos: boolean | null
  readonly acceptsMaxCompletionTokens: boolean
  /** The server refused everything but the plainest request. */
  readonly plain: boolean
  /** Fields that it refused by name or by trial. */
  readonly refused: readonly string[]
  /** It answered in one piece although a stream was asked. */
  readonly notStreamed: boolean
}

export interface ProbedDialect {
  readonly learnt: LearntDialect
  readonly firstTokenMs: number | null
  readonly promptTokens: number | null
  /** Why even the last answer broke off; null: it was whole. */
  readonly brokeOff: string | null
  /** It went on long after what was asked. */
  readonly endless: boolean
}

/** The fields that not every server knows, the most foreign first: a refusal that names none drops them from the front. */
const optional = [
  'continuous_usage_stats',
  'ignore_eos',
  'min_tokens',
  'max_completion_tokens',
  'stream_options',
] as const
type Optional = (typeof optional)[number]

/** What each API may take of them. Servers that take them all serve several APIs, so the fields of one are tried on another. */
const optionalOf: Readonly<Record<ApiKind, readonly Optional[]>> = {
  chat: optional,
  completions: optional.filter((name) => name !== 'max_completion_tokens'),
  responses: ['ignore_eos', 'min_tokens'],
  anthropic: ['ignore_eos', 'min_tokens'],
  tgi: [],
  llamacpp: ['ignore_eos'],
  embeddings: [],
}

/** A template says itself what is asked, unless it is put around the API's own body. */
function optionalFor({ api, custom }: PreflightTarget): readonly Optional[] {
  if (custom === undefined) return optionalOf[api]
  if (!asksFor(custom.template, 'body')) return []
  return optionalOf[api].filter((name) => name !== 'max_completion_tokens')
}

/** Asked of the probe by `max_tokens`, and by the newer field: how long the answer is shows which the server obeys. */
const olderLimit = 8
const newerLimit = 4

/**
 * Learns the server's dialect by one short streamed answer that asks for everything at once. A refusal (400, 422, 501) is asked
 * again without the fields that it names, or plainly where it names none; at most four times.
 * @throws PlimsollError with the sentence that stops the run.
 */
export async function probeDialect(
  sendOnce: SendOnce,
  target: PreflightTarget,
  asked: { readonly model: string; readonly text: string; readonly models: readonly string[] },
): Promise<ProbedDialect> {
  const fields = new Set<Optional>(optionalFor(target))
  const stream = target.stream ?? true
  const refused: string[] = []
  let newerOnly = false
  for (let attempt = 1; ; attempt++) {
    const body = probeBody(target, asked, fields, newerOnly)
    const path = target.endpointPath
    const answer = await sendOnce({ method: 'POST', path, body, stream, answer: true, needed: true })
    if (isFailure(answer)) {
      throw unreachable(answer.failure, target, { method: 'POST', path })
    }
    if (answer.status === 200) {
      const observed = answer.fields ?? observe(answer.bodyText)
      // An answer that breaks off teaches nothing of usage or limits: one more, then what there is. One that never ends would not either.
      const broke = observed.error_kind !== null && !observed.error_kind.startsWith('timeout')
      if (broke && observed.n_output_chunks > 0 && attempt < 3) continue
      return learn(answer, observed, target, fields, refused, newerOnly)
    }

    const message = errorText(answer.bodyText)
    stopFor(answer, target, asked, message)
    const wantsNewer = /max_tokens/.test(message ?? '') && /max_completion_tokens/.test(message ?? '')
    if (attempt === 4) throw refusedProbe(answer, target)
    if (wantsNewer && fields.has('max_completion_tokens')) {
      // It minds that both are there, or the older one. Alone, the newer is tried: who names it knows it.
      newerOnly = true
      fields.delete('max_completion_tokens')
      refused.push('max_tokens')
      continue
    }
    const named = [...fields].filter((name) => (message ?? '').includes(name))
    const dropped = named.length > 0 ? named : [...fields]
    if (dropped.length === 0) throw refusedProbe(answer, target)
    for (const name of dropped) fields.delete(name)
    // Without the options there is nowhere to ask for running usage.
    if (!fields.has('stream_options')) fields.delete('continuous_usage_stats')
    refused.push(...dropped)
  }
}

function probeBody(
  { api, stream = true, custom }: PreflightTarget,
  { model, text }: { readonly model: string; readonly text: string },
  fields: ReadonlySet<Optional>,
  newerOnly: boolean,
): string {
  if (custom !== undefined || (api !== 'chat' && api !== 'completions')) {
    const dialect = {
      ...plainDialect,
      ignoreEos: fields.has('ignore_eos'),
      minTokens: fields.has('min_tokens'),
      streamUsage: fields.has('stream_options'),
      continuousUsage: fields.has('continuous_usage_stats'),
    }
    const settings = { api, model, dialect, stream, ignoreEos: true, continuousUsage: true }
    const own = custom === undefined ? {} : { template: custom.template }
    const asked = { ...settings, ...own, temperature: null, extraBody: {} }
    return requestBody(asked, { kind: 'text', text }, olderLimit, custom?.facts)
  }
  return JSON.stringify({
    model,
    ...(api === 'chat' ? { messages: [{ role: 'user', content: text }] } : { prompt: text }),
    ...(newerOnly ? { max_completion_tokens: newerLimit } : { max_tokens: olderLimit }),
    ...(fields.has('max_completion_tokens') && { max_completion_tokens: newerLimit }),
    ...(fields.has('min_tokens') && { min_tokens: newerLimit }),
    ...(fields.has('ignore_eos') && { ignore_eos: true }),
    stream,
    ...(stream &&
      fields.has('stream_options') && {
        stream_options: {
          include_usage: true,
          ...(fields.has('continuous_usage_stats') && { continuous_usage_stats: true }),
        },
      }),
  })
}

/** What no plainer request can mend. */
function stopFor(
  answer: ProbeAnswer,
  target: PreflightTarget,
  { model, models }: { readonly model: string; readonly models: readonly string[] },
  message: string | null,
): void {
  const { status } = answer
  if (status === 401 || status === 403) throw unauthorized(answer, target)
  const aboutModel =
    /\bmodel\b/i.test(message ?? '') && !/max_(completion_)?tokens|ignore_eos|min_tokens/.test(message ?? '')
  if (status === 404 && aboutModel && models.includes(model)) throw listedModelNotFound(model, answer, target)
  if (status === 404 && (aboutModel || (models.length > 0 && !models.includes(model)))) {
    throw unknownModel(model, models, message)
  }
  if (status === 404 || status === 405) throw wrongPath(answer, target, models)
  if (status === 400 && aboutModel && models.length > 0 && !models.includes(model))
    throw unknownModel(model, models, message)
  if (status !== 400 && status !== 422 && status !== 501) throw refusedProbe(answer, target)
}

function learn(
  answer: ProbeAnswer,
  observed: ProbeFields,
  target: PreflightTarget,
  fields: ReadonlySet<Optional>,
  refused: readonly string[],
  newerOnly: boolean,
): ProbedDialect {
  const whole = target.stream === false
  const notStreamed = observed.flags.includes('not_streamed')
  if (observed.error_kind !== null && observed.n_output_chunks === 0) {
    if (observed.error_kind === 'in_band_error' && observed.error_message !== null) {
      throw serverError(target, observed.error_message)
    }
    throw notAnLlmServer(
      target,
      observed.error_kind === 'no_output'
        ? 'its answer is empty'
        : `its answer fails (${observed.error_kind})`,
      observed.error_message ?? errorText(answer.bodyText) ?? 'nothing',
    )
  }
  if (observed.n_output_chunks === 0 && !notStreamed && !whole) {
    throw notAnLlmServer(target, 'its answer holds no output', errorText(answer.bodyText) ?? 'nothing')
  }
  const acceptsUsage = observed.tokens_source === 'server'
  const length = observed.completion_tokens
  const obeysNewer = newerOnly || (fields.has('max_completion_tokens') && length === newerLimit)
  const full = obeysNewer ? newerLimit : olderLimit
  const asksIgnoreEos = fields.has('ignore_eos')
  return {
    learnt: {
      dialect: {
        outputLimit: newerOnly ? 'max_completion_tokens' : 'max_tokens',
        ignoreEos: asksIgnoreEos,
        minTokens: fields.has('min_tokens'),
        streamUsage: fields.has('stream_options'),
        continuousUsage: fields.has('continuous_usage_stats') && observed.event_tokens !== null,
      },
      acceptsUsage,
      acceptsContinuousUsage: fields.has('continuous_usage_stats') && observed.event_tokens !== null,
      // Reaching the limit is what an obedient server does, though a chatty model would do it anyway; stopping short is proof.
      acceptsIgnoreEos: !asksIgnoreEos
        ? false
        : length === null
          ? null
          : observed.finish_reason !== 'stop' && length >= full,
      acceptsMaxCompletionTokens: obeysNewer,
      plain: fields.size === 0,
      refused,
      notStreamed,
    },
    firstTokenMs: observed.ttft_ms,
    promptTokens: observed.prompt_tokens,
    brokeOff: whyItBrokeOff(observed),
    endless: wentOn(observed),
  }
}

/** Whether it was not heard to its end, neither by events nor by time, though it was far beyond its limit. */
function wentOn({ error_kind, flags, n_output_chunks }: ProbeFields): boolean {
  const late = error_kind?.startsWith('timeout') === true && n_output_chunks > 4 * olderLimit
  return late || flags.includes('cancelled_by_client')
}

function whyItBrokeOff(observed: ProbeFields): string | null {
  const { error_kind, error_message } = observed
  if (wentOn(observed)) {
    return `the answer went on long after the ${olderLimit} tokens that were asked, and was not waited for`
  }
  return error_kind === null ? null : (error_message ?? error_kind)
}

/** The little that the preflight needs of a stream, for a sender that does not observe it. */
function observe(bodyText: string): ProbeFields {
  let [prompt, completion, chunks]: [number | null, number | null, number] = [null, null, 0]
  let running = false
  let finish: string | null = null
  const events = bodyText
    .split(/\r\n|\n|\r/)
    .flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : []))
  for (const data of events.length > 0 ? events : [bodyText]) {
    const event = parsedObject(data)
    const choice = (event?.choices as Readonly<Record<string, unknown>>[] | undefined)?.[0]
    const delta = (choice?.['delta'] ?? choice?.['message']) as Readonly<Record<string, unknown>> | undefined
    const text = [delta?.['content'], delta?.['reasoning_content'], delta?.['reasoning'], choice?.['text']]
    const output = text.some((part) => typeof part === 'string' && part !== '')
    if (output) chunks++
    finish = (choice?.['finish_reason'] as string | null | undefined) ?? finish
    const usage = event?.usage as { prompt_tokens?: number; completion_tokens?: number } | null | undefined
    if (usage?.completion_tokens !== undefined) {
      ;[prompt, completion] = [usage.prompt_tokens ?? null, usage.completion_tokens]
      running ||= output && (choice?.['finish_reason'] ?? null) === null
    }
  }
  return {
    ttft_ms: null,
    prompt_tokens: prompt,
    completion_tokens: completion ?? (chunks > 0 ? chunks : null),
    tokens_source: completion === null ? (chunks > 0 ? 'events' : null) : 'server',
    event_tokens: running ? [] : null,
    n_output_chunks: chunks,
    finish_reason: finish,
    flags: events.length === 0 && chunks > 0 ? ['not_streamed'] : [],
    error_kind: chunks > 0 ? null : 'no_output',
    error_message: null,
  }
}

function parsedObject(data: string): { readonly choices?: unknown; readonly usage?: unknown } | null {
  try {
    const parsed: unknown = JSON.parse(data)
    return typeof parsed === 'object' ? parsed : null
  } catch {
    return null
  }
}
