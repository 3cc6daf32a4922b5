import { expect, test } from 'vitest'
import { readModel } from './model-file.ts'

test.each([
  ['an empty file', '', 'an empty file'],
  ['an object of something else', '{"a":1}', 'an object without schema'],
  ['no object', 'null', 'null'],
  ['no JSON', 'hello', 'hello'],
])('%s is no model, in words and not in a library’s', (_, text, received) => {
  let error: unknown = null
  try {
    readModel(text, 'model.json')
  } catch (thrown) {
    error = thrown
  }
  expect(error).toMatchObject({ code: 'PLIM_FILE', received, where: { file: 'model.json' } })
})
