import * as v from 'valibot'
import type { FindDocument } from '../report/find-document.ts'
import { documentParts, pointEntries } from './options/document-schemas.ts'

const maybe = v.nullable(v.number())
const { passes: _passes, ...measured } = pointEntries

export const findSchema: v.GenericSchema<unknown, FindDocument> = v.strictObject({
  schema: v.literal('plimsoll.find/1'),
  plimsoll: v.string(),
  find: v.string(),
  name: v.string(),
  complete: v.boolean(),
  stopped: v.nullable(
    v.strictObject({ kind: v.picklist(['interrupted', 'early', 'killed']), why: v.string() }),
  ),
  started_at: v.nullable(v.string()),
  seed: v.string(),
  tags: v.record(v.string(), v.string()),
  target: documentParts['target']!,
  workload: v.string(),
  repeat: v.nullable(v.strictObject({ asked: v.array(v.string()), ends: v.array(v.string()) })),
  objective: v.string(),
  plan: v.strictObject({
    from_per_s: v.number(),
    from: v.picklist(['given', 'probe']),
    resolution: v.number(),
    most_points: v.number(),
    most_looks: v.number(),
    looks: v.array(v.number()),
    holds_from_s: v.number(),
    error: v.strictObject({ each_end: v.number(), look: v.number() }),
  }),
  probe: v.nullable(v.strictObject({ runs: v.array(v.string()), users: v.number(), requests_per_s: maybe })),
  points: v.array(
    v.strictObject({
      ...measured,
      decision: v.picklist(['holds', 'fails', 'undecided', 'invalid']),
      why: v.string(),
      looks: v.strictObject({ taken: v.number(), planned: v.number(), requests: v.number() }),
    }),
  ),
  answer: v.strictObject({
    holds_at_per_s: maybe,
    fails_at_per_s: maybe,
    open_per_s: v.array(v.number()),
    resolved: v.boolean(),
    why: v.string(),
  }),
  warnings: v.array(documentParts['warning']!),
}) as unknown as v.GenericSchema<unknown, FindDocument>
