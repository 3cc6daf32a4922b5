import { toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import {
  measurementSchema,
  modelSchema,
  predictionSchema,
  scoreSchema,
  simulationSchema,
} from '../simulate-schema.ts'
import { calculationSchema } from '../calculation-schema.ts'
import { comparePlanSchema, compareSchema } from '../compare-schema.ts'
import { experimentSchema } from '../experiment-schema.ts'
import { findSchema } from '../find-schema.ts'
import { prefillSchema } from '../prefill-schema.ts'
import { whySchema } from '../why-schema.ts'
import { configSchema } from './config-schema.ts'
import { labSchema } from '../lab-schema.ts'
import { policySchema, signalsSchema, watchSchema } from '../operate-schemas.ts'
import { planSchema } from '../plan-schema.ts'
import { fleetSchema, importSchema } from './import-schema.ts'
import { documentParts, runSchema, sweepSchema } from './document-schemas.ts'
import { rowSchema } from './row-schema.ts'
import {
  doctorSchema,
  sloBudgetSchema,
  sloPageSchema,
  sloRulesSchema,
  sloTestSchema,
} from './slo-document-schemas.ts'

type Json = Readonly<Record<string, unknown>>

/** The JSON Schemas that the package ships, by the name of their file. */
export function jsonSchemas(): Readonly<Record<string, Json>> {
  return {
    config: titled('plimsoll.yaml', convert(configSchema)),
    run: titled('plimsoll.run/1: one load test', open(convert(runSchema, documentParts))),
    experiment: titled(
      'plimsoll.experiment/1: several runs as one',
      open(convert(experimentSchema, documentParts)),
    ),
    sweep: titled('plimsoll.sweep/1: rising load', open(convert(sweepSchema, documentParts))),
    find: titled('plimsoll.find/1: the highest rate that holds', open(convert(findSchema, documentParts))),
    simulation: titled('plimsoll.simulation/1: a fleet in virtual time', open(convert(simulationSchema))),
    model: titled('plimsoll.model/1: a fitted engine', open(convert(modelSchema))),
    prediction: titled(
      'plimsoll.prediction/1: another load on a fitted engine',
      open(convert(predictionSchema)),
    ),
    score: titled('plimsoll.score/1: a fitted engine beside a later measurement', open(convert(scoreSchema))),
    measurement: titled(
      'plimsoll.measurement/1: an engine measured for its model',
      open(convert(measurementSchema)),
    ),
    compare: titled('plimsoll.compare/1: A against B', open(convert(compareSchema, documentParts))),
    'compare-plan': titled(
      'plimsoll.compare-plan/1: how many runs an effect needs',
      open(convert(comparePlanSchema, documentParts)),
    ),
    calculation: titled(
      'plimsoll.calculation/1: one worked figure',
      open(convert(calculationSchema, documentParts)),
    ),
    lab: titled('plimsoll.lab/1: an experiment', open(convert(labSchema))),
    plan: titled('plimsoll.plan/1: replicas for a demand', open(convert(planSchema, documentParts))),
    signals: titled('plimsoll.signals/1: signals by lead time', open(convert(signalsSchema))),
    policy: titled('plimsoll.policy/1: what a scaler is told', open(convert(policySchema))),
    watch: titled('plimsoll.watch/1: one look at a live deployment', open(convert(watchSchema))),
    import: titled(
      'plimsoll.import/1: results of another tool, recomputed',
      open(convert(importSchema, documentParts)),
    ),
    fleet: titled('plimsoll.fleet/1: several runs as one fleet', open(convert(fleetSchema, documentParts))),
    why: titled('plimsoll.why/1: why A is slower than B', open(convert(whySchema, documentParts))),
    prefill: titled(
      'plimsoll.prefill/1: TTFT against prompt length',
      open(convert(prefillSchema, documentParts)),
    ),
    'slo-page': titled('plimsoll.slo-page/1: should someone be paged?', open(convert(sloPageSchema))),
    'slo-budget': titled('plimsoll.slo-budget/1: an error budget', open(convert(sloBudgetSchema))),
    'slo-rules': titled('plimsoll.slo-rules/1: alerts and what they can do', open(convert(sloRulesSchema))),
    'slo-test': titled('plimsoll.slo-test/1: the tests of rules', open(convert(sloTestSchema))),
    doctor: titled(
      'plimsoll.doctor/1: metrics that are asked for, and those that are there',
      open(convert(doctorSchema)),
    ),
    row: titled(
      'The row of a request, as plimsoll export --format jsonl prints it',
      open(convert(rowSchema)),
    ),
  }
}

function convert(
  schema: GenericSchema<unknown, unknown>,
  definitions: Readonly<Record<string, GenericSchema>> = {},
): Json {
  return toJsonSchema(schema as GenericSchema, {
    definitions: { ...definitions },
    target: 'draft-2020-12',
  }) as unknown as Json
}

function titled(title: string, schema: Json): Json {
  const { $schema, ...rest } = schema
  return { $schema: $schema ?? 'http://json-schema.org/draft-07/schema#', title, ...rest }
}

/** A config is closed, so that a misspelt key is seen; documents are open, so that a reader survives a newer plimsoll. */
function open<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(open) as T
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => !(key === 'additionalProperties' && value === false))
      .map(([key, value]) => [key, open(value as unknown)]),
  ) as T
}
