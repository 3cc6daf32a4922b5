import * as v from 'valibot'
import type { PrefillDocument } from '../report/prefill-document.ts'
import { documentParts } from './options/document-schemas.ts'

const number = v.number()
const maybe = v.nullable(v.number())
const text = v.string()
const maybeText = v.nullable(v.string())

export const prefillSchema: v.GenericSchema<unknown, PrefillDocument> = v.strictObject({
  schema: v.literal('plimsoll.prefill/1'),
  plimsoll: text,
  folder: maybeText,
  source: text,
  model: maybeText,
  embedded: v.boolean(),
  interrupted: v.boolean(),
  lengths: v.array(
    v.strictObject({
      prompt_tokens: number,
      n: number,
      ttft_ms: number,
      fastest_ms: number,
      slowest_ms: number,
      ttfb_ms: maybe,
      cached_tokens: maybe,
    }),
  ),
  rate: v.strictObject({
    tokens_per_s: maybe,
    interval: v.nullable(v.strictTuple([maybe, maybe])),
    fixed_ms: number,
    fixed_interval: v.nullable(v.strictTuple([number, number])),
    why: maybeText,
  }),
  least_squares: v.strictObject({
    tokens_per_s: maybe,
    rate_relative_se: maybe,
    fixed_ms: number,
    fixed_se_ms: maybe,
    r2: maybe,
  }),
  two_points: v.nullable(v.strictObject({ rate_relative_per_ms: maybe, fixed_ms_per_ms: number })),
  one_point: v.nullable(
    v.strictObject({ prompt_tokens: number, ttft_ms: number, tokens_per_s: number, factor: maybe }),
  ),
  curve: v.nullable(
    v.strictObject({
      ms_per_token2: number,
      p: maybe,
      significant: v.boolean(),
      tokens_per_s_at_shortest: maybe,
      tokens_per_s_at_longest: maybe,
    }),
  ),
  staircase: v.nullable(v.strictObject({ chunk: number, ms_per_chunk: number, p: number })),
  worst_residual: v.nullable(v.strictObject({ share: number, prompt_tokens: number })),
  fixed_parts: v.array(
    v.strictObject({
      name: v.picklist(['client_lag', 'first_byte', 'queue', 'decode_step', 'rest']),
      ms: maybe,
      why: text,
    }),
  ),
  warnings: v.array(documentParts['warning'] as never),
  again: v.exactOptional(v.nullable(v.array(text))),
})
