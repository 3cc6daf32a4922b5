import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describeError, PlimsollError } from '../../base/errors.ts'
import { asksFor, checkBodyNames, parseBodyTemplate } from './body-template.ts'
import { plainDialect, requestBody, type BodySettings, type Prompt } from './request-body.ts'

const settings: BodySettings = {
  api: 'completions',
  model: 'm',
  dialect: plainDialect,
  stream: true,
  ignoreEos: false,
  continuousUsage: false,
  temperature: null,
  extraBody: {},
}
const facts = { id: 'line-1', index: 7, segment: 'chat', session: null, turn: null, row: null }

function filled(
  template: unknown,
  over: {
    readonly row?: Readonly<Record<string, unknown>>
    readonly prompt?: Prompt
    readonly tokens?: number | null
    readonly settings?: Partial<BodySettings>
  } = {},
): unknown {
  const text = typeof template === 'string' ? template : JSON.stringify(template)
  const asked = { ...settings, ...over.settings, template: parseBodyTemplate(text, 't.json') }
  const prompt = over.prompt ?? { kind: 'text', text: 'Say "no"\n' }
  const tokens = over.tokens === undefined ? 12 : over.tokens
  return JSON.parse(requestBody(asked, prompt, tokens, { ...facts, row: over.row ?? null }))
}

describe('a filled template', () => {
  test.each<[string, unknown, unknown, Parameters<typeof filled>[1]?]>([
    ['a placeholder alone keeps its type', { n: '{{max_tokens}}', s: '{{stream}}' }, { n: 12, s: true }],
    ['within a text it is written out', { t: 'up to {{ max_tokens }} tokens' }, { t: 'up to 12 tokens' }],
    ['quotes and line feeds stay what they are', { p: '<{{prompt}}>' }, { p: '<Say "no"\n>' }],
    ['a text as messages', { m: '{{messages}}' }, { m: [{ role: 'user', content: 'Say "no"\n' }] }],
    ['in lists and deep down', { a: [{ b: ['{{index}}', 1] }] }, { a: [{ b: [7, 1] }] }],
    ['a field of the row, of any type', { x: '{{row.tags}}' }, { x: ['a', 1] }, { row: { tags: ['a', 1] } }],
    ['a field of a field', { x: '{{row.meta.lang}}' }, { x: 'de' }, { row: { meta: { lang: 'de' } } }],
    ['the row itself', { x: '{{row}}' }, { x: { q: 1 } }, { row: { q: 1 } }],
    ['a null of the row is one', { x: '{{row.q}}' }, { x: null }, { row: { q: null } }],
    ['what has no value is left out', { x: '{{session}}', y: ['{{turn}}', 2] }, { y: [2] }],
    ['and is nothing within a text', { x: 'in {{session}}.' }, { x: 'in .' }],
    ['no limit asked, no field', { n: '{{max_tokens}}' }, {}, { tokens: null }],
    ['an object within a text is JSON', { x: 'as {{row.o}}' }, { x: 'as {"a":1}' }, { row: { o: { a: 1 } } }],
    ['four braces are two', { x: '{{{{ message.content }}' }, { x: '{{ message.content }}' }],
    ['a brace in front of a placeholder', { x: '{{{index}}}' }, { x: '{7}' }],
    ['numbers, null and flags are left', { a: 1.5, b: null, c: true }, { a: 1.5, b: null, c: true }],
    [
      'a key of every object’s is one like others',
      '{"__proto__":"{{index}}"}',
      JSON.parse('{"__proto__":7}'),
    ],
    ['what objects inherit is no field', { x: '{{row.constructor}}' }, {}, { row: { q: 1 } }],
    [
      'the body that would be sent, in a wrapping',
      { tenant: 't', request: '{{body}}' },
      {
        tenant: 't',
        request: { model: 'm', prompt: 'Say "no"\n', max_tokens: 12, stream: true, temperature: 0 },
      },
      { settings: { extraBody: { temperature: 0 } } },
    ],
    [
      'further fields win over the template’s',
      { prompt: '{{prompt}}', top_p: 1 },
      { prompt: 'Say "no"\n', top_p: 0.5 },
      { settings: { extraBody: { top_p: 0.5 } } },
    ],
  ])('%s', (_sentence, template, body, over) => {
    expect(filled(template, over)).toEqual(body)
  })

  test('messages cannot be a text', () => {
    const prompt: Prompt = { kind: 'messages', messages: [{ role: 'user', content: 'Hi' }] }
    expect(() => filled({ p: '{{prompt}}' }, { prompt })).toThrow('takes one text')
  })

  const json = fc.jsonValue({ maxDepth: 3 })
  const plain = (value: unknown): boolean => !JSON.stringify(value).includes('{{')

  test('law: a template without placeholders is the body as it stands', () => {
    const object = fc.dictionary(fc.string(), json).filter(plain)
    fc.assert(
      fc.property(object, (body) => {
        expect(filled(body)).toEqual(JSON.parse(JSON.stringify(body)))
      }),
    )
  })

  test('law: whatever a row holds, a placeholder alone becomes it, and nothing beside it changes', () => {
    fc.assert(
      fc.property(json, (value) => {
        const body = filled({ a: 1, x: '{{row.v}}', z: { y: '{{row.v}}' } }, { row: { v: value } })
        const sent: unknown = JSON.parse(JSON.stringify(value))
        expect(body).toEqual({ a: 1, x: sent, z: { y: sent } })
      }),
    )
  })

  test('law: whatever a row’s text holds, within a text it stands as it is', () => {
    const unit = fc.oneof(
      fc.string(),
      fc.constantFrom('"', '\\', '{{id}}', '\n', '","admin":true,"', '\ud800'),
    )
    fc.assert(
      fc.property(unit, (value) => {
        expect(filled({ x: '<{{row.v}}|{{row.v}}>' }, { row: { v: value } })).toEqual({
          x: `<${value}|${value}>`,
        })
      }),
    )
  })

  test('law: braces written twice stand for themselves', () => {
    const braces = fc.string({ unit: fc.constantFrom('{', '}', 'a', ' ', '{{', '}}') })
    fc.assert(
      fc.property(braces, (text) => {
        expect(filled({ x: text.replaceAll('{{', '{{{{') })).toEqual({ x: text })
      }),
    )
  })
})

function printed(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (error instanceof PlimsollError) return describeError(error)
    throw error
  }
  return 'nothing is wrong'
}

describe('what is refused', () => {
  test.each([
    ['no JSON', '{\n  "a": {{prompt}}\n}', 't.json:2:9'],
    ['no object', '  ["{{prompt}}"]', 't.json:1:3'],
    ['a placeholder in a key', '{\n "{{id}}": 1}', 't.json:2:2'],
    ['one that is not closed', '{"a": 1,\n "b": "x {{prompt"}', 't.json:2:10'],
  ])('%s', (_sentence, text, place) => {
    expect(printed(() => parseBodyTemplate(text, 't.json'))).toContain(`  at ${place}\n`)
  })

  test('a deep template, a large one, and one of too many placeholders', () => {
    const deep = `{"a":${'['.repeat(150)}${']'.repeat(150)}}`
    expect(printed(() => parseBodyTemplate(deep, 't'))).toContain('too deep')
    expect(printed(() => parseBodyTemplate(`{"a":"${'x'.repeat(2 ** 20)}"}`, 't'))).toContain('too large')
    const many = JSON.stringify({ a: '{{id}}'.repeat(1001) })
    expect(printed(() => parseBodyTemplate(many, 't'))).toContain('too many placeholders')
  })

  test.each([
    ['a letter wrong', '{{promt}}', null, 'did you mean {{prompt}}?'],
    ['a field that no row has', '{{row.tennant}}', ['tenant'], 'did you mean {{row.tenant}}?'],
    ['a field without its row', '{{tenant}}', ['tenant'], 'did you mean {{row.tenant}}?'],
    ['a row where there is none', '{{row.tenant}}', null, '--workload jsonl'],
    ['a name that is nothing at all', '{{process.env.HOME}}', null, 'expected one of prompt, messages,'],
    ['an empty one', '{{}}', null, 'expected one of prompt, messages,'],
  ])('%s, at its place', (_sentence, placeholder, fields, said) => {
    const template = parseBodyTemplate(`{\n  "ok": "{{index}}",\n  "x": "a ${placeholder}"\n}`, 't.json')
    const error = printed(() => checkBodyNames(template, 't.json', fields === null ? null : new Set(fields)))
    expect(error).toContain('  at t.json:3:11\n')
    expect(error).toContain(said)
  })
})

test('a template knows what it asks for', () => {
  const template = parseBodyTemplate('{"a": "{{row.q}} {{id}}"}', 't')
  expect([asksFor(template, 'row'), asksFor(template, 'prompt', 'id'), asksFor(template, 'prompt')]).toEqual([
    true,
    true,
    false,
  ])
})
