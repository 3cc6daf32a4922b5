/** The request dialects that plimsoll speaks. */
export type ApiKind = 'chat' | 'completions' | 'responses' | 'anthropic' | 'tgi' | 'llamacpp' | 'embeddings'

interface ApiFacts {
  /** Its path: below the version segment, or for an engine's native API below the server's root. */
  readonly path: string
  /** Where an answer in one piece is asked, if that is another path. */
  readonly wholePath?: string
  readonly native: boolean
  /** Takes a prompt as one text, no messages. */
  readonly textOnly: boolean
  /** Has output tokens at all. */
  readonly generates: boolean
  readonly words: string
}

/**
 * By the OpenAI REST reference (chat, completions, responses, embeddings), Anthropic's Messages API, TGI's router (`generate_stream`,
 * `generate`) and llama.cpp's server (`/completion`).
 */
export const apis: Readonly<Record<ApiKind, ApiFacts>> = {
  chat: api('/chat/completions', 'chat completions'),
  completions: { ...api('/completions', 'completions'), textOnly: true },
  responses: api('/responses', "OpenAI's responses"),
  anthropic: api('/messages', "Anthropic's messages"),
  tgi: {
    ...api('/generate_stream', "TGI's generate_stream"),
    wholePath: '/generate',
    native: true,
    textOnly: true,
  },
  llamacpp: { ...api('/completion', "llama.cpp's completion"), native: true, textOnly: true },
  embeddings: { ...api('/embeddings', 'embeddings'), textOnly: true, generates: false },
}

function api(path: string, words: string): ApiFacts {
  return { path, words, native: false, textOnly: false, generates: true }
}

/** Whether answers are asked as a stream: embeddings never are. */
export function isStreamed(kind: ApiKind, wanted: boolean): boolean {
  return wanted && apis[kind].generates
}

export function apiPath(kind: ApiKind, stream: boolean): string {
  const { path, wholePath } = apis[kind]
  return stream ? path : (wholePath ?? path)
}

/** Every path that an API is asked at, the longest first. */
export const apiPaths: readonly string[] = Object.values(apis)
  .flatMap(({ path, wholePath }) => (wholePath === undefined ? [path] : [path, wholePath]))
  .sort((a, b) => b.length - a.length)
