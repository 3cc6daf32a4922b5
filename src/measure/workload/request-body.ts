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
  readonly api: 'chat' | 'completions'
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
}

/** The JSON text of the POST. `outputTokens` null asks for no limit: the server's own applies. */
export function requestBody(settings: BodySettings, prompt: Prompt, outputTokens: number | null): string {
  const { api, model, dialect, stream } = settings
  const exact = settings.ignoreEos && outputTokens !== null
  const asked =
    api === 'chat'
      ? { messages: prompt.kind === 'messages' ? prompt.messages : [{ role: 'user', content: prompt.text }] }
      : { prompt: prompt.kind === 'text' ? prompt.text : '' }
  return JSON.stringify({
    model,
    ...asked,
    // `max_completion_tokens` is of the chat API alone.
    ...(outputTokens !== null && {
      [api === 'chat' ? dialect.outputLimit : 'max_tokens']: outputTokens,
    }),
    ...(exact && dialect.minTokens && { min_tokens: outputTokens }),
    ...(exact && dialect.ignoreEos && { ignore_eos: true }),
    ...(settings.temperature !== null && { temperature: settings.temperature }),
    stream,
    ...(stream && dialect.streamUsage && { stream_options: streamOptions(settings) }),
    ...settings.extraBody,
  })
}

function streamOptions({ dialect, continuousUsage }: BodySettings): Record<string, boolean> {
  return {
    include_usage: true,
    ...(continuousUsage && dialect.continuousUsage && { continuous_usage_stats: true }),
  }
}
