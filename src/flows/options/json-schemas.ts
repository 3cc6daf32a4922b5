import { toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import { configSchema } from './config-schema.ts'
import { documentParts, rowSchema, runSchema, sweepSchema } from './document-schemas.ts'
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
    sweep: titled('plimsoll.sweep/1: rising load', open(convert(sweepSchema, documentParts))),
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
