import { expect, test } from 'vitest'
import { armSeparator } from '../argv.ts'
import type { FlagSpecs, FlagValues } from '../verb.ts'
import { typedWords } from './typed-words.ts'

const text = { kind: 'text', group: 'g', brief: 'b' } as const

test.each<[string, FlagValues, readonly string[], Parameters<typeof typedWords>[1], string]>([
  ['arguments, then flags', { peak: '40/s', survive: '1' }, ['runs/a'], {}, 'runs/a --peak 40/s --survive 1'],
  ['a switch, on and off', { confirm: false, simulate: true }, [], {}, '--no-confirm --simulate'],
  ['one that was given several times', { slo: ['a', 'b'] }, [], {}, '--slo a --slo b'],
  ['a value that looks like a flag', { margin: '-5%' }, [], {}, '--margin=-5%'],
  ['what was not given', { peak: undefined }, [], {}, ''],
  ['the separator of two arms', {}, ['a', armSeparator, 'b'], {}, 'a -- b'],
  [
    'not the manners and the output',
    { json: true, quiet: true, out: 'x', format: 'hpa', yes: true },
    [],
    {},
    '',
  ],
  ['not what is said anew', { runs: '3', margin: '2%' }, [], { without: ['runs'] }, '--margin 2%'],
  [
    'only what the next verb has',
    { slo: 'ttft < 1s', hold: '3s' },
    [],
    { of: { slo: text } satisfies FlagSpecs },
    '--slo ttft < 1s',
  ],
  [
    'no secret',
    { url: 'http://me:word@a', header: ['Authorization: Bearer abc', 'X-Team=a'] },
    [],
    {},
    '--url http://[redacted]@a --header Authorization: [redacted] --header X-Team=a',
  ],
  [
    'none of a body either',
    { 'extra-body': '{"api_key":"abc","n":2}' },
    [],
    {},
    '--extra-body {"api_key":"[redacted]","n":2}',
  ],
  [
    'none of one behind a blank',
    { 'extra-body': ' {"api_key":"abc"}' },
    [],
    {},
    '--extra-body {"api_key":"[redacted]"}',
  ],
  [
    'none of a list',
    { 'extra-body': '[{"api_key":"abc"}]' },
    [],
    {},
    '--extra-body [{"api_key":"[redacted]"}]',
  ],
  [
    'none that a second key of the name hides',
    { 'extra-body': '{"api_key":"abc","api_key":1}' },
    [],
    {},
    '--extra-body {"api_key":1}',
  ],
  [
    'a body without secrets as it was typed',
    { 'extra-body': '{"seed": 12345678901234567890}' },
    [],
    {},
    '--extra-body {"seed": 12345678901234567890}',
  ],
  ['a class is no secret by its name', { class: ['key=3/s'] }, [], {}, '--class key=3/s'],
])('%s', (_, given, args, leave, line) => {
  expect(typedWords({ given, args }, leave).join(' ')).toBe(line)
})
