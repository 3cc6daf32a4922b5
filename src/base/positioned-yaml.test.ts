import { describe, expect, it } from 'vitest'
import { PlimsollError } from './errors.ts'
import { readYaml, readYamlDocuments, type YamlSubject } from './positioned-yaml.ts'

const recipe: YamlSubject = { what: 'recipe', expected: 'flour: 500', hint: 'the book has whole ones' }

function refusal(text: string): PlimsollError {
  try {
    readYaml(text, 'f.yaml', recipe)
  } catch (error) {
    if (error instanceof PlimsollError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('what is not YAML is told in our words, with its line and what to do', () => {
  it.each([
    ['two pairs in one line', 'name: a: b\n', 1, 7, 'one "key: value" a line', 'name: a: b'],
    [
      'a tab',
      'name: x\nengine:\n\tpreset: demo\n',
      3,
      1,
      'spaces at the beginning of a line',
      'preset: demo',
    ],
    [
      'a quote that stays open',
      'name: "x\n',
      2,
      1,
      'every quote, bracket and brace closed',
      'the end of the text',
    ],
    [
      'a bracket that stays open',
      'a: [1\n',
      2,
      1,
      'every quote, bracket and brace closed',
      'the end of the text',
    ],
    [
      'a bracket that stays open before a key',
      'a: [1, 2\nb: 3\n',
      2,
      1,
      'every quote, bracket and brace closed',
      'b: 3',
    ],
    ['a list beside a map', 'a: 1\n- b\n', 2, 1, 'one "key: value" a line', '- b'],
    ['keys in two columns', 'a:\n  b: 1\n c: 2\n', 3, 1, 'in one column', 'c: 2'],
    ['a key twice', 'a: 1\nb: 2\na: 3\n', 3, 1, 'each key once', 'a: 3'],
    ['a mark of YAML in front', 'name: @x\n', 1, 7, 'a value', 'name: @x'],
    ['an escape that is none', 'name: "a\\q"\n', 1, 9, 'a text in quotes', 'name: "a\\q"'],
    ['two documents', 'a: 1\n---\nb: 2\n', 2, 1, 'one document', '---'],
    ['lines of Windows', 'a: 1\r\nname: a: b\r\n', 2, 7, 'one "key: value" a line', 'name: a: b'],
  ])('%s', (_, text, line, column, expected, received) => {
    const error = refusal(text)
    expect([error.code, error.message, error.where]).toEqual([
      'PLIM_CONFIG',
      'this is not YAML',
      { file: 'f.yaml', line, column },
    ])
    expect(error.expected).toContain(expected)
    expect(error.received).toBe(received)
    expect(error.hint).toBeTruthy()
  })
})

it('of an anchor that is not there says its name and its place', () => {
  const { code, message, where, expected, received } = refusal('name: *site\nother: 1\n')
  expect([code, message, where]).toEqual([
    'PLIM_CONFIG',
    'the anchor site is not defined',
    { file: 'f.yaml', line: 1, column: 7 },
  ])
  expect([expected, received]).toEqual(['&site before a value above this place', '*site'])
})

describe('places', () => {
  const { value, where, has } = readYaml(
    'a:\n  b: [1, { c: 2 }]\nd: *x\n'.replace('*x', 'x'),
    'f.yaml',
    recipe,
  )
  it.each([
    ['a value', ['a', 'b', 1, 'c'], 'value', 2, 15],
    ['its key', ['a', 'b', 1, 'c'], 'key', 2, 12],
    ['what is not there: what holds it', ['a', 'x', 'y'], 'value', 2, 3],
    ['the whole', [], 'value', 1, 1],
  ] as const)('%s', (_, path, of, line, column) => {
    expect(where(path, of)).toEqual({ file: 'f.yaml', line, column })
  })

  it('say what is there', () => {
    expect(value).toEqual({ a: { b: [1, { c: 2 }] }, d: 'x' })
    expect([has(['a', 'b', 1, 'c']), has(['a', 'c']), has(['a', 'b', 2])]).toEqual([true, false, false])
  })

  it('of nothing between two documents there is no value', () => {
    const documents = readYamlDocuments('a: 1\n---\n---\nb: 2\n', 'f.yaml')
    expect(documents.map(({ value }) => value)).toEqual([{ a: 1 }, null, { b: 2 }])
  })

  it('of several documents are those in the file', () => {
    const [, second] = readYamlDocuments('a: 1\n---\nb: { c: 2 }\n', 'f.yaml')
    expect(second!.where(['b', 'c'])).toEqual({ file: 'f.yaml', line: 3, column: 9 })
  })
})

describe('a file that says nothing is refused with what should be in it', () => {
  it.each([
    ['', 'an empty file'],
    [' \n\n', 'an empty file'],
    ['# nothing\n\n  # yet\n', 'nothing beside comments'],
    ['---\n# nothing\n', 'nothing beside comments'],
    ['null\n', 'null'],
    ['# secret comment\n~', '~'],
  ])('%j', (text, received) => {
    const { code, message, where, expected, received: got, hint } = refusal(text)
    expect({ code, message, where, expected, got, hint }).toEqual({
      code: 'PLIM_CONFIG',
      message: 'the file holds no recipe',
      where: { file: 'f.yaml' },
      expected: 'flour: 500',
      got: received,
      hint: 'the book has whole ones',
    })
  })
})
