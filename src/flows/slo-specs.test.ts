import { expect, test } from 'vitest'
import { readSloSpecs } from './slo-specs.ts'

test.each([
  ['one that was written by init and left as it is', '# objectives:\n#   chat:\n', /commented out/],
  [
    'one that is about something else',
    'target:\n  url: http://localhost:8000\n',
    /plimsoll init example.yaml/,
  ],
])('a file without objectives is refused with what to do: %s', (_, text, hint) => {
  expect(() => readSloSpecs([{ path: 'plimsoll.yaml', text }])).toThrow(
    expect.objectContaining({ code: 'PLIM_CONFIG', hint: expect.stringMatching(hint) }),
  )
})
