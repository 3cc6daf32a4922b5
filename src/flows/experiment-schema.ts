import * as v from 'valibot'
import type { ExperimentDocument } from '../report/experiment-document.ts'
import { documentParts } from './options/document-schemas.ts'

const maybe = v.nullable(v.number())
const run = v.strictObject({
  run: v.string(),
  seed: v.string(),
  verdict: documentParts['verdict']!,
  objectives: v.array(documentParts['objective']!),
  figures: v.record(v.string(), maybe),
})

const overRuns = v.strictObject({
  n: v.number(),
  mean: maybe,
  sd: maybe,
  low: maybe,
  high: maybe,
  why: v.nullable(v.string()),
})

export const experimentSchema: v.GenericSchema<unknown, ExperimentDocument> = v.strictObject({
  schema: v.literal('plimsoll.experiment/1'),
  plimsoll: v.string(),
  experiment: v.string(),
  name: v.string(),
  complete: v.boolean(),
  repeat: v.number(),
  cells: v.array(
    v.strictObject({
      settings: v.record(v.string(), v.string()),
      runs: v.array(run),
      figures: v.strictObject({
        ttft_ms_p50: overRuns,
        ttft_ms_p99: overRuns,
        tpot_ms_p50: overRuns,
        tpot_ms_p99: overRuns,
        e2e_ms_p50: overRuns,
        requests_per_s: overRuns,
        output_tokens_per_s: overRuns,
        goodput_share: overRuns,
      }),
    }),
  ),
}) as unknown as v.GenericSchema<unknown, ExperimentDocument>
