import { describe, expect, test } from 'vitest'
import { tokenCounter } from '../tokens/token-counter.ts'
import { plainWords } from '../tokens/vocabulary.ts'
import { makePlan, type PlanInput } from './make-plan.ts'
import { fullDialect } from './request-body.ts'
import { readTrace, tracePacer } from './trace.ts'

const mooncake = [
  '{"timestamp": 0, "input_length": 1300, "output_length": 50, "hash_ids": [0, 1, 2]}',
  '{"timestamp": 40, "input_length": 1100, "output_length": 5, "hash_ids": [0, 1, 7]}',
  '{"timestamp": 3000, "input_length": 700, "output_length": 9, "hash_ids": [8, 1]}',
].join('\n')

describe('readTrace', () => {
  test('Azure: dates to a tenth of a microsecond, from the first on', () => {
    const text =
      'TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:59:59.9000001,4808,10\r\n2023-11-16 19:00:00.1500001,3180,8\r\n'
    const { entries, skipped } = readTrace(text, 'x.csv')
    expect(
      entries.map(({ promptTokens, outputTokens, blocks }) => [promptTokens, outputTokens, blocks]),
    ).toEqual([
      [4808, 10, null],
      [3180, 8, null],
    ])
    expect(entries[1]?.atMs).toBeCloseTo(250, 3)
    expect(skipped).toEqual({})
  })

  test('BurstGPT: seconds, the model as segment, failures left out and counted', () => {
    const text = [
      'Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type',
      '5,ChatGPT,472,18,490,Conversation log',
      '45,GPT-4,1087,230,1317,Conversation log',
      '118,GPT-4,417,0,417,API log',
    ].join('\n')
    const { entries, skipped } = readTrace(text, 'x.csv')
    expect(entries.map(({ atMs, segment }) => [atMs, segment])).toEqual([
      [0, 'ChatGPT'],
      [40_000, 'GPT-4'],
    ])
    expect(skipped).toEqual({ 'no output tokens': 1 })
  })

  test('Mooncake: blocks of 512 tokens', () => {
    const trace = readTrace(mooncake, 'x.jsonl')
    expect(trace).toMatchObject({ blockTokens: 512, name: 'x.jsonl' })
    expect(trace.entries[1]).toEqual({
      atMs: 40,
      promptTokens: 1100,
      outputTokens: 5,
      blocks: [0, 1, 7],
      segment: null,
      session: null,
    })
  })

  test('JSONL of one’s own, out of order, with blocks of 16', () => {
    const text =
      '{"arrival_ms": 90.5, "input_toks": 20, "output_toks": 2, "prompt_blocks": [1, 2]}\n{"arrival_ms": 10.5, "input_toks": 5, "output_toks": 1, "segment": "short"}'
    const trace = readTrace(text, 'x.jsonl')
    expect(trace.blockTokens).toBe(16)
    expect(trace.entries.map(({ atMs, segment }) => [atMs, segment])).toEqual([
      [0, 'short'],
      [80, null],
    ])
  })

  const faults: [sentence: string, text: string, line: number, column: number][] = [
    ['no header', '1,2,3\n4,5,6', 1, 1],
    [
      'a cell that is not a number',
      'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,many,3',
      2,
      21,
    ],
    ['a cell that is missing', 'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,4', 2, 23],
    ['a date of another kind', 'TIMESTAMP,ContextTokens,GeneratedTokens\n16/11/2023,4,5', 2, 1],
    ['a line without a length', '{"timestamp": 1, "output_length": 3}', 1, 1],
    ['a length of nothing', '{"timestamp": 1, "input_length": 0, "output_length": 3}', 1, 18],
    ['blocks of text', '{"timestamp": 1, "input_length": 9, "output_length": 3, "hash_ids": ["a"]}', 1, 57],
    ['half a line', '{"timestamp": 1', 1, 16],
  ]
  test.each(faults)('%s is refused where it stands', (_sentence, text, line, column) => {
    expect(() => readTrace(text, 'x')).toThrow(
      expect.objectContaining({ code: 'PLIM_WORKLOAD', where: { file: 'x', line, column } }),
    )
  })

  test('nothing but failures is refused', () => {
    expect(() => readTrace('Timestamp,Model,Request tokens,Response tokens\n1,m,5,0', 'x')).toThrow(
      'the trace has no requests',
    )
  })
})

describe('a plan of a trace', () => {
  const trace = readTrace(mooncake, 'x.jsonl')
  const input: PlanInput = {
    workload: trace,
    pacer: tracePacer(trace, 2),
    api: 'completions',
    model: 'm',
    count: null,
    durationMs: null,
    seed: 1,
    salt: 's',
    warmPrefix: false,
    ignoreEos: true,
    continuousUsage: false,
    stream: true,
    temperature: null,
    extraBody: {},
    tokens: tokenCounter({
      kind: 'tokenizer',
      words: { words: plainWords, costs: 1, leadTokens: 2 },
      exact: true,
      basis: 'test',
    }),
    dialect: fullDialect,
    maxModelLen: null,
  }
  const prompts = (change: Partial<PlanInput> = {}): string[][] => {
    const plan = makePlan({ ...input, ...change })
    if (plan.kind !== 'open') throw new Error('closed')
    return plan.requests.map(({ body }) => (JSON.parse(body) as { prompt: string }).prompt.split(' '))
  }
  const sharedWords = (a: readonly string[], b: readonly string[]): number => {
    const differs = a.findIndex((word, i) => word !== b[i])
    return differs < 0 ? a.length : differs
  }

  test('has the trace’s times at its speed, and its lengths', () => {
    const plan = makePlan(input)
    if (plan.kind !== 'open') throw new Error('closed')
    expect(
      plan.requests.map(({ plannedMs, plannedPromptTokens, askedOutputTokens }) => [
        plannedMs,
        plannedPromptTokens,
        askedOutputTokens,
      ]),
    ).toEqual([
      [0, 1300, 50],
      [20, 1100, 5],
      [1500, 700, 9],
    ])
    // A word is a token and the lead two.
    expect(prompts().map(({ length }) => length + 1)).toEqual([1300, 1100, 700])
    expect(plan.arrivals).toBe('schedule x.jsonl at 2 times its speed: 3 recorded times')
  })

  test('prompts share exactly the blocks that they shared', () => {
    const [first = [], second = [], third = []] = prompts()
    // The lead's second token is not a word, so 1,024 tokens are 1,023 words; the next may be alike by chance.
    expect(sharedWords(first, second)).toBeGreaterThanOrEqual(1023)
    expect(sharedWords(first, second)).toBeLessThan(1023 + 4)
    expect(sharedWords(first, third)).toBeLessThan(1 + 8 + 4)
    expect(third.slice(511)).toEqual(first.slice(511, third.length))
  })

  test('another salt makes all of it cold', () => {
    expect(sharedWords(prompts()[0] ?? [], prompts({ salt: 't' })[0] ?? [])).toBeLessThan(1 + 4)
  })

  test('a trace without blocks shares nothing', () => {
    const alone = readTrace(mooncake.replaceAll(/, "hash_ids": \[[^\]]*\]/g, ''), 'x.jsonl')
    const [first = [], second = []] = prompts({ workload: alone })
    expect(sharedWords(first, second)).toBeLessThan(1 + 4)
  })

  test('a speed of nothing is refused', () => {
    expect(() => tracePacer(trace, 0)).toThrow(expect.objectContaining({ code: 'PLIM_USAGE' }))
  })
})
