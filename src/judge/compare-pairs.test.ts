import { describe, expect, it } from 'vitest'
import { pairRuns, type PairingRun } from './compare-pairs.ts'
import { factResidue, figureResidue } from './residue.ts'

const seeds = (...names: string[]): PairingRun[] => names.map((seed) => ({ block: null, seed }))
const blocks = (...names: (string | null)[]): PairingRun[] => names.map((block) => ({ block, seed: '1' }))

describe('pairing', () => {
  it('pairs by seed, in whatever order the runs came', () => {
    expect(pairRuns(seeds('1', '2', '3'), seeds('3', '1', '2'))).toMatchObject({
      kind: 'paired',
      by: 'seed',
      indices: [
        [0, 1],
        [1, 2],
        [2, 0],
      ],
    })
  })
  it('a block goes before a seed', () => {
    expect(pairRuns(blocks('a', 'b'), blocks('b', 'a'))).toMatchObject({ by: 'block' })
  })
  const table: [sentence: string, a: PairingRun[], b: PairingRun[], why: string][] = [
    ['one seed for all', seeds('1', '1'), seeds('1', '1'), 'all runs have the same seed'],
    ['other seeds', seeds('1', '2'), seeds('3', '4'), 'not the same'],
    ['a run too many: nothing is dropped for pairs', seeds('1', '2', '3'), seeds('1', '2'), '3 and 2 runs'],
    ['a block that only some say', blocks('a', null), blocks('a', null), 'same seed'],
  ]
  it.each(table)('%s', (_, a, b, why) => {
    const found = pairRuns(a, b)
    expect(found.kind).toBe('unpaired')
    expect(found.why).toContain(why)
  })
})

describe('what else differs', () => {
  const explains = { why: 'w', next: 'n' }
  it('lists a fact that differs, with all its values, and none that does not', () => {
    expect(
      factResidue(
        [
          { model: 'm', engine: '1' },
          { model: 'm', engine: '2' },
        ],
        [{ model: 'm', engine: '2' }, { model: 'm' }],
        { engine: explains },
      ),
    ).toEqual([{ name: 'engine', a: '1, 2', b: '2, unknown', explains }])
  })
  it('a figure within its tolerance is alike; an unknown one explains nothing', () => {
    const figure = { name: 'hits', kind: 'share', tolerance: 0.02, explains } as const
    const text = (value: number): string => String(value)
    expect(figureResidue([{ ...figure, a: [0.1, 0.11], b: [0.115] }], text)).toEqual([])
    expect(figureResidue([{ ...figure, a: [0], b: [0.31] }], text)).toEqual([
      { name: 'hits', a: '0', b: '0.31', explains },
    ])
    expect(figureResidue([{ ...figure, a: [null], b: [0.31] }], text)).toEqual([
      { name: 'hits', a: 'unknown', b: '0.31', explains: null },
    ])
    expect(figureResidue([{ ...figure, a: [null], b: [null] }], text)).toEqual([])
  })
})
