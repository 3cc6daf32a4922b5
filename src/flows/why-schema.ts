import * as v from 'valibot'
import type { WhyDocument } from '../report/why-document.ts'
import { documentParts } from './options/document-schemas.ts'

const number = v.number()
const maybe = v.nullable(v.number())
const text = v.string()
const maybeText = v.nullable(v.string())

const side = v.strictObject({
  name: text,
  run: v.exactOptional(text),
  n: number,
  ttft_ms: number,
  tpot_ms: maybe,
  output_tokens: number,
  e2e_ms: number,
  ttft_parts: v.nullable(v.strictObject({ lag_ms: number, first_byte_ms: number, first_token_ms: number })),
})

export const whySchema: v.GenericSchema<unknown, WhyDocument> = v.strictObject({
  schema: v.literal('plimsoll.why/1'),
  plimsoll: text,
  kind: v.picklist(['runs', 'requests', 'run']),
  a: side,
  b: side,
  difference: v.strictObject({ total_ms: number, ttft_ms: number, tpot_ms: number, length_ms: number }),
  percentiles: v.array(
    v.strictObject({
      metric: v.picklist(['e2e_ms', 'ttft_ms', 'tpot_ms']),
      level: text,
      a: number,
      b: number,
      total: number,
      mix: number,
      within: number,
      by: text,
      segments: v.array(
        v.strictObject({
          segment: text,
          n_a: number,
          n_b: number,
          share_a: number,
          share_b: number,
          a: maybe,
          b: maybe,
          change: maybe,
        }),
      ),
    }),
  ),
  stutter: v.array(
    v.strictObject({
      name: text,
      streams: number,
      paused_streams: number,
      pauses: number,
      with_prefill: number,
      by_chance: number,
      prefill_tokens: maybe,
      usual_tokens: maybe,
      longest: v.array(
        v.strictObject({
          id: text,
          at_ms: number,
          gap_ms: number,
          median_gap_ms: number,
          prefill_id: maybeText,
          prefill_tokens: maybe,
        }),
      ),
      moments: v.array(
        v.strictObject({ at_ms: number, streams: number, longest_ms: number, prefill: v.boolean() }),
      ),
    }),
  ),
  warnings: v.array(documentParts['warning'] as never),
})
