import * as v from 'valibot'
import { expect, test } from 'vitest'
import { betweenTwoRates, clientBoundFind, noRateHolds } from '../../test/fixtures/find.ts'
import { findSchema } from './find-schema.ts'

test('the schema says what the type says', () => {
  for (const document of [betweenTwoRates, noRateHolds, clientBoundFind]) {
    const result = v.safeParse(findSchema as v.GenericSchema, document)
    expect(result.issues?.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`)).toBeUndefined()
  }
  const { seed, ...less } = betweenTwoRates
  expect(v.is(findSchema, less)).toBe(false)
  expect(v.is(findSchema, { ...less, seed, more: 1 })).toBe(false)
})
