import * as v from 'valibot'
import type { CalculationJson } from '../report/calculation-text.ts'
import { documentParts } from './options/document-schemas.ts'

/** What `plimsoll calc NAME --json` prints. Figures are by name; which ones there are belongs to the calculator (docs/calc.md). */
export const calculationSchema: v.GenericSchema<CalculationJson> = v.strictObject({
  schema: v.literal('plimsoll.calculation/1'),
  name: v.string(),
  answer: v.string(),
  formula: v.string(),
  results: v.record(
    v.string(),
    v.strictObject({
      value: v.nullable(v.union([v.number(), v.string(), v.boolean()])),
      unit: v.nullable(v.string()),
      text: v.string(),
    }),
  ),
  working: v.array(v.string()),
  assumptions: v.array(v.string()),
  mistake: v.nullable(v.string()),
  warnings: v.array(documentParts['warning'] as v.GenericSchema<CalculationJson['warnings'][number]>),
})
