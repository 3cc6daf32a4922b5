import { describe, expect, test } from 'vitest'
import { parseBodyTemplate } from './body-template.ts'
import { fillHeaders, type HeaderTemplate, parseHeader, withEnvironment } from './header-template.ts'
import { readJsonl } from './read-jsonl.ts'
import { checkTemplates, rowUse, sampleFacts, secretsOfRows, templateWarnings } from './template-check.ts'
import type { LoadedWorkload } from './workload.ts'

const fixed = { kind: 'fixed', tokens: 8 } as const
const random: LoadedWorkload = { kind: 'random', prompt: fixed, output: fixed }

function rows(text: string, use: 'kept' | 'promptless' = 'kept'): LoadedWorkload {
  const items = readJsonl(text, 'rows.jsonl', use)
  return { kind: 'items', name: 'rows.jsonl', items, output: null, order: 'file', skipped: {} }
}
const header = (value: string, name = 'X-Tenant'): HeaderTemplate => parseHeader(name, value)!
const body = (template: unknown) => parseBodyTemplate(JSON.stringify(template), 't.json')
const facts = {
  id: 'line-1',
  index: 3,
  model: 'm',
  outputTokens: null,
  segment: 'paid',
  session: null,
  turn: null,
  row: { key: 'k-12345678', list: [1] },
}

describe('headers', () => {
  test.each<[string, string, Readonly<Record<string, string>>]>([
    ['of the segment', '{{segment}}', { 'X-Tenant': 'paid' }],
    ['within a text', 'Bearer {{row.key}}', { 'X-Tenant': 'Bearer k-12345678' }],
    ['alone and without a value: none is sent', '{{session}}', {}],
    ['within a text and without a value', 'a{{session}}b', { 'X-Tenant': 'ab' }],
    ['numbers', '{{index}}', { 'X-Tenant': '3' }],
    ['a list as JSON', '{{row.list}}', { 'X-Tenant': '[1]' }],
  ])('%s', (_sentence, value, made) => {
    expect(fillHeaders([header(value)], facts)).toEqual(made)
  })

  test('a header without a placeholder is none of these', () => {
    expect(parseHeader('X-Tenant', 'plain {text}')).toBeNull()
  })

  test.each([
    ['{{prompt}}', 'stands for nothing'],
    ['{{segmnt}}', 'stands for nothing'],
    ['{{segment', 'not closed'],
  ])('%s is refused', (value, said) => expect(() => header(value)).toThrow(said))

  test.each(['a\nb: c', 'snow ☃', 'x'.repeat(9000)])('a value that cannot be sent is refused', (key) => {
    expect(() => fillHeaders([header('{{row.key}}')], { ...facts, row: { key } })).toThrow('cannot be sent')
  })

  test('the environment is asked once, and what it says is a secret', () => {
    const made = withEnvironment(header('Bearer {{env.KEY}}'), (name) =>
      name === 'KEY' ? 'sesame' : undefined,
    )
    expect(fillHeaders([made.template], facts)).toEqual({ 'X-Tenant': 'Bearer sesame' })
    expect(made.secrets).toEqual(['sesame'])
    expect(() => withEnvironment(header('{{env.KEY}}'), () => undefined)).toThrow('variable KEY')
  })
})

describe('templates against their workload', () => {
  const check = (workload: LoadedWorkload, template: unknown, ...headers: HeaderTemplate[]): void =>
    checkTemplates({ body: body(template), headers }, workload, { api: 'chat', path: 't.json' })

  test('what fits is let through', () => {
    const file = rows('{"prompt": "Hi", "tenant": "a"}\n{"prompt": "Ho", "lang": "de"}')
    expect(() => check(file, { p: '{{prompt}}', t: '{{row.lang}}' }, header('{{row.tenant}}'))).not.toThrow()
    expect(() => check(random, { p: '{{prompt}}' }, header('{{segment}}'))).not.toThrow()
  })

  test.each<[string, LoadedWorkload, unknown, HeaderTemplate[], string]>([
    ['rows of random words', random, { t: '{{row.x}}' }, [], 'stands for nothing'],
    ['a header of a field that is not there', rows('{"prompt":"Hi"}'), {}, [header('{{row.x}}')], 'X-Tenant'],
    ['messages as one text', rows('{"messages":[{"role":"user"}]}'), { p: '{{prompt}}' }, [], 'one text'],
    [
      'sessions as one text',
      {
        kind: 'sessions',
        turns: 2,
        prompt: fixed,
        output: fixed,
        thinkTimeMs: 0,
        thinkTime: 'fixed',
      },
      { p: '{{prompt}}' },
      [],
      'one text',
    ],
    [
      'a row’s value that no header can hold',
      rows('{"prompt":"Hi","x":"ok"}\n{"prompt":"Hi","x":"a\\nb"}'),
      {},
      [header('{{row.x}}')],
      'cannot be sent',
    ],
  ])('%s', (_sentence, workload, template, headers, said) => {
    expect(() => check(workload, template, ...headers)).toThrow(said)
  })

  test('rows need a prompt only where the template sends one', () => {
    const asks = (template: unknown) => rowUse({ body: body(template), headers: [] })
    expect([
      asks({ q: '{{row.question}}' }),
      asks({ p: '{{prompt}}', t: '{{row.t}}' }),
      asks({ p: '{{prompt}}' }),
    ]).toEqual(['promptless', 'kept', 'left'])
    expect(rowUse({ body: null, headers: [header('{{row.t}}')] })).toBe('kept')
    expect(() => rows('{"question": "Why?"}')).toThrow('without a prompt')
    expect(rows('{"question": "Why?"}', 'promptless')).toMatchObject({
      items: [{ row: { question: 'Why?' } }],
    })
  })

  test('the first row stands for all before the run', () => {
    expect(sampleFacts(rows('{"prompt":"Hi","id":"q1","segment":"s"}'))).toMatchObject({
      id: 'q1',
      segment: 's',
      row: { prompt: 'Hi' },
    })
    expect(sampleFacts(random)).toMatchObject({ id: null, row: null })
  })

  test('credentials of the rows are secrets, other fields are none', () => {
    const file = rows('{"prompt":"a","api_key":"k-aaaa1111"}\n{"prompt":"b","api_key":"k-bbbb2222"}')
    const found = secretsOfRows([header('{{row.api_key}}'), header('Bearer {{id}}', 'Authorization')], file)
    expect(found).toEqual(expect.arrayContaining(['k-aaaa1111', 'k-bbbb2222', 'line-1']))
    expect(secretsOfRows([header('{{row.prompt}}')], file)).toEqual([])
  })

  test('lengths that a template leaves away are a finding', () => {
    const found = (template: unknown, workload = random) =>
      templateWarnings({ template: body(template), workload }).map(({ message }) => message)
    expect(found({ p: '{{prompt}}' })).toEqual([
      'the body template has no {{max_tokens}}: answers are not as long as asked',
    ])
    expect(found({ p: '{{prompt}}', n: '{{max_tokens}}' })).toEqual([])
    expect(found({ request: '{{body}}' })).toEqual([])
    expect(found({})).toEqual([
      'the body template has no {{prompt}} and no {{max_tokens}}: prompts and answers are not as long as asked',
    ])
    expect(templateWarnings({ workload: random })).toEqual([])
  })
})
