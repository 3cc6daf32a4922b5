import { expect, test } from 'vitest'
import { loadFacts } from './run-facts.ts'

test.each<[string, string | null, string]>([
  ['of a tool that is known, it is named', 'GuideLLM', 'sent by GuideLLM: its plan is not in the file'],
  [
    'a tool whose name begins so is no unknown one',
    'unknownbench',
    'sent by unknownbench: its plan is not in the file',
  ],
  ['of none', null, 'unknown: the requests were sent by another tool'],
])('a load whose plan nobody knows: %s', (_, tool, text) => {
  expect(loadFacts(null, null, tool)).toMatchObject({ text, open_loop: false, users: null })
})
