import * as v from 'valibot'
import type { CompareDocument, ComparePlanDocument } from '../report/compare-document.ts'
import { documentParts } from './options/document-schemas.ts'

const number = v.number()
const maybe = v.nullable(v.number())
const text = v.string()
const maybeText = v.nullable(v.string())
const ends = v.nullable(v.strictTuple([number, number]))
const openEnds = v.nullable(v.strictTuple([maybe, maybe]))

const arm = v.strictObject({
  name: text,
  runs: v.array(
    v.strictObject({
      path: text,
      block: maybeText,
      seed: maybeText,
      started_at: maybeText,
      verdict: v.picklist(['VALID', 'DEGRADED', 'INVALID']),
    }),
  ),
  left_out: v.array(v.strictObject({ path: text, why: text })),
})

const armFigure = v.strictObject({
  n: number,
  mean: number,
  geometric_mean: maybe,
  sd: maybe,
  values: v.array(number),
})

const comparedMetric = v.strictObject({
  metric: text,
  label: text,
  unit: text,
  better: v.picklist(['lower', 'higher']),
  primary: v.boolean(),
  a: armFigure,
  b: armFigure,
  scale: v.picklist(['log', 'difference', 'points']),
  change: maybe,
  interval: ends,
  narrow_interval: ends,
  difference: v.strictObject({
    value: number,
    half_width: maybe,
    degrees: maybe,
    half_width_rule_of_two: maybe,
  }),
  t: maybe,
  degrees: maybe,
  p: maybe,
  p_adjusted: maybe,
  verdict: v.nullable(
    v.picklist(['faster', 'slower', 'better', 'worse', 'equivalent', 'no_regression', 'inconclusive']),
  ),
  why: maybeText,
  no_regression: v.boolean(),
  within_margin: v.boolean(),
  regression: v.boolean(),
  minimum_detectable: maybe,
  power_at_margin: maybe,
  runs_needed: v.nullable(
    v.strictObject({ rule_of_two: maybe, t: maybe, power: maybe, equivalence: maybe, to_tell: maybe }),
  ),
  within_run: v.nullable(
    v.strictObject({
      a: openEnds,
      b: openEnds,
      coverage: v.array(documentParts['interval_coverage'] as never),
    }),
  ),
  exact: v.nullable(
    v.strictObject({ test: v.picklist(['sign_flip', 'permutation']), p: number, smallest_p: number }),
  ),
  pairs: v.array(v.strictObject({ key: text, a: number, b: number })),
})

export const compareSchema: v.GenericSchema<unknown, CompareDocument> = v.strictObject({
  schema: v.literal('plimsoll.compare/1'),
  plimsoll: text,
  kind: v.picklist(['runs', 'interleaved', 'csv']),
  arms: v.strictObject({ a: arm, b: arm }),
  design: v.strictObject({
    paired_by: v.nullable(v.picklist(['block', 'seed', 'load', 'row'])),
    why: text,
    alpha: number,
    margin: number,
    power: number,
    primary: text,
  }),
  metrics: v.array(comparedMetric),
  not_compared: v.array(v.strictObject({ metric: text, why: text })),
  order: v.nullable(
    v.strictObject({
      order: text,
      imbalance: number,
      drift_per_run: maybe,
      drift_interval: ends,
      drifts: v.boolean(),
      drift_bias: maybe,
      order_effect: maybe,
      order_matters: v.boolean(),
    }),
  ),
  residue: v.array(
    v.strictObject({
      name: text,
      a: text,
      b: text,
      explains: v.nullable(v.strictObject({ why: text, next: text })),
    }),
  ),
  regression: v.boolean(),
  warnings: v.array(documentParts['warning'] as never),
  again: v.exactOptional(v.nullable(v.array(text))),
})

export const comparePlanSchema: v.GenericSchema<unknown, ComparePlanDocument> = v.strictObject({
  schema: v.literal('plimsoll.compare-plan/1'),
  plimsoll: text,
  runs: v.array(text),
  again: v.exactOptional(v.array(text)),
  effect: number,
  power: number,
  alpha: number,
  metrics: v.array(
    v.strictObject({
      metric: text,
      label: text,
      unit: text,
      n: number,
      mean: number,
      run_sd: number,
      icc: maybe,
      needed: v.strictObject({ rule_of_two: maybe, t: maybe, power: maybe, power_90: maybe }),
      pairs_needed: maybe,
      detectable: v.array(v.strictObject({ n: number, change: number })),
      requests_per_run: maybe,
    }),
  ),
})
