import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import * as documents from '../../../test/fixtures/documents.ts'
import { runSchema, sweepSchema } from './document-schemas.ts'
import { jsonSchemas } from './json-schemas.ts'

describe('the schemas say what the types say', () => {
  test.each([
    ['a run', runSchema, documents.sixPerSecond],
    ['an invalid one', runSchema, documents.clientBound],
    ['one that nobody answered', runSchema, documents.nothingAnswered],
    ['a closed loop', runSchema, documents.closedLoop],
    ['a sweep', sweepSchema, documents.threeWalls],
    ['one without capacity', sweepSchema, documents.noCapacity],
  ])('%s passes', (_, schema, document) => {
    const result = v.safeParse(schema as v.GenericSchema, document)
    expect(result.issues?.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`)).toBeUndefined()
  })

  test('a field more or less is seen', () => {
    const { seed, ...less } = documents.sixPerSecond
    expect(v.is(runSchema, { ...documents.sixPerSecond, seed, more: 1 })).toBe(false)
    expect(v.is(runSchema, less)).toBe(false)
  })
})

describe('the JSON Schemas', () => {
  const schemas = jsonSchemas()

  test('a config is closed, documents are open', () => {
    expect(JSON.stringify(schemas['config'])).toContain('"additionalProperties":false')
    for (const name of ['run', 'sweep', 'row']) {
      expect(JSON.stringify(schemas[name])).not.toContain('"additionalProperties":false')
    }
  })

  test('a document requires what every document has', () => {
    const required = schemas['run']!['required'] as string[]
    for (const name of [
      'schema',
      'run',
      'clock',
      'verdict',
      'counts',
      'metrics',
      'weighting',
      'throughput',
      'goodput',
      'client',
      'errors',
      'warnings',
    ]) {
      expect(required).toContain(name)
    }
  })

  test('each setting of the config is described', () => {
    const { properties } = schemas['config'] as { properties: Record<string, { description?: string }> }
    for (const [name, { description }] of Object.entries(properties))
      expect([name, description]).not.toContain(undefined)
  })
})
