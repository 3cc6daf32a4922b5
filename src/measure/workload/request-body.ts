import { PlimsollError } from '../../base/errors.ts'
import { type ApiKind, apis } from '../wire/api.ts'
import { asksFor, type BodyTemplate, fillBody } from './body-template.ts'
import type { RequestFacts } from './placeholder.ts'

/** What the server was found to understand (`preflight.ts`): fields that it refuses are left out. */
export interface Dialect {
  readonly outputLimit: 'max_tokens' | 'max_completion_tokens'
  readonly ignoreEos: boolean
  readonly minTokens: boolean
  /** `stream_options.include_usage`. */
  readonly streamUsage: boolean
  /** `stream_options.continuous_usage_stats`. */
  readonly continuousUsage: boolean
}

/** What vLLM and SGLang understand. */
export const fullDialect: Dialect = {
  outputLimit: 'max_tokens',
  ignoreEos: true,
  minTokens: true,
  streamUsage: true,
  continuousUsage: true,
}

/** Only what every OpenAI-compatible server knows. */
export const plainDialect: Dialect = {
  outputLimit: 'max_tokens',
  ignoreEos: false,
  minTokens: false,
  streamUsage: false,
  continuousUsage: false,
}

/** A prompt as one text, or as messages of the chat API (passed on as they are). */
export type Prompt =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'messages'; readonly messages: readonly ChatMessage[] }

export type ChatMessage = Readonly<Record<string, unknown>> & { readonly role: string }

export interface BodySettings {
  readonly api: ApiKind
  readonly model: string
  readonly dialect: Dialect
  readonly stream: boolean
  /** Ask for exactly the output length: end-of-sequence tokens are ignored where the server can. */
  readonly ignoreEos: boolean
  /** Ask for running usage with every event. */
  readonly continuousUsage: boolean
  readonly temperature: number | null
  /** Merged last: it wins over everything above. */
  readonly extraBody: Readonly<Record<string, unknown>>
  /** The whole body instead of the API's own. `extraBody` is added to it, or to the `{{body}}` in it. */
  readonly template?: BodyTemplate
}

/** Of a request that is none of a run's. */
const noFacts = { id: null, index: 0, segment: null, session: null, turn: null, row: null }

/** A body beyond this is a mistake of the template, not a prompt. */
const mostCharacters = 64 * 1024 * 1024

/**
 * The JSON text of the POST. `outputTokens` null asks for no limit: the server's own applies. `facts` are for a template.
 * @throws PlimsollError PLIM_WORKLOAD for a template that cannot be filled with this prompt.
 */
export function requestBody(
  settings: BodySettings,
  prompt: Prompt,
  outputTokens: number | null,
  facts: Omit<RequestFacts, 'model' | 'outputTokens'> = noFacts,
): string {
  const { template } = settings
  if (template === undefined) return JSON.stringify(ownBody(settings, prompt, outputTokens))
  const filled = fillBody(template, {
    ...facts,
    model: settings.model,
    outputTokens,
    prompt,
    messages: messagesOf(prompt),
    stream: settings.stream,
    body: () => ownBody(settings, prompt, outputTokens),
  })
  const text = JSON.stringify(asksFor(template, 'body') ? filled : { ...filled, ...settings.extraBody })
  if (text.length <= mostCharacters) return text
  throw new PlimsollError('PLIM_WORKLOAD', 'a filled body template is too large', {
    expected: `at most ${mostCharacters} characters`,
    received: `${text.length}${facts.id === null ? '' : ` (prompt ${facts.id})`}`,
  })
}

function ownBody(
  settings: BodySettings,
  prompt: Prompt,
  outputTokens: number | null,
): Readonly<Record<string, unknown>> {
  const asked = bodies[settings.api](settings, prompt, outputTokens)
  const { temperature } = settings
  // TGI has its sampling settings in a part of their own.
  const sampling =
    temperature === null || settings.api === 'tgi' || !apis[settings.api].generates ? {} : { temperature }
  return { ...asked, ...sampling, ...streaming(settings), ...settings.extraBody }
}

type Body = (
  settings: BodySettings,
  prompt: Prompt,
  outputTokens: number | null,
) => Readonly<Record<string, unknown>>

/** The Messages API wants a limit always: what is asked where none is given. */
const anthropicLimit = 4096

const bodies: Readonly<Record<ApiKind, Body>> = {
  chat: (settings, prompt, outputTokens) => ({
    model: settings.model,
    messages: messagesOf(prompt),
    // `max_completion_tokens` is of the chat API alone.
    ...(outputTokens !== null && { [settings.dialect.outputLimit]: outputTokens }),
    ...exactly(settings, outputTokens),
  }),
  completions: (settings, prompt, outputTokens) => ({
    model: settings.model,
    prompt: textOf(prompt),
    ...(outputTokens !== null && { max_tokens: outputTokens }),
    ...exactly(settings, outputTokens),
  }),
  responses: (settings, prompt, outputTokens) => ({
    model: settings.model,
    input: prompt.kind === 'text' ? prompt.text : prompt.messages,
    ...(outputTokens !== null && { max_output_tokens: outputTokens }),
    ...exactly(settings, outputTokens),
  }),
  anthropic(settings, prompt, outputTokens) {
    const messages = messagesOf(prompt)
    // System messages are a field of their own there.
    const system = messages.filter(({ role }) => role === 'system').map((message) => message['content'])
    return {
      model: settings.model,
      max_tokens: outputTokens ?? anthropicLimit,
      ...(system.length > 0 && {
        system:
          system.length === 1 ? system[0] : system.filter((text) => typeof text === 'string').join('\n\n'),
      }),
      messages: messages.filter(({ role }) => role !== 'system'),
      ...exactly(settings, outputTokens),
    }
  },
  tgi: (settings, prompt, outputTokens) => ({
    inputs: textOf(prompt),
    parameters: {
      details: true,
      ...(outputTokens !== null && { max_new_tokens: outputTokens }),
      ...(settings.temperature !== null &&
        (settings.temperature > 0
          ? { do_sample: true, temperature: settings.temperature }
          : { do_sample: false })),
    },
  }),
  llamacpp: (settings, prompt, outputTokens) => ({
    prompt: textOf(prompt),
    ...(outputTokens !== null && { n_predict: outputTokens }),
    ...exactly(settings, outputTokens),
  }),
  embeddings: (settings, prompt) => ({ model: settings.model, input: textOf(prompt) }),
}

function messagesOf(prompt: Prompt): readonly ChatMessage[] {
  return prompt.kind === 'messages' ? prompt.messages : [{ role: 'user', content: prompt.text }]
}

function textOf(prompt: Prompt): string {
  return prompt.kind === 'text' ? prompt.text : ''
}

/** Answers of exactly the length, where the server can. */
function exactly({ ignoreEos, dialect }: BodySettings, outputTokens: number | null): Record<string, unknown> {
  if (!ignoreEos || outputTokens === null) return {}
  return {
    ...(dialect.minTokens && { min_tokens: outputTokens }),
    ...(dialect.ignoreEos && { ignore_eos: true }),
  }
}

/** TGI has two paths instead of a field, embeddings no stream at all; usage is asked for by the OpenAI APIs alone. */
function streaming(settings: BodySettings): Record<string, unknown> {
  const { api, stream, dialect } = settings
  if (api === 'tgi' || !apis[api].generates) return {}
  const options = stream && dialect.streamUsage && (api === 'chat' || api === 'completions')
  return { stream, ...(options && { stream_options: streamOptions(settings) }) }
}

function streamOptions({ dialect, continuousUsage }: BodySettings): Record<string, boolean> {
  return {
    include_usage: true,
    ...(continuousUsage && dialect.continuousUsage && { continuous_usage_stats: true }),
  }
}
