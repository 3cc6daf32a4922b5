import * as v from 'valibot'
import type { FleetDocument } from '../../report/fleet-document.ts'
import type { ImportDocument } from '../../report/import-document.ts'
import { documentParts, runSchema } from './document-schemas.ts'

/** The documents of `import --json` and `show --as-fleet --json`, for `schema/*.schema.json` and for tests. */

const number = v.number()
const maybe = v.nullable(v.number())
const text = v.string()
const maybeText = v.nullable(v.string())

const comparison = v.strictObject({
  name: text,
  metric: v.picklist([
    'ttft_ms',
    'tpot_ms',
    'gaps_ms',
    'e2e_ms',
    'requests_per_s',
    'output_tokens_per_s',
    'input_tokens_per_s',
    'other',
  ]),
  statistic: text,
  unit: v.picklist(['ms', 'req/s', 'tok/s', 'tokens', 'requests', '%', '']),
  published: maybe,
  ours: maybe,
  status: v.picklist(['agrees', 'differs', 'not_published', 'not_recomputable']),
  why: maybeText,
})

export const importSchema: v.GenericSchema<unknown, ImportDocument> = v.strictObject({
  schema: v.literal('plimsoll.import/1'),
  plimsoll: text,
  files: v.array(v.strictObject({ file: text, bytes: number, runs: number })),
  runs: v.array(
    v.strictObject({
      folder: maybeText,
      label: maybeText,
      tool: text,
      format: text,
      files: v.array(text),
      run: runSchema,
      published: v.array(comparison),
      unrecoverable: v.array(v.strictObject({ figure: text, why: text })),
      facts: v.record(text, v.any()),
    }),
  ),
  together: v.nullable(
    v.strictObject({
      each_per_s: v.array(maybe),
      per_s: maybe,
      whole_span_per_s: maybe,
      idle_gap_s: number,
    }),
  ),
  warnings: v.array(documentParts['warning'] as never),
})

export const fleetSchema: v.GenericSchema<unknown, FleetDocument> = v.strictObject({
  schema: v.literal('plimsoll.fleet/1'),
  plimsoll: text,
  sources: v.array(
    v.strictObject({ path: text, kind: v.picklist(['requests', 'scrape', 'native', 'quantiles']), n: maybe }),
  ),
  figures: v.array(
    v.strictObject({
      metric: text,
      label: text,
      n: maybe,
      percentiles: v.record(
        text,
        v.strictObject({
          method: v.picklist(['requests', 'sketches', 'classic_histogram', 'native_histogram', 'quantiles']),
          value: maybe,
          low: maybe,
          high: maybe,
          each: v.array(maybe),
        }),
      ),
    }),
  ),
  warnings: v.array(documentParts['warning'] as never),
})
