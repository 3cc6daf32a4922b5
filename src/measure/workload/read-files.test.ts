import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { estimateTokens } from '../tokens/estimate-tokens.ts'
import { jsonFault, positionAt } from './json-fault.ts'
import { readJsonl } from './read-jsonl.ts'
import { readShareGpt } from './read-sharegpt.ts'

describe('readJsonl', () => {
  test('reads prompts, texts and messages with what stands beside them', () => {
    const text = [
      '{"prompt": "One", "output_tokens": 5, "id": "p1", "segment": "chat"}',
      '',
      '{"text": "Two", "max_tokens": 7, "id": 2}',
      '{"messages": [{"role": "user", "content": "Three"}], "other": 1}\r',
    ].join('\n')
    expect(readJsonl(text, 'x.jsonl')).toEqual([
      { id: 'p1', segment: 'chat', prompt: { kind: 'text', text: 'One' }, outputTokens: 5 },
      { id: '2', segment: null, prompt: { kind: 'text', text: 'Two' }, outputTokens: 7 },
      {
        id: 'line-4',
        segment: null,
        prompt: { kind: 'messages', messages: [{ role: 'user', content: 'Three' }] },
        outputTokens: null,
      },
    ])
  })

  const faults: [sentence: string, line: string, column: number, message: string][] = [
    ['not JSON', '{"prompt": One}', 12, 'a line that is not JSON'],
    ['cut off', '{"prompt": "On', 15, 'a line that is not JSON'],
    ['a comma too many', '{"prompt": "One",}', 18, 'a line that is not JSON'],
    ['single quotes', "{'prompt': 'One'}", 2, 'a line that is not JSON'],
    ['a list', '["One"]', 1, 'a line that is not a prompt'],
    ['no prompt', '{"question": "One"}', 1, 'a line without a prompt'],
    ['two prompts', '{"prompt": "One", "text": "Two"}', 19, 'a line with more than one prompt'],
    ['a number for a prompt', '{"prompt": 1}', 2, 'prompt is not a prompt'],
    ['an empty prompt', '{"prompt": ""}', 2, 'prompt is empty'],
    ['a length of nothing', '{"prompt": "One", "max_tokens": 0}', 19, 'max_tokens is not a length'],
    ['a length in words', '{"prompt": "One", "output_tokens": "five"}', 19, 'output_tokens is not a length'],
    ['a message without a role', '{"messages": [{"content": "One"}]}', 2, 'message 1 is not one'],
    ['no messages', '{"messages": []}', 2, 'messages is not a conversation'],
    ['an object for an id', '{"prompt": "One", "id": {}}', 19, 'id is not a name'],
  ]
  test.each(faults)('%s is refused where it stands', (_sentence, line, column, message) => {
    expect(() => readJsonl(`{"prompt": "fine"}\n${line}\n`, 'x.jsonl')).toThrow(
      expect.objectContaining({
        code: 'PLIM_WORKLOAD',
        message,
        where: { file: 'x.jsonl', line: 2, column },
      }),
    )
  })

  test('an empty file is refused', () => {
    expect(() => readJsonl('\n\n', 'x.jsonl')).toThrow(expect.objectContaining({ code: 'PLIM_WORKLOAD' }))
  })
})

describe('readShareGpt', () => {
  const long = (words: number): string => 'word '.repeat(words).trim()
  const conversation = (human: string, reply: string): unknown => ({
    id: 'c',
    conversations: [
      { from: 'human', value: human },
      { from: 'gpt', value: reply },
    ],
  })
  const read = (list: unknown, outputGiven = false): ReturnType<typeof readShareGpt> =>
    readShareGpt(JSON.stringify(list), 'x.json', estimateTokens, outputGiven)

  test('takes the first human turn and the length of its reply', () => {
    const system = { from: 'system', value: 'Be brief.' }
    const { items } = read([
      { conversations: [system, { from: 'human', value: long(10) }, { from: 'gpt', value: long(20) }] },
    ])
    expect(items).toEqual([
      { id: 'conversation-1', segment: null, prompt: { kind: 'text', text: long(10) }, outputTokens: 20 },
    ])
  })

  test('reads messages with role and content too', () => {
    const turns = [
      { role: 'user', content: long(10) },
      { role: 'assistant', content: long(5) },
    ]
    expect(read([{ messages: turns }]).items[0]?.outputTokens).toBe(5)
  })

  const kept = conversation(long(10), long(10))
  const rows: [sentence: string, list: unknown[], skipped: Record<string, number>][] = [
    ['a prompt too short', [kept, conversation(long(3), long(9))], { 'prompt under 4 tokens': 1 }],
    ['a reply too short', [kept, conversation(long(9), long(3))], { 'reply under 4 tokens': 1 }],
    ['a prompt too long', [kept, conversation(long(1025), long(9))], { 'prompt over 1,024 tokens': 1 }],
    [
      'too long together',
      [kept, conversation(long(1024), long(1025))],
      { 'prompt and reply over 2,048 tokens': 1 },
    ],
    ['no reply', [kept, { conversations: [{ from: 'human', value: long(9) }] }], { 'no reply': 1 }],
    ['nobody', [kept, { conversations: [] }], { 'no human turn': 1 }],
  ]
  test.each(rows)('%s is left out and counted', (_sentence, list, skipped) => {
    const read1 = read(list)
    expect(read1.items).toHaveLength(1)
    expect(read1.skipped).toEqual(skipped)
  })

  test('a short reply does not matter when the length is given', () => {
    expect(read([conversation(long(9), 'ok')], true).items).toHaveLength(1)
  })

  test('what is not ShareGPT is refused, a JSON fault with its place', () => {
    expect(() => read({})).toThrow(expect.objectContaining({ code: 'PLIM_WORKLOAD' }))
    expect(() => read([1])).toThrow("conversation 1 is not in ShareGPT's form")
    expect(() => read([])).toThrow('no conversation of the file can be used')
    expect(() => readShareGpt('[\n  {"id": }\n]', 'x.json', estimateTokens, false)).toThrow(
      expect.objectContaining({ where: { file: 'x.json', line: 2, column: 10 } }),
    )
  })
})

describe('jsonFault', () => {
  test('finds no fault in JSON, and one in every text that JSON.parse refuses', () => {
    const damaged = fc
      .tuple(fc.json(), fc.nat(), fc.string({ maxLength: 3 }))
      .map(
        ([json, at, text]) =>
          json.slice(0, at % (json.length + 1)) + text + json.slice((at % (json.length + 1)) + 1),
      )
    fc.assert(
      fc.property(fc.oneof(fc.json(), damaged), (text) => {
        let valid = true
        try {
          JSON.parse(text)
        } catch {
          valid = false
        }
        expect(jsonFault(text) === null).toBe(valid)
      }),
      { numRuns: 2000 },
    )
  })

  test('positionAt counts lines and columns from 1', () => {
    expect(positionAt('ab\ncd', 4)).toEqual({ line: 2, column: 2 })
    expect(positionAt('ab\ncd', 0)).toEqual({ line: 1, column: 1 })
  })
})
