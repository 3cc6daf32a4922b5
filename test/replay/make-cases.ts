import type { ApiKind } from '../../src/measure/wire/api.ts'
import type { ReplayCase } from './run-cases.mjs'

export type Piece = readonly [atMs: number, text: string | Buffer]
export type TextPiece = readonly [atMs: number, text: string]

export interface Script {
  readonly pieces?: readonly Piece[]
  readonly end: readonly [kind: 'eof' | 'reset' | 'open', atMs: number]
  /** `raw`: the pieces are framed already (or wrongly). */
  readonly http?: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly raw?: boolean
  } | null
  readonly t0?: number
  readonly limits?: Readonly<Record<string, number>>
  readonly api?: ApiKind
  /** Whether a stream was asked; true unless given. */
  readonly stream?: boolean
  readonly expect: Readonly<Record<string, unknown>>
}

/** What holds unless a case says otherwise: a request that failed before anything came. */
const nothing = {
  ok: false,
  error_kind: null,
  finish_reason: null,
  text: '',
  reasoning_text: '',
  prompt_tokens: null,
  completion_tokens: null,
  ttft_ms: null,
  ttfc_ms: null,
  e2e_ms: null,
  tpot_ms: null,
  gaps_ms: [],
  n_chunks: 0,
  n_output_chunks: 0,
  n_comments: 0,
  n_ignored: 0,
}

export const json = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
export const delta = (fields: object, finish: string | null = null): string =>
  json({
    id: 'c',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: fields, finish_reason: finish }],
  })
export const token = (content: string): string => delta({ content })
export const usage = (prompt: number, completion: number): string =>
  json({ choices: [], usage: { prompt_tokens: prompt, completion_tokens: completion } })
export const stop: string = delta({}, 'stop')
export const done: string = 'data: [DONE]\n\n'
const stream = { status: 200, headers: { 'content-type': 'text/event-stream' } }
export const answer = (
  status: number,
  body: string,
  type: string,
  more: Readonly<Record<string, string>> = {},
): Pick<Script, 'http' | 'pieces' | 'end'> => ({
  http: { status, headers: { 'content-type': type, ...more } },
  pieces: body === '' ? [] : [[20, body]],
  end: ['eof', 25],
})
export const abc: Readonly<Record<string, unknown>> = {
  text: 'abc',
  ttft_ms: 20,
  ttfc_ms: 20,
  e2e_ms: 60,
  gaps_ms: [20, 20],
  n_output_chunks: 3,
}
export const okAbc: Readonly<Record<string, unknown>> = { ...abc, ok: true, finish_reason: 'stop' }
export const abcPieces: readonly TextPiece[] = [
  [20, token('a')],
  [40, token('b')],
  [60, token('c')],
]

/** Cases from scripts, each named by what happens in it. */
export function makeCases(scripts: Readonly<Record<string, Script>>): readonly ReplayCase[] {
  return Object.entries(scripts).map(([name, script], index) => {
    const pieces = (script.pieces ?? []).map(([atMs, text]) => ({ atMs, bytes: Buffer.from(text as string) }))
    let offset = 0
    const chunks = pieces.map(({ atMs, bytes }) => {
      offset += bytes.length
      return { at_ms: atMs, offset: offset - bytes.length, bytes: bytes.length }
    })
    const http = script.http === undefined ? stream : script.http
    return {
      id: `${String(index).padStart(2, '0')}-${name.replace(/[^a-z0-9]+/gi, '-')}`,
      body: Buffer.concat(pieces.map(({ bytes }) => bytes)),
      sidecar: {
        request: { api: script.api ?? 'chat', stream: script.stream ?? true },
        http,
        t0_ms: script.t0 ?? 0,
        headers_at_ms: http === null ? null : 1,
        chunks,
        end: { kind: script.end[0], at_ms: script.end[1] },
        ...(script.limits === undefined ? {} : { limits: script.limits }),
        expect: { ...nothing, ...script.expect },
      },
    }
  })
}
