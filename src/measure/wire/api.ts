/** The request dialects that plimsoll speaks. */
export type ApiKind = 'chat' | 'completions'

/** The path of an API below its version segment, as the OpenAI REST reference has it. */
export const apiPath: Readonly<Record<ApiKind, string>> = {
  chat: '/chat/completions',
  completions: '/completions',
}
