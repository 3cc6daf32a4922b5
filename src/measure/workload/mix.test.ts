import { describe, expect, test } from 'vitest'
import { tokenCounter } from '../tokens/token-counter.ts'
import { plainWords } from '../tokens/vocabulary.ts'
import { makePlan, type PlanInput } from './make-plan.ts'
import type { PlannedRequest } from './planned-request.ts'
import { fullDialect } from './request-body.ts'
import { loadWorkload, type LoadedWorkload, type RandomWorkload } from './workload.ts'

const lengths = (prompt: number, output: number): RandomWorkload => ({
  kind: 'random',
  prompt: { kind: 'fixed', tokens: prompt },
  output: { kind: 'fixed', tokens: output },
})

function requests(
  workload: LoadedWorkload,
  count: number,
  change: Partial<PlanInput> = {},
): readonly PlannedRequest[] {
  const plan = makePlan({
    workload,
    pacer: { kind: 'constant', ratePerSecond: 5 },
    api: 'completions',
    model: 'm',
    count,
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
      words: { words: plainWords, costs: 1, leadTokens: 1 },
      exact: true,
      basis: 'test',
    }),
    dialect: fullDialect,
    maxModelLen: null,
    ...change,
  })
  if (plan.kind !== 'open') throw new Error('closed')
  return plan.requests
}

describe('a mix of classes', () => {
  const classes = [
    { name: 'chat', weight: 3, workload: lengths(100, 20) },
    { name: 'code', weight: 1, workload: lengths(400, 5) },
    { name: 'off', weight: 0, workload: lengths(50, 1) },
  ]

  test('draws them by weight, and the class is the segment', () => {
    const planned = requests({ kind: 'mix', classes }, 4000)
    const chat = planned.filter(({ segment }) => segment === 'chat')
    expect(Math.abs(chat.length - 3000)).toBeLessThan(4 * Math.sqrt(4000 * 0.75 * 0.25))
    expect(
      chat.every(
        ({ plannedPromptTokens, askedOutputTokens }) =>
          plannedPromptTokens === 100 && askedOutputTokens === 20,
      ),
    ).toBe(true)
    const code = planned.filter(({ segment }) => segment === 'code')
    expect(code.length + chat.length).toBe(4000)
    expect(code.every(({ plannedPromptTokens }) => plannedPromptTokens === 400)).toBe(true)
    expect(planned[0]?.promptId).toMatch(/^(chat|code)\/random-0$/)
  })

  test('is read class by class', async () => {
    const read = await loadWorkload(
      {
        kind: 'mix',
        classes: [{ name: 'a', weight: 1, workload: { kind: 'jsonl', path: 'x', output: null } }],
      },
      (path) => Promise.resolve(`{"prompt": "${path}"}`),
      () => 1,
    )
    expect(read).toMatchObject({ kind: 'mix', classes: [{ name: 'a', workload: { kind: 'items' } }] })
  })

  test('of no weight is refused', () => {
    expect(() => requests({ kind: 'mix', classes: [{ ...classes[2]! }] }, 1)).toThrow(
      expect.objectContaining({ code: 'PLIM_USAGE' }),
    )
  })
})

describe('a shared share of each prompt', () => {
  const words = ({ body }: PlannedRequest): string[] =>
    (JSON.parse(body) as { prompt: string }).prompt.split(' ')

  test.each([0.3, 0.6, 0.9])(
    'of %d is what whole blocks of 16 hit, to half a point, whatever the lengths',
    (share) => {
      const workload: RandomWorkload = {
        ...lengths(1, 1),
        prompt: { kind: 'uniform', low: 400, high: 1600 },
        sharedPrefixShare: share,
      }
      const planned = requests(workload, 400)
      // The longest beginning of a prompt that an earlier one had, in whole blocks.
      const seen = new Set<string>()
      let [hit, all] = [0, 0]
      planned.forEach((request, index) => {
        const prompt = words(request)
        let key = ''
        let matching = true
        for (let at = 0; at + 16 <= prompt.length; at += 16) {
          key = `${key.slice(-40)}|${prompt.slice(at, at + 16).join(' ')}`
          matching &&= seen.has(key)
          if (matching && index >= 100) hit += 16
          seen.add(key)
        }
        if (index >= 100) all += prompt.length
        expect(prompt).toHaveLength(request.plannedPromptTokens ?? 0)
      })
      expect(Math.abs(hit / all - share)).toBeLessThan(0.005)
    },
  )

  test.each([
    ['the whole prompt', { sharedPrefixShare: 1 }],
    ['a share and a length', { sharedPrefixShare: 0.5, sharedPrefixTokens: 5 }],
    ['less than nothing', { sharedPrefixShare: -0.1 }],
  ])('%s is refused', (_sentence, change) => {
    expect(() => requests({ ...lengths(100, 1), ...change }, 1)).toThrow(
      expect.objectContaining({ code: 'PLIM_USAGE' }),
    )
  })
})
